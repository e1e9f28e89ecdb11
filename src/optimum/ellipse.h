/* Small ellipses, the limit of optimal gaits for small targets, from which searches start.
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
 * the Cholesky factor, M = L L^T. With at most three conditions no other small gait there is cheaper, because the
 * values z* H z of three Hermitian matrices H fill a convex set. For two shape variables there is one plane of shapes:
 * |lambda| = 2 pi sqrt(det M)/|B|, at shapes where Z B = 0.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 12; Barvinok, Discrete Comput. Geom. 13 (1995)
 * 189, doi:10.1007/BF02574037.
 */
#pragma once

#include "optimum/target.h"

enum { CB_ELLIPSES_MAX = 6 };

typedef struct cb_ellipse {
  double r[CB_SHAPE_MAX], p[CB_SHAPE_MAX], q[CB_SHAPE_MAX]; /* r: centre; p, q: half-axes, of the size for which |P y| =
                                                             * 1 */
  double price;                                             /* the cost per amount, E/amount = 4 pi W */
  double lambda[CB_GROUP_DIM];
  double unwanted; /* |Z y| for |P y| = 1: it is 0 unless no small gait was found that meets all conditions */
} cb_ellipse;

/* Finds the cheapest minima of W, one for each price; the start shape is the centre if there is one. If no minimum
 * meets all conditions, the results are the best planes for P only, at some shapes. Returns the number of results in
 * out[CB_ELLIPSES_MAX]: 0 if the curvature has no part along P at any shape that was examined, or if small gaits cannot
 * contribute to the target. */
int cb_ellipses_find(const cb_optimum_problem *o, cb_ellipse *out);
/* Creates the gait along the ellipse. Its size is that for the amount of the target, but at most .9 of the window of
 * shapes in each variable (cb_shape_window). If efficiency is the objective, the size does not depend on the amount: it
 * is .3 of the window. If the start shape is free, the gait is moved into the bounds. CB_ERROR_ARGUMENT if small gaits
 * cannot contribute to the target. */
cb_status cb_ellipse_gait(const cb_optimum_problem *o, const cb_ellipse *e, cb_gait **out);
/* Computes the interval *low to *high from which random values of shape variable i are taken: one period around 0, or
 * -wide pi/2 to wide pi/2 if there is no period. A finite bound replaces the end on its side. */
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
  int wanted, zeros;
  double P[CB_CONDITIONS_MAX][CB_GROUP_DIM], Z[CB_CONDITIONS_MAX][CB_GROUP_DIM];
  double amount; /* the amount |P log g| of the target; for move and turn it has the sign of the target */
} cb_small_target;

typedef struct cb_ellipse_work cb_ellipse_work;
cb_status cb_ellipse_work_create(const cb_optimum_problem *o, const cb_small_target *t, cb_ellipse_work **out);
void cb_ellipse_work_free(cb_ellipse_work *w);
/* Moves e to a minimum of W near it, with price and lambda. CB_STEP_NO_CONVERGENCE if it finds no minimum. */
cb_status cb_ellipse_solve(cb_ellipse_work *w, cb_ellipse *e);
