/* Steps of a body on SE(3) with momentum mu = K(t) Y + mu0(t) under wrenches: Hamilton–Pontryagin and RKMK4 (in curved
 * spaces: rigid_curved.h).
 *
 *   g' = g Y,  mu' = ad*_Y mu + F,  mu = K Y + mu0
 *   hamilton_pontryagin, with the momentum p at the nodes, s s = tau(h Y), and K, mu0, F at (t_k + h/2, g_k s, Y):
 *     g_{k+1} = g_k tau(h Y)
 *     (dtau^-1_{hY})^T (K Y + mu0) = p_k + h/2 F + h (1 + Ad_s)^-T G     Newton's method on the six unknowns Y
 *     p_{k+1} = (dtau^-1_{-hY})^T (K Y + mu0) + h/2 F + h (1 + Ad_s^-1)^-T G
 *   where F is turned to the node's axes (about the node's origin), so that a force of the world gives the world's
 *   momentum h F exactly, and a body that falls and glides without spin stays on the exact parabola; and G, the
 *   <dK/dg Y, Y>/2 + <dmu0/dg, Y> of K and mu0 that depend on the place, is what the action h L(g_k s, Y) gives to its
 *   ends: without it so shared the energy drifts. Between two steps
 *   this is (dtau^-1_{hY_{k+1}})^T mu_{k+1} - (dtau^-1_{-hY_k})^T mu_k = h F, averaged; at the start
 *   (dtau^-1_{hY_1})^T mu_1 = mu(0) + h F/2. Second order, symmetric in time.
 *   rkmk4   Munthe-Kaas's Runge–Kutta method of order 4 on (g, momentum) with the exponential; it turns a body that
 *           falls and glides without spin by O(h^5) a step
 * The momentum is kept in the world's axes, about the body frame's origin there: l' = -x' × P + torque, P' = force.
 * Without forces Ad*_{g_k^-1} p_k is so kept to round-off however far the body goes; for the map tln, which does not
 * keep it, p_{k+1} above is what counts.
 * Source: "Going with the Flow" (see README), algorithm 1, corrected; Bou-Rabee & Marsden (2009),
 * doi:10.1007/s10208-008-9030-4; Munthe-Kaas, Appl. Numer. Math. 29 (1999) 115, doi:10.1016/S0168-9274(98)00030-0.
 */
#pragma once

#include <curvebody/rigid.h>
#include "numerics/vec6.h"

/* One step of length h (either sign). Newton's method begins at the polynomial through the twists of the last steps of
 * the same length and keeps its first matrix as long as it converges fast with it: dF is asked for once, as a rule.
 * The state is untouched on failure: CB_STEP_NO_CONVERGENCE, CB_STEP_SINGULAR (K or Newton's matrix),
 * CB_STEP_NOT_FINITE, or what the problem's functions return. iterations: of Newton's method (NULL).
 * A step, and each stage of rkmk4, turns the body by less than half a turn: CB_STEP_NO_CONVERGENCE. */
cb_status cb_rigid_step_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                   int *iterations);
cb_status cb_rigid_step_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s);

/* What the steps on SE(3) share. */

/* L U of a matrix, its rows in the order of pivots: pivots are inverted. */
typedef struct cb_factors6 {
  double m[6][6];
  int row[6];
} cb_factors6;

/* False: a pivot is below 1e-14 where angular and linear units are such that the largest entry of either diagonal block
 * is 1. */
bool cb_factor6(const double m[6][6], cb_factors6 *out);
/* m x = b */
void cb_back6(const cb_factors6 *f, const double b[6], double x[6]);
/* The same for count right-hand sides, by rows: b[6][count] becomes x. */
bool cb_solve6(const double m[6][6], int count, double *b);
static inline bool cb_finite6(const double a[6]) {
  double zero = 0; /* or not a number */
  for (int i = 0; i < 6; i++) zero += a[i] - a[i];
  return zero == 0;
}
/* CB_STEP_NO_CONVERGENCE where the exponential of a step turns by `angle`, half a turn or more. */
cb_status cb_rigid_half_turn(double h, double t, double angle);
/* sqrt |<K a, a>|: compares angular with linear parts */
double cb_rigid_size(const double K[6][6], const double a[6]);
/* The polynomial through the twists of the steps before that were as long: the sum of their backward differences up to
 * the smallest, by angular and linear part. */
void cb_rigid_guess(const cb_rigid_state *s, double h, double Y[6]);
/* Y is that of a step of length h. */
void cb_rigid_remember(cb_rigid_state *s, double h, const double Y[6]);
