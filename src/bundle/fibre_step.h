/* A step by Magnus's method along the fibre of a bundle (curvebody/fibre.h), cut at the breaks of the gait and of the
 * bundle, so that it keeps its order there. */
#ifndef CB_BUNDLE_FIBRE_STEP_H
#define CB_BUNDLE_FIBRE_STEP_H

#include <curvebody/fibre.h>

/* What a way along a gait adds up to. */
typedef struct cb_fibre_sum {
  double g[CB_GROUP_SIZE], length, cost;
} cb_fibre_sum;

/* holonomy.c. *total and *steps go on along the gait from time t to `end`, which no break of the gait lies between, by the
 * Magnus method of order 4 or 6: between breaks of the bundle once (error 0), or to this error on a cycle. */
cb_status cb_fibre_along(const cb_bundle *b, const cb_gait *gait, int order, double error, double t, double end,
                         cb_fibre_sum *total, int *steps);

/* One step of h seconds by the Magnus method of order 4 or 6, once (error 0), or as cb_holonomy does to `error` on a
 * cycle. The time is left to the caller. steps: that were taken. CB_STEP_SINGULAR, CB_STEP_DOMAIN with the shape;
 * CB_STEP_NO_CONVERGENCE where the error is not met. */
cb_status cb_fibre_step(const cb_fibre_path *p, int order, double error, double h, cb_fibre_state *s, int *steps);

#endif
