/* A step by Magnus's method along the fibre of a bundle (curvebody/bundle_path.h), cut at the breaks of the gait and of
 * the bundle, so that it keeps its order there. */
#pragma once

#include <curvebody/bundle_path.h>

/* What a way along a gait adds up to. */
typedef struct cb_bundle_sum {
  double g[CB_GROUP_SIZE], length, cost;
} cb_bundle_sum;

/* holonomy.c. *total and *steps go on along the gait from time t to `end`, which no break of the gait lies between, by
 * the Magnus method of order 4 or 6: between breaks of the bundle once (error 0), or to this error on a cycle. */
cb_status cb_bundle_along(const cb_bundle *b, const cb_gait *gait, int order, double error, double t, double end,
                          cb_bundle_sum *total, int *steps);

/* holonomy.c. CB_STEP_SINGULAR with the shape where the way along a gait, closed or not, does not settle to this error,
 * as at a pole of A r'. is_line: the gait goes along a line and back, and only the way there is looked at, whose times
 * mean nothing. */
cb_status cb_bundle_has_no_poles(const cb_bundle *b, const cb_gait *gait, double error, bool is_line);

/* One step of h seconds by the Magnus method of order 4 or 6, once (error 0), or as cb_holonomy does to `error` on a
 * cycle. The time is left to the caller. steps: that were taken. CB_STEP_SINGULAR, CB_STEP_DOMAIN with the shape;
 * CB_STEP_NO_CONVERGENCE where the error is not met. */
cb_status cb_bundle_step(const cb_bundle_path *p, int order, double error, double h, cb_bundle_state *s, int *steps);
