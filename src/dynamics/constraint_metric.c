/* Angle and blade in spaces that are known by the metric of one chart, from the derivatives of the distance. With
 * a_i = d_i d(q, x), b_i = d_i d(q, y) the unit covectors at the vertex q, A = g^-1 a, B = g^-1 b:
 *
 *   angle   theta = 2 atan(|A - B|/|A + B|),   cos theta = a_i B^i
 *           d_k cos theta = a_ik B^i + b_ik A^i - d_k g_ij A^i B^j,   by x and y: the mixed derivatives of d alone
 *   blade   of x along the geodesic to y in a surface: 0 = sqrt(det g) (u^0 v^1 - u^1 v^0),   u = -A
 *           d_k u^i = -g^ij (a_jk + d_k g_jl u^l)
 *
 * (the unit velocity of the geodesic to y is minus the gradient of the distance: the first variation of length). The
 * second derivatives of the angle, which hold third ones of the distance, are differences of sixth order of the first:
 * steps of 0.01 of the shorter side, and of the sine of the angle, leave 1e-8 of them.
 * Source: do Carmo, Riemannian Geometry (1992), chapter 9, proposition 2.4.
 */
#include "dynamics/constraint_private.h"
#include "dynamics/pair.h"
#include "numerics/small.h"
#include <math.h>
#include <string.h>

enum { D = CB_DIM_MAX, CORNERS = 3 };

/* The metric at a point and its inverse. */
typedef struct local {
  double g[D * D], dg[D * D * D], inverse[D * D], root; /* sqrt(det g) */
} local;

static cb_status local_at(const cb_geometry *g, const double *q, local *m) {
  const int n = g->dim;
  double l[D * D];
  const cb_status status = g->chart->metric(g, q, m->g, m->dg, NULL);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  if (!cb_cholesky(n, m->g, 0, l))
    return cb_fail(CB_STEP_DOMAIN, "a constraint where the metric is not positive definite");
  m->root = cb_cholesky_whole_inverse(n, l, m->inverse);
  return CB_OK;
}

static void raise(int n, const local *m, const double *a, double *A) {
  for (int i = 0; i < n; i++) {
    A[i] = 0;
    for (int j = 0; j < n; j++) A[i] += m->inverse[i * n + j] * a[j];
  }
}

/* --- angle --- */

/* Distance of the vertex, first, to an end. */
typedef struct side {
  double d, first[2 * D], second[4 * D * D];
} side;

static cb_status side_to(const cb_geometry *g, const double *vertex, const double *end, int order, side *s) {
  return cb_pair_distance(g, vertex, end, &s->d, s->first, order ? s->second : NULL);
}

/* Value and, for order 1, gradient[3 n] in (end 0, vertex, end 1). */
static cb_status angle_of(const cb_geometry *g, const local *m, const side *s, int order, double *value,
                          double *gradient) {
  const int n = g->dim;
  double A[2][D], apart = 0, along = 0;
  for (int e = 0; e < 2; e++) raise(n, m, s[e].first, A[e]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      apart += m->g[i * n + j] * (A[0][i] - A[1][i]) * (A[0][j] - A[1][j]);
      along += m->g[i * n + j] * (A[0][i] + A[1][i]) * (A[0][j] + A[1][j]);
    }
  const double sine = sqrt(apart * along) / 2;
  if (!(sine > 0)) return cb_fail(CB_STEP_DOMAIN, "three points on a geodesic have no angle with derivatives");
  *value = 2 * atan2(sqrt(apart), sqrt(along));
  for (int k = 0; order && k < n; k++) {
    double by_vertex = 0;
    for (int i = 0; i < n; i++) {
      by_vertex += s[0].second[i * 2 * n + k] * A[1][i] + s[1].second[i * 2 * n + k] * A[0][i];
      for (int j = 0; j < n; j++) by_vertex -= m->dg[(k * n + i) * n + j] * A[0][i] * A[1][j];
    }
    gradient[n + k] = -by_vertex / sine;
    for (int e = 0; e < 2; e++) {
      double by_end = 0;
      for (int i = 0; i < n; i++) by_end += s[e].second[i * 2 * n + n + k] * A[1 - e][i];
      gradient[2 * e * n + k] = -by_end / sine;
    }
  }
  return CB_OK;
}

