/* Geodesic distance of two points of a chart with derivatives, from the shortest geodesic and its Jacobi fields.
 *
 *   d = |u|, u = log_q y;   p = g(q) u, p1 = g(y) u1 the momenta at the ends
 *   d_q = -p/d,  d_y = p1/d
 *   from dy = Q_q dq + Q_u du,  du1 = U_q dq + U_u du:   du/dy = Q_u^-1,  du/dq = -Q_u^-1 Q_q,  du1/dy = U_u Q_u^-1
 *   d_yy = (d(p1)/dy)/d - p1 p1^T/d^3,   d(p1)_i/dy_k = d_k g_ij u1^j + g_ij du1^j/dy_k
 *   d_qy = -g(q) Q_u^-1/d + p p1^T/d^3,  d_qq = -(dp/dq)/d - p p^T/d^3,   likewise at q
 *
 * Source: do Carmo, Riemannian Geometry (1992), chapters 5 and 9.
 */
#include "geometry/energy.h"
#include "geometry/numeric.h"

#include <math.h>
#include <string.h>

enum { D = CB_DIM_MAX };

static void lower(int n, const double *metric, const double *v, double *p) {
  for (int i = 0; i < n; i++) {
    p[i] = 0;
    for (int j = 0; j < n; j++) p[i] += metric[i * n + j] * v[j];
  }
}

/* out_ik = d_k g_ij v^j + g_ij m^j_k */
static void momentum_derivative(int n, const double *metric, const double *dg, const double *v, const double *m,
                                double out[D][D]) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += dg[(k * n + i) * n + j] * v[j] + metric[i * n + j] * m[j * n + k];
      out[i][k] = sum;
    }
}

cb_status cb_numeric_distance_of(const cb_geometry *g, const double *q1, const double *q2, const cb_shortest *path,
                                 double *gradient, double *hessian) {
  int n = g->dim, n2 = 2 * n;
  double d = path->length, p[D], p1[D], gr[2 * D];
  if (!(d > 0)) return cb_fail(CB_ERROR_DOMAIN, "the distance of coincident points has no derivatives");
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
      return cb_fail(CB_ERROR_DOMAIN, "the distance of conjugate points has no derivatives");
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

static cb_status length_of(const cb_geometry *g, const double *q, const double *u, double *length) {
  double metric[D * D], p[D], square = 0;
  const cb_status status = cb_numeric_metric(g, q, metric, NULL, NULL);
  if (status) return status;
  lower(g->dim, metric, u, p);
  for (int i = 0; i < g->dim; i++) square += p[i] * u[i];
  *length = sqrt(square);
  return CB_OK;
}

cb_status cb_numeric_distance(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
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
