/* Steps several runs in the lanes of a vector. A run leaves its lane at a checkpoint, after a failed step, and after
 * its last full step (run/run_shared.h). */
#include "run/run_shared.h"

#include "core/threads.h"
#include "dynamics/system_facts.h"
#include "integrators/lanes.h"
#include "run/particles_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = CB_LANES_MAX };

struct cb_batch {
  cb_lanes *lanes; /* NULL: no group has been stepped yet */
};

cb_status cb_batch_create(cb_batch **out) {
  *out = calloc(1, sizeof **out);
  return *out ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for runs in lanes");
}

void cb_batch_free(cb_batch *t) {
  if (!t) return;
  cb_lanes_free(t->lanes);
  free(t);
}

static cb_integrator *method_of(const cb_run *run) { return cb_particles_of(run)->integrator; }

/* Returns whether lanes can step this run. Lanes cannot step a run with controls, because each such run has its own
 * expressions. */
static bool serves(const cb_run *run) {
  return run->motion->lanes && !run->options.controls && run->motion->lanes(run);
}

size_t cb_batch_width(const cb_run *run) { return serves(run) ? cb_lanes_width() : 1; }

static void fail(cb_batch_member *r, cb_status status) {
  r->status = status;
  snprintf(r->text, sizeof r->text, "%s", cb_error_text());
}

static bool is_going(const cb_batch_member *r) {
  return !r->status && *r->run->step < r->limit && !cb_run_ended(r->run);
}

/* Returns the number of full steps that are left until the end, or until the limit of the member. */
static int64_t full_steps_left(const cb_batch_member *r) {
  const int64_t end = r->run->full_steps;
  return (end < r->limit ? end : r->limit) - *r->run->step;
}

/* Returns the number of full steps until the next row or the last full step; 0 if the run must be stepped on its
 * own. */
static int64_t free_steps(const cb_batch_member *r) {
  const cb_run *run = r->run;
  if (!serves(run) || !cb_lanes_ready(method_of(run), run->options.step)) return 0;
  if (cb_antipodes_near(cb_particles_of(run)->system, cb_particles_of(run)->state))
    return 0; /* near antipodal points every step has to be checked */
  const int64_t to_row = run->options.every - *run->step % run->options.every, left = full_steps_left(r);
  return to_row < left ? to_row : left;
}

static void alone(cb_batch_member *r, const volatile sig_atomic_t *stop) {
  const cb_status status = stop && *stop ? cb_run_interrupted(r->run) : cb_run_once(r->run, r->sink);
  if (status) fail(r, status);
}

/* A group of runs that share lanes: run i occupies lane i. */
typedef struct group {
  cb_lanes *lanes;
  cb_batch_member **run;
  size_t n;
} group;

static void load(const group *g, size_t i) {
  const cb_run *run = g->run[i]->run;
  cb_lanes_load(g->lanes, i, method_of(run), cb_particles_of(run)->state, run->options.step);
}

static void store(const group *g, size_t i, bool history, bool failed) {
  const cb_run *run = g->run[i]->run;
  cb_lanes_store(g->lanes, i, method_of(run), cb_particles_of(run)->state, history, failed);
}

/* Returns the number of steps that all runs of the group can make until one of them has to write a row, or has made its
 * last full step. */
static int64_t steps_to_row(const group *g) {
  int64_t limit = INT64_MAX;
  for (size_t i = 0; i < g->n; i++) {
    const cb_run *r = g->run[i]->run;
    const int64_t to_row = r->options.every - *r->step % r->options.every, left = full_steps_left(g->run[i]);
    if (to_row < limit) limit = to_row;
    if (left < limit) limit = left;
  }
  return limit;
}

/* Returns whether the run stays in its lane after the current step. It leaves after its last full step, and at a
 * checkpoint, where the integrator's history ends. */
static bool stays(const cb_batch_member *member) {
  const cb_run *r = member->run;
  return full_steps_left(member) > 0 && *r->step % (r->options.every * r->options.checkpoint) != 0;
}

/* After a step of run i: repeats a failed step, moves the origin, and writes the row and checkpoint that are due.
 * all_stay: no run of the group has to leave its lane after this step. Returns whether run i can continue in its
 * lane. */
static bool settle(const group *g, size_t i, cb_lanes_step step, bool all_stay) {
  cb_batch_member *of = g->run[i];
  const unsigned bit = 1u << i;
  const bool failed = step.failed & bit, drifted = step.drifted & bit,
             row = *of->run->step % of->run->options.every == 0;
  if (!failed && !drifted && !row && all_stay) return true;
  store(g, i, !all_stay || drifted, failed);
  if (failed) {
    alone(of, NULL); /* repeats the step with retries, and reports an error */
    return false;
  }
  cb_status status = drifted ? cb_particles_recentre(of->run) : CB_OK;
  if (!status && drifted && all_stay) load(g, i);
  if (!status) status = cb_run_stepped(of->run, of->sink);
  if (status) fail(of, status);
  return !status;
}

