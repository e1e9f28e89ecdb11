/* Products of vectors, and dense matrices n x n, row after row.
 *
 * Symmetric positive matrices are factored as a = l l^T with Cholesky's factor l; only the lower triangles of a and l
 * are read and written. Other matrices are factored as LU with row pivoting (sparse.c).
 */
#pragma once

#include <curvebody/status.h>

#include <math.h>
#include <stdbool.h>

enum { CB_SMALL_MAX = 12 };

static inline double cb_dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Computes Cholesky's factor l of a; l may be a. Returns false if a pivot is not finite, or not above `least` times its
 * diagonal entry of a; then l is only partly filled. */
static inline bool cb_cholesky(int n, const double *a, double least, double *l) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
      if (i == j && !(sum > least * a[i * n + i] && sum < INFINITY)) return false;
      l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
    }
  return true;
}

/* Replaces r by a^-1 r, given Cholesky's factor l of a. */
static inline void cb_cholesky_solve(int n, const double *l, double *r) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) r[i] -= l[i * n + k] * r[k];
    r[i] /= l[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) r[i] -= l[k * n + i] * r[k];
    r[i] /= l[i * n + i];
  }
}

/* Writes the lower triangle of l^-1; the other entries of `inverse` do not change. */
static inline void cb_cholesky_inverse(int n, const double *l, double *inverse) {
  for (int c = 0; c < n; c++)
    for (int i = c; i < n; i++) {
      double sum = i == c;
      for (int k = c; k < i; k++) sum -= l[i * n + k] * inverse[k * n + c];
      inverse[i * n + c] = sum / l[i * n + i];
    }
}

/* Writes all of a^-1 from Cholesky's factor l, for n <= CB_SMALL_MAX. Returns sqrt(det a). */
static inline double cb_cholesky_whole_inverse(int n, const double *l, double *inverse) {
  double li[CB_SMALL_MAX * CB_SMALL_MAX], root = 1;
  cb_cholesky_inverse(n, l, li);
  for (int i = 0; i < n; i++) {
    root *= l[i * n + i];
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = i > j ? i : j; k < n; k++) sum += li[k * n + i] * li[k * n + j];
      inverse[i * n + j] = sum;
    }
  }
  return root;
}

/* Factors a in place as LU with row pivoting, and sets pivot[n]. Returns 0, or the number of the first pivot, from 1,
 * that is zero or not finite. cb_lu_factor and cb_lu_solve are inlined so that a constant n gives loops of constant
 * length; the outer loop is then unrolled. */
static inline __attribute__((always_inline)) int cb_lu_factor(int n, double *a, int *pivot) {
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    pivot[k] = best;
    if (best != k)
      for (int j = 0; j < n; j++) {
        const double swap = a[k * n + j];
        a[k * n + j] = a[best * n + j];
        a[best * n + j] = swap;
      }
    const double p = a[k * n + k];
    if (!(fabs(p) > 0 && fabs(p) < INFINITY)) return k + 1;
    for (int i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] / p;
      a[i * n + k] = factor;
      if (factor == 0) continue;
      for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return 0;
}

/* Replaces the right-hand side x[n] by the solution, for a and pivot from cb_lu_factor. */
static inline __attribute__((always_inline)) void cb_lu_solve(int n, const double *a, const int *pivot, double *x) {
  for (int k = 0; k < n; k++) {
    const double swap = x[k];
    x[k] = x[pivot[k]];
    x[pivot[k]] = swap;
  }
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
}

/* These functions factor and solve as cb_lu_factor and cb_lu_solve do, but they are not inlined. cb_dense_factor
 * returns CB_STEP_SINGULAR for a pivot that is zero or not finite. */
cb_status cb_dense_factor(int n, double *a, int *pivot);
void cb_dense_solve(int n, const double *a, const int *pivot, double *x);
