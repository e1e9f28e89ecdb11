/* A run along the fibre of a bundle over a shape that a gait prescribes.
 *
 * The state consists of the group element and of the length and cost since the start; the shape is a function of
 * time. */
#pragma once

#include "bundle/shape_motion.h"
#include "bundle/bundle_private.h"
#include "run/run_private.h"

/* Creates a run along the fibre. The integrator and everything that the path points to are borrowed.
 * start[group->size]: the group element at the start. Observables are names in cb_bundle_observables (NULL: connection
 * and power). Returns CB_ERROR_ARGUMENT if an option is out of range, if an observable is unknown or not available, or
 * if the gait does not have the number of shape variables of the bundle. */
cb_status cb_run_create_bundle(const cb_bundle_path *path, const double *start, cb_integrator *integrator,
                               const cb_run_options *options, cb_run **out);
/* Returns the state of a run along a fibre, borrowed; NULL for runs of other classes. */
const cb_bundle_state *cb_run_bundle(const cb_run *run);

/* The data of a run along a fibre. */
struct cb_bundle_run {
  cb_bundle_path path;
  cb_integrator *integrator;
  cb_bundle_state state;
  int64_t step;
  /* the quantities from which the fields of a row are computed */
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  double xi[CB_GROUP_DIM], carried[CB_GROUP_DIM]; /* carried: the part of xi that comes from the flow */
  bool strained;                                  /* the flow has a strain */
  bool metric;                                    /* M is computed, because it is recorded */
};
typedef struct cb_bundle_run cb_bundle_run;

static inline cb_bundle_run *cb_bundle_run_of(const cb_run *run) { return run->own; }

/* These functions are for runs whose data begin with a cb_bundle_run. cb_bundle_dimensions adds the dimensions of the
 * record; cb_fill_bundle_... fill fields (cb_observable.fill). */
cb_status cb_bundle_dimensions(cb_run *run);
CB_FILL(cb_fill_bundle_curvature);
CB_FILL(cb_fill_bundle_power);
CB_FILL(cb_fill_bundle_plot);

/* --- runs of shape variables that move by themselves in a bundle (bundle/shape_motion.h) --- */

/* Creates a run. The integrator and everything that the problem points to are borrowed. start: the state at the start,
 * with its momenta; its time must be the start time of the options. Observables are names in cb_bundle_observables
 * (NULL: energy, momentum with inertia, effort and work). Returns CB_ERROR_ARGUMENT if an option is out of range, or if
 * an observable is unknown or not available. */
cb_status cb_run_create_shape(const cb_shape_problem *problem, const cb_shape_state *start, cb_integrator *integrator,
                              const cb_run_options *options, cb_run **out);
