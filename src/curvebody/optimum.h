/* Optimal gaits: closed changes of shape that move a body by a given group element at least cost.
 *
 *   E = int_0^1 r'Mr' dt -> least,  g' = -g A(r) r', g(0) = 1,  conditions on g(1);  r(1) = r(0)
 *   extremals (Wong): p = Mr' + <lambda, A>, v = M^-1 (p - <lambda, A>) = r';
 *     p_i' = v'd_i M v/2 + <lambda, d_i A v>,  lambda' = ad*_xi lambda, xi = -A v;  E = v'Mv is constant, dE/dX = 2 lambda_X
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
  double value;                  /* of move: a length; of turn: an angle */
  double element[CB_GROUP_SIZE]; /* of element; of parts: the numbers that are asked */
  bool asked[CB_GROUP_SIZE];     /* of parts: which numbers */
} cb_gait_target;

/* The least cost at the target; the greatest amount^2/E; the greatest amount at a given length. */
typedef enum cb_seek { CB_SEEK_COST, CB_SEEK_EFFICIENCY, CB_SEEK_TARGET } cb_seek;

typedef struct cb_optimum_problem {
  const cb_bundle *bundle;
  cb_gait_target target;
  cb_seek seek;
  double length;              /* of CB_SEEK_TARGET */
  const double *base;         /* r(0) = r(1), [n]; NULL: free */
  const double *lower, *upper; /* of the shape variables, [n], infinite where there is none; NULL: none */
  bool apart;                 /* lines of the picture that share no point may touch, not cross */
  const cb_gait *start;       /* besides the small ellipses; NULL: none */
  int starts;                 /* random ones */
  uint64_t seed;
  bool flow;                  /* down the constrained gradient, instead of by Newton's steps: some hundred times as many */
} cb_optimum_problem;

/* An extremal: a gait of stationary cost among those at the target. */
typedef struct cb_optimum {
  cb_gait *gait;
  double cost, length, amount; /* E, sqrt(E), the amount of the target (nan where it has none) */
  double g[CB_GROUP_SIZE];     /* its holonomy */
  double lambda[CB_GROUP_DIM]; /* at the start, left-trivialised */
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], p[CB_SHAPE_MAX]; /* at the start */
  double wong;                 /* its cost by Wong's equations; nan where they were not solved */
  double speed, momentum, casimir; /* the largest relative drifts of r'Mr', Ad*_{g^-1} lambda and |lambda|-like */
  int index, flat;             /* negative directions of the second variation; those without, but for symmetries */
  int conjugates;              /* times before 1, and of the first of them and the next after 1 */
  double conjugate[2];
  int found;                   /* how many starts came to it */
  bool abnormal;               /* the multiplier of the cost is 0 */
} cb_optimum;

typedef struct cb_optima {
  int count; /* the best first */
  cb_optimum *item;
  int starts, failed;
  double falling; /* cost (over amount^2) of a search that did not settle, where less than found; or inf */
  double towards[CB_SHAPE_MAX]; /* the middle of its loop, or its shape that is farthest from the base */
} cb_optima;

/* Errors: CB_ERROR_ARGUMENT for what is wrong with the problem; CB_STEP_NO_CONVERGENCE where no gait does it, with the
 * reason and what to try. */
cb_status cb_optimum_find(const cb_optimum_problem *problem, cb_optima **out);
void cb_optima_free(cb_optima *o);

CB_API_END
#endif
