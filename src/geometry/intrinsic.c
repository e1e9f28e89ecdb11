/* This file computes points, vectors and geodesics of spaces that are given by the metric of one chart
 * (curvebody/intrinsic.h), and the metric of surfaces in E^3 (space_class.h). q: position; u: velocity; g: metric. For
 * surfaces: X(u, v) is the point with the coordinates u and v. */
#include "geometry/chart.h"
#include "geometry/numeric.h"
#include "numerics/small.h"
#include "geometry/space_class.h"
#include <curvebody/intrinsic.h>

#include <math.h>
#include <string.h>

enum { N = CB_Q_MAX };

static cb_status metric_of_jets(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  cb_jet at[N], value[N * N];
  const int n = g->dim, count = n * n;
  at[0] = cb_jet_variable(n, 0, q[0]);
  for (int i = 1; i < n; i++) at[i] = cb_jet_variable(n, i, q[i]);
  const cb_status status = g->intrinsic->metric_on_jets(g, at, value);
  if (status) return status;
  for (int e = 0; e < count; e++) {
    if (gij) gij[e] = value[e].v;
    for (int l = 0; dg && l < n; l++) dg[l * count + e] = value[e].g[l];
    for (int m = 0; ddg && m < n; m++)
      for (int l = 0; l < n; l++) ddg[(m * n + l) * count + e] = value[e].h[cb_jet_packed(m, l)];
  }
  return CB_OK;
}

cb_status cb_space_init_intrinsic(cb_space *g, int dim, const cb_chart *chart, const struct cb_intrinsic *intrinsic) {
  if (dim < 1 || dim > N) return cb_fail(CB_ERROR_ARGUMENT, "dimension %d: expected 1 to %d", dim, N);
  g->dim = g->k = g->embedding = dim;
  g->n_factors = 1;
  g->factor[0] = (cb_factor){0, dim, 0};
  for (int a = 0; a < dim; a++) g->form[a] = 1;
  g->plot = "embedding";
  g->intrinsic = intrinsic;
  for (const char *const *name = intrinsic->killing_names; name && *name; name++) {
    if (g->n_killing == CB_KILLING_MAX)
      return cb_fail(CB_ERROR_ARGUMENT, "expected at most %d Killing fields", CB_KILLING_MAX);
    g->killing[g->n_killing++].name = *name;
  }
  cb_chart own = *chart;
  own.size = dim;
  if (!own.metric && intrinsic->metric_on_jets) own.metric = metric_of_jets;
  if (!own.metric) return cb_fail(CB_ERROR_ARGUMENT, "the chart has no metric: expected the member `metric`");
  if (!own.alias) own.alias = "embedding"; /* expressions use the chart `embedding` by default */
  own.to_point = cb_chart_own_to_point;
  own.from_point = cb_chart_own_from_point;
  if (!own.distance && dim <= CB_DIM_MAX) own.distance = cb_numeric_distance;
  const cb_status status = cb_space_add_chart(g, &own);
  g->chart = &g->charts[0];
  return status;
}

cb_status cb_intrinsic_check(const cb_space *g, const double *q) {
  for (int a = 0; a < g->dim; a++)
    if (!isfinite(q[a]))
      return cb_fail(CB_ERROR_DOMAIN, "coordinate %s: expected a finite number", g->chart->coordinates[a]);
  return g->intrinsic->inside ? g->intrinsic->inside(g, q) : CB_OK;
}

/* Fails for configuration spaces of more than 3 dimensions, for which geodesics and distances are not available. */
static cb_status check_space(const cb_space *g) {
  if (g->dim <= CB_DIM_MAX) return CB_OK;
  return cb_fail(
      CB_ERROR_UNSUPPORTED,
      "geodesics of a configuration space of dimension %d are not available: expected a dimension of at most %d",
      g->dim, CB_DIM_MAX);
}

void cb_intrinsic_exp(const cb_space *g, const double *q, const double *u, double *q1, double *u1) {
  double end[N], velocity[N];
  cb_status status = check_space(g);
  if (!status)
    status =
        g->intrinsic->exp ? g->intrinsic->exp(g, q, u, end, velocity) : cb_numeric_exp(g, q, u, end, velocity, NULL);
  for (int a = 0; a < g->dim; a++) {
    q1[a] = status ? NAN : end[a];
    if (u1) u1[a] = status ? NAN : velocity[a];
  }
}

cb_status cb_intrinsic_log(const cb_space *g, const double *q, const double *y, double *u) {
  const cb_status status = check_space(g);
  if (status) return status;
  return g->intrinsic->log ? g->intrinsic->log(g, q, y, u) : cb_numeric_log(g, q, y, false, u, NULL);
}

cb_status cb_intrinsic_transport(const cb_space *g, const double *q, const double *y, const double *w, double *w1) {
  double u[N];
  const cb_status status = cb_intrinsic_log(g, q, y, u);
  return status ? status : cb_numeric_transport(g, q, u, w, w1);
}

/* Computes the frame E with E g E^T = 1. It is the inverse of the Cholesky factor L of the metric g = L L^T, and NaN if
 * there is none. */
void cb_intrinsic_frame(const cb_space *g, const double *q, double *e) {
  const int n = g->dim;
  double gij[N * N], l[N * N];
  memset(e, 0, (size_t)(n * n) * sizeof *e);
  if (g->chart->metric(g, q, gij, NULL, NULL) || !cb_cholesky(n, gij, 0, l)) {
    for (int i = 0; i < n * n; i++) e[i] = NAN;
    return;
  }
  cb_cholesky_inverse(n, l, e);
}

void cb_intrinsic_killing_at(const cb_space *g, int index, const double *q, double *x) {
  double field[N];
  g->intrinsic->killing(g, index, q, field);
  memcpy(x, field, (size_t)g->dim * sizeof *x);
}

