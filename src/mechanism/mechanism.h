/* Steps of rigid bodies that are connected by joints.
 *
 * The discrete action is the sum of those of the bodies (fluid/rigid_step.h), restricted to motions that the joints
 * allow at the nodes k. The momenta p, wrenches F, twists Y and (dtau^-1_{hY})^T mu of each body are those of
 * fluid/rigid_step.h:
 *   (dtau^-1_{hY})^T mu = p_k + (h/2) F + W,   p_{k+1} = (dtau^-1_{-hY})^T mu + (h/2) F,   W the impulse of all joints
 *   a joint of body b on its parent a:  W_b = w,  W_a = -X_k^T w        X: maps twists of a to the origin of b
 *   S_k^T w = P_k + (h/2) Q - a q',   P_{k+1} = (h/2) Q + a q'           the force Q on the coordinates q of the joint
 *   Q = -k (q - q_rest) - c q' + motor, at t_k + h/2, (q_k + q_{k+1})/2;  q' = (q_{k+1} - q_k)/h
 * S: twists of the joint (curvebody/joint.h); a in a q': armature, the inertia of a rotor on the joint; k, c in Q:
 * stiffness and damping; P: momentum of the joint at the node. Newton's system is solved by a sweep from the tips of
 * the tree to its roots and back (mechanism_private.h), so the cost is linear in the number of bodies. Impulses are
 * equal and opposite, so momentum is kept to round-off.
 *   settle: at the node, p += W and P -= S^T W so that K^-1 (p - mu_0) is a motion that the joints allow. This does not
 *   change the next step, which depends on p and P only through the motions that the joints allow.
 * In a space of constant curvature the equations are the same, with the map dtau^-1, the adjoint Ad as X, and twists in
 * the frames of bodies (mechanism_curved.c). The step is of order 2, symmetric, and symplectic without losses. Sources:
 * Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7; Lee, Liu, Park & Srinivasa, arXiv:1609.02898 (the
 * same discrete action in coordinates of joints); Bou-Rabee & Marsden (2009), doi:10.1007/s10208-008-9030-4.
 *
 * SI units. A mechanism copies the joints and the laws from which it is made, but borrows the data to which they point.
 * It belongs to one thread.
 */
#pragma once

#include "fluid/rigid_step.h"
#include <curvebody/expression.h>
#include <curvebody/joint.h>

#include <stddef.h>

/* A frame of a joint in its body: place, and axes as a unit quaternion. */
typedef struct cb_joint_frame {
  double x[3], q[4];
} cb_joint_frame;

/* These functions find axes as a unit quaternion q. cb_joint_axes: the third axis is along `axis` (not 0); the first
 * axis is along z × axis, or along x if z and `axis` are parallel. cb_joint_two_axes: the first axis is along `first`,
 * and the second axis is in the plane of `first` and `second`. */
void cb_joint_axes(const double axis[3], double q[4]);
void cb_joint_two_axes(const double first[3], const double second[3], double q[4]);

/* A force law of one coordinate, and its derivatives in q and q'. */
typedef struct cb_joint_force {
  double Q, Q_q, Q_rate;
} cb_joint_force;

/* A coordinate that is a polynomial of another one, q = c_0 + c_1 r + c_2 r^2 + .. (mechanism_loops.c). */
enum { CB_JOINT_POLYNOMIAL = 5 };
typedef struct cb_joint_coupling {
  bool there;
  int to; /* the number of r among the coordinates of all joints */
  double c[CB_JOINT_POLYNOMIAL];
} cb_joint_coupling;
/* Returns the value of the polynomial at r, and finds its derivative. */
double cb_joint_polynomial(const cb_joint_coupling *coupling, double r, double *slope);

typedef struct cb_joint {
  const char *name;
  const cb_joint_class *class_;
  int body[2];             /* [0]: the first body, [1]: the second one; -1: the world */
  cb_joint_frame frame[2]; /* the frame of the joint in each body */
  cb_joint_data data;
  double stiffness[6], rest[6], damping[6], armature[6], friction[6]; /* [coordinates]: stiffness and rest value of the
                                                                       * spring, damping, inertia of the rotor
                                                                       * (armature) and largest dry friction */
  bool driven[6];                /* [coordinates]: q is a given function of time (cb_mechanism_laws) */
  cb_joint_coupling coupling[6]; /* [coordinates]: the polynomial of another coordinate that determines this one, if
                                  * there is one */
  double limit[6][2];            /* [coordinates]: lowest and highest value; infinite, or both 0: none */
  double restitution;            /* coefficient of restitution of the limits that reflect, 0 to 1 */
  double stiff[2];               /* stiffness (0: limits reflect) and damping of limits that are springs */
} cb_joint;

