/* The modules of a search for gaits: starts, refinement and certification of a solution, a test whether a target can be
 * reached, and the optimality of a given gait. */
#pragma once

#include "optimum/direct.h"
#include "optimum/shape_constraint.h"
#include "optimum/target.h"

/* report is called after each start, with the number of starts that are done. Any thread may call it, but only one at a
 * time. After the last start it is also called each time before a gait is refined or certified. */
typedef struct cb_find_watch {
  void (*report)(void *context, int done, int starts);
  void *context;
} cb_find_watch;
/* Does the same as cb_optimum_find, and reports its progress to watch, which may be NULL. */
cb_status cb_optimum_find_watched(const cb_optimum_problem *problem, const cb_find_watch *watch, cb_optima **out);

/* Adds functions of time to the basis of *d until the cost is exact to round-off, or the basis has its maximum size
 * (certify.c). *d may be replaced; the caller frees *d. *settled becomes false if the search in more functions found no
 * stationary gait. */
cb_status cb_direct_refine(cb_direct **d, bool *settled);
/* Returns true if the gait is pressed against constraints of the problem, by a barrier or at corners, or against limits
 * of torques. */
static inline bool cb_direct_held(const cb_direct *d) {
  return (d->barrier && d->barrier->tau > 0) || d->corners > 0 || (d->effort && d->effort->barrier > 0);
}
/* Fills *out from a solution d of the search: the gait, its optimality, and the results of Wong's equations
 * (extremal.h). */
cb_status cb_optimum_certify(cb_direct *d, cb_optimum *out);

/* The starts of a search for gaits: the gait of the problem, small ellipses, waves, and random loops, in that order. If
 * the problem has a gait and requests no random start, its gait is the only start.
 *
 *   random  The centre, the sizes and two harmonics are random numbers. Each start has its own seed, so that it does
 *           not depend on the other starts. Of the two directions of a loop, the one whose holonomy is nearer to the
 *           target is used. |log g| of a small loop with holonomy g is proportional to its area; therefore the loop is
 *           scaled by s with s^2 |log g| = the size of the target. It is not scaled if the size is free, as for the
 *           most efficient gait.
 *   waves   Large loops around the middle of the window: variable k is middle + a cos(2 pi t - k lag), with lags of
 *           pi/4, pi/2 and 3 pi/4, and a = .9 and 1.8 of half the window (.9 for variables with a bound or a period).
 *           These starts are for large amounts. Gaits with a large amount are often not continuations of small gaits.
 *           They are often not near a random loop either, because s determines the size of a random loop.
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

/* Computes the algebra of holonomies at the start of a gait, from 24 shapes along the gait. The result is *dim vectors
 * h[*dim][group->dim], orthonormal in the axes of the group. */
cb_status cb_holonomy_algebra(const cb_bundle *b, const cb_gait *gait, int *dim, double *h);
/* Returns CB_STEP_NO_CONVERGENCE, with the reason, if no gait with the same start shape as the given one can reach the
 * target. Returns CB_OK if the algebra of holonomies does not exclude it. */
cb_status cb_target_reachable(const cb_optimum_problem *p, const cb_gait *gait);

/* The optimality of any closed gait: its distance from the optimum among gaits with the same holonomy.
 *
 *   slope  |P grad E|/|grad E|, where E is the cost, P the projection on changes of the gait that keep the target, and
 *          the metric of gaits r(t) is int |r'|^2 dt. The slope of a stationary gait is 0. At constraints P also leaves
 *          out the changes that violate them (shape_constraint.h). If the gait crosses breaks of the bundle, the times
 *          of the crossings are constant, and the difference of the speeds on both sides counts too (direct.h).
 *   gain   The share of the cost that one step of the gradient flow saves. The step is -(gradient along gaits at the
 *          target)/(the largest diagonal entry of the Hessian), or 1/2, 1/4, .., 1/512 of it, whichever saves most.
 */

typedef struct cb_optimality {
  double cost, length, amount;                   /* amount is nan if the target has no amount */
  double g[CB_GROUP_SIZE], lambda[CB_GROUP_DIM]; /* g: the holonomy; lambda: the multipliers that make slope smallest */
  double slope, gain;
  /* numbers of negative and of zero eigenvalues of the second variation. If the gait presses on constraints, the second
   * variation is restricted to their critical cone (shape_constraint.h) */
  int index, flat;
  /* the true index is at least index - loose. It may be lower than `index` if some active constraints have no force on
   * the gait */
  int loose;
  int active_constraints;
  cb_active_constraint active_constraint[CB_ACTIVE_CONSTRAINTS_MAX];
  double fit;      /* distance of the gait from the fit of it in harmonics or piecewise polynomials (direct.h) */
  bool stationary; /* the slope is round-off, or explained by the error of the fit */
  double wong;     /* cost of the extremal near the gait, if the gait is stationary; otherwise nan */
  int conjugates;  /* number of conjugate times of the extremal near the gait; -1: not known */
  double conjugate[2];
} cb_optimality;

/* Computes the optimality of a gait. The holonomy of the gait replaces the target of the problem. The start shape, the
 * constraints and the objective of the problem are used, except that the objective `target` counts as `cost`. Returns
 * CB_ERROR_ARGUMENT if the gait is open, does not begin at the start shape, or violates a constraint. */