/* Adds J = g(X, p) of each Killing field X, for the vector p; adds NaN if the metric cannot be computed at q. */
void cb_intrinsic_killing_momentum_add(const cb_space *g, const double *q, const double *p, double *momentum) {
  const int n = g->dim;
  double gij[N * N], field[N];
  const bool lost = g->chart->metric(g, q, gij, NULL, NULL) != CB_OK;
  for (int f = 0; f < g->n_killing; f++) {
    double sum = 0;
    g->intrinsic->killing(g, f, q, field);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) sum += field[i] * gij[i * n + j] * p[j];
    momentum[f] += lost ? NAN : sum;
  }
}

void cb_intrinsic_plot(const cb_space *g, const double *q, const double *v, double *plot, double *velocity) {
  double x[3] = {0}, rate[3] = {0}, jacobian[3 * N] = {0};
  if (g->intrinsic->plot) {
    g->intrinsic->plot(g, q, x, jacobian);
  } else {
    for (int a = 0; a < g->dim && a < 3; a++) {
      x[a] = q[a];
      jacobian[a * g->dim + a] = 1;
    }
  }
  for (int a = 0; v && a < 3; a++)
    for (int i = 0; i < g->dim; i++) rate[a] += jacobian[a * g->dim + i] * v[i];
  memcpy(plot, x, sizeof x);
  if (v && velocity) memcpy(velocity, rate, sizeof rate);
}

/* Repeats m <- exp_m(mean of log_m(x_i)) from the first point until the step is about round-off. Returns
 * CB_ERROR_DOMAIN if this does not converge in 200 steps. */
cb_status cb_intrinsic_karcher_mean(const cb_space *g, size_t n, const double *x, const double *weight, double *mean) {
  enum { LIMIT = 200 };
  const int dim = g->dim;
  double m[N], total = 0;
  memcpy(m, x, (size_t)dim * sizeof *m);
  for (size_t i = 0; i < n; i++) total += weight ? weight[i] : 1;
  double before = INFINITY;
  for (int iteration = 0; iteration < LIMIT; iteration++) {
    double sum[N] = {0}, u[N], length = 0, size = 1;
    for (size_t i = 0; i < n; i++) {
      const cb_status status = cb_intrinsic_log(g, m, x + i * (size_t)dim, u);
      if (status) return status;
      for (int a = 0; a < dim; a++) sum[a] += (weight ? weight[i] : 1) * u[a] / total;
    }
    for (int a = 0; a < dim; a++) {
      length = fmax(length, fabs(sum[a]));
      size = fmax(size, fabs(m[a]));
    }
    if (length <= 1e-13 * size || (length <= 1e-10 * size && length >= before)) {
      memcpy(mean, m, (size_t)dim * sizeof *mean);
      return CB_OK;
    }
    before = length;
    cb_intrinsic_exp(g, m, sum, m, NULL);
  }
  return cb_fail(CB_ERROR_DOMAIN, "the Karcher mean did not converge: expected points closer to each other");
}

/* --- surfaces in E^3 whose coordinates separate --- */

/* Derivatives of the point X(u, v) of a surface: x[k][l][a] is differentiated k times with respect to u and l times
 * with respect to v, where k + l <= 3. */
typedef double partials[4][4][3];

static void differentiate(double u, const cb_profile b, partials x) {
  const double c = cos(u), s = sin(u);
  const double a[4][3] = {{c, s, 1}, {-s, c, 0}, {-c, -s, 0}, {s, -c, 0}};
  for (int k = 0; k < 4; k++)
    for (int l = 0; k + l < 4; l++)
      for (int i = 0; i < 3; i++) x[k][l][i] = a[k][i] * b[l][i];
}

/* Returns the scalar product of two derivatives of X: one in the coordinates i, k, m, the other in j, l, n (0: u, 1: v,
 * -1: no derivative). */
static double product(const partials x, int i, int k, int m, int j, int l, int n) {
  const double *y = x[(i == 0) + (k == 0) + (m == 0)][(i == 1) + (k == 1) + (m == 1)];
  const double *z = x[(j == 0) + (l == 0) + (n == 0)][(j == 1) + (l == 1) + (n == 1)];
  return y[0] * z[0] + y[1] * z[1] + y[2] * z[2];
}

void cb_surface_metric(double u, const cb_profile b, double *gij, double *dg, double *ddg) {
  partials x;
  differentiate(u, b, x);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      gij[i * 2 + j] = product(x, i, -1, -1, j, -1, -1);
      for (int l = 0; dg && l < 2; l++)
        dg[(l * 2 + i) * 2 + j] = product(x, i, l, -1, j, -1, -1) + product(x, i, -1, -1, j, l, -1);
      for (int l = 0; ddg && l < 2; l++)
        for (int m = 0; m < 2; m++)
          ddg[((m * 2 + l) * 2 + i) * 2 + j] = product(x, i, l, m, j, -1, -1) + product(x, i, l, -1, j, m, -1) +
                                               product(x, i, m, -1, j, l, -1) + product(x, i, -1, -1, j, l, m);
    }
}

void cb_surface_plot(double u, const cb_profile b, double *x, double *jacobian) {
  partials d;
  differentiate(u, b, d);
  for (int a = 0; a < 3; a++) {
    x[a] = d[0][0][a];
    jacobian[a * 2] = d[1][0][a];
    jacobian[a * 2 + 1] = d[0][1][a];
  }
}

const char *const cb_surface_rotation_names[] = {"rotation_z", NULL};

void cb_surface_rotation(const cb_space *g, int index, const double *q, double *x) {
  (void)g;
  (void)index;
  (void)q;
  x[0] = 1;
  x[1] = 0;
}
