/* Steps of a body on SE(3) with momentum mu = K(t) Y + mu0(t) under wrenches: Hamilton–Pontryagin and RKMK4.
 *
 *   g' = g Y,  mu' = ad*_Y mu + F,  mu = K Y + mu0
 *   hamilton_pontryagin, with the momentum p at the nodes, s s = tau(h Y), and K, mu0, F at (t_k + h/2, g_k s, Y):
 *     g_{k+1} = g_k tau(h Y)
 *     (dtau^-1_{hY})^T (K Y + mu0) = p_k + h/2 F             Newton's method on the six unknowns Y
 *     p_{k+1} = (dtau^-1_{-hY})^T (K Y + mu0) + h/2 F
 *   where F is turned to the node's axes (about the node's origin), so that a force of the world gives the world's
 *   momentum h F exactly, and a body that falls and glides without spin stays on the exact parabola. Between two steps
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
#ifndef CB_FLUID_RIGID_STEP_H
#define CB_FLUID_RIGID_STEP_H

#include "numerics/se3.h"
#include <curvebody/status.h>
#include <stdbool.h>

/* What moves: all in the body frame, at pose g and time t. Wrenches add up; derivatives are 0 on entry. */
typedef struct cb_rigid_problem {
  void *self;
  /* K(t, g) and mu0(t, g). */
  cb_status (*inertia)(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]);
  /* Where inertia, and then wrench with dF, will be asked for next: what they share may be found at once. NULL: no
   * use. */
  void (*expect)(void *self, double t, const cb_pose *g, const double Y[6]);
  bool pose_dependent; /* K or mu0 depends on g: inertia is then called at every iteration */
  /* <dK/dg Y, Y>/2 and <dmu0/dg, Y> as a wrench, with its derivative in Y (NULL: not wanted); NULL: there are none. */
  cb_status (*inertia_wrench)(void *self, double t, const cb_pose *g, const double Y[6], double wrench[6],
                              double dwrench[6][6]);
  /* F(t, g, Y), with dF/dY (NULL: not wanted); NULL: no forces. */
  cb_status (*wrench)(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]);
  /* Derivatives of K Y + mu0 and of the sum of the wrenches along g (1 + hat(xi)), for Newton's method; or NULL: its
   * iteration then converges by a factor of order h (dmu/dxi, h dF/dxi)/K a time. */
  cb_status (*pose_derivative)(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                               double dF[6][6]);
  bool exact; /* all derivatives are: where the first change is small, no second residual is asked for */
} cb_rigid_problem;

enum { CB_RIGID_EARLIER = 6 };

/* All of what a step needs: plain numbers, so that a copy continues with the same bits. */
typedef struct cb_rigid_state {
  double t;
  cb_pose g;
  double x_low[3];                 /* g.x + x_low is the position */
  double world[6], world_low[6];   /* momentum in the world's axes about the body frame's origin, at t */
  double Y[6];                     /* hamilton_pontryagin: of the last step (its middle); rkmk4 and a start: at t */
  double mu[6];                    /* K Y + mu0 there */
  double momentum[6];              /* node momentum in the body frame at t */
  double turn;                     /* hamilton_pontryagin: of the last step, the angle that it errs by the square of */
  /* hamilton_pontryagin's guess of the next twist: how many steps of length h went before, as far as they are kept (Y
   * and earlier), Y of those before Y. */
  double length, known, earlier[CB_RIGID_EARLIER][6];
} cb_rigid_state;

/* The state at g, t moving with twist Y (0: at rest). CB_STEP_NOT_FINITE where K or mu0 is not. */
cb_status cb_rigid_start(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], cb_rigid_state *s);
/* The twist at the node: K Y + mu0 = momentum at (t, g). CB_STEP_SINGULAR, CB_STEP_NOT_FINITE. */
cb_status cb_rigid_twist(const cb_rigid_problem *p, const cb_rigid_state *s, double Y[6]);
/* One step of length h (either sign). Newton's method begins at the polynomial through the twists of the last steps of
 * the same length and keeps its first matrix as long as it converges fast with it: dF is asked for once, as a rule.
 * The state is untouched on failure: CB_STEP_NO_CONVERGENCE, CB_STEP_SINGULAR (K or Newton's matrix),
 * CB_STEP_NOT_FINITE, or what the problem's functions return. iterations: of Newton's method (NULL).
 * A step, and each stage of rkmk4, turns the body by less than half a turn: CB_STEP_NO_CONVERGENCE. */
cb_status cb_rigid_step_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                   int *iterations);
cb_status cb_rigid_step_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s);

#endif
