/* What a Gram matrix of constraints holds; shared by gram.c (its factors) and gram_state.c (solutions for a state). */
#ifndef CB_DYNAMICS_GRAM_PRIVATE_H
#define CB_DYNAMICS_GRAM_PRIVATE_H

#include "core/arena.h"
#include "dynamics/forces_private.h"
#include "dynamics/gram.h"

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

#endif