/* These functions return the numbers of coordinates and of gaps of a joint, and whether it can connect a body to its
 * parent in a tree. */
static inline int cb_joint_coordinates(const cb_joint *j) {
  return j->class_->coordinates >= 0 ? j->class_->coordinates : j->data.screws;
}
static inline int cb_joint_gaps(const cb_joint *j) {
  return j->class_->gaps >= 0 ? j->class_->gaps : 6 - j->data.screws;
}
static inline bool cb_joint_holds(const cb_joint *j) { return cb_joint_coordinates(j) + cb_joint_gaps(j) == 6; }

/* The functions that a caller supplies; each may be NULL. */
typedef struct cb_mechanism_laws {
  void *self;
  /* Adds the forces of motors to force[coordinates of all joints], for all coordinates q and rates. */
  void (*motors)(void *self, double t, const double *q, const double *rate, cb_joint_force *force);
  /* Sets the values and the rates of driven coordinates. Other coordinates do not change. */
  void (*drives)(void *self, double t, double *q, double *rate);
} cb_mechanism_laws;

typedef struct cb_mechanism cb_mechanism;

/* Bodies have the numbers 0 .. bodies - 1; joint[joints] connect some of them. Returns CB_ERROR_INPUT if a joint
 * connects a body with itself; *which is the joint. */
cb_status cb_mechanism_create(int bodies, int joints, const cb_joint *joint, const cb_mechanism_laws *laws, int *which,
                              cb_mechanism **out);
/* Creates a mechanism as cb_mechanism_create does, but in a space of curvature K. If K is not 0, returns
 * CB_ERROR_UNSUPPORTED for a class that is not `curved`, a joint that closes a loop, or a coupling. The poses then
 * follow from the coordinates at the start (cb_mechanism_q). */
cb_status cb_mechanism_create_in(double K, int bodies, int joints, const cb_joint *joint, const cb_mechanism_laws *laws,
                                 int *which, cb_mechanism **out);
void cb_mechanism_free(cb_mechanism *m);

/* cb_mechanism_first returns the number of the joint's first coordinate among the coordinates of all joints.
 * cb_mechanism_coordinates returns the number of all coordinates. */
int cb_mechanism_first(const cb_mechanism *m, int joint);
int cb_mechanism_coordinates(const cb_mechanism *m);
/* Returns whether a joint has dry friction, or limits that reflect. */
bool cb_mechanism_has_modes(const cb_mechanism *m);
/* Returns whether the body is joined to another body or to the world. */
bool cb_mechanism_joins(const cb_mechanism *m, int body);
/* Returns whether a joint connects the two bodies. */
bool cb_mechanism_are_neighbours(const cb_mechanism *m, int a, int b);

/* Returns the state of the joints, which has *count numbers: coordinates q with whole turns, momenta P, rates at the
 * node, work, modes of limits and friction, impulses, and conditions that are dropped. It belongs to the restart state,
 * next to the states of the bodies. */
double *cb_mechanism_state(cb_mechanism *m, int *count);
double *cb_mechanism_q(cb_mechanism *m); /* [coordinates]: the coordinates q, a part of the state */
/* The kinds of work since the start. MOTOR: the work of motors, servos, drives, and limits that are springs. DAMPING:
 * that of dampers and dry friction. LIMIT: that of limits that reflect. cb_mechanism_work returns the work on each
 * coordinate, [coordinates], borrowed. */
typedef enum cb_joint_work {
  CB_JOINT_WORK_MOTOR,
  CB_JOINT_WORK_DAMPING,
  CB_JOINT_WORK_LIMIT,
  CB_JOINT_WORKS
} cb_joint_work;
const double *cb_mechanism_work(const cb_mechanism *m, cb_joint_work work);
/* Returns the work since the start of the wrenches that cb_rigid_problem gives for a body; 0 for a body that is not
 * joined. */
double cb_mechanism_wrench_work(const cb_mechanism *m, int body);

/* The states of the bodies, and a function that returns the problem of a body. */
typedef struct cb_mechanism_bodies {
  cb_rigid_state *state; /* [bodies]: the states of all bodies */
  void *self;
  const cb_rigid_problem *(*problem)(void *self, int body);
} cb_mechanism_bodies;

/* Computes the coordinates at the start, and checks that all joints hold. Returns CB_ERROR_DOMAIN if a gap is larger
 * than `tolerance` (m, rad); *which is then the joint. The momenta of joints are set for the rates of the present
 * twists. */
cb_status cb_mechanism_start(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double tolerance, int *which);

