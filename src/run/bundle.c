/* A run along the fibre of a bundle: its state and its steps. */
#include "run/bundle.h"

#include "numerics/compensated.h"

#include <string.h>

static void forget(cb_run *run) { cb_integrator_reset(run->bundle->integrator); }

static cb_status restored(cb_run *run) {
  forget(run);
  return CB_OK;
}

static void free_(cb_run *run) { (void)run; }

/* A step that fails is not tried in halves: they would step over what is singular. */
static cb_status step(cb_run *run, cb_sink *sink, double h) {
  cb_bundle_run *f = run->bundle;
  (void)sink;
  const cb_status status = cb_integrator_step(f->integrator, &f->state, h);
  if (status < 0)
    return cb_fail(status, "at time %.17g, step %lld: %s", f->state.t, (long long)f->step, cb_error_text());
  if (status)
    return cb_fail(CB_ERROR_STEP,
                   "%s at time %.17g, step %lld: %s (step %g); try a gait that keeps away from this shape",
                   status == CB_STEP_SINGULAR ? "singular shape" : cb_status_name(status), f->state.t,
                   (long long)f->step, cb_error_text(), h);
  run->step_size = h;
  cb_compensated_add_one(&f->state.t, &f->state.t_low, h);
  f->step++;
  return CB_OK;
}

static const cb_run_class class = {NULL, step, cb_bundle_run_measure, NULL, forget, restored, free_, NULL};

cb_status cb_run_create_bundle(const cb_bundle_path *path, const double *start, cb_integrator *integrator,
                               const cb_run_options *options, cb_run **out) {
  cb_run *run;
  if (!(path->period > 0)) return cb_fail(CB_ERROR_ARGUMENT, "a gait of period %g", path->period);
  if (cb_gait_variables(path->gait) != path->bundle->n)
    return cb_fail(CB_ERROR_ARGUMENT, "a gait of %d shape variables in bundle %s, which has %d",
                   cb_gait_variables(path->gait), path->bundle->kind->name, path->bundle->n);
  cb_status status = cb_run_new(&class, options, sizeof(cb_bundle_state) / sizeof(double), &run);
  if (status) return status;
  cb_bundle_run *f = run->bundle = cb_arena_alloc(run->arena, 1, sizeof *f);
  if (!f) {
    cb_run_free(run);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a run");
  }
  f->path = *path;
  f->integrator = integrator;
  integrator->problem = &f->path;
  f->state.t = options->start;
  memcpy(f->state.g, start, (size_t)path->bundle->group->size * sizeof *start);
  run->t = &f->state.t;
  run->t_low = &f->state.t_low;
  run->step = &f->step;
  run->iterations = &integrator->iterations;
  status = cb_bundle_run_layout(run);
  if (status) return cb_run_free(run), status;
  *out = run;
  return CB_OK;
}

const cb_bundle_state *cb_run_bundle(const cb_run *run) { return run->kind == &class ? &run->bundle->state : NULL; }
