/* The metric of a chart inside its domain, and the small linear algebra of what is derived from it.
 *
 *   g = c c^T (numerics/cholesky.h);   a^-1 x by elimination with row pivots
 */
#include "geometry/numeric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = CB_DIM_MAX };

/* A pivot smaller than this, relative to its entry of the metric, means that the metric is not positive definite. */
static const double singular = 1e-14;

const char *cb_numeric_position(int n, const double *q, char text[CB_POSITION_TEXT]) {
  int used = snprintf(text, CB_POSITION_TEXT, "(");
  for (int i = 0; i < n && used < CB_POSITION_TEXT; i++)
    used += snprintf(text + used, (size_t)(CB_POSITION_TEXT - used), i ? ", %.10g" : "%.10g", q[i]);
  if (used < CB_POSITION_TEXT) snprintf(text + used, (size_t)(CB_POSITION_TEXT - used), ")");
  return text;
}

cb_status cb_numeric_factor(const cb_geometry *g, const double *q, const double *gij, double c[D * D]) {
  char at[CB_POSITION_TEXT];
  if (cb_cholesky(g->dim, gij, singular, c)) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "the metric is not positive definite at %s", cb_numeric_position(g->dim, q, at));
}

cb_status cb_numeric_metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {
  cb_status status = g->intrinsic && g->intrinsic->inside ? g->intrinsic->inside(g, q) : CB_OK;
  return status ? status : g->chart->metric(g, q, gij, dg, ddg);
}

bool cb_numeric_divide(int n, const double *a, int m, double *x) {
  double lu[D * D], y[2 * D * D];
  memcpy(lu, a, (size_t)(n * n) * sizeof *lu);
  memcpy(y, x, (size_t)(n * m) * sizeof *y);
  for (int i = 0; i < n; i++) {
    int pivot = i;
    for (int k = i + 1; k < n; k++)
      if (fabs(lu[k * n + i]) > fabs(lu[pivot * n + i])) pivot = k;
    if (!(fabs(lu[pivot * n + i]) > 1e-300)) return false;
    for (int j = 0; pivot != i && j < n; j++) {
      double swap = lu[i * n + j];
      lu[i * n + j] = lu[pivot * n + j];
      lu[pivot * n + j] = swap;
    }
    for (int j = 0; pivot != i && j < m; j++) {
      double swap = y[i * m + j];
      y[i * m + j] = y[pivot * m + j];
      y[pivot * m + j] = swap;
    }
    for (int k = i + 1; k < n; k++) {
      double ratio = lu[k * n + i] / lu[i * n + i];
      for (int j = i; j < n; j++) lu[k * n + j] -= ratio * lu[i * n + j];
      for (int j = 0; j < m; j++) y[k * m + j] -= ratio * y[i * m + j];
    }
  }
  for (int j = 0; j < m; j++)
    for (int i = n - 1; i >= 0; i--) {
      for (int k = i + 1; k < n; k++) y[i * m + j] -= lu[i * n + k] * y[k * m + j];
      y[i * m + j] /= lu[i * n + i];
    }
  for (int i = 0; i < n * m; i++)
    if (!isfinite(y[i])) return false;
  memcpy(x, y, (size_t)(n * m) * sizeof *x);
  return true;
}
