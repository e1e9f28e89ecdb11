/* Isometries of a space of curvature K as 4x4 matrices on points (x, w), w^2 + K x.x = 1, for oracles. */
#pragma once

#include "lie_matrices.h"
#include <curvebody/pose.h>

/* The matrix [[hat(omega), v], [-K v^T, 0]] of the twist Y = (omega, v). */
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

/* The exponential of the generator of (0, x), times the rotation. */
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

/* The inverse, from the form diag(K, K, K, 1) that the matrix keeps. */
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

/* m a m^-1 as (omega, v), where a stands for its generator. */
static inline void curved_conjugate(double K, const lie_matrix *m, const double a[6], double out[6]) {
  const lie_matrix generator = curved_generator(K, a), back = curved_inverse(K, m);
  lie_matrix c = lie_product(m, &generator);
  c = lie_product(&c, &back);
  for (int i = 0; i < 3; i++) {
    out[i] = (double)(c.m[(i + 2) % 3][(i + 1) % 3] - c.m[(i + 1) % 3][(i + 2) % 3]) / 2;
    out[3 + i] = (double)c.m[i][3];
  }
}
