/* Exponential map with Jacobi fields and parallel transport in the coordinates of a chart, by integration.
 *
 *   q'' = -Gamma(q', q'),  w' = -Gamma(q', w),  from time 0 to 1   (numeric_flow.c)
 *
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2, 3 and 5.
 */
#include "geometry/numeric.h"

#include <string.h>

/* Of the estimate of the last column but one; what is kept is better by about two digits. */
static const double tolerance = 1e-13;

cb_status cb_numeric_exp(const cb_geometry *g, const double *q, const double *u, double *q1, double *u1, cb_jacobi *j) {
  cb_geodesic_end end;
  cb_status status = cb_flow_geodesic(g, q, u, NULL, j != NULL, tolerance, &end);
  if (status) return status;
  size_t size = (size_t)g->dim * sizeof *q;
  if (q1) memcpy(q1, end.q, size);
  if (u1) memcpy(u1, end.u, size);
  if (j) *j = end.jacobi;
  return CB_OK;
}

cb_status cb_numeric_transport(const cb_geometry *g, const double *q, const double *u, const double *w, double *w1) {
  cb_geodesic_end end;
  cb_status status = cb_flow_geodesic(g, q, u, w, false, tolerance, &end);
  if (!status) memcpy(w1, end.w, (size_t)g->dim * sizeof *w);
  return status;
}