/* Returns 0 if no joint closes a loop and no coordinates are coupled, otherwise a number > 0. */
int cb_mechanism_loops(const cb_mechanism *m);
/* cb_mechanism_conditions returns the number of conditions that a joint imposes by its gaps, driven coordinates and
 * couplings. cb_mechanism_implied returns how many of them follow from the conditions of other joints at the start, and
 * are therefore dropped. */
int cb_mechanism_conditions(const cb_mechanism *m, int joint);
int cb_mechanism_implied(const cb_mechanism *m, int joint);
/* Prepares a start: moves the poses of the states by the least motion, in the norm of the inertia, until the gaps of
 * all joints are closed. *moved becomes the largest motion of a body (m, rad). Returns CB_ERROR_DOMAIN if the gaps
 * cannot be closed; *which is then the joint. */
cb_status cb_mechanism_close(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double *moved, int *which);
/* Prepares a start. The poses do not change. The states get the twists Y that all joints allow and that differ least
 * from the previous twists of the states. *turned becomes the largest difference (m/s, rad/s). */
cb_status cb_mechanism_restart(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double *turned);

/* Inertia that all bodies share, 2 T = <C(q) Y, Y> for the twists Y in their frames (mechanism_private.h). C depends on
 * some coordinates q; coordinate[coordinates] are their numbers among the coordinates of all joints. `at` sets C[n (n +
 * 1)/2][6][6] for n bodies, the blocks (i, j <= i) row by row, and slope[coordinates][..], its derivatives in q (NULL:
 * not wanted). It returns CB_STEP_DOMAIN where C is not known. */
enum { CB_SHARED_COORDINATES = 3 };
typedef struct cb_shared_inertia {
  void *self;
  int coordinates, coordinate[CB_SHARED_COORDINATES];
  cb_status (*at)(void *self, const double *q, double *C, double *slope);
} cb_shared_inertia;
/* After this call all bodies share this inertia. Each body has to be joined. Copies *of. */
cb_status cb_mechanism_share(cb_mechanism *m, const cb_shared_inertia *of);

typedef struct cb_mechanism_step {
  cb_se3_map map;
  bool damped; /* all of a wrench acts at the first node, as in cb_rigid_step_damped (fluid/rigid_step.h) */
  double t, h;
} cb_mechanism_step;

/* Moves all joined bodies from t to t + h. Returns CB_STEP_NO_CONVERGENCE, CB_STEP_SINGULAR, CB_STEP_NOT_FINITE, or an
 * error of a body's problem. *failed is then the body (-1: no single body), and the states are undefined. */
cb_status cb_mechanism_drift(cb_mechanism *m, const cb_mechanism_bodies *b, const cb_mechanism_step *step, int *failed,
                             int *iterations);
/* Settles the momenta (`settle` in the file head). It is called at the end of a drift, after other impulses on the
 * bodies. */
cb_status cb_mechanism_settle(cb_mechanism *m, const cb_mechanism_bodies *b, double t, int *failed);

/* This function is for integrators that move the coordinates of joints and compute places from them (mechanism_tree.h).
 * After the call q is a part of the motion, and is not computed from places. Returns CB_ERROR_UNSUPPORTED in a curved
 * space, and for joints that close loops, have dry friction or limits, or are of a class that is not `serial`; *which
 * is the joint. */
cb_status cb_mechanism_move_coordinates(cb_mechanism *m, int *which);
/* Moves all joined bodies from t to t + h by an explicit step of order 4; cb_mechanism_settle is not needed after it.
 * On failure nothing has changed; *failed is the body (-1: no single body). */
cb_status cb_mechanism_step_rkmk4(cb_mechanism *m, const cb_mechanism_bodies *b, double t, double h, int *failed);

/* Finds change[bodies] for impulses W[bodies]. After a drift W acts at the first node of the drift, and `change` is the
 * change of the places at the end of the drift. After settling W acts at the node, and `change` is the change of the
 * twists. Both are in the world's axes, about the bodies' origins. Bodies that are not joined are left out. */
void cb_mechanism_respond(cb_mechanism *m, const double (*W)[6], double (*change)[6]);

/* --- limits that reflect, number 0 .. count - 1: the gap s = q - lowest or highest - q --- */
int cb_mechanism_limits(const cb_mechanism *m);
typedef struct cb_joint_limit {
  int joint, coordinate; /* coordinate: its number among the coordinates of all joints */
  bool highest;
  double limit, restitution;
} cb_joint_limit;
cb_joint_limit cb_mechanism_limit(const cb_mechanism *m, int number);
const char *cb_mechanism_joint_name(const cb_mechanism *m, int joint);
/* Finds the rates of all coordinates from the present momenta, which do not change. */
cb_status cb_mechanism_rates_of_momenta(cb_mechanism *m, const cb_mechanism_bodies *b, double t);
/* Adds an impulse, which is positive into the allowed range, to the momentum of the coordinate of limit `number`.
 * cb_mechanism_settle then spreads the impulse over the bodies. */
