/* The metric of a chart inside its domain, and the small linear algebra of what is derived from it.
 *
 *   g = c c^T,  a^-1 x by LU   (numerics/small.h)
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
  double lu[D * D], y[2 * D][D];
  int pivot[D];
  memcpy(lu, a, (size_t)(n * n) * sizeof *lu);
  if (cb_dense_factor(n, lu, pivot)) return false;
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < n; i++) y[j][i] = x[i * m + j];
    cb_dense_solve(n, lu, pivot, y[j]);
    for (int i = 0; i < n; i++)
      if (!isfinite(y[j][i])) return false;
  }
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) x[i * m + j] = y[j][i];
  return true;
}
