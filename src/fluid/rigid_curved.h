/* Steps of a body in a space of curvature K: on SO(4), SO+(3,1) (equations: rigid_step.h, curvebody/pose.h).
 *
 *   (dtau^-1_{hY})^T (K Y + mu0) = p_k + h/2 B F,  p_{k+1} = (dtau^-1_{-hY})^T (K Y + mu0) + h/2 B^T F
 * where s s = tau(h Y), s = T(y) B and F is the wrench in the middle g_k s: either half is carried along the geodesic
 * from the middle's origin to the node's, torque and force apart, as in flat space; the step is so symmetric in time.
 * The momentum is kept in the axes that T(x) carries along, world = R(q) momentum: from node to node it goes by Ad* of
 * the step's transvection and by the rotation that the product of poses has beyond those of its factors, both in twice
 * the precision, so that p.p + K l.l and l.p are kept to it at any distance; the place moves by what a step adds to
 * it, so that it, and the spatial momentum, are kept to round-off of what was moved. K and mu0 depend on the time
 * alone.
 */
#pragma once

#include "fluid/rigid_step.h"
#include "numerics/biquaternion.h"
#include <curvebody/pose.h>

cb_status cb_rigid_curved_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                     int *iterations);
cb_status cb_rigid_curved_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s);

/* What such a step cannot do: CB_ERROR_UNSUPPORTED. */
cb_status cb_rigid_curved_takes(const cb_rigid_problem *p);
/* CB_STEP_NO_CONVERGENCE where a step of twist Y turns the body by half a turn, or moves it half a great circle's
 * length, or more. */
cb_status cb_rigid_curved_far(double K, double h, double t, const double Y[6]);
/* The node g m of the state, whose momentum becomes Ad*_m (momentum + before) + after; before in the axes of the body
 * before, after in those after it. m: Q as a screw. */
void cb_rigid_curved_move(double K, cb_rigid_state *s, const cb_biquaternion *Q, const cb_screw *m,
                          const double before[6], const double after[6]);
