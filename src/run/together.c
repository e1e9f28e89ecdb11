#include "run/together.h"

#include "dynamics/antipodes.h"
#include "integrators/lanes.h"
#include "run/particles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = CB_LANES_MOST };

struct cb_together {
  cb_lanes *lanes; /* NULL: of nothing yet */
};

cb_status cb_together_create(cb_together **out) {
  *out = calloc(1, sizeof **out);
  return *out ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for runs in lanes");
}

void cb_together_free(cb_together *t) {
  if (!t) return;
  cb_lanes_free(t->lanes);
  free(t);
}

static cb_integrator *method_of(const cb_run *run) { return run->particles->integrator; }

/* Runs of particles that nothing but a step changes. */
static bool serves(const cb_run *run) {
  if (!cb_run_current(run)) return false;
  const cb_particles *p = run->particles;
  return !p->contacts && !p->falling && cb_lanes_serve(p->integrator);
}

size_t cb_together_width(const cb_run *run) { return serves(run) ? cb_lanes_width() : 1; }

static void fail(cb_together_run *r, cb_status status) {
  r->status = status;
  snprintf(r->text, sizeof r->text, "%s", cb_error_text());
}

static bool is_going(const cb_together_run *r) {
  return !r->status && *r->run->step < cb_run_total(r->run) && !r->run->stopped;
}

/* Steps that a run may make before something other than a step is to be done; 0: it goes by itself. */
static int64_t free_steps(const cb_run *run) {
  if (!serves(run) || !cb_lanes_ready(method_of(run), run->options.step)) return 0;
  if (cb_antipodes_near(run->particles->system, run->particles->state)) return 0; /* its steps are checked */
  const int64_t step = *run->step, to_row = run->options.every - step % run->options.every,
                left = run->full_steps - step;
  return to_row < left ? to_row : left;
}

static void alone(cb_together_run *r, const volatile sig_atomic_t *stop) {
  const cb_status status = stop && *stop ? cb_run_interrupted(r->run) : cb_run_once(r->run, r->sink);
  if (status) fail(r, status);
}

/* The runs of a group, as the lanes see them. */
typedef struct group {
  cb_lanes *lanes;
  cb_together_run **run;
  size_t n;
} group;

static void load(const group *g, size_t i) {
  const cb_run *run = g->run[i]->run;
  cb_lanes_load(g->lanes, i, method_of(run), run->particles->state, run->options.step);
}

static void store(const group *g, size_t i, bool history, bool failed) {
  const cb_run *run = g->run[i]->run;
  cb_lanes_store(g->lanes, i, method_of(run), run->particles->state, history, failed);
}

/* Steps that all of them can make before a row. */
static int64_t steps_to_row(const group *g) {
  int64_t most = INT64_MAX;
  for (size_t i = 0; i < g->n; i++) {
    const cb_run *r = g->run[i]->run;
    const int64_t to_row = r->options.every - *r->step % r->options.every, left = r->full_steps - *r->step;
    if (to_row < most) most = to_row;
    if (left < most) most = left;
  }
  return most;
}

/* Whether the run goes on in its lane after the step in hand: not beyond full steps, nor a checkpoint, at which
 * histories end. */
static bool stays(const cb_run *r) {
  return *r->step < r->full_steps && *r->step % (r->options.every * r->options.checkpoint) != 0;
}

/* What is due after a step of run i; whether the lanes go on as they are. */
static bool settle(const group *g, size_t i, cb_lanes_step step, bool all_stay) {
  cb_together_run *of = g->run[i];
  const unsigned bit = 1u << i;
  const bool failed = step.failed & bit, drifted = step.drifted & bit,
             row = *of->run->step % of->run->options.every == 0;
  if (!failed && !drifted && !row && all_stay) return true;
  store(g, i, !all_stay || drifted, failed);
  if (failed) return alone(of, NULL), false; /* with its retries, and what there is to be told */
  cb_status status = drifted ? cb_particles_recentre(of->run) : CB_OK;
  if (!status && drifted && all_stay) load(g, i);
  if (!status) status = cb_run_stepped(of->run, of->sink);
  if (status) fail(of, status);
  return !status;
}

/* Steps until one of them has to go by itself. */
static void step_group(const group *g, const volatile sig_atomic_t *stop) {
  cb_lanes_begin(g->lanes, g->n);
  for (size_t i = 0; i < g->n; i++) load(g, i);
  for (bool on = true; on;) {
    cb_lanes_step step = {0};
    for (int64_t most = steps_to_row(g); most > 0 && !(step.leave | step.drifted); most--) {
      step = cb_lanes_go(g->lanes);
      for (size_t i = 0; i < g->n; i++) {
        if (step.failed >> i & 1) continue;
        ++*g->run[i]->run->step;
        g->run[i]->run->step_size = g->run[i]->run->options.step;
      }
    }
    on = !step.leave && !(stop && *stop);
    for (size_t i = 0; i < g->n && on; i++) on = stays(g->run[i]->run);
    const bool all_stay = on;
    for (size_t i = 0; i < g->n; i++) on = settle(g, i, step, all_stay) && on;
    if (all_stay && !on) /* a failure of one: the others have their histories still in the lanes */
      for (size_t i = 0; i < g->n; i++) store(g, i, true, false);
  }
}

/* The runs that may be stepped together with the first one that may. */
static size_t gather(cb_together_run *run, size_t n, cb_together_run **of) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    if (!is_going(&run[i]) || free_steps(run[i].run) < 1) continue;
    if (!count || cb_lanes_agree(method_of(of[0]->run), method_of(run[i].run))) of[count++] = &run[i];
  }
  return count;
}

/* All that cannot go with others make a step; then a group goes as far as it can. */
static bool turn(cb_together *t, cb_together_run *run, size_t n, const volatile sig_atomic_t *stop) {
  cb_together_run *of[MOST];
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    if (!is_going(&run[i]) || (free_steps(run[i].run) > 0 && !(stop && *stop))) continue;
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

void cb_together_go(cb_together *t, cb_together_run *run, size_t n, const volatile sig_atomic_t *stop) {
  for (size_t i = 0; i < n; i++) {
    run[i].status = CB_OK;
    const cb_status status = cb_run_begin(run[i].run, run[i].sink);
    if (status) fail(&run[i], status);
  }
  while (turn(t, run, n, stop)) continue;
  for (size_t i = 0; i < n; i++) {
    const cb_status warned = cb_run_warn_of_change(run[i].run);
    if (!run[i].status && warned) fail(&run[i], warned);
  }
}
