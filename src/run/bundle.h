/* The fibre of a bundle over a shape that moves as a gait, as a run: the third kind of configuration space.
 *
 * The state is the group element with the length and cost so far; the shape is a function of time.
 */
#ifndef CB_RUN_BUNDLE_H
#define CB_RUN_BUNDLE_H

#include "bundle/bundle_step.h"
#include <curvebody/run.h>

/* What the path points to, and the integrator, are borrowed. start[group->size]: the element at the start. Observables:
 * cb_bundle_observables (NULL: connection, power). CB_ERROR_ARGUMENT for options out of range, an unknown observable. */
cb_status cb_run_create_bundle(const cb_bundle_path *path, const double *start, cb_integrator *integrator,
                               const cb_run_options *options, cb_run **out);
/* The state, borrowed; NULL for other runs. */
const cb_bundle_state *cb_run_bundle(const cb_run *run);

#endif
