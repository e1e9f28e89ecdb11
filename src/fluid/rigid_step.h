/* Steps of a body on SE(3) with momentum mu = K(t) Y + mu0(t) under wrenches: Hamilton–Pontryagin and RKMK4. Steps in
 * curved spaces follow below.
 *
 *   g' = g Y,  mu' = ad*_Y mu + F,  mu = K Y + mu0
 *   hamilton_pontryagin, with the momentum p at the nodes, s s = tau(h Y), and K, mu0, F at (t_k + h/2, g_k s, Y):
 *     g_{k+1} = g_k tau(h Y)
 *     (dtau^-1_{hY})^T (K Y + mu0) = p_k + h/2 F + h (1 + Ad_s)^-T G     Newton's method on the six unknowns Y
 *     p_{k+1} = (dtau^-1_{-hY})^T (K Y + mu0) + h/2 F + h (1 + Ad_s^-1)^-T G
 *
 * g is the pose, Y the twist, K the inertia, mu0 the momentum at Y = 0, F the wrench in the body frame, t the time, and
 * h the length of the step from node k to k + 1. s is the square root of the step tau(h Y). For the map tau, dtau^-1,
 * Ad and ad* see curvebody/se3.h.
 *
 * F is rotated into the axes of the node (about the node's origin). A force that is fixed in the world then changes the
 * world's momentum by exactly h F, and a body that falls without rotation stays on the exact parabola.
 * G = <dK/dg Y, Y>/2 + <dmu0/dg, Y>, for K and mu0 that depend on the place, is divided between the ends in the way
 * that follows from the action h L(g_k s, Y) of the Lagrangian L; otherwise the energy drifts. For two successive steps
 * these equations give
 *
 *     (dtau^-1_{hY_{k+1}})^T mu_{k+1} - (dtau^-1_{-hY_k})^T mu_k = h F, averaged
 *     (dtau^-1_{hY_1})^T mu_1 = mu(0) + h F/2 at the start
 *
 * This integrator is of second order and symmetric in time.
 *
 *   rkmk4   the Runge–Kutta integrator of Munthe-Kaas, of order 4, on (g, momentum) with the exponential; it rotates a
 *           body that should fall without rotation by O(h^5) per step
 *
 * The state keeps the momentum (l, P) in the world's axes, about the body frame's origin x: l' = -x' × P + torque,
 * P' = force. Without forces Ad*_{g_k^-1} p_k is then conserved to round-off, however far the body moves. With the map
 * tln (curvebody/se3.h) it is not conserved, but p_{k+1} follows from the same equations. Sources: "Going with the
 * Flow" (see README), algorithm 1, corrected; Bou-Rabee & Marsden (2009), doi:10.1007/s10208-008-9030-4; Munthe-Kaas,
 * Appl. Numer. Math. 29 (1999) 115, doi:10.1016/S0168-9274(98)00030-0.
 */
#pragma once

#include "numerics/vec3.h"
#include "numerics/numerics_curved.h"
#include <curvebody/rigid.h>
#include <curvebody/pose.h>

/* Makes one step of length h (either sign). Newton's method starts from an extrapolation of the twists of the last
 * steps of the same length. The first matrix is kept while the method converges fast, so that dF is usually evaluated
 * once. *iterations (may be NULL) becomes the number of Newton's iterations.
 *
 * The state is unchanged on failure: CB_STEP_NO_CONVERGENCE (also if a step, or a stage of rkmk4, rotates the body by
 * half a turn or more), CB_STEP_SINGULAR (K or Newton's matrix), CB_STEP_NOT_FINITE, or the errors of the problem's
 * functions. */
cb_status cb_rigid_step_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                   int *iterations);
/* Makes the same step with all of the wrench F at the first node: (dtau^-1_{hY})^T (K Y + mu0) = p_k + h B F, where B
 * rotates F into the axes of the node. The step is of order 1. If drag is stiff (|F_Y| h > K, with F_Y = dF/dY), the
 * momentum after an impact decays, whereas with cb_rigid_step_pontryagin it alternates in sign. The step is for flat
 * space only. */
cb_status cb_rigid_step_damped(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s, int *iterations);
cb_status cb_rigid_step_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s);

/* Declarations that the steps on SE(3) share. */

/* The factors L and U of a matrix, with the rows in the order of the pivots: row[i] is the number of the row that
 * became row i. The diagonal holds the inverses of the pivots. */
typedef struct cb_factors6 {
  double m[6][6];
  int row[6];
} cb_factors6;

/* Factors m. Returns false if a 3x3 diagonal block is 0 or not finite, or if a pivot is below 1e-14, in angular and
 * linear units in which the largest entry of each diagonal block is 1. */
bool cb_factor6(const double m[6][6], cb_factors6 *out);
/* Solves m x = b with the factors f of m. x may be b. */
void cb_back6(const cb_factors6 *f, const double b[6], double x[6]);
/* Solves m x = b for `count` right-hand sides, stored by rows: b[6][count] becomes x. Returns false if m is singular
 * (see cb_factor6). */
