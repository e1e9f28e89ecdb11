/* The numerical geometry of one chart: its metric inside the domain, the exponential map, and the distance.
 *
 *   g = c c^T,  a^-1 x by LU   (numerics/small.h)
 * g is the metric, c its lower triangular factor, and a any square matrix.
 */
#include "geometry/numeric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = CB_DIM_MAX };

/* A metric is not positive definite if a pivot is smaller than this, relative to the diagonal entry. */
static const double singular = 1e-14;

const char *cb_numeric_position(int n, const double *q, char text[CB_POSITION_TEXT]) {
  int used = snprintf(text, CB_POSITION_TEXT, "(");
  for (int i = 0; i < n && used < CB_POSITION_TEXT; i++)
    used += snprintf(text + used, (size_t)(CB_POSITION_TEXT - used), i ? ", %.10g" : "%.10g", q[i]);
  if (used < CB_POSITION_TEXT) snprintf(text + used, (size_t)(CB_POSITION_TEXT - used), ")");
  return text;
}

cb_status cb_numeric_factor(const cb_space *g, const double *q, const double *gij, double c[D * D]) {
  char at[CB_POSITION_TEXT];
  if (cb_cholesky(g->dim, gij, singular, c)) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "the metric is not positive definite at %s", cb_numeric_position(g->dim, q, at));
}

cb_status cb_numeric_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
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

/* --- the exponential map, with Jacobi fields and parallel transport, by integration ---
 *
 *   q'' = -Gamma(q', q'),  w' = -Gamma(q', w),  from time 0 to 1   (numeric_flow.c)
 * q is the position, w a transported vector, and Gamma are the Christoffel symbols.
 *
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2, 3 and 5.
 */

/* The tolerance for the error estimate. The estimate is for the last column but one of the extrapolation, so that the
 * result is better by about two digits. */
static const double tolerance = 1e-13;

cb_status cb_numeric_exp(const cb_space *g, const double *q, const double *u, double *q1, double *u1, cb_jacobi *j) {
  cb_geodesic_end end;
  cb_status status = cb_flow_geodesic(g, q, u, NULL, j != NULL, tolerance, &end);
  if (status) return status;
  size_t size = (size_t)g->dim * sizeof *q;
  if (q1) memcpy(q1, end.q, size);
  if (u1) memcpy(u1, end.u, size);
  if (j) *j = end.jacobi;
  return CB_OK;
}

cb_status cb_numeric_transport(const cb_space *g, const double *q, const double *u, const double *w, double *w1) {
  cb_geodesic_end end;
  cb_status status = cb_flow_geodesic(g, q, u, w, false, tolerance, &end);
  if (!status) memcpy(w1, end.w, (size_t)g->dim * sizeof *w);
  return status;
}

/* --- the distance of two points q and y, with derivatives, from the shortest geodesic and its Jacobi fields ---
 *
 *   d = |u|, u = log_q y;   p = g(q) u, p1 = g(y) u1 the momenta at the ends, u1 the velocity at y
 *   d_q = -p/d,  d_y = p1/d
 *   from dy = Q_q dq + Q_u du,  du1 = U_q dq + U_u du (as in cb_jacobi):
 *     du/dy = Q_u^-1,  du/dq = -Q_u^-1 Q_q,  du1/dy = U_u Q_u^-1
 *   d_yy = (d(p1)/dy)/d - p1 p1^T/d^3,   d(p1)_i/dy_k = d_k g_ij u1^j + g_ij du1^j/dy_k
 *   d_qy = -g(q) Q_u^-1/d + p p1^T/d^3,  d_qq = -(dp/dq)/d - p p^T/d^3,   likewise at q
 * g is the metric, and d_q and d_y are the derivatives of d with respect to q and y.
 *
 * Source: do Carmo, Riemannian Geometry (1992), chapters 5 and 9.
 */

static void lower(int n, const double *metric, const double *v, double *p) {
  for (int i = 0; i < n; i++) {
    p[i] = 0;
    for (int j = 0; j < n; j++) p[i] += metric[i * n + j] * v[j];
  }
}

