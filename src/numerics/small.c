/* See small.h. */
#include "numerics/small.h"

cb_status cb_dense_factor(int n, double *a, int *pivot) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    pivot[k] = best;
    const double p = a[best * n + k];
    if (!(fabs(p) > 0 && fabs(p) < INFINITY)) return cb_fail(CB_STEP_SINGULAR, "pivot %d of %d is %g", k + 1, n, p);
    if (best != k)
      for (int j = 0; j < n; j++) {
        const double swap = a[k * n + j];
        a[k * n + j] = a[best * n + j];
        a[best * n + j] = swap;
      }
    for (int i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] / p;
      a[i * n + k] = factor;
      if (factor == 0) continue;
      for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return CB_OK;
}

void cb_dense_solve(int n, const double *a, const int *pivot, double *x) {
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