/* Steps the group until one of its runs leaves its lane, or *stop is set. */
static void step_group(const group *g, const volatile sig_atomic_t *stop) {
  cb_lanes_begin(g->lanes, g->n);
  for (size_t i = 0; i < g->n; i++) load(g, i);
  for (bool on = true; on;) {
    cb_lanes_step step = {0};
    for (int64_t limit = steps_to_row(g); limit > 0 && !(step.leave | step.drifted); limit--) {
      step = cb_lanes_go(g->lanes);
      for (size_t i = 0; i < g->n; i++) {
        if (step.failed >> i & 1) continue;
        ++*g->run[i]->run->step;
        g->run[i]->run->step_size = g->run[i]->run->options.step;
      }
    }
    on = !step.leave && !(stop && *stop);
    for (size_t i = 0; i < g->n && on; i++) on = stays(g->run[i]);
    const bool all_stay = on;
    for (size_t i = 0; i < g->n; i++) on = settle(g, i, step, all_stay) && on;
    if (all_stay && !on) /* one run has failed: copy the histories of the others from the lanes to their runs */
      for (size_t i = 0; i < g->n; i++) store(g, i, true, false);
  }
}

/* Stores in `of` the first run that lanes can step and all other runs that can share its lanes. Returns the number of
 * these runs. */
static size_t gather(cb_batch_member *run, size_t n, cb_batch_member **of) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    if (!is_going(&run[i]) || free_steps(&run[i]) < 1) continue;
    if (!count || cb_lanes_agree(method_of(of[0]->run), method_of(run[i].run))) of[count++] = &run[i];
  }
  return count;
}

/* Makes one step of every run that must be stepped on its own. Then steps one group until one of its runs leaves its
 * lane, or makes one step of a run that has no partner. If *stop is set, this function ends every run as interrupted
 * instead. Returns whether there was a run to step. */
static bool turn(cb_batch *t, cb_batch_member *run, size_t n, const volatile sig_atomic_t *stop) {
  cb_batch_member *of[MEMBERS_MAX];
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    if (!is_going(&run[i]) || (free_steps(&run[i]) > 0 && !(stop && *stop))) continue;
    alone(&run[i], stop);
    any = true;
  }
  if (stop && *stop) return any;
  const size_t count = gather(run, n, of);
  if (count > 1 && cb_lanes_prepare(&t->lanes, method_of(of[0]->run)) == CB_OK) {
    step_group(&(group){t->lanes, of, count}, stop);
    return true;
  }
  for (size_t i = 0; i < count; i++) alone(of[i], stop);
  return any || count;
}

/* Makes steps until each run has reached its limit or its end, or has failed. */
static void go(cb_batch *t, cb_batch_member *run, size_t n, const volatile sig_atomic_t *stop) {
  while (turn(t, run, n, stop)) continue;
  for (size_t i = 0; i < n; i++) {
    const bool ends = run[i].status || cb_run_ended(run[i].run);
    const cb_status warned = ends ? cb_run_warn_of_change(run[i].run) : CB_OK;
    if (!run[i].status && warned) fail(&run[i], warned);
  }
}

void cb_batch_run(cb_batch *t, cb_batch_member *run, size_t n, const volatile sig_atomic_t *stop) {
  for (size_t i = 0; i < n; i++) {
    run[i].status = CB_OK;
    run[i].limit = INT64_MAX;
    const cb_status status = cb_run_begin(run[i].run, run[i].sink);
    if (status) fail(&run[i], status);
  }
  go(t, run, n, stop);
}

/* Makes at most `steps` steps of at most MEMBERS_MAX runs without records. A run that has ended is left as it is. */
static void advance(cb_batch *t, cb_run *const *run, size_t n, int64_t steps, cb_status *status,
                    char (*text)[CB_RUN_TEXT]) {
  cb_sink none = {.self = NULL};
  cb_batch_member of[MEMBERS_MAX];
  size_t of_run[MEMBERS_MAX], count = 0;
  for (size_t i = 0; i < n; i++) {
    status[i] = CB_OK;
    if (run[i]->begun && cb_run_ended(run[i])) continue;
    const int64_t step = *run[i]->step;
    of[count] =
        (cb_batch_member){.run = run[i], .sink = &none, .limit = steps > INT64_MAX - step ? INT64_MAX : step + steps};
    of[count].status = run[i]->begun ? CB_OK : cb_run_begin(run[i], &none);
    if (of[count].status) fail(&of[count], of[count].status);
    of_run[count++] = i;
  }
  go(t, of, count, NULL);
  for (size_t i = 0; i < count; i++) {
    status[of_run[i]] = of[i].status;
    if (of[i].status) memcpy(text[of_run[i]], of[i].text, sizeof of[i].text);
  }
}

cb_status cb_runs_advance(cb_run *const *run, size_t n, int64_t steps, int threads, cb_status *status,
                          char (*text)[CB_RUN_TEXT]) {
  if (steps < 0) return cb_fail(CB_ERROR_ARGUMENT, "expected a number of steps >= 0, found %lld", (long long)steps);
  const size_t width = n ? cb_batch_width(run[0]) : 1, groups = (n + width - 1) / width;
  atomic_int lacking = 0;
  if (threads < 1) threads = cb_threads_for(CB_THREADS_MIN_ELEMENTS);
#pragma omp parallel num_threads(threads) if (threads > 1 && groups > 1)
  {
    cb_batch *t;
    const bool made = cb_batch_create(&t) == CB_OK;
    if (!made) atomic_store(&lacking, 1);
#pragma omp for schedule(dynamic, 1)
    for (size_t g = 0; g < groups; g++) {
      const size_t first = g * width, count = n - first < width ? n - first : width;
      if (made) advance(t, run + first, count, steps, status + first, text + first);
    }
    if (made) cb_batch_free(t);
  }
  return atomic_load(&lacking) ? cb_fail(CB_ERROR_MEMORY, "no memory for runs in lanes") : CB_OK;
}
