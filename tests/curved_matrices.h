/* Isometries of a space of curvature K as 4x4 matrices in extended precision, for reference results. They act on points
 * (x, w) with w^2 + K x.x = 1. */
#pragma once

#include "lie_matrices.h"
#include <curvebody/pose.h>

/* Returns the matrix [[hat(omega), v], [-K v^T, 0]] of the twist Y = (omega, v), where hat(omega) x = omega × x. */
static inline lie_matrix curved_generator(double K, const double Y[6]) {
  lie_matrix a = lie_zero(4);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    a.m[j][k] = -Y[i];
    a.m[k][j] = Y[i];
    a.m[i][3] = Y[3 + i];
    a.m[3][i] = -(long double)K * Y[3 + i];
  }
  return a;
}

/* Returns the matrix of the pose g: the exponential of the matrix of the twist (0, x), times the rotation of g. x are
 * the normal coordinates g->x. */
static inline lie_matrix curved_matrix(double K, const cb_pose *g) {
  const double shift[6] = {0, 0, 0, g->x[0], g->x[1], g->x[2]};
  const lie_matrix generator = curved_generator(K, shift), T = lie_exponential(&generator);
  double r[3][3];
  lie_matrix R = lie_zero(4);
  cb_pose_rotation(g, r);
  for (int i = 0; i < 9; i++) R.m[i / 3][i % 3] = r[i / 3][i % 3];
  R.m[3][3] = 1;
  return lie_product(&T, &R);
}

/* Returns the inverse of the isometry m, which follows from the invariance of the form diag(K, K, K, 1) under m. */
static inline lie_matrix curved_inverse(double K, const lie_matrix *m) {
  lie_matrix b = lie_zero(4);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) b.m[i][j] = m->m[j][i];
    b.m[i][3] = m->m[3][i] / K;
    b.m[3][i] = m->m[i][3] * K;
  }
  b.m[3][3] = m->m[3][3];
  return b;
}

/* Computes the twist `out` whose matrix is m A m^-1, where A is the matrix of the twist a. */
static inline void curved_conjugate(double K, const lie_matrix *m, const double a[6], double out[6]) {
  const lie_matrix generator = curved_generator(K, a), back = curved_inverse(K, m);
  lie_matrix c = lie_product(m, &generator);
  c = lie_product(&c, &back);
  for (int i = 0; i < 3; i++) {
    out[i] = (double)(c.m[(i + 2) % 3][(i + 1) % 3] - c.m[(i + 1) % 3][(i + 2) % 3]) / 2;
    out[3 + i] = (double)c.m[i][3];
  }
}
