/* The fibre of a bundle over a shape that moves as a gait, as a run: the third kind of configuration space.
 *
 * The state is the group element with the length and cost so far; the shape is a function of time.
 */
#pragma once

#include "bundle/bundle_step.h"
#include "run/run_private.h"

/* What the path points to, and the integrator, are borrowed. start[group->size]: the element at the start. Observables:
 * cb_bundle_observables (NULL: connection, power). CB_ERROR_ARGUMENT for options out of range, an unknown observable. */
cb_status cb_run_create_bundle(const cb_bundle_path *path, const double *start, cb_integrator *integrator,
                               const cb_run_options *options, cb_run **out);
/* The state, borrowed; NULL for other runs. */
const cb_bundle_state *cb_run_bundle(const cb_run *run);

/* What a run along a fibre holds: shared by its files. */
struct cb_bundle_run {
  cb_bundle_path path;
  cb_integrator *integrator;
  cb_bundle_state state;
  int64_t step;
  /* what a row is made from */
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  double xi[CB_GROUP_DIM];
  bool metric; /* M is wanted */
};
typedef struct cb_bundle_run cb_bundle_run;

cb_status cb_bundle_run_layout(cb_run *run);
cb_status cb_bundle_run_measure(cb_run *run, const char **what);
