/* Optimal gaits: closed changes of shape that move a body by a given group element at minimum cost.
 *
 *   E = int_0^1 r'Mr' dt -> min, g' = -g A(r) r', g(0) = 1, conditions on g(1); r(1) = r(0)
 *   extremals (Wong): p = Mr' + <lambda, A>, v = M^-1 (p - <lambda, A>) = r';
 *     p_i' = v.(d_i M) v/2 + <lambda, d_i A v>,  lambda' = ad*_xi lambda, xi = -A v;  E = v.M v is constant;
 *     dE/dX = 2 lambda_X for a component X of the required displacement
 * E: the cost; r: the shape variables; A and M: connection and cost metric of the bundle; g: element of its group, and
 * g(1) the holonomy of the gait (curvebody/bundle.h). lambda: multiplier of the conditions on the holonomy, an element
 * of the dual of the algebra; lambda_X: its component along X; <.,.>: pairing of the dual with the algebra; ad*:
 * curvebody/lie.h. p: momentum; d_i: derivative by r_i.
 * For users. Units are those of the bundle. The caller frees the result of cb_optimum_find.
 * Sources: Koon & Marsden, SIAM J. Control Optim. 35 (1997) 901, doi:10.1137/S0363012995290367; Montgomery, A Tour of
 * Subriemannian Geometries (2002), chapter 12.
 */
#ifndef CURVEBODY_OPTIMUM_H
#define CURVEBODY_OPTIMUM_H

#include <curvebody/gait.h>
#include <stdbool.h>
#include <stdint.h>

CB_API_BEGIN

typedef enum cb_gait_target_kind { CB_GAIT_MOVE, CB_GAIT_TURN, CB_GAIT_ELEMENT, CB_GAIT_PARTS } cb_gait_target_kind;

typedef struct cb_gait_target {
  cb_gait_target_kind kind;
  double value;                  /* for the target `move`: a length; for `turn`: an angle */
  double element[CB_GROUP_SIZE]; /* for the targets `element` and `parts`: the required numbers */
  bool asked[CB_GROUP_SIZE];     /* for the target `parts`: which numbers are required */
} cb_gait_target;

/* Says what is sought. CB_OBJECTIVE_COST: the minimum of E among the gaits that reach the target.
 * CB_OBJECTIVE_EFFICIENCY: the maximum of amount^2/E, where the amount of the target is free. CB_OBJECTIVE_TARGET: the
 * maximum amount of a gait of given length. CB_OBJECTIVE_TORQUE and CB_OBJECTIVE_WORK: the minimum of int sum tau_i^2
 * dt and of int sum |tau_i r_i'| dt among the gaits that reach the target, for the torques tau of a motion with inertia
 * in a given duration; the target may be empty (`parts` without a required number). The amount is the length of `move`,
 * the angle of `turn`, or the only required number of `parts` that is not 0; a target without such a number has no
 * amount. */
typedef enum cb_objective {
  CB_OBJECTIVE_COST,
  CB_OBJECTIVE_EFFICIENCY,
  CB_OBJECTIVE_TARGET,
  CB_OBJECTIVE_TORQUE,
  CB_OBJECTIVE_WORK
} cb_objective;

typedef struct cb_optimum_problem {
  const cb_bundle *bundle;
  cb_gait_target target;
  cb_objective objective;
  double length;               /* required length int sqrt(r'Mr') dt of the gait, for CB_OBJECTIVE_TARGET */
  const double *start_shape;   /* the shape r(0), [n] (n shape variables); NULL: it is free */
  const double *lower, *upper; /* bounds of the shape variables, [n]; infinite: no bound; NULL: no bounds at all */
  bool no_crossing;            /* two lines of the drawing that have no common point may touch, but not cross */
  /* a gait from which a search starts; if `starts` is 0, this is the only search. NULL: there is none. The other
   * searches start from ellipses and waves that the library makes, and from random gaits. */
  const cb_gait *start;
  int starts; /* number of random starts */
  uint64_t seed;
  bool flow; /* follow the constrained gradient flow instead of Newton's steps: it needs many more steps */
  /* For CB_OBJECTIVE_TORQUE and CB_OBJECTIVE_WORK. With a start shape the motion begins and ends at rest; without one
   * it is a smooth cycle. The torques are those that motors give besides springs and dampers. */
  double duration;                          /* duration of the motion, in s, > 0 */
  const double *end_shape;                  /* the shape r(1), [n], only if start_shape is given; NULL: r(1) = r(0) */
  const double *largest_torque;             /* bounds of |tau_i|, [n]; infinite: none; NULL: none at all */
  const double *stiffness, *rest, *damping; /* of a spring and a damper at each shape variable, [n]; NULL: 0 */
  const double *momentum;                   /* momentum at the start, in the body frame, [dim]; NULL: 0 */
} cb_optimum_problem;

