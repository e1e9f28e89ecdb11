/* The modules of a search for gaits: starts, refinement and certification of a solution, a test whether a target can be
 * reached, and the optimality of a given gait. */
#pragma once

#include "optimum/direct.h"
#include "optimum/shape_constraint.h"

/* report is called after each start with the number of starts done. Any thread may call it, but only one at a time.
 * After the last start it is also called each time before a gait is refined or examined. */
typedef struct cb_find_watch {
  void (*report)(void *context, int done, int starts);
  void *context;
} cb_find_watch;
/* Does the same as cb_optimum_find, and reports its progress to watch, which may be NULL. */
cb_status cb_optimum_find_watched(const cb_optimum_problem *problem, const cb_find_watch *watch, cb_optima **out);

/* Adds functions of time to the basis of *d until the cost is exact to round-off, or the basis has its maximum size
 * (certify.c). *d may be replaced; the caller frees. *settled: false if the search in more functions found no
 * stationary gait. */
cb_status cb_direct_refine(cb_direct **d, bool *settled);
/* True if the gait is pressed against constraints of the problem, by a barrier or at corners. */
static inline bool cb_direct_held(const cb_direct *d) { return (d->barrier && d->barrier->tau > 0) || d->corners > 0; }
/* Fills *out from a solution d of the search: the gait, its optimality, and the results of Wong's equations
 * (extremal.h). */
cb_status cb_optimum_certify(cb_direct *d, cb_optimum *out);
/* Solves Wong's equations (extremal.h) from the members gait, cost and lambda of *out, and fills their results in
 * *out. */
cb_status cb_optimum_by_wong(cb_direct *d, cb_optimum *out);

/* The starts of a search for gaits: the gait of the problem, small ellipses, waves, and random loops, in that order. If
 * the problem has a gait and requests no random start, its gait is the only start.
 *
 *   random  The centre, the sizes and two harmonics are random numbers. Each start has its own seed, so that it does
 *           not depend on the others. It runs in the direction that is nearer to the target. |log g| of a small loop
 *           with holonomy g is proportional to its area; therefore the loop is scaled by s with s^2 |log g| = the size
 *           of the target. It is not scaled if the size is free, as for the most efficient gait.
 *   waves   Large loops around the middle of the window: variable k is middle + a cos(2 pi t - k lag), with lags of
 *           pi/4, pi/2 and 3 pi/4, and a = .9 and 1.8 of half the window (.9 for variables with a bound or a period).
 *           A gait with a large amount is often neither a continuation of a small one nor near a random loop, whose
 *           size follows from the scaling with s.
 * The caller frees each gait and the list. If the bundle allows no start, there are none.
 */
cb_status cb_start_gaits(const cb_optimum_problem *problem, int *count, cb_gait ***gaits);

/* The holonomies that closed gaits can have: the algebra h of holonomies at a shape.
 *
 *   h = span of Ad_g(t) B_ij(r(t)) and Ad_g(t) D_k B_ij(r(t)) along paths r(t) from that shape  (Ambrose & Singer)
 * g(t): the group element along the path; B_ij: curvature; D_k: covariant derivative (curvebody/bundle.h). The elements
 * that gaits reach are products of exponentials of h.
 * Source: Ambrose & Singer, Trans. Am. Math. Soc. 75 (1953) 428, doi:10.1090/S0002-9947-1953-0063739-1.
 */

/* Computes the algebra of holonomies at the start of a gait, from 24 shapes along the gait: *dim vectors
 * h[*dim][group->dim], orthonormal in the axes of the group. */
cb_status cb_holonomy_algebra(const cb_bundle *b, const cb_gait *gait, int *dim, double *h);
/* Returns CB_STEP_NO_CONVERGENCE, with the reason, if no gait with the same start shape can reach the target, and CB_OK
 * if the algebra of holonomies does not decide it. */
cb_status cb_target_reachable(const cb_optimum_problem *p, const cb_gait *gait);

/* The optimality of any closed gait: its distance from the optimum among gaits with the same holonomy.
 *
 *   slope  |grad E along gaits at the target|/|grad E| for the cost E, in the metric int |r'|^2 dt of gaits r(t); 0:
 *          stationary. At constraints it is the part that the constraints leave (shape_constraint.h). If the gait
 *          crosses breaks of the bundle, the times of the crossings are constant, and the difference of the speeds on
 *          both sides counts too (direct.h).
 *   gain   The share of the cost that one step of the gradient flow saves. The step is -(gradient along gaits at the
 *          target)/(the largest diagonal entry of the Hessian), or 1/2, 1/4, .., 1/512 of it, whichever saves most.
 */

typedef struct cb_optimality {
  double cost, length, amount;                   /* amount is nan if the target has none */
  double g[CB_GROUP_SIZE], lambda[CB_GROUP_DIM]; /* lambda: the multipliers with the smallest slope */
  double slope, gain;
  int index, flat; /* numbers of negative and of zero eigenvalues of the second variation; if the gait presses on
                           * constraints, on their critical cone (shape_constraint.h) */
  int loose;       /* the index may be lower by up to this number, because some active constraints have neither a
                           * force nor a motion away */
  int active_constraints;
  cb_active_constraint active_constraint[CB_ACTIVE_CONSTRAINTS_MAX];
  double fit;      /* distance of the gait from its fit in functions of time */
  bool stationary; /* the slope is round-off, or explained by the error of the fit */
  double wong;     /* cost of the extremal near the gait, if the gait is stationary; otherwise nan */
  int conjugates;  /* number of conjugate times of the extremal near the gait; -1: not known */
  double conjugate[2];
} cb_optimality;

/* Computes the optimality of a gait. The holonomy of the gait replaces the target of the problem. The start shape, the
 * constraints and the objective of the problem are used, except that the objective `target` counts as `cost`.
 * CB_ERROR_ARGUMENT if the gait is open, does not begin at the start shape, or violates a constraint. */
cb_status cb_optimality_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_optimality *out);
