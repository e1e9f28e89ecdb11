/* Holonomy of gaits: the displacement of a body after one cycle of its shape.
 *
 *   g' = g xi,  xi = -A(r(t)) r'(t),  g(0) = 1,  t in [0, 1];   length = int sqrt(r'Mr') dt,   cost = int r'Mr' dt
 * r(t) is the gait, A and M are connection and cost metric of the bundle, and g is an element of its group. The
 * holonomy is g(1).
 * For users of bundles and gaits (curvebody/bundle.h, curvebody/gait.h). An element g is an array of b->group->size
 * numbers. CB_ERROR_ARGUMENT for a gait with another number of shape variables than the bundle.
 */
#ifndef CURVEBODY_HOLONOMY_H
#define CURVEBODY_HOLONOMY_H

#include <curvebody/gait.h>

CB_API_BEGIN

/* Computes the holonomy g, the length and the cost of a gait, by a Magnus integrator of order 6. g, length and cost may
 * be NULL. Steps end at breaks of the gait and of the bundle. They are halved until two results agree to the tolerance
 * `error` (0: round-off), or differ only by round-off of A and M. CB_ERROR_STEP if two results never agree;
 * CB_ERROR_ARGUMENT for an open gait; CB_STEP_SINGULAR if the bundle is singular at a shape, which the error text
 * gives. */
cb_status cb_holonomy(const cb_bundle *b, const cb_gait *gait, double error, double *g, double *length, double *cost);

/* order is 4 or 6; 0 means 6. error is the tolerance. step is the maximum length of a step before halving, as a part of
 * the cycle [0, 1]; 0: the steps are the pieces of the gait between its breaks. If step > 0 and error is 0, steps are
 * not halved. */
typedef struct cb_holonomy_options {
  int order;
  double error, step;
} cb_holonomy_options;
/* Does the same as cb_holonomy, with options. */
cb_status cb_holonomy_by(const cb_bundle *b, const cb_gait *gait, const cb_holonomy_options *options, double *g,
                         double *length, double *cost);
/* Computes the elements g[count][size] of the path in the group at the times t[count] >= 0, which ascend, with the
 * tolerance `error`. The gait may be open; then t must be at most 1. Other errors are as in cb_holonomy. */
cb_status cb_reconstruct(const cb_bundle *b, const cb_gait *gait, double error, int count, const double *t, double *g);
/* Computes the first variation y[dim] of the holonomy: for a small number eps the gait r + eps change has the holonomy
 * exp(eps y + O(eps^2)) g(1). `error` is the tolerance of y, as in cb_holonomy. CB_ERROR_ARGUMENT if one of the gaits
 * is open. */
cb_status cb_holonomy_variation(const cb_bundle *b, const cb_gait *gait, const cb_gait *change, double error,
                                double *y);
/* Computes the corrected body velocity integral cbvi[dim] = -int int B dr dr, where B is the curvature of the bundle,
 * over the cone from the gait to its mean shape. For small gaits this is the leading term of log g(1). It depends on
 * the body frame of the bundle, which is not changed here. CB_ERROR_ARGUMENT for a gait that is open or closed only up
 * to periods of shape variables; CB_STEP_NO_CONVERGENCE if B is singular on the cone. */
cb_status cb_body_velocity_integral(const cb_bundle *b, const cb_gait *gait, double *cbvi);

CB_API_END
#endif
