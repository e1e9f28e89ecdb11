/* Small ellipses: what a gait of least cost begins as.
 *
 *   r(t) = r + s (p cos 2 pi t + q sin 2 pi t):  log g = pi s^2 y + O(s^3), y = -B(p, q);  E = 4 pi^2 s^2 W,
 *     W = (M(p, p) + M(q, q))/2
 *   least W over r, p, q  where  |P y| = 1, Z y = 0:  E = 4 pi W |P log g|, dE/2 = <lambda, d log g>
 *     M p = -<lambda, B(., q)>/2 pi,  M q = <lambda, B(., p)>/2 pi,  M(p, p) = M(q, q) = W
 * P are the parts of the algebra that the target wants, Z those that it wants to be 0; lambda has those alone:
 * translation and rotation for move, rotation for turn, the log of an element and what is beside it. At a shape the
 * ellipse is the plane of the largest eigenvalue 2 pi i of L^-1 <lambda, B_ij> L^-T, M = L L^T; where the conditions
 * are three or fewer no other small gait there is cheaper: the values z* H z of three Hermitian matrices fill a convex
 * set. For one plane of shapes, n = 2, |lambda| = 2 pi sqrt(det M)/|B|, about shapes where Z B = 0.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 12; Barvinok, Discrete Comput. Geom. 13 (1995)
 * 189, doi:10.1007/BF02574037.
 */
#pragma once

#include "optimum/target.h"

enum { CB_ELLIPSES_MAX = 6 };

typedef struct cb_ellipse {
  double r[CB_SHAPE_MAX], p[CB_SHAPE_MAX], q[CB_SHAPE_MAX]; /* p, q of the size for |P y| = 1 */
  double price;                                             /* 4 pi W: E/amount */
  double lambda[CB_GROUP_DIM];
  double unwanted; /* |Z y|, beside |P y| = 1: 0 but where no small gait is found that does all that is asked */
} cb_ellipse;

/* The cheapest of the minima that are found, those of one price told once; about the base, where there is one. Where
 * there is none that does all that is asked, the planes that are best for P alone about some shapes. Returns how many:
 * 0 where the curvature has nothing of P wherever it was looked at. */
int cb_ellipses_find(const cb_optimum_problem *o, cb_ellipse *out);
/* The gait, of a size for the amount of the target, which it does the right way round; no larger than the window of
 * shapes, and within bounds. Where efficiency is sought, the size is a third of the window. */
cb_status cb_ellipse_gait(const cb_optimum_problem *o, const cb_ellipse *e, cb_gait **out);
/* Where shapes are drawn from: bounds, else a period, else a quarter turn to each side of 0, times `wide`. */
void cb_shape_window(const cb_optimum_problem *o, int i, double wide, double *low, double *high);

/* The least ellipse beside a given one, by sequential quadratic programming (equations: optimum/ellipse.h).
 *
 *   x = (r, p, q);  c = ((|P y|^2 - 1)/2, Z y);  L = W + nu c
 * Gradients are exact, second derivatives of L their central differences. A shape variable stays at its bound where L
 * falls beyond it. The merit is W + weight |c|_1.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), chapter 18, doi:10.1007/978-0-387-40065-5.
 */

/* Rows of P and Z: linear forms on the algebra. */
typedef struct cb_small_target {
  int wanted, zeros;
  double P[CB_CONDITIONS_MAX][CB_GROUP_DIM], Z[CB_CONDITIONS_MAX][CB_GROUP_DIM];
  double amount; /* |P log g| that is asked; its sign, where one number is wanted */
} cb_small_target;

typedef struct cb_ellipse_work cb_ellipse_work;
cb_status cb_ellipse_work_create(const cb_optimum_problem *o, const cb_small_target *t, cb_ellipse_work **out);
void cb_ellipse_work_free(cb_ellipse_work *w);
/* e, from what is near it, to a minimum: price, lambda; CB_STEP_NO_CONVERGENCE where it comes to none. */
cb_status cb_ellipse_solve(cb_ellipse_work *w, cb_ellipse *e);
