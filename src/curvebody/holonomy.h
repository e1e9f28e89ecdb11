/* Holonomy of gaits: the displacement of a body after one cycle of its shape.
 *
 *   g' = g xi, xi = -A(r(t)) r'(t), g(0) = 1, t in [0, 1];   length = int sqrt(r'Mr') dt,   cost = int r'Mr' dt
 * r(t): the gait; A, M: connection and cost metric of the bundle; g: element of its group.
 * For users of bundles and gaits (curvebody/bundle.h, curvebody/gait.h). Elements are group->size numbers.
 */
#ifndef CURVEBODY_HOLONOMY_H
#define CURVEBODY_HOLONOMY_H

#include <curvebody/gait.h>

CB_API_BEGIN

/* Computes the holonomy g(1) of g' = g xi, xi = -A(r(t)) r'(t), g(0) = 1, with tolerance `error` (0: round-off), by a
 * Magnus integrator of order 6. Steps end at breaks of the gait and of the bundle and are halved until two results
 * agree, or differ only by round-off of A and M. Also length = int sqrt(r'Mr') dt and cost = int r'Mr' dt (may be
 * NULL). CB_ERROR_STEP if the results do not agree. CB_ERROR_ARGUMENT for a gait with another number of variables and
 * for an open gait; CB_STEP_SINGULAR with the shape. */
cb_status cb_holonomy(const cb_bundle *b, const cb_gait *gait, double error, double *g, double *length, double *cost);

/* order 4 or 6 (0: 6). step: maximum length of the first steps, in the gait's time; 0: the pieces of the gait. With a
 * step and without an error tolerance, the plain integrator makes these steps and halves none. */
typedef struct cb_holonomy_options {
  int order;
  double error, step;
} cb_holonomy_options;
cb_status cb_holonomy_by(const cb_bundle *b, const cb_gait *gait, const cb_holonomy_options *options, double *g,
                         double *length, double *cost);
/* Computes the path in the group at times t[count], which ascend from 0, row by row of group->size numbers; for an open
 * gait t must be at most 1. Errors as in cb_holonomy. */
cb_status cb_reconstruct(const cb_bundle *b, const cb_gait *gait, double error, int count, const double *t, double *g);
/* Computes the first variation y[dim]: the closed gait r + eps change has the holonomy exp(eps y + O(eps^2)) g(1); y
 * has the tolerance `error` as in cb_holonomy. CB_ERROR_ARGUMENT if `change` is open. */
cb_status cb_holonomy_variation(const cb_bundle *b, const cb_gait *gait, const cb_gait *change, double error,
                                double *y);
/* Computes the corrected body velocity integral, -int int B dr dr over the cone from the loop to its mean shape, the
 * leading term of log g(1) for small loops, in the coordinates of the bundle as given. CB_ERROR_ARGUMENT for a gait
 * that is open or closed only up to periods; CB_STEP_NO_CONVERGENCE if the curvature is singular within the loop. */
cb_status cb_body_velocity_integral(const cb_bundle *b, const cb_gait *gait, double *cbvi);

CB_API_END
#endif
