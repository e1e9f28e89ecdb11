/* Holonomy of gaits: how far a body has come when its shape is back.
 *
 *   g' = g xi, xi = -A(r(t)) r'(t), g(0) = 1, t in [0, 1];   length = int sqrt(r'Mr') dt,   cost = int r'Mr' dt
 * For users of bundles and gaits (curvebody/bundle.h, curvebody/gait.h). Elements are group->size numbers.
 */
#ifndef CURVEBODY_HOLONOMY_H
#define CURVEBODY_HOLONOMY_H

#include <curvebody/gait.h>

CB_API_BEGIN

/* The holonomy g(1) of g' = g xi, xi = -A(r(t)) r'(t), g(0) = 1, to `error` (0: round-off), by a Magnus method of order
 * 6 on steps that end at breaks of the gait and of the bundle, halved until two agree, or until they differ by
 * round-off of A and M; and length = int sqrt(r'Mr') dt, cost = int r'Mr' dt (NULL). CB_ERROR_STEP where they do not.
 * CB_ERROR_ARGUMENT for another number of variables and for an open gait; CB_STEP_SINGULAR with the shape. */
cb_status cb_holonomy(const cb_bundle *b, const cb_gait *gait, double error, double *g, double *length, double *cost);

/* order 4 or 6 (0: 6). step 0: the gait's own, else none is longer, in the gait's time. A step and no error: the plain
 * method on such steps, none halved. */
typedef struct cb_holonomy_options {
  int order;
  double error, step;
} cb_holonomy_options;
cb_status cb_holonomy_by(const cb_bundle *b, const cb_gait *gait, const cb_holonomy_options *options, double *g,
                         double *length, double *cost);
/* The group's path at t[count], row by row of group->size; an open gait has one for t up to 1. */
cb_status cb_reconstruct(const cb_bundle *b, const cb_gait *gait, double error, int count, const double *t, double *g);
/* First variation: the gait r + eps change, closed, has the holonomy exp(eps y + O(eps^2)) g(1); y[dim] to `error` as
 * above. */
cb_status cb_holonomy_variation(const cb_bundle *b, const cb_gait *gait, const cb_gait *change, double error,
                                double *y);
/* Corrected body velocity integral: -int int B dr dr over the loop in a plane of two variables (first order), in the
 * coordinates of the bundle as it is. CB_ERROR_ARGUMENT for a gait that closes by whole periods only. */
cb_status cb_body_velocity_integral(const cb_bundle *b, const cb_gait *gait, double *cbvi);

CB_API_END
#endif
