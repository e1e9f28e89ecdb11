/* A body on SE(3), SO(4) or SO(3,1) with momentum mu = K(t, g) Y + mu0(t, g) under wrenches: the problem and the state
 * of the integrators of cb_problem_lie_group and cb_problem_discrete_lagrangian.
 *
 *   g' = g Y,  mu' = ad*_Y mu + F,  mu = K Y + mu0
 * g: pose; Y: twist; K: inertia; mu0: momentum of the body at Y = 0 (its shape changes); F: wrench.
 * For authors of integrators and of bodies: a problem consists of functions of the pose g and the time in the body
 * frame (SI units; angular, then linear); curvebody/immersed.h makes the problem of a body in a fluid. The state keeps
 * the momentum (l, P) in the world's axes, about the origin x of the body frame: l' = -x' × P + torque, P' = force.
 * Nothing is allocated; a step that fails leaves the state untouched.
 * In a space of curvature K_s a pose is T(x) R(q) and the algebra has K_s (curvebody/pose.h); the world's axes are
 * transported by T(x) from the base point to the body, and inertia may depend on the time but not on the place.
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

/* The problem, all in the body frame, at pose g and time t. Wrenches add up; derivatives are 0 on entry. */
typedef struct cb_rigid_problem {
  void *self;
  /* K(t, g), symmetric, and mu0(t, g). */
  cb_status (*inertia)(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]);
  /* Called before inertia, and then wrench with dF, are evaluated at these arguments: quantities that both need can be
   * computed once. NULL: not needed. */
  void (*expect)(void *self, double t, const cb_pose *g, const double Y[6]);
  /* If neither K nor mu0 depends on t or g: K, mu0 and K^-1. NULL: they may depend. */
  const cb_rigid_constant *constant;
  bool pose_dependent; /* K or mu0 depends on g: inertia is then called at every iteration */
  /* <dK/dg Y, Y>/2 and <dmu0/dg, Y> as a wrench, with its derivative in Y (may be NULL); NULL: they are 0. */
  cb_status (*inertia_wrench)(void *self, double t, const cb_pose *g, const double Y[6], double wrench[6],
                              double dwrench[6][6]);
  /* F(t, g, Y), with dF/dY (may be NULL); NULL: no forces. */
  cb_status (*wrench)(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]);
  /* Derivatives of K Y + mu0 and of the sum of the wrenches along g (1 + hat(xi)), for Newton's method; or NULL: the
   * iteration then converges with a factor of order h (dmu/dxi, h dF/dxi)/K per iteration. */
  cb_status (*pose_derivative)(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                               double dF[6][6]);
  bool exact;     /* all derivatives are exact: if the first change is small, no second residual is computed */
  bool dead_load; /* the wrench is a force at the body's origin that is constant in the world's axes, as a weight */
  /* curvature of the space in which the body moves, 1/m^2. If it is not 0, a pose is the transvection to normal
   * coordinates x after the rotation q, and `world` of a state is in axes that this transvection transported to the
   * body. */
  double curvature;
} cb_rigid_problem;

enum { CB_RIGID_EARLIER = 6 };

/* Everything that a step needs: plain numbers, so that a copy continues with the same bits. */
typedef struct cb_rigid_state {
  double t;
  cb_pose g;
  double x_low[3];               /* g.x + x_low is the position */
  double world[6], world_low[6]; /* momentum in the world's axes about the body frame's origin, at t */
  /* after a step of hamilton_pontryagin: the twist in the middle of this step; after a step of rkmk4, and at the start
   * of a run: the twist at t */
  double Y[6];
  double mu[6];       /* K Y + mu0 for this Y */
  double momentum[6]; /* the momentum in the body frame at t, the end of the last step */
  double turn;        /* hamilton_pontryagin: an angle of the last step whose square estimates its error */
  /* for hamilton_pontryagin's guess of the next twist: length of the previous steps, number of earlier twists that are
   * stored (Y and earlier), and the twists before Y */
  double length, known, earlier[CB_RIGID_EARLIER][6];
} cb_rigid_state;

/* Makes the state at pose g and time t that moves with twist Y (0: at rest). CB_ERROR_ARGUMENT if a number is not
 * finite or g.q has not length 1; CB_STEP_NOT_FINITE if K or mu0 is not finite. */
cb_status cb_rigid_start(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], cb_rigid_state *s);
/* Computes the twist at the end of the last step, from K Y + mu0 = momentum at (t, g). Fails with CB_STEP_SINGULAR or
 * CB_STEP_NOT_FINITE. */
cb_status cb_rigid_twist(const cb_rigid_problem *p, const cb_rigid_state *s, double Y[6]);

/* --- conserved quantities of motion without wrenches, K the curvature of the space --- */
/* Computes |p|^2 + K |l|^2 and l.p of a momentum (l, p) in the body frame (or in rotated axes). */
void cb_rigid_casimirs(double K, const double momentum[6], double out[2]);
/* Computes Ad*_{g^-1} of the momentum: (l, p) about the base point. Returns the error of p and of sqrt|K| l that comes
 * from round-off of the state. In a hyperbolic space it grows with the distance from the base point; beyond 5 radii out
 * is nan and the error infinite. */
double cb_rigid_spatial_momentum(double K, const cb_rigid_state *s, double out[6]);

/* --- functions for steps --- */
/* Solves K Y = momentum - mu0 for Y. Fails with CB_STEP_SINGULAR or CB_STEP_NOT_FINITE. */
cb_status cb_rigid_velocity(double K[6][6], const double momentum[6], const double mu0[6], double Y[6]);
/* Computes the twist at (t, g) of a body with this momentum, in the body frame. */
cb_status cb_rigid_twist_of(const cb_rigid_problem *p, double t, const cb_pose *g, const double momentum[6],
                            double Y[6]);
/* Makes the constant form of an inertia. CB_STEP_SINGULAR if K has no inverse. */
cb_status cb_rigid_constant_of(const double K[6][6], const double mu0[6], cb_rigid_constant *out);
/* Computes the sum of the problem's wrenches; dF may be NULL. */
cb_status cb_rigid_wrenches(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], double F[6],
                            double dF[6][6]);
/* In flat space: moves the state's pose by dx, sets its orientation to q, and adds `change` to its momentum (world's
 * axes, about the old origin). */
void cb_rigid_move(cb_rigid_state *s, const double dx[3], const double q[4], const double change[6]);

CB_API_END
#endif
