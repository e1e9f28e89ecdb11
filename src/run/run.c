/* The run loop: rows and checkpoints at fixed numbers of steps. */
#include "run/run_private.h"

#include <curvebody/contact.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROWS_A_CHECKPOINT = 256, FEWEST_ROWS_A_CHECKPOINT = 8, NUMBERS_A_CHECKPOINT = 1 << 24 };

/* How many whole steps, and what is left: end - start counts as a multiple of h up to the round-off of the three
 * numbers. */
static cb_status count_steps(cb_run *run) {
  const cb_run_options *o = &run->options;
  if (!(o->step > 0) || !isfinite(o->step)) return cb_fail(CB_ERROR_ARGUMENT, "step %g is not positive", o->step);
  if (!isfinite(o->start) || !isfinite(o->end) || o->end < o->start)
    return cb_fail(CB_ERROR_ARGUMENT, "end %g lies before start %g", o->end, o->start);
  if (o->every < 1 || o->checkpoint < 0 || o->retries < 0)
    return cb_fail(CB_ERROR_ARGUMENT, "every %lld, checkpoint %lld or retries %d is out of range", (long long)o->every,
                   (long long)o->checkpoint, o->retries);
  const double steps = (o->end - o->start) / o->step;
  if (steps > 9e15) return cb_fail(CB_ERROR_ARGUMENT, "%g steps are too many", steps);
  const double whole = round(steps);
  if (fabs(steps - whole) <= 1e-9 * fmax(1, whole * 1e-3)) {
    run->full_steps = (int64_t)whole;
    run->last_step = 0;
  } else {
    run->full_steps = (int64_t)floor(steps);
    run->last_step = o->end - (o->start + (double)run->full_steps * o->step);
  }
  return CB_OK;
}

cb_status cb_run_create(const cb_system *system, cb_integrator *integrator, const cb_run_options *options,
                        cb_run **out) {
  cb_arena *arena = cb_arena_create();
  cb_run *run = arena ? cb_arena_alloc(arena, 1, sizeof *run) : NULL;
  if (!run) return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for a run");
  run->arena = arena;
  run->system = system;
  run->integrator = integrator;
  run->options = *options;
  const cb_geometry *g = cb_system_space(system);
  const size_t n = (size_t)cb_system_particles(system);
  if (run->options.checkpoint == 0) {
    const size_t rows = NUMBERS_A_CHECKPOINT / (n * (size_t)g->k);
    run->options.checkpoint = rows > MOST_ROWS_A_CHECKPOINT     ? MOST_ROWS_A_CHECKPOINT
                              : rows < FEWEST_ROWS_A_CHECKPOINT ? FEWEST_ROWS_A_CHECKPOINT
                                                                : (int64_t)rows;
  }
  run->measure = (cb_measure){.system = system, .space = g, .integrator = integrator, .chart = options->chart};
  run->measure.points = cb_arena_alloc(arena, n * (size_t)g->embedding, sizeof(double));
  cb_status status = run->measure.points ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a run of %zu particles", n);
  if (!status) status = count_steps(run);
  if (!status) status = cb_state_create(system, &run->state);
  if (!status) status = cb_state_create(system, &run->spare);
  if (!status) status = cb_system_start(system, run->state);
  if (!status) status = cb_forces_set_origins(integrator->forces, run->state->origin);
  if (!status) status = cb_run_project_start(run);
  if (!status && cb_system_contacts(system)) status = cb_contacts_create(system, integrator, &run->contacts);
  if (!status && run->contacts) {
    run->state->t = options->start;
    status = cb_contacts_check_start(run->contacts, run->state);
  }
  if (!status) status = cb_run_make_layout(run);
  if (status) return cb_run_free(run), status;
  run->state->t = options->start;
  run->measure.state = run->state;
  *out = run;
  return CB_OK;
}

void cb_run_free(cb_run *run) {
  if (!run) return;
  cb_state_free(run->state);
  cb_state_free(run->spare);
  cb_contacts_free(run->contacts);
  cb_measure_rows_free(&run->measure);
  cb_arena_free(run->arena);
}