cb_status cb_optimality_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_optimality *out);

/* --- ellipses ---
 *
 * Small ellipses, the limit of optimal gaits for small targets, from which searches start.
 *
 *   r(t) = r + s (p cos 2 pi t + q sin 2 pi t):  log g = pi s^2 y + O(s^3), y = -B(p, q);  E = 4 pi^2 s^2 W,
 *     W = (M(p, p) + M(q, q))/2
 *   min W over r, p, q  where  |P y| = 1, Z y = 0:  E = 4 pi W |P log g|, dE/2 = <lambda, d log g>
 *     M p = -<lambda, B(., q)>/2 pi,  M q = <lambda, B(., p)>/2 pi,  M(p, p) = M(q, q) = W
 * r: centre; p, q: half-axes for the size s = 1; g: holonomy; E: cost; B, M: curvature and cost metric at the centre. P
 * selects the parts of the algebra that the target prescribes, Z those that it requires to be 0. The multiplier lambda
 * has only these parts: translation and rotation for move, rotation for turn, and for an element its log and the
 * directions at right angles to the log.
 *
 * At a given shape the ellipse is the plane of the largest eigenvalue 2 pi i of L^-1 <lambda, B_ij> L^-T, where L is
 * the Cholesky factor, M = L L^T. With at most three conditions no other small gait at this shape is cheaper, because
 * the values z* H z of three Hermitian matrices H fill a convex set. For two shape variables there is one plane of
 * shapes: |lambda| = 2 pi sqrt(det M)/|B|, at shapes where Z B = 0.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 12; Barvinok, Discrete Comput. Geom. 13 (1995)
 * 189, doi:10.1007/BF02574037.
 */

enum { CB_ELLIPSES_MAX = 6 };

typedef struct cb_ellipse {
  double r[CB_SHAPE_MAX], p[CB_SHAPE_MAX], q[CB_SHAPE_MAX]; /* r: centre; p, q: half-axes, scaled so that |P y| = 1 */
  double price;                                             /* the cost per amount, E/amount = 4 pi W */
  double lambda[CB_GROUP_DIM];
  double unwanted; /* |Z y|: 0 if the ellipse meets all conditions, and positive if no such ellipse was found */
} cb_ellipse;

/* Finds the cheapest minima of W. Of several minima with the same price (cost per amount) only one is kept. If there is
 * a start shape, it is the centre of all ellipses. If no minimum meets all conditions, the results are ellipses at some
 * shapes that meet only the conditions with P. Returns the number of results in out[CB_ELLIPSES_MAX]: 0 if the
 * curvature has no part along P at any shape that was examined, or if small gaits cannot contribute to the target. */
int cb_ellipses_find(const cb_optimum_problem *o, cb_ellipse *out);
/* Creates the gait along the ellipse. It has the size that gives the amount of the target, but at most .9 of the window
 * of shapes in each variable (cb_shape_window). If efficiency is the objective, the size does not depend on the amount:
 * it is .3 of the window. If the start shape is free, the gait is moved into the bounds. Returns CB_ERROR_ARGUMENT if
 * small gaits cannot contribute to the target. */
cb_status cb_ellipse_gait(const cb_optimum_problem *o, const cb_ellipse *e, cb_gait **out);
/* Computes the interval *low to *high from which random values of shape variable i are taken. It is one period around
 * 0, or -wide pi/2 to wide pi/2 if the variable has no period. A finite bound replaces the end of the interval on its
 * side. */
void cb_shape_window(const cb_optimum_problem *o, int i, double wide, double *low, double *high);

/* The cheapest ellipse near a given one, by sequential quadratic programming.
 *
 *   x = (r, p, q);  c = ((|P y|^2 - 1)/2, Z y);  L = W + nu c,  nu the multipliers of c
 * x: the unknowns; c: the conditions; L: Lagrange's function; the other symbols are as above. Gradients are exact;
 * second derivatives of L are central differences of the gradients. A shape variable stays at its bound if L decreases
 * across the bound. Steps reduce the merit W + weight |c|_1.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), chapter 18, doi:10.1007/978-0-387-40065-5.
 */

/* The rows of P and Z, which are linear forms on the algebra. */
typedef struct cb_small_target {
  int wanted, zeros; /* the numbers of rows of P and of Z */
  double P[CB_CONDITIONS_MAX][CB_GROUP_DIM], Z[CB_CONDITIONS_MAX][CB_GROUP_DIM];
  double amount; /* the amount |P log g| of the target; for the targets `move` and `turn` it has their sign */
} cb_small_target;

typedef struct cb_ellipse_work cb_ellipse_work;
cb_status cb_ellipse_work_create(const cb_optimum_problem *o, const cb_small_target *t, cb_ellipse_work **out);
void cb_ellipse_work_free(cb_ellipse_work *w);
/* Moves the ellipse e to a minimum of W near it, and sets e->price and e->lambda. Returns CB_STEP_NO_CONVERGENCE if no
 * minimum is found. */
cb_status cb_ellipse_solve(cb_ellipse_work *w, cb_ellipse *e);
