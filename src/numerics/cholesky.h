/* Small symmetric positive matrices by Cholesky's factors, a = l l^T with l lower triangular: n x n, row after row.
 * Only the lower triangles of a and l are read and written. */
#ifndef CB_NUMERICS_CHOLESKY_H
#define CB_NUMERICS_CHOLESKY_H

#include <math.h>
#include <stdbool.h>

/* False where a pivot is not finite, or not above `least` of its entry of a: l is then partly filled. */
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

#endif
