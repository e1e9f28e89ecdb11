/* GMRES for several right-hand sides of one operator: each has its own Krylov space, and one product serves all.
 *
 *   minimise |b - A x| over x0 + P span{r0, (A P) r0, ..}, P a preconditioner on the right
 * Source: Saad & Schultz (1986), SIAM J. Sci. Stat. Comput. 7, 856, doi 10.1137/0907058, algorithm 4, by modified
 * Gram-Schmidt, restarted. The same bytes for any number of threads if the operator gives them.
 */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>

/* out[columns][n] = A x[columns][n]; columns beyond those of one call may be left out in the next. */
typedef cb_status (*cb_krylov_product)(void *context, int columns, const double *x, double *out);

typedef struct cb_krylov_problem {
  cb_krylov_product product, precondition; /* precondition: NULL for none */
  void *context;
  double tolerance; /* of |b - A x|/|b| in each column */
  int iterations;   /* at most */
} cb_krylov_problem;

typedef struct cb_krylov_result {
  int iterations;  /* of the column that took most */
  double residual; /* the greatest |b - A x|/|b|, by the recurrence */
} cb_krylov_result;

typedef struct cb_krylov cb_krylov;

/* Room for n unknowns, up to so many columns and steps before a restart. The caller frees. */
cb_status cb_krylov_create(int n, int columns, int restart, cb_krylov **out);
void cb_krylov_free(cb_krylov *k);
size_t cb_krylov_bytes(int n, int columns, int restart);

/* x[columns][n] holds where to start. CB_STEP_NO_CONVERGENCE after `iterations`, with x the best so far. */
cb_status cb_krylov_solve(cb_krylov *k, const cb_krylov_problem *problem, int columns, const double *b, double *x,
                          cb_krylov_result *result);
