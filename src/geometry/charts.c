/* The charts of a space, velocities in them, and the embedding as a chart:
 *
 *   v = J u,  J = dx/dq;   u = (J^T I J)^-1 J^T I v,  I = diag(form)
 * x is a point of the embedding and v its velocity, q are the coordinates and u their velocity, and form is the member
 * of cb_space.
 */
#include "geometry/chart.h"
#include "numerics/small.h"
#include "geometry/quadric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cb_status cb_chart_embedding_add(cb_space *g);

/* The chart is singular at a point if a pivot of J^T I J or of the metric is smaller than this, relative to the
 * diagonal entry. */
static const double singular = 1e-13;
/* Coordinates above this may be distances in H^n that are so large that coordinates in the embedding overflow. */
static const double large = 30;

cb_status cb_charts_build(cb_space *g) {
  cb_status status = cb_chart_polar_add(g);
  if (!status) status = cb_chart_translation_add(g);
  if (!status) status = cb_chart_stereographic_add(g);
  if (!status) status = cb_chart_embedding_add(g);
  return status;
}

cb_status cb_space_add_chart(cb_space *g, const cb_chart *chart) {
  if (g->n_charts == CB_CHART_MAX) return cb_fail(CB_ERROR_ARGUMENT, "expected at most %d charts", CB_CHART_MAX);
  g->charts[g->n_charts++] = *chart;
  return CB_OK;
}

size_t cb_chart_count(const cb_space *g) { return (size_t)g->n_charts; }

const cb_chart *cb_chart_at(const cb_space *g, size_t index) {
  return index < (size_t)g->n_charts ? &g->charts[index] : NULL;
}

const cb_chart *cb_chart_find(const cb_space *g, const char *name) {
  for (int i = 0; i < g->n_charts; i++) {
    const cb_chart *chart = &g->charts[i];
    if (strcmp(chart->name, name) == 0 || (chart->alias && strcmp(chart->alias, name) == 0)) return chart;
  }
  return NULL;
}

/* Solves m u = r for a symmetric positive m. Overwrites m, and replaces r by u. Returns CB_ERROR_DOMAIN if a pivot of m
 * shows a singular point. */
static cb_status solve(int n, double *m, double *r) {
  if (!cb_cholesky(n, m, singular, m)) return cb_fail(CB_ERROR_DOMAIN, "the chart is singular at this point");
  cb_cholesky_solve(n, m, r);
  return CB_OK;
}

cb_status cb_chart_push(const cb_space *g, const cb_chart *chart, const double *q, const double *u, double *x,
                        double *v) {
  double jacobian[CB_Q_MAX * CB_Q_MAX], point[CB_Q_MAX], result[CB_Q_MAX] = {0};
  cb_status status = chart->to_point(g, q, point, jacobian);
  if (status) return status;
  for (int a = 0; a < g->embedding; a++)
    for (int i = 0; i < chart->size; i++) result[a] += jacobian[a * chart->size + i] * u[i];
  memcpy(x, point, (size_t)g->embedding * sizeof *x);
  memcpy(v, result, (size_t)g->embedding * sizeof *v);
  return CB_OK;
}

cb_status cb_chart_pull(const cb_space *g, const cb_chart *chart, const double *x, const double *v, double *q,
                        double *u) {
  double coordinates[CB_Q_MAX], point[CB_Q_MAX], jacobian[CB_Q_MAX * CB_Q_MAX];
  double m[CB_Q_MAX * CB_Q_MAX] = {0}, r[CB_Q_MAX] = {0};
  int n = chart->size;
  cb_status status = chart->from_point(g, x, coordinates);
  if (status) return status;
  if (n == g->embedding && n > g->dim) { /* the coordinates are x itself */
    memcpy(r, v, (size_t)n * sizeof *r);
  } else {
    status = chart->to_point(g, coordinates, point, jacobian);
    if (status) return status;
    for (int i = 0; i < n; i++)
      for (int a = 0; a < g->embedding; a++) {
        double column = g->form[a] * jacobian[a * n + i];
        r[i] += column * v[a];
        for (int j = 0; j < n; j++) m[i * n + j] += column * jacobian[a * n + j];
      }
    status = solve(n, m, r);
    if (status) return status;
  }
  memcpy(q, coordinates, (size_t)n * sizeof *q);
  memcpy(u, r, (size_t)n * sizeof *u);
  return CB_OK;
}

/* Returns CB_OK if the coordinates q in this chart give a point. If the space is used in this chart, the metric must
 * also be regular there. */
