/* Optimal gaits: closed changes of shape that move a body by a given group element at minimum cost.
 *
 *   E = int_0^1 r'Mr' dt -> min, g' = -g A(r) r', g(0) = 1, conditions on g(1); r(1) = r(0)
 *   extremals (Wong): p = Mr' + <lambda, A>, v = M^-1 (p - <lambda, A>) = r';
 *     p_i' = v.(d_i M) v/2 + <lambda, d_i A v>,  lambda' = ad*_xi lambda, xi = -A v;  E = v.M v is constant;
 *     dE/dX = 2 lambda_X for a component X of the required displacement
 * r, g, A, M: curvebody/bundle.h; p: momentum; lambda: multiplier of the holonomy.
 * For users. Units are the bundle's. The caller frees what is created.
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

/* Minimum cost at the target; maximum amount^2/E; maximum amount at a given length. */
typedef enum cb_objective { CB_OBJECTIVE_COST, CB_OBJECTIVE_EFFICIENCY, CB_OBJECTIVE_TARGET } cb_objective;

typedef struct cb_optimum_problem {
  const cb_bundle *bundle;
  cb_gait_target target;
  cb_objective objective;
  double length;               /* length of the gait, for CB_OBJECTIVE_TARGET */
  const double *start_shape;   /* r(0) = r(1), [n]; NULL: free */
  const double *lower, *upper; /* bounds of the shape variables, [n], infinite for no bound; NULL: none */
  bool no_crossing;            /* lines of the drawing without a common point may touch, but not cross */
  const cb_gait *start;        /* a start before the small ellipses, or the only one if starts = 0; NULL: none */
  int starts;                  /* number of random starts */
  uint64_t seed;
  /* follow the constrained gradient flow instead of Newton's steps: needs some hundred times as many steps */
  bool flow;
} cb_optimum_problem;

/* An extremal: a gait of stationary cost among those at the target. */
typedef struct cb_optimum {
  cb_gait *gait;
  double cost, length, amount; /* E, sqrt(E), the amount of the target (nan if the target has no amount) */
  double g[CB_GROUP_SIZE];     /* holonomy of the gait */
  double lambda[CB_GROUP_DIM]; /* multiplier at the start of the gait, left-trivialised */
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], p[CB_SHAPE_MAX]; /* r, r', p at the start */
  double wong; /* cost of the gait by Wong's equations; nan if they were not solved */
  /* the largest relative drifts of r'Mr', of Ad*_{g^-1} lambda, and of the quadratic Casimir functions of lambda */
  double speed, momentum, casimir;
  /* negative directions of the second variation; null directions, not counting symmetries */
  int index, flat;
  int conjugates;      /* number of conjugate times before 1; -1: not known */
  double conjugate[2]; /* the first conjugate time before 1, and the first one from 1 on; infinite if not found */
  int found;           /* number of starts that converged to this gait */
  bool abnormal;       /* the multiplier of the cost is 0 */
} cb_optimum;

typedef struct cb_optima {
  int count; /* number of items; the best one is the first */
  cb_optimum *item;
  int starts, failed;
  /* cost (over amount^2) of a search that did not converge, if it is below 0.9 of the best one found; otherwise inf */
  double falling;
  /* centre of the loop of that search, or its shape that is farthest from the start shape */
  double towards[CB_SHAPE_MAX];
} cb_optima;

/* CB_ERROR_ARGUMENT if the problem is wrong; CB_STEP_NO_CONVERGENCE if no gait was found: the message has the reason
 * and says what to try. */
cb_status cb_optimum_find(const cb_optimum_problem *problem, cb_optima **out);
void cb_optima_free(cb_optima *o);

CB_API_END
#endif
