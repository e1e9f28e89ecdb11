/* A body on SE(3), SO(4) or SO(3,1) that moves under wrenches: the problem and the state of the integrators of
 * cb_problem_lie_group and cb_problem_discrete_lagrangian.
 *
 *   g' = g Y,  mu' = ad*_Y mu + F,  mu = K(t, g) Y + mu0(t, g)
 * g: pose; Y: twist; mu: momentum; K: inertia; mu0: momentum at Y = 0, for a body whose shape changes; F: the sum of
 * the wrenches; t: time. Y, mu, mu0 and F are in the body frame, first angular and then linear. SI units.
 * For authors of integrators and of bodies. A problem consists of functions of the pose and the time;
 * curvebody/immersed.h makes the problem of a body in a fluid. The state keeps the momentum (l, P) in the world's axes,
 * about the origin x of the body frame, with l' = -x' × P + torque and P' = force. Nothing is allocated. A step that
 * fails leaves the state untouched.
 * In a space of curvature K_s a pose is T(x) R(q) and the algebra has K_s (curvebody/pose.h). The axes of the world at
 * the body are then those at the base point, transported by T(x). The inertia may depend on the time but not on the
 * place.
 */
#ifndef CURVEBODY_RIGID_H
#define CURVEBODY_RIGID_H

#include <curvebody/se3.h>
#include <curvebody/status.h>
#include <stdbool.h>

CB_API_BEGIN

/* An inertia that is the same at all times and poses. */
typedef struct cb_rigid_constant {
  double K[6][6], mu0[6], inverse[6][6]; /* inverse: K^-1, symmetric */
  bool diagonal;                         /* K is diagonal */
} cb_rigid_constant;

/* The problem. All quantities are in the body frame, at pose g and time t. F is the sum of the results of
 * inertia_wrench and wrench. The arrays of wrenches and of their derivatives are 0 when these functions are called. */
typedef struct cb_rigid_problem {
  void *self;
  /* Computes the symmetric matrix K(t, g), and mu0(t, g). */
  cb_status (*inertia)(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]);
  /* Computes quantities that both `inertia` and `wrench` need. It is called before these two functions are called with
   * the same arguments, where `wrench` also computes dF. NULL: there is nothing to compute. */
  void (*expect)(void *self, double t, const cb_pose *g, const double Y[6]);
  /* If neither K nor mu0 depends on t or g: K, mu0 and K^-1. NULL: K or mu0 may depend on t or g. */
  const cb_rigid_constant *constant;
  bool pose_dependent; /* K or mu0 depends on g: inertia is then called at every iteration */
  /* Computes the wrench <dK/dg Y, Y>/2 + <dmu0/dg, Y>, and its derivative in Y (dwrench may be NULL). NULL: K and mu0
   * do not depend on g. */
  cb_status (*inertia_wrench)(void *self, double t, const cb_pose *g, const double Y[6], double wrench[6],
                              double dwrench[6][6]);
  /* Computes the wrench F of the forces at (t, g, Y), and its derivative dF in Y (may be NULL). NULL: there are no
   * forces. */
  cb_status (*wrench)(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]);
  /* Computes, for Newton's method, the derivatives of mu = K Y + mu0 and of the sum of the wrenches at the pose
   * g (1 + hat(xi)) in the small twist xi, at xi = 0. NULL: Newton's method leaves these derivatives out. An iteration
   * of a step of length h then multiplies the error by a factor of order h |dmu/dxi|/|K| + h^2 |dF/dxi|/|K|. */
  cb_status (*pose_derivative)(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                               double dF[6][6]);
  bool exact;       /* all derivatives are exact: a step may then end after a small first change, without computing the
               * residual again */
  bool dead_load;   /* the wrench is a force at the body's origin that is constant in the world's axes, like a weight */
  double curvature; /* curvature K_s of the space in which the body moves, 1/m^2; 0: flat space */
} cb_rigid_problem;

enum { CB_RIGID_EARLIER = 6 };