/* An extremal: a gait whose cost is stationary among the gaits that reach the target. */
typedef struct cb_optimum {
  cb_gait *gait;
  double cost, length, amount; /* E; sqrt(E); the amount that the gait reaches (nan if the target has no amount) */
  double g[CB_GROUP_SIZE];     /* holonomy of the gait */
  double lambda[CB_GROUP_DIM]; /* multiplier lambda at the start of the gait, left-trivialised */
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], p[CB_SHAPE_MAX]; /* shape r, rate r' and momentum p at the start */
  double wong; /* cost of the gait by Wong's equations; nan if they were not solved */
  /* the largest relative changes of three constants along the solution of Wong's equations: r'Mr' (`speed`),
   * Ad*_{g^-1} lambda, and the quadratic Casimir functions of lambda; nan if the equations were not solved */
  double speed, momentum, casimir;
  /* index: number of negative eigenvalues of the second variation of the cost; flat: number of its zero eigenvalues. A
   * shift of the gait in time does not change the cost, and is not counted. */
  int index, flat;
  int conjugates;      /* number of conjugate times before time 1; -1: not known */
  double conjugate[2]; /* the first conjugate time before 1, and the first one from 1 on; infinite: not found */
  int found;           /* number of starts that converged to this gait */
  bool abnormal;       /* the extremal is abnormal: the multiplier of the cost is 0, or negligible against lambda */
  /* For CB_OBJECTIVE_TORQUE and CB_OBJECTIVE_WORK, where `length` and `wong` are nan. If the end shape differs from the
   * start shape, `gait` takes the first half of its time for the motion, and the other half for the way back.
   * largest: the largest torque |tau_i|; work: int tau_i r_i' dt; mechanical: int sum |tau_i r_i'| dt; quadrature: how
   * much results change with twice as many nodes, as the relative change of the cost and the largest change of a number
   * of g; basis: the relative change of the cost after the number of functions of time was doubled; nan if it was not
   * doubled because the first functions sufficed; infinite if the search with more functions failed */
  double largest[CB_SHAPE_MAX], work[CB_SHAPE_MAX], mechanical, quadrature[2], basis;
} cb_optimum;

typedef struct cb_optima {
  int count; /* number of items; the best one is the first */
  cb_optimum *item;
  int starts, failed; /* number of searches, and number of searches without a gait in `item` */
  /* lowest cost (for CB_OBJECTIVE_EFFICIENCY: cost/amount^2) of the searches that did not converge, if it is below 0.9
   * of that of item[0]; otherwise infinite */
  double falling;
  /* if `falling` is finite: a shape of the gait at which the search with the cost `falling` ended. With start_shape it
   * is the shape of this gait that is farthest from start_shape; without start_shape it is the mean of its shapes */
  double towards[CB_SHAPE_MAX];
} cb_optima;

/* Finds the optimal gaits of a problem, which is borrowed during the call. The caller frees *out with cb_optima_free.
 * CB_ERROR_ARGUMENT if the problem is wrong; CB_STEP_NO_CONVERGENCE if no gait was found: the message has the reason
 * and says what to try. */
cb_status cb_optimum_find(const cb_optimum_problem *problem, cb_optima **out);
void cb_optima_free(cb_optima *o);

CB_API_END
#endif