void cb_mechanism_push_limit(cb_mechanism *m, int number, double impulse);
/* cb_mechanism_release is called before an impact of many contacts and limits. Until cb_mechanism_hold is called, no
 * coordinate is held: limits count as contacts of the impact, and dry friction is too weak for an impact.
 * cb_mechanism_hold is called after the impact; dry friction then acts against the new rates. */
void cb_mechanism_release(cb_mechanism *m);
void cb_mechanism_hold(cb_mechanism *m);
/* Adds the work of a reflection at a limit. */
void cb_mechanism_add_limit_work(cb_mechanism *m, int number, double work);

/* After cb_mechanism_settle, returns the rates q', [coordinates], borrowed. */
const double *cb_mechanism_rates(const cb_mechanism *m);
/* After cb_mechanism_gaps, cb_mechanism_wrenches writes out[joints][6], the impulse of each joint in the last step. It
 * is the impulse on the joint's second body about the joint's place, in the world's axes, or in a curved space in the
 * axes of the second body. cb_mechanism_drive_efforts writes the mean force of the drives of driven coordinates in this
 * step of length h to force[coordinates]. */
void cb_mechanism_wrenches(const cb_mechanism *m, double *out);
void cb_mechanism_drive_efforts(const cb_mechanism *m, double h, double *force);
/* Returns the largest gap of each joint at the present poses, [joints], borrowed. q is updated. */
const double *cb_mechanism_gaps(cb_mechanism *m, const cb_mechanism_bodies *b);
/* Functions for curved spaces. cb_mechanism_trees returns the number of trees of joined bodies, and
 * cb_mechanism_tree_body returns the first body of a tree. cb_mechanism_casimirs finds out[trees][2], the Casimirs of
 * the total momentum of each tree (curvebody/rigid.h). The Casimirs are accurate at any distance from the base
 * point. */
int cb_mechanism_trees(const cb_mechanism *m);
int cb_mechanism_tree_body(const cb_mechanism *m, int tree);
void cb_mechanism_casimirs(cb_mechanism *m, const cb_mechanism_bodies *b, double *out);
/* Finds the potential energy of springs, and the kinetic energy of armatures. It is called after cb_mechanism_settle.
 */
void cb_mechanism_energies(const cb_mechanism *m, double *potential, double *kinetic);

/* --- motors, servos and drives ---
 *
 * Motors, servos and drives of joints, given as expressions.
 *
 *   motor      Q = u                      position servo  Q = kp (u - q) - kv q'      velocity servo  Q = kv (u - q')
 *   drive      q = u(t)
 * u is an expression of t, of the coordinate q and its rate w, of the coordinates of all joints by their labels, such
 * as hip or root.x, and of their rates, hip_rate or root.x_rate. u is limited to the range `control`, and Q to the
 * range `effort`. The units are rad, m, s, N m and N.
 */

typedef enum cb_actuator_kind {
  CB_ACTUATOR_NONE,
  CB_ACTUATOR_MOTOR,
  CB_ACTUATOR_POSITION,
  CB_ACTUATOR_VELOCITY
} cb_actuator_kind;

typedef struct cb_actuator {
  cb_actuator_kind kind;
  const char *text; /* the text of the expression u */
  double kp, kv;
  double control[2], effort[2]; /* control: range of u; effort: range of Q; infinite: none */
} cb_actuator;

typedef struct cb_joint_laws cb_joint_laws;

/* Copies label[coordinates], actuator[coordinates] and drive[coordinates] (texts; NULL: not driven). The parameters and
 * the controls are those of the scope; drives cannot use controls. Returns CB_ERROR_INPUT if an expression is wrong.
 * *which is then the coordinate, and *at the offset in the text of its drive, or of its actuator if it has no drive. */
cb_status cb_joint_laws_create(int coordinates, const char *const *label, const cb_actuator *actuator,
                               const char *const *drive, const cb_expression_scope *parameters, int *which, size_t *at,
                               cb_joint_laws **out);
void cb_joint_laws_free(cb_joint_laws *l);
/* Returns the functions that a mechanism needs. l is borrowed, and may be NULL. */
cb_mechanism_laws cb_joint_laws_of(cb_joint_laws *l);
/* Finds force[coordinates], the force of each coordinate's actuator at this state. */
void cb_joint_laws_efforts(cb_joint_laws *l, double t, const double *q, const double *rate, double *force);