bool cb_solve6(const double m[6][6], int count, double *b);
static inline bool cb_finite6(const double a[6]) {
  double zero = 0; /* 0 if all numbers are finite, otherwise nan */
  for (int i = 0; i < 6; i++) zero += a[i] - a[i];
  return zero == 0;
}
/* Returns CB_STEP_NO_CONVERGENCE if `angle`, by which a step of length h at time t rotates the body, is half a turn or
 * more. */
cb_status cb_rigid_half_turn(double h, double t, double angle);
/* Returns sqrt |<K a, a>|, a norm that makes angular and linear parts comparable. */
double cb_rigid_size(const double K[6][6], const double a[6]);
/* Extrapolates the polynomial through the twists of the previous steps of the same length, to guess Y. The guess is a
 * sum of backward differences of the twists. The sum ends with the smallest difference, for the angular and the linear
 * part separately. */
void cb_rigid_guess(const cb_rigid_state *s, double h, double Y[6]);
/* Stores Y as the twist of a step of length h. */
void cb_rigid_remember(cb_rigid_state *s, double h, const double Y[6]);

/* --- the parts of a Hamilton–Pontryagin step, for bodies that are joined (mechanism/mechanism.h) --- */

/* One step of a body, at a trial twist Y. The symbols L, F, B, G, mu_g and Z are those of
 * integrators/hamilton_pontryagin.c, and J is Newton's matrix. */
typedef struct cb_rigid_trial {
  const cb_rigid_problem *p;
  cb_se3_map map;
  const cb_rigid_state *s;
  double h, t;                /* t: the time in the middle of the step */
  double r[3][3];             /* rotation at the node */
  cb_pose move, half, middle; /* move: tau(h Y); half: the root of `move`; middle: the pose in the middle of the step */
  double r_half[3][3];        /* rotation matrix of `half` */
  /* K and mu0 in the middle of the step: the constants of the problem, or found_K and found_mu0 */
  const double (*K)[6], *mu0;
  double found_K[6][6], found_mu0[6];
  bool diagonal;  /* K is diagonal */
  bool damped;    /* all of F acts at the first node (cb_rigid_step_damped) */
  bool dead;      /* L does not depend on Y */
  double A[6][6]; /* dtau^-1_{hY} */
  double mu[6];
  /* first: the load L at the first node; turned: B F, where B rotates F into the axes of the node; varied: B G */
  double first[6], turned[6], varied[6];
  double whole[6];               /* the sum of the loads at both nodes per unit of time, about the first node */
  double dF[6][6], dfirst[6][6]; /* dF: F_Y; dfirst: the derivative of L in Y */
  double along[6][6];            /* mu_g Z: the change of mu with the pose, as a derivative in Y */
} cb_rigid_trial;

/* Begins a step of length h from the state s. The step is not one of cb_rigid_step_damped. e, p and s are borrowed for
 * the whole step. */
void cb_rigid_trial_begin(const cb_rigid_problem *p, cb_se3_map map, double h, const cb_rigid_state *s,
                          cb_rigid_trial *e);
/* Tells the trial that the load is constant, so that its derivatives are 0 and are not computed. The function is called
 * after cb_rigid_trial_begin if p->dead_load is true. */
void cb_rigid_trial_dead_load(cb_rigid_trial *e);
/* Computes the poses for the twist Y, the residual p_k + h/2 L - (dtau^-1_{hY})^T mu, and J, unless J is NULL; -J is
 * the derivative of the residual in Y. `first` is true if no twist was tried before in this step. */
cb_status cb_rigid_trial_at(cb_rigid_trial *e, const double Y[6], bool first, double residual[6], double J[6][6]);
/* This function is called after cb_rigid_trial_at with J. It returns CB_STEP_NO_CONVERGENCE if the step goes back (h <
 * 0, in a composition of order 4) and drag is so stiff that a diagonal entry of |h| |F_Y| is above 0.66 of that of K.
 * (If it were twice that of K, the matrix K - |h| |F_Y|/2 of the step would be singular.) */
cb_status cb_rigid_trial_check_back(const cb_rigid_trial *e);
/* Updates the loads and mu after Y was changed by `update`. The function uses the derivatives of the loads, if they are
 * available. */
cb_status cb_rigid_trial_arrive(cb_rigid_trial *e, const double Y[6], const double update[6]);
/* Computes the residual for the present loads and mu. */
void cb_rigid_trial_residual(const cb_rigid_trial *e, const double Y[6], double residual[6]);
/* Finds *turn, the angle by which the step rotates the body. If the angle of the twist Y is not small, *turn is
 * computed from the momentum after `impulse`, which is an impulse at the first node in the body's axes. Returns the
 * status of cb_rigid_half_turn. */
cb_status cb_rigid_trial_turn(const cb_rigid_trial *e, const double Y[6], const double impulse[6], double *turn);
/* Returns the power of the wrenches at the twist Y in the middle of the step. */
double cb_rigid_trial_power(const cb_rigid_trial *e, const double Y[6]);
/* Replaces *s, the state with which the step began, by the state at its end. impulse (NULL: none) is an additional
 * impulse at the first node, in the world's axes about the body's origin. CB_STEP_NOT_FINITE leaves *s unchanged. */
