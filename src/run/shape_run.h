/* A run of shape variables that move by themselves in a bundle (bundle/shape_motion.h). */
#pragma once

#include "bundle/shape_motion.h"
#include "run/run_private.h"

/* Creates a run. The integrator and everything that the problem points to are borrowed. start: the state at the start,
 * with its momenta, and its time, which is that of the options. Observables are names in cb_bundle_observables (NULL:
 * energy, momentum with inertia, effort and work). CB_ERROR_ARGUMENT if an option is out of range, or if an observable
 * is unknown or not available. */
cb_status cb_run_create_shape(const cb_shape_problem *problem, const cb_shape_state *start, cb_integrator *integrator,
                              const cb_run_options *options, cb_run **out);
