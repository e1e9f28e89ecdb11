/* Solvers for the linear equations of panels: GMRES, dense LU factors, and LU factors of a hierarchical matrix.
 *
 * GMRES solves for several right-hand sides of one operator. Each right-hand side has its own Krylov space, and one
 * call of the product computes all columns:
 *   minimise |b - A x| over x in x0 + P span{r0, (A P) r0, ..}, r0 = b - A x0
 * A is the operator, b the right-hand side, x the solution, x0 the start of the iteration, and P a preconditioner on
 * the right. The method is restarted and uses modified Gram-Schmidt: Saad & Schultz (1986), SIAM J. Sci. Stat. Comput.
 * 7, 856, doi 10.1137/0907058, algorithm 4. The result is identical for any number of threads if this is true of the
 * operator.
 */
#pragma once

#include "potential/far.h"
#include "potential/panels.h"
#include <curvebody/status.h>

#include <stddef.h>

/* Computes out = A x for x[columns][n] and out[columns][n]. Later calls omit columns that have converged. */
typedef cb_status (*cb_krylov_product)(void *context, int columns, const double *x, double *out);

typedef struct cb_krylov_problem {
  cb_krylov_product product, precondition; /* precondition: NULL for none */
  void *context;
  double tolerance; /* the largest |b - A x|/|b| that is accepted in each column */
  int iterations;   /* the maximum number of iterations */
} cb_krylov_problem;

typedef struct cb_krylov_result {
  int iterations;  /* the number of steps; each step treats all columns that have not converged */
  double residual; /* the largest |b - A x|/|b| of a column, from the recurrence of GMRES */
} cb_krylov_result;

typedef struct cb_krylov cb_krylov;

/* Allocates memory for n unknowns, at most `columns` right-hand sides, and `restart` steps before a restart. The caller
 * frees the result. */
cb_status cb_krylov_create(int n, int columns, int restart, cb_krylov **out);
void cb_krylov_free(cb_krylov *k);
size_t cb_krylov_bytes(int n, int columns, int restart);

/* Solves A x = b for b[columns][n]. x[columns][n] first holds the start of the iteration, then the solution. Returns
 * CB_STEP_NO_CONVERGENCE after `iterations` steps; x is then the last approximation. Returns CB_ERROR_ARGUMENT for too
 * many columns, CB_ERROR_DOMAIN if b is not finite, and the errors of the products. */
cb_status cb_krylov_solve(cb_krylov *k, const cb_krylov_problem *problem, int columns, const double *b, double *x,
                          cb_krylov_result *result);

/* LU factors of a dense matrix. a[n][stride] is stored row by row. */

/* Replaces the matrix in `a` by its factors and sets pivots[n]. Returns CB_ERROR_DOMAIN for a singular matrix; the
 * message gives the column. */
cb_status cb_potential_factor(int n, size_t stride, double *a, int *pivots);
/* Solves M x = b for each of the columns b[columns][n], and replaces b by x. M is the matrix whose factors are in `a`
 * and `pivots`. */
void cb_potential_back(int n, size_t stride, const double *a, const int *pivots, int columns, double *b);
/* Solves M^T x = b instead of M x = b, with the same arguments as cb_potential_back. */
void cb_potential_back_transposed(int n, size_t stride, const double *a, const int *pivots, int columns, double *b);

/* Every call of the BLAS must be between these two calls, so that only one thread calls the BLAS at a time. */
void cb_potential_blas_begin(void);
void cb_potential_blas_end(void);

/* LU factors of I/2 - D (I the unit matrix, D of potential/panels.h) as a hierarchical matrix. In such a matrix, blocks
 * of panels far from each other have low rank, up to a tolerance. Coarse factors (tolerance 1e-2) are a preconditioner
 * for bodies for which GMRES is slow. Sources: Hackbusch, Hierarchical Matrices (2015), doi 10.1007/978-3-662-47324-5;
 * the library hmat-oss. */

typedef struct cb_hlu cb_hlu;

/* Returns CB_ERROR_UNSUPPORTED in a build without hmat-oss (hlu_none.c); the message lists the methods that are
 * available. */
cb_status cb_hlu_check(void);

/* Computes the factors; p may be freed afterwards. The relative tolerance must be in [1e-12, 0.5] (otherwise
 * CB_ERROR_ARGUMENT) and applies to each block. In all measurements the residual of a solution was below the tolerance
 * (tests/potential/test_hlu.c). Returns CB_ERROR_DOMAIN if there are no LU factors. */
cb_status cb_hlu_create(const cb_panels *p, double tolerance, cb_hlu **out);
void cb_hlu_free(cb_hlu *h);

/* Solves (I/2 - D) x = b for each of the columns b[columns][n] in the caller's order of the panels, and replaces b by
 * x. Returns CB_ERROR_DOMAIN if x is not finite. Only one call at a time is allowed. */
cb_status cb_hlu_solve(cb_hlu *h, int columns, double *b);

/* cb_hlu_bytes returns the memory of the factors in bytes. cb_hlu_estimate returns an estimate of this memory for n
 * panels, and SIZE_MAX in a build without hmat-oss. In all measurements the estimate was larger than the memory of
 * factors with tolerance 1e-2. */
size_t cb_hlu_bytes(const cb_hlu *h);
size_t cb_hlu_estimate(int n);
