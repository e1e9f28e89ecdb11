/* The Gram matrix of constraints in the kinetic metric, S = G W G^T, and the equations that are solved with it.
 *
 * G has the gradients of the rows. W = (m I)^-1 in the embedding (m: the mass of a particle, I = diag(form)), and (m
 * g_ij(x))^-1 in a chart with the metric g_ij. For an evaluator without the rows of the space, the gradients are first
 * projected to the tangent space, which is equivalent to eliminating those rows. S is sparse: only two rows that share
 * a particle have an entry. Source: Hairer & Wanner, Solving ODEs II (1996), VII.1; factors by LDL^T (T. A. Davis, ACM
 * TOMS 31 (2005) 587, doi:10.1145/1114268.1114277).
 */
#pragma once

#include "dynamics/forces_private.h"

typedef struct cb_gram cb_gram;

/* Creates the Gram matrix of the rows of c, which comes from cb_forces_constraints or cb_forces_constraints_with_space
 * and is borrowed. */
cb_status cb_gram_create(cb_forces *f, cb_constraints *c, cb_gram **out);
void cb_gram_free(cb_gram *g);

/* Copies the gradients G[entries*k] and the positions x, forms S and factors it. Returns CB_STEP_SINGULAR if rows
 * depend on one another; *row (may be NULL) is then the first dependent row. */
cb_status cb_gram_factor(cb_gram *g, const double *x, const double *G, int *row);
/* Returns the smallest pivot of the last factorisation, relative to the diagonal entry of its row, and sets *row to
 * that row. The pivot is about 0 if rows depend on one another. If it is 1 (no rows, or orthogonal rows), *row is not
 * set. */
double cb_gram_weakest(const cb_gram *g, int *row);
/* Solves S y = r. y[rows] is r on entry and the solution on return. */
void cb_gram_solve(const cb_gram *g, double *y);
/* Adds scale * W G^T y to u[n*k], with the G and x of the last factorisation. The added vector is a velocity; without
 * rows of the space it is tangent to the space. */
void cb_gram_lift(const cb_gram *g, const double *y, double scale, double *u);

/* Computes the multipliers lambda[rows] with which all rows stay satisfied under the forces at (t, x, v), that is,
 * d(rate)/dt = 0. acceleration[n*k] (may be NULL) is then dv/dt: in the embedding with its normal part; in a chart the
 * second derivative of the coordinates. The function works with or without rows of the space, and factors S at x. */
cb_status cb_gram_multipliers(cb_gram *g, double t, const double *x, const double *v, double *lambda,
                              double *acceleration);

/* Projects positions onto the positional rows along W G^T, then velocities onto all rows. x and v (n*k) are changed in
 * place, and in the embedding each particle is put back on its quadric. *moved (the largest change of a coordinate) and
 * *turned (the largest change of a velocity) may be NULL. The tolerance is for |g|, the largest value of a positional
 * row (0: round-off). Below 1e-12 the iteration also ends if an iteration does not make |g| at least half as large.
 * Rates are reduced to round-off. Returns CB_STEP_NO_CONVERGENCE and sets *row (may be NULL) to the row with the
 * largest error, or CB_STEP_SINGULAR and sets *row to a dependent row, or CB_STEP_NOT_FINITE. */
cb_status cb_gram_project(cb_gram *g, double t, double *x, double *v, double tolerance, double *moved, double *turned,
                          int *row);

struct cb_gram {
  cb_arena *arena;
  cb_forces *forces;
  cb_constraints *c;
  const cb_system *system;
  const cb_space *space;
  cb_rows rows;
  int k;
  /* data of the last factorisation: the positions, the gradients by entry, and T (the gradients as tangent vectors) */
  double *x, *G, *T;

  /* the pairs of entries that share a particle; each adds G[first].T[second]/m to S[slot], where m is the mass of the
   * particle */
  size_t pairs;
  int *first, *second, *slot;

  int *column, *row; /* the permuted upper triangle of S in compressed columns */
  double *value, *diagonal;
  int *permutation, *inverse, *parent, *l_count, *l_start, *l_row, *flag, *pattern;
  double *l_value, *d, *work;
  double *z; /* [3][rows]: right-hand sides and solutions */
  double *trial_x, *trial_v, *trial_g, *force;
};

static inline double cb_gram_product(int k, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < k; a++) sum += u[a] * v[a];
  return sum;
}