/* The gradient where coordinate c of corner p (1: the vertex) is moved by `step`; what does not move is given. */
static cb_status moved_gradient(const cb_geometry *g, const double *const *x, int p, int c, double step,
                                const local *at, const side *given, double *gradient) {
  double q[D], value;
  local m = *at;
  side s[2] = {given[0], given[1]};
  cb_status status = CB_OK;
  memcpy(q, x[p], (size_t)g->dim * sizeof *q);
  q[c] += step;
  if (p == 1) status = local_at(g, q, &m);
  for (int e = 0; e < 2 && !status; e++)
    if (p == 1 || p == 2 * e) status = side_to(g, p == 1 ? q : x[1], p == 1 ? x[2 * e] : q, 1, &s[e]);
  return status ? status : angle_of(g, &m, s, 1, &value, gradient);
}

cb_status cb_angle_by_metric(const cb_geometry *g, const double *const *x, int order, cb_element *out) {
  static const double weight[3] = {45. / 60, -9. / 60, 1. / 60}, part = 0.01;
  const int n = g->dim, size = CORNERS * n;
  local m;
  side s[2];
  double hessian[CORNERS * D][CORNERS * D] = {{0}};
  cb_status status = local_at(g, x[1], &m);
  for (int e = 0; e < 2 && !status; e++) status = side_to(g, x[1], x[2 * e], order, &s[e]);
  if (!status) status = angle_of(g, &m, s, order, &out->value, out->gradient);
  if (status || order < 2) return status;
  for (int j = 0; j < size; j++) {
    const int p = j / n, c = j % n;
    local here;
    status = local_at(g, x[p], &here);
    if (status) return status;
    const double h = part * sin(out->value) * fmin(s[0].d, s[1].d) / sqrt(here.g[c * n + c]);
    for (int k = 1; k <= 3; k++)
      for (int sign = -1; sign <= 1; sign += 2) {
        double gradient[CORNERS * D];
        status = moved_gradient(g, x, p, c, sign * k * h, &m, s, gradient);
        if (status) return status;
        for (int i = 0; i < size; i++) hessian[i][j] += sign * weight[k - 1] / h * gradient[i];
      }
  }
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) out->hessian[i * size + j] = (hessian[i][j] + hessian[j][i]) / 2;
  return CB_OK;
}

/* --- blade --- */

cb_status cb_blade_by_metric(const cb_geometry *g, const double *const *x, int order, cb_element *out) {
  enum { N = 2 };
  double d, first[2 * N], second[4 * N * N], u[N];
  local m;
  cb_status status = local_at(g, x[0], &m);
  if (!status) status = cb_pair_distance(g, x[0], x[1], &d, first, order > 1 ? second : NULL);
  if (status || !order) return status;
  raise(N, &m, first, u);
  for (int i = 0; i < N; i++) u[i] = -u[i];
  out->gradient[0] = -m.root * u[1];
  out->gradient[1] = m.root * u[0];
  for (int k = 0; order > 1 && k < 2 * N; k++) { /* by x, then by y */
    double low[N], du[N], growth = 0;            /* growth: d_k log sqrt(det g) */
    for (int i = 0; i < N; i++) {
      low[i] = -second[i * 2 * N + k];
      for (int j = 0; k < N && j < N; j++) {
        low[i] -= m.dg[(k * N + i) * N + j] * u[j];
        growth += 0.5 * m.inverse[i * N + j] * m.dg[(k * N + i) * N + j];
      }
    }
    raise(N, &m, low, du);
    out->hessian[0 * 2 * N + k] = -m.root * (du[1] + growth * u[1]);
    out->hessian[1 * 2 * N + k] = m.root * (du[0] + growth * u[0]);
  }
  return CB_OK;
}