/* Everything that a step needs. The state has no pointers, so that steps from a copy give the same bits. */
typedef struct cb_rigid_state {
  double t;
  cb_pose g;
  double x_low[3]; /* low-order part of the position, which is g.x + x_low */
  /* momentum at t in the world's axes, about the body frame's origin: world + world_low */
  double world[6], world_low[6];
  /* after a step of hamilton_pontryagin: the twist in the middle of this step; after a step of rkmk4, and at the start
   * of a run: the twist at t */
  double Y[6];
  double mu[6];       /* K Y + mu0 for this Y */
  double momentum[6]; /* the momentum in the body frame at t, the end of the last step */
  double turn;        /* hamilton_pontryagin: an angle, in rad; its square estimates the error of the last step */
  /* for hamilton_pontryagin, which guesses the next twist from earlier ones. length: the length of the previous steps;
   * known: the number of stored twists, which are Y and those in `earlier`; earlier: the twists before Y, the newest
   * first */
  double length, known, earlier[CB_RIGID_EARLIER][6];
} cb_rigid_state;

/* Makes the state at pose g and time t that moves with twist Y (all 0: at rest). CB_ERROR_ARGUMENT if a number is not
 * finite, if the length of g->q differs from 1 by 1e-6 or more, or if g->x is farther than the antipode of a sphere;
 * CB_ERROR_UNSUPPORTED in a curved space if the inertia depends on the pose; CB_STEP_NOT_FINITE if the momentum is not
 * finite. */
cb_status cb_rigid_start(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], cb_rigid_state *s);
/* Computes the twist Y at the end of the last step, the solution of K Y + mu0 = s->momentum at s->t and s->g. Fails
 * with CB_STEP_SINGULAR, CB_STEP_NOT_FINITE or the status of p->inertia. */
cb_status cb_rigid_twist(const cb_rigid_problem *p, const cb_rigid_state *s, double Y[6]);

/* --- conserved quantities of motion without wrenches; in these functions K is the curvature of the space --- */
/* Computes out[0] = |p|^2 + K |l|^2 and out[1] = l.p of a momentum (l, p), in the body frame or in axes that are
 * rotated relative to it. */
void cb_rigid_casimirs(double K, const double momentum[6], double out[2]);
/* Computes in out the momentum (l, p) of the state about the base point, Ad*_{g^-1} of the momentum in the body frame.
 * Returns an estimate of the error of p, and of sqrt|K| l (K = 0: of l), from round-off of the state. In a hyperbolic
 * space this error grows with the distance from the base point: beyond 5 radii 1/sqrt(-K) the numbers of out are nan,
 * and the returned error is infinite. */
double cb_rigid_spatial_momentum(double K, const cb_rigid_state *s, double out[6]);

/* --- functions for steps --- */
/* Solves K Y = momentum - mu0 for Y. Fails with CB_STEP_SINGULAR or CB_STEP_NOT_FINITE. */
cb_status cb_rigid_velocity(double K[6][6], const double momentum[6], const double mu0[6], double Y[6]);
/* Computes the twist Y at (t, g) of a body with this momentum; both are in the body frame. */
cb_status cb_rigid_twist_of(const cb_rigid_problem *p, double t, const cb_pose *g, const double momentum[6],
                            double Y[6]);
/* Makes the struct of an inertia that is the same at all times and poses. CB_STEP_SINGULAR if K has no inverse. */
cb_status cb_rigid_constant_of(const double K[6][6], const double mu0[6], cb_rigid_constant *out);
/* Computes the sum F of the problem's wrenches, and its derivative dF in Y (may be NULL). */
cb_status cb_rigid_wrenches(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], double F[6],
                            double dF[6][6]);
/* Moves the origin of the body frame by dx (world's axes), sets its orientation to the unit quaternion q, and adds
 * `change` to its momentum; `change` is in the world's axes, about the origin from which the body is moved. Only for
 * flat space. */
void cb_rigid_move(cb_rigid_state *s, const double dx[3], const double q[4], const double change[6]);

CB_API_END
#endif
