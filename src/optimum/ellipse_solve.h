/* The least ellipse beside a given one, by sequential quadratic programming (equations: optimum/ellipse.h).
 *
 *   x = (r, p, q);  c = ((|P y|^2 - 1)/2, Z y);  L = W + nu c
 * Gradients are exact, second derivatives of L their central differences. A shape variable stays at its bound where L
 * falls beyond it. The merit is W + weight |c|_1.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), chapter 18, doi:10.1007/978-0-387-40065-5.
 */
#ifndef CB_OPTIMUM_ELLIPSE_SOLVE_H
#define CB_OPTIMUM_ELLIPSE_SOLVE_H

#include "optimum/ellipse.h"

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

#endif