static cb_status usable(const cb_space *g, const cb_chart *chart, const double *q) {
  double none[CB_Q_MAX] = {0}, u[CB_Q_MAX];
  return chart == g->chart ? cb_space_raise(g, q, none, u) : chart->to_point(g, q, u, NULL);
}

cb_status cb_chart_check(const cb_space *g, const cb_chart *chart, const double *q) {
  enum { LIMIT = 60 };
  char text[256], maximum[CB_Q_MAX * 16] = "";
  double size = 0, low = 1, high = 1, at[CB_Q_MAX];
  cb_status status = usable(g, chart, q);
  for (int i = 0; i < chart->size; i++) size = fmax(size, fabs(q[i]));
  if (status != CB_ERROR_DOMAIN || !(size > large) || !isfinite(size)) return status;
  snprintf(text, sizeof text, "%s", cb_error_text());
  for (int n = 0; n < LIMIT && status; n++) {
    high = low;
    low /= 2;
    for (int i = 0; i < chart->size; i++) at[i] = low * q[i];
    status = usable(g, chart, at);
  }
  for (int n = 0; n < LIMIT && !status; n++) {
    const double middle = low + (high - low) / 2;
    for (int i = 0; i < chart->size; i++) at[i] = middle * q[i];
    *(usable(g, chart, at) ? &high : &low) = middle;
  }
  if (status) return cb_fail(CB_ERROR_DOMAIN, "%s", text);
  for (int i = 0; i < chart->size; i++)
    snprintf(maximum + strlen(maximum), sizeof maximum - strlen(maximum), "%s%.4g", i ? ", " : "", low * q[i]);
  return cb_fail(CB_ERROR_DOMAIN, "%s; expected at most [%s] in this direction", text, maximum);
}

cb_status cb_space_raise(const cb_space *g, const double *q, const double *p, double *u) {
  double result[CB_Q_MAX];
  memcpy(result, p, (size_t)g->k * sizeof *p);
  if (g->chart) {
    double gij[CB_Q_MAX * CB_Q_MAX];
    cb_status status = g->chart->metric(g, q, gij, NULL, NULL);
    if (status) return status;
    status = solve(g->dim, gij, result);
    if (status) return status;
  }
  memcpy(u, result, (size_t)g->k * sizeof *u);
  return CB_OK;
}

/* --- the embedding as a chart: q = x, with as many numbers as the embedding has; in E^n these are Cartesian
 * coordinates --- */

/* The maximum relative distance of a point from its quadric. Points that people type have about this number of
 * digits. */
static const double tolerance = 1e-9;

cb_status cb_chart_own_to_point(const cb_space *g, const double *q, double *x, double *jacobian) {
  cb_status status = cb_space_check_point(g, q, tolerance);
  if (status) return status;
  memcpy(x, q, (size_t)g->embedding * sizeof *x);
  for (int i = 0; jacobian && i < g->embedding * g->embedding; i++) jacobian[i] = i % (g->embedding + 1) == 0;
  return CB_OK;
}

cb_status cb_chart_own_from_point(const cb_space *g, const double *x, double *q) {
  memcpy(q, x, (size_t)g->embedding * sizeof *q);
  return CB_OK;
}

/* Sets the metric of E^n, the only space in which all coordinates of the embedding are free. */
static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  int n = g->dim;
  (void)q;
  for (int i = 0; i < n * n; i++) gij[i] = i % (n + 1) == 0;
  if (dg) memset(dg, 0, (size_t)(n * n * n) * sizeof *dg);
  if (ddg) memset(ddg, 0, (size_t)(n * n * n * n) * sizeof *ddg);
  return CB_OK;
}

static cb_status distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                          double *hessian) {
  if (gradient || hessian) return cb_distance_derivatives(g, q1, q2, d, gradient, hessian);
  *d = cb_distance(g, q1, q2);
  return CB_OK;
}

static cb_status cb_chart_embedding_add(cb_space *g) {
  static const char *const axes[CB_DIM_MAX] = {"x", "y", "z"};
  cb_chart chart = {
      .name = "embedding",
      .doc = "coordinates of the embedding; w is the last one of a curved factor",
      .size = g->embedding,
      .to_point = cb_chart_own_to_point,
      .from_point = cb_chart_own_from_point,
  };
  int axis = 0;
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    int dim = cb_factor_dim(factor);
    for (int i = 0; i < dim; i++) chart.coordinates[factor.offset + i] = axes[axis++];
    if (dim < factor.count) chart.coordinates[factor.offset + dim] = "w";
  }
  if (g->embedding == g->dim) {
    chart.alias = "cartesian";
    chart.doc = "Cartesian coordinates";
    chart.metric = metric;
    chart.distance = distance;
  }
  return cb_space_add_chart(g, &chart);
}
