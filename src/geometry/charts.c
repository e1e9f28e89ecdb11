/* The charts that a space has, and velocities in them:
 *
 *   v = J u,  J = dx/dq;   u = (J^T I J)^-1 J^T I v,  I = diag(form)
 */
#include "geometry/build.h"
#include "geometry/chart.h"
#include "numerics/small.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A pivot smaller than this, relative to its entry of J^T I J, is a singular point of the chart. */
static const double singular = 1e-13;
/* Coordinates that exponentials of may overflow. */
static const double large = 30;

cb_status cb_charts_build(cb_geometry *g) {
  cb_status status = cb_chart_polar_add(g);
  if (!status) status = cb_chart_translation_add(g);
  if (!status) status = cb_chart_stereographic_add(g);
  if (!status) status = cb_chart_embedding_add(g);
  return status;
}

cb_status cb_geometry_add_chart(cb_geometry *g, const cb_chart *chart) {
  if (g->n_charts == CB_CHART_MAX) return cb_fail(CB_ERROR_ARGUMENT, "more than %d charts", CB_CHART_MAX);
  g->charts[g->n_charts++] = *chart;
  return CB_OK;
}

size_t cb_chart_count(const cb_geometry *g) { return (size_t)g->n_charts; }

const cb_chart *cb_chart_at(const cb_geometry *g, size_t index) {
  return index < (size_t)g->n_charts ? &g->charts[index] : NULL;
}

const cb_chart *cb_chart_find(const cb_geometry *g, const char *name) {
  for (int i = 0; i < g->n_charts; i++) {
    const cb_chart *chart = &g->charts[i];
    if (strcmp(chart->name, name) == 0 || (chart->alias && strcmp(chart->alias, name) == 0)) return chart;
  }
  return NULL;
}

/* Solves m u = r, m symmetric and positive; overwrites both. */
static cb_status solve(int n, double *m, double *r) {
  if (!cb_cholesky(n, m, singular, m)) return cb_fail(CB_ERROR_DOMAIN, "the chart is singular at this point");
  cb_cholesky_solve(n, m, r);
  return CB_OK;
}

cb_status cb_chart_push(const cb_geometry *g, const cb_chart *chart, const double *q, const double *u, double *x,
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

cb_status cb_chart_pull(const cb_geometry *g, const cb_chart *chart, const double *x, const double *v, double *q,
                        double *u) {
  double coordinates[CB_Q_MAX], point[CB_Q_MAX], jacobian[CB_Q_MAX * CB_Q_MAX];
  double m[CB_Q_MAX * CB_Q_MAX] = {0}, r[CB_Q_MAX] = {0};
  int n = chart->size;
  cb_status status = chart->from_point(g, x, coordinates);
  if (status) return status;
  if (n == g->embedding && n > g->dim) { /* x itself */
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

/* May a point be given by these coordinates: of the chart that the space is used in, or of another? */
static cb_status usable(const cb_geometry *g, const cb_chart *chart, const double *q) {
  double none[CB_Q_MAX] = {0}, u[CB_Q_MAX];
  return chart == g->chart ? cb_geometry_raise(g, q, none, u) : chart->to_point(g, q, u, NULL);
}

cb_status cb_chart_check(const cb_geometry *g, const cb_chart *chart, const double *q) {
  enum { MOST = 60 };
  char text[256], most[CB_Q_MAX * 16] = "";
  double size = 0, low = 1, high = 1, at[CB_Q_MAX];
  cb_status status = usable(g, chart, q);
  for (int i = 0; i < chart->size; i++) size = fmax(size, fabs(q[i]));
  if (status != CB_ERROR_DOMAIN || !(size > large) || !isfinite(size)) return status;
  snprintf(text, sizeof text, "%s", cb_error_text());
  for (int n = 0; n < MOST && status; n++) {
    high = low;
    low /= 2;
    for (int i = 0; i < chart->size; i++) at[i] = low * q[i];
    status = usable(g, chart, at);
  }
  for (int n = 0; n < MOST && !status; n++) {
    const double middle = low + (high - low) / 2;
    for (int i = 0; i < chart->size; i++) at[i] = middle * q[i];
    *(usable(g, chart, at) ? &high : &low) = middle;
  }
  if (status) return cb_fail(CB_ERROR_DOMAIN, "%s", text);
  for (int i = 0; i < chart->size; i++)
    snprintf(most + strlen(most), sizeof most - strlen(most), "%s%.4g", i ? ", " : "", low * q[i]);
  return cb_fail(CB_ERROR_DOMAIN, "%s; expected at most [%s] on the way there", text, most);
}

cb_status cb_geometry_raise(const cb_geometry *g, const double *q, const double *p, double *u) {
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
