/* Products of vectors; dense matrices n x n, row after row: symmetric positive ones by Cholesky's factors a = l l^T, of which, as of a, only
 * the lower triangle is read and written; others by LU with row pivoting. */
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

/* False where a pivot is not finite, or not above `least` of its entry of a: l, which may be a, is then partly filled.
 */
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

/* r becomes a^-1 r. */
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

/* The lower triangle of l^-1, a matrix whose others are left alone. */
static inline void cb_cholesky_inverse(int n, const double *l, double *inverse) {
  for (int c = 0; c < n; c++)
    for (int i = c; i < n; i++) {
      double sum = i == c;
      for (int k = c; k < i; k++) sum -= l[i * n + k] * inverse[k * n + c];
      inverse[i * n + c] = sum / l[i * n + i];
    }
}

/* a^-1 whole, as inverse of the factors l of n <= CB_SMALL_MAX; returns sqrt(det a). */
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

/* LU in place, and pivots[n]; CB_STEP_SINGULAR where a pivot is zero or not finite. Then a solution in place. */
cb_status cb_dense_factor(int n, double *a, int *pivot);
void cb_dense_solve(int n, const double *a, const int *pivot, double *x);
