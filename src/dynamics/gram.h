/* The Gram matrix of constraints in the kinetic metric, S = G W G^T, and what is solved with it.
 *
 * W = (m I)^-1 in the embedding (I = diag(form)), (m g_ij(x))^-1 in a chart. Without the rows of the space the
 * gradients are first brought to the tangent space, which is the same as eliminating those rows. Sparse: two rows that
 * share a particle. Source: Hairer & Wanner, Solving ODEs II (1996), VII.1; factors by LDL^T (T. A. Davis, ACM TOMS 31
 * (2005) 587, doi:10.1145/1114268.1114277).
 */
#pragma once

#include "dynamics/forces_private.h"

typedef struct cb_gram cb_gram;

/* For the rows of c (cb_forces_constraints or cb_forces_constraints_with_space). Borrows c. */
cb_status cb_gram_create(cb_forces *f, cb_constraints *c, cb_gram **out);
void cb_gram_free(cb_gram *g);

/* Takes the gradients G[entries*k] at x (both copied as far as needed), forms S and factors it. CB_STEP_SINGULAR where
 * rows depend on one another: *row (may be NULL) is then the first that does. */
cb_status cb_gram_factor(cb_gram *g, const double *x, const double *G, int *row);
/* The least pivot of the last factorisation relative to its row, and that row: 0 where rows depend on one another. */
double cb_gram_weakest(const cb_gram *g, int *row);
/* y[rows]: right side, then solution of S y = r. */
void cb_gram_solve(const cb_gram *g, double *y);
/* u[n*k] += scale * W G^T y, with the G and x of the last factorisation: a velocity, tangent without space rows. */
void cb_gram_lift(const cb_gram *g, const double *y, double scale, double *u);

/* lambda[rows] with which all rows stay satisfied: d(rate)/dt = 0 under the forces at (t, x, v); acceleration[n*k]
 * (NULL: not wanted) is then dv/dt (embedding: with its normal part; chart: second derivative of the coordinates).
 * Any of the two evaluators' grams may be used. Factors S at x. */
cb_status cb_gram_multipliers(cb_gram *g, double t, const double *x, const double *v, double *lambda,
                              double *acceleration);

/* Brings positions to the rows of position, along W G^T, then velocities to all rows; x and v (n*k) in place, each
 * particle back on its quadric. *moved, *turned: largest change of a coordinate and of a velocity. tolerance: of
 * |g| and |rate| that counts as satisfied (0: round-off). CB_STEP_NO_CONVERGENCE, *row (may be NULL) the worst row. */
cb_status cb_gram_project(cb_gram *g, double t, double *x, double *v, double tolerance, double *moved, double *turned,
                          int *row);

struct cb_gram {
  cb_arena *arena;
  cb_forces *forces;
  cb_constraints *c;
  const cb_system *system;
  const cb_geometry *space;
  cb_rows rows;
  int k;
  double *x, *G, *T; /* of the last factorisation: positions, gradients by entry, raised tangential gradients */

  size_t pairs; /* of entries that share a particle: S[slot] += G[first].T[second] / m */
  int *first, *second, *slot;

  int *column, *row; /* upper triangle of S, permuted, by compressed columns */
  double *value, *diagonal;
  int *permutation, *inverse, *parent, *l_count, *l_start, *l_row, *flag, *pattern;
  double *l_value, *d, *work;
  double *z; /* right sides of rows of the space */
  double *trial_x, *trial_v, *trial_g, *force;
};

static inline double cb_gram_product(int k, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < k; a++) sum += u[a] * v[a];
  return sum;
}