cb_record_layout *cb_run_layout(cb_run *run) { return &run->layout; }
double cb_run_end(const cb_run *run) { return run->options.end; }
double cb_run_step(const cb_run *run) { return run->options.step; }
const cb_state *cb_run_current(const cb_run *run) { return run->state; }

cb_blob *cb_run_state(cb_run *run, size_t *count) {
  *count = CB_RUN_BLOBS;
  return run->blob;
}

cb_status cb_run_restore(cb_run *run) {
  run->state->t = run->times[0];
  run->state->t_low = run->times[1];
  run->restored = true;
  cb_integrator_reset(run->integrator);
  return cb_forces_set_origins(run->integrator->forces, run->state->origin);
}

/* A state that cannot be measured ends the run as a failed step does. */
static cb_status cannot_measure(const cb_run *run, cb_status status, const char *what) {
  char cause[1024];
  strncpy(cause, cb_error_text(), sizeof cause - 1);
  cause[sizeof cause - 1] = 0;
  return cb_fail(CB_ERROR_STEP, "%s at time %.17g, step %lld: cannot record /%s: %s", cb_status_name(status),
                 run->state->t, (long long)run->state->step, what, cause);
}

static cb_status write_row(cb_run *run, cb_sink *sink) {
  run->measure.step_size = run->step_size;
  cb_status status = run->measures_energy ? cb_measure_energy(&run->measure) : CB_OK;
  if (status) return cannot_measure(run, status, "energy");
  if (run->measures_constraints && (status = cb_measure_rows(&run->measure)))
    return cannot_measure(run, status, "multiplier");
  for (int f = 0; f < run->n_fields; f++)
    if ((status = run->observable[f]->evaluate(&run->measure, run->value[f])))
      return cannot_measure(run, status, run->field[f].name);
  return sink->row(sink->self, run->row);
}

static cb_status write_checkpoint(cb_run *run, cb_sink *sink) {
  run->times[0] = run->state->t;
  run->times[1] = run->state->t_low;
  cb_integrator_reset(run->integrator);
  return sink->checkpoint(sink->self, run->blob, CB_RUN_BLOBS);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cb_status cb_run_go(cb_run *run, cb_sink *sink, void (*progress)(void *user, const cb_progress *p), void *user,
                    const volatile sig_atomic_t *stop) {
  const cb_run_options *o = &run->options;
  cb_state *state = run->state;
  const int64_t total = run->full_steps + (run->last_step > 0);
  cb_status status = CB_OK;
  /* the checkpoint comes first, so that a run killed at any later moment can be resumed */
  if (!run->restored) {
    status = cb_run_recentre(run);
    if (!status) status = write_checkpoint(run, sink);
  }
  if (!status && state->step == 0) {
    run->step_size = 0;
    status = write_row(run, sink);
  }
  run->step_size = o->step;
  const double begin = now();
  const int64_t first = state->step;
  double last = begin;
  run->stopped = false;
  while (!status && state->step < total && !run->stopped) {
    if (stop && *stop)
      return cb_fail(CB_ERROR_INTERRUPTED, "interrupted at time %.17g, step %lld", state->t, (long long)state->step);
    const double h = state->step < run->full_steps ? o->step : run->last_step;
    status = cb_run_advance(run, sink, h);
    if (!status) status = cb_run_recentre(run);
    if (status) break;
    const bool ends = state->step == total || run->stopped;
    if (state->step % o->every == 0 || ends) status = write_row(run, sink);
    if (!status && !ends && state->step % (o->every * o->checkpoint) == 0) status = write_checkpoint(run, sink);
    if (progress && (state->step & 15) == 0) {
      const double time = now();
      if (time - last >= 0.2) {
        last = time;
        progress(user, &(cb_progress){state->t, o->start, o->end, state->step,
                                      (double)(state->step - first) / (time - begin)});
      }
    }
  }
  return status;
}