/* Computes out_ik = d_k g_ij v^j + g_ij m^j_k with dg = d_k g_ij. */
static void momentum_derivative(int n, const double *metric, const double *dg, const double *v, const double *m,
                                double out[D][D]) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += dg[(k * n + i) * n + j] * v[j] + metric[i * n + j] * m[j * n + k];
      out[i][k] = sum;
    }
}

cb_status cb_numeric_distance_of(const cb_space *g, const double *q1, const double *q2, const cb_shortest *path,
                                 double *gradient, double *hessian) {
  int n = g->dim, n2 = 2 * n;
  double d = path->length, p[D], p1[D], gr[2 * D];
  if (!(d > 0))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the distance of coincident points has no derivatives: expected two different points");
  lower(n, path->metric0, path->u, p);
  lower(n, path->metric1, path->end.u, p1);
  for (int i = 0; i < n; i++) {
    gr[i] = -p[i] / d;
    gr[n + i] = p1[i] / d;
  }
  if (hessian) {
    double dg0[D * D * D], dg1[D * D * D], metric[D * D], at_q[D][D], at_y[D][D];
    double inverse[D * D] = {0}, by_q[D * D], by_y[D * D] = {0}, h[4 * D * D];
    const cb_jacobi *j = &path->end.jacobi;
    cb_status status = cb_numeric_metric(g, q1, metric, dg0, NULL);
    if (!status) status = cb_numeric_metric(g, q2, metric, dg1, NULL);
    if (status) return status;
    for (int i = 0; i < n; i++) inverse[i * n + i] = 1;
    memcpy(by_q, j->q_q, sizeof by_q);
    if (!cb_numeric_divide(n, j->q_u, n, inverse) || !cb_numeric_divide(n, j->q_u, n, by_q))
      return cb_fail(CB_ERROR_DOMAIN,
                     "the distance of conjugate points has no derivatives: expected points closer to each other");
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int m = 0; m < n; m++) sum += j->u_u[i * n + m] * inverse[m * n + k];
        by_y[i * n + k] = sum;
        by_q[i * n + k] = -by_q[i * n + k];
      }
    momentum_derivative(n, path->metric0, dg0, path->u, by_q, at_q);
    momentum_derivative(n, path->metric1, dg1, path->end.u, by_y, at_y);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        double cross = 0;
        for (int m = 0; m < n; m++) cross -= path->metric0[i * n + m] * inverse[m * n + k];
        h[i * n2 + k] = -(0.5 * (at_q[i][k] + at_q[k][i]) + p[i] * p[k] / d / d) / d;
        h[(n + i) * n2 + n + k] = (0.5 * (at_y[i][k] + at_y[k][i]) - p1[i] * p1[k] / d / d) / d;
        h[i * n2 + n + k] = h[(n + k) * n2 + i] = (cross + p[i] * p1[k] / d / d) / d;
      }
    memcpy(hessian, h, (size_t)(n2 * n2) * sizeof *h);
  }
  if (gradient) memcpy(gradient, gr, (size_t)n2 * sizeof *gr);
  return CB_OK;
}

static cb_status length_of(const cb_space *g, const double *q, const double *u, double *length) {
  double metric[D * D], p[D], square = 0;
  const cb_status status = cb_numeric_metric(g, q, metric, NULL, NULL);
  if (status) return status;
  lower(g->dim, metric, u, p);
  for (int i = 0; i < g->dim; i++) square += p[i] * u[i];
  *length = sqrt(square);
  return CB_OK;
}

cb_status cb_numeric_distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                              double *hessian) {
  if (cb_energy_distance(g, q1, q2, d, gradient, hessian) == CB_OK) return CB_OK;
  double u[D];
  const bool known = g->intrinsic && g->intrinsic->log;
  cb_shortest path;
  cb_status status = known ? g->intrinsic->log(g, q1, q2, u) : CB_OK;
  if (status) return status;
  if (known && !gradient && !hessian) return length_of(g, q1, u, d);
  status = cb_numeric_shortest(g, q1, q2, known ? u : NULL, &path);
  if (!status && (gradient || hessian)) status = cb_numeric_distance_of(g, q1, q2, &path, gradient, hessian);
  if (!status) *d = path.length;
  return status;
}
