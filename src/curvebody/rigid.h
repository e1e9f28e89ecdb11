/* A body on SE(3), SO(4) or SO(3,1) with momentum mu = K(t, g) Y + mu0(t, g) under wrenches: the problem and the state of
 * the methods of cb_configuration_fluid.
 *
 *   g' = g Y,  mu' = ad*_Y mu + F,  mu = K Y + mu0
 * For authors of methods and of bodies: a problem is functions of the pose g and the time in the body frame (SI units;
 * angular, then linear); curvebody/immersed.h makes that of a body in a fluid. The state keeps the momentum in the
 * world's axes, about the body frame's origin there: l' = -x' × P + torque, P' = force. Nothing is allocated; a step
 * that fails leaves the state untouched.
 * In a space of curvature K_s a pose is T(x) R(q) and the algebra has K_s (curvebody/pose.h); the world's axes are those
 * that T(x) carries from the base point to the body, and inertia may depend on the time but not on the place.
 */
#ifndef CURVEBODY_RIGID_H
#define CURVEBODY_RIGID_H

#include <curvebody/se3.h>
#include <curvebody/status.h>
#include <stdbool.h>

CB_API_BEGIN

/* An inertia that is the same at all times and poses. */
typedef struct cb_rigid_constant {
  double K[6][6], mu0[6], inverse[6][6]; /* of K, symmetric */
  bool diagonal;                         /* K is */
} cb_rigid_constant;

/* What moves: all in the body frame, at pose g and time t. Wrenches add up; derivatives are 0 on entry. */
typedef struct cb_rigid_problem {
  void *self;
  /* K(t, g), symmetric, and mu0(t, g). */
  cb_status (*inertia)(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]);
  /* Where inertia, and then wrench with dF, will be asked for next: what they share may be found at once. NULL: no
   * use. */
  void (*expect)(void *self, double t, const cb_pose *g, const double Y[6]);
  /* Where neither K nor mu0 depends on t or g: they, and K^-1. NULL: they may. */
  const cb_rigid_constant *constant;
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
  /* Of the space that the body moves in, 1/m^2. Where it is not 0 a pose is the transvection to normal coordinates x after
   * the rotation q, and `world` of a state in axes that this has carried to the body. */
  double curvature;
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

/* --- what motion without wrenches keeps, K the curvature of the space --- */
/* |p|^2 + K |l|^2 and l.p of a momentum in the body frame (or in axes turned from it). */
void cb_rigid_casimirs(double K, const double momentum[6], double out[2]);
/* Ad*_{g^-1} of the momentum: (l, p) about the base point. Returns what the round-off of the state makes of it, of p and
 * of sqrt|K| l; in a hyperbolic space it grows with the distance from the base point, and beyond 5 radii out is not a
 * number and the error infinite. */
double cb_rigid_spatial_momentum(double K, const cb_rigid_state *s, double out[6]);

/* --- what steps are made of --- */
/* Y of K Y = momentum - mu0. CB_STEP_SINGULAR, CB_STEP_NOT_FINITE. */
cb_status cb_rigid_velocity(double K[6][6], const double momentum[6], const double mu0[6], double Y[6]);
/* The twist at (t, g) that has the momentum, in the body frame. */
cb_status cb_rigid_twist_of(const cb_rigid_problem *p, double t, const cb_pose *g, const double momentum[6],
                            double Y[6]);
/* out = that of an inertia. CB_STEP_SINGULAR. */
cb_status cb_rigid_constant_of(const double K[6][6], const double mu0[6], cb_rigid_constant *out);
/* Sum of the problem's wrenches; dF (NULL: not wanted). */
cb_status cb_rigid_wrenches(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], double F[6],
                            double dF[6][6]);
/* In flat space: the state's pose moved by dx to orientation q, its momentum by `change` (world's axes, about the old
 * origin). */
void cb_rigid_move(cb_rigid_state *s, const double dx[3], const double q[4], const double change[6]);

CB_API_END
#endif