cb_status cb_rigid_trial_finish(const cb_rigid_trial *e, const double Y[6], const double *impulse, double turn,
                                cb_rigid_state *s);

/* Steps of a body in a space of curvature K, on SO(4) or SO+(3,1) (equations: above, and curvebody/pose.h). In the
 * equation K is the inertia.
 *
 *   (dtau^-1_{hY})^T (K Y + mu0) = p_k + h/2 B F,  p_{k+1} = (dtau^-1_{-hY})^T (K Y + mu0) + h/2 B^T F
 *
 * F is the wrench at the midpoint g_k s, where s s = tau(h Y) and s = T(y) B with a transvection T(y) and a rotation B.
 * Each half of F is transported in parallel along the geodesic from the body's origin at the midpoint to its origin at
 * the node, torque and force separately as in flat space, so that the step is symmetric in time.
 *
 * For the pose T(x) R(q) the momentum (l, p) is kept in the axes that T(x) transports from the base point to the body:
 * it is R(q) times the momentum in the body frame, and is stored as `world`. From node to node it changes by Ad* of the
 * step's transvection and by the additional rotation that the product of two transvections contains. Both are computed
 * in twice the precision, so that p.p + K l.l (with the curvature K) and l.p are conserved to that precision at any
 * distance. The position is updated by the increment of a step, so that the round-off of the position and of the
 * spatial momentum is relative to the increment. The inertia and mu0 may only depend on the time.
 */

/* --- the parts of a step in a curved space, for bodies that are joined (mechanism/mechanism_curved.c) --- */

/* One step of a body in a curved space, at a trial twist Y (symbols: integrators/hamilton_pontryagin_curved.c). */
typedef struct cb_rigid_curved_trial {
  const cb_rigid_problem *p;
  cb_se3_map map;
  const cb_rigid_state *s;
  double h, t, curvature;         /* t: the time in the middle of the step */
  double scale;                   /* the scale of the biquaternion `at` (cb_biquaternion_pose) */
  cb_biquaternion at, move, half; /* at: the pose at the node; move: tau(h Y); half: the root of `move` */
  cb_screw turn;                  /* the screw of `half` */
  cb_pose middle;
  double A[6][6];                /* dtau^-1_{hY} */
  double K[6][6], mu0[6], mu[6]; /* K, mu0 and mu in the middle of the step */
  double F[6], dF[6][6];         /* F: the sum of the wrenches; dF: F_Y + F_g Z, its complete derivative in Y */
  double first[6], dfirst[6][6]; /* first: B F + 2 (1 + Ad_s)^-T G; dfirst: the derivative of B F in Y */
  double last[6];                /* B^T F + 2 (1 + Ad_s^-1)^-T G */
} cb_rigid_curved_trial;

/* These functions do the same as the functions cb_rigid_trial_begin, cb_rigid_trial_at and so on, in a curved space.
 * `impulse` (NULL: none) acts at the first node, in the body's axes about its origin. */
void cb_rigid_curved_trial_begin(const cb_rigid_problem *p, cb_se3_map map, double h, const cb_rigid_state *s,
                                 cb_rigid_curved_trial *e);
cb_status cb_rigid_curved_trial_at(cb_rigid_curved_trial *e, const double Y[6], bool first, double residual[6],
                                   double J[6][6]);
cb_status cb_rigid_curved_trial_arrive(cb_rigid_curved_trial *e, const double Y[6]);
void cb_rigid_curved_trial_residual(const cb_rigid_curved_trial *e, double residual[6]);
cb_status cb_rigid_curved_trial_turn(const cb_rigid_curved_trial *e, const double Y[6], const double *impulse,
                                     double *turn);
cb_status cb_rigid_curved_trial_finish(const cb_rigid_curved_trial *e, const double Y[6], const double *impulse,
                                       double turn, cb_rigid_state *s);

cb_status cb_rigid_curved_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                     int *iterations);
cb_status cb_rigid_curved_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s);

/* Returns CB_ERROR_UNSUPPORTED if the inertia depends on the pose. */
cb_status cb_rigid_curved_takes(const cb_rigid_problem *p);
/* Returns CB_STEP_NO_CONVERGENCE if a step of length h and twist Y, at time t, rotates the body by half a turn or more,
 * or moves it by pi radii of curvature or more. */
cb_status cb_rigid_curved_far(double K, double h, double t, const double Y[6]);
/* Moves the state from the pose g to the pose g m. The momentum becomes Ad*_m (momentum + before) + after, with
 * `before` in the axes of the body before the step and `after` in its axes after the step (NULL: 0). The screw m and
 * the biquaternion Q are the same isometry. */
void cb_rigid_curved_move(double K, cb_rigid_state *s, const cb_biquaternion *Q, const cb_screw *m,
                          const double before[6], const double after[6]);
