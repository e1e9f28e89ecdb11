/* The charts of a space, velocities in them, and the embedding as a chart:
 *
 *   v = J u,  J = dx/dq;   u = (J^T I J)^-1 J^T I v,  I = diag(form)
 * x is a point of the embedding and v its velocity, q are the coordinates and u their velocity, and form is the member
 * of cb_space.
 *
 * The chart of a product is made from a chart of each factor (chart.h):
 *
 *   metric = diag of the metrics of all factors,   d^2 = sum over factors of s(F)
 * d is the distance of two points, and F and s are those of quadric.h.
 */
#include "geometry/chart.h"

#include "geometry/origin.h"
#include "geometry/quadric.h"
#include "numerics/small.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the charts of a space --- */

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

/* --- the chart of a product --- */

static const char *const axes[CB_DIM_MAX] = {"x", "y", "z"};

/* Returns whether the factor is described by Cartesian coordinates. */
static bool cartesian(const cb_factor_chart *c, cb_factor f) {
  return f.curvature == 0 && (c->curved_only || f.count == 1);
}

cb_status cb_product_add(cb_space *g, const cb_chart *prototype, const cb_factor_chart *c) {
  cb_chart chart = *prototype;
  chart.size = g->dim;
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    int dim = cb_factor_dim(g->factor[f]);
    const char *const *names = dim == 2 ? c->names2 : c->names3;
    for (int i = 0; i < dim; i++)
      chart.coordinates[at + i] = cartesian(c, g->factor[f]) || !names[i] ? axes[at + i] : names[i];
    at += dim;
  }
  return cb_space_add_chart(g, &chart);
}

static bool all_finite(int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

cb_status cb_product_to_point(const cb_factor_chart *c, const cb_space *g, const double *q, double *x,
                              double *jacobian) {
  double point[CB_COORD_MAX] = {0}, j[CB_COORD_MAX * CB_DIM_MAX] = {0};
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    double part[CB_COORD_MAX][CB_DIM_MAX] = {{0}};
    int dim = cb_factor_dim(factor);
    if (cartesian(c, factor)) {
      memcpy(point + factor.offset, q + at, (size_t)dim * sizeof *q);
      for (int i = 0; i < dim; i++) part[i][i] = 1;
    } else {
      c->to_point(cb_trig_of(factor.curvature), dim, q + at, point + factor.offset, part);
    }
    for (int a = 0; a < factor.count; a++)
      for (int i = 0; i < dim; i++) j[(factor.offset + a) * g->dim + at + i] = part[a][i];
    at += dim;
  }
  if (!all_finite(g->embedding, point))
    return cb_fail(CB_ERROR_DOMAIN, "the coordinates are outside the chart, or so large that numbers overflow");
  memcpy(x, point, (size_t)g->embedding * sizeof *x);
  if (jacobian) memcpy(jacobian, j, (size_t)(g->embedding * g->dim) * sizeof *j);
  return CB_OK;
}

cb_status cb_product_from_point(const cb_factor_chart *c, const cb_space *g, const double *x, double *q) {
  double result[CB_DIM_MAX] = {0};
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    int dim = cb_factor_dim(factor);
    if (cartesian(c, factor))
      memcpy(result + at, x + factor.offset, (size_t)dim * sizeof *q);
    else
      c->from_point(cb_trig_of(factor.curvature), dim, x + factor.offset, result + at);
    at += dim;
  }
  if (!all_finite(g->dim, result))
    return cb_fail(CB_ERROR_DOMAIN, "the point has no coordinates in this chart: expected another chart");
  memcpy(q, result, (size_t)g->dim * sizeof *q);
  return CB_OK;
}

cb_status cb_product_metric(const cb_factor_chart *c, const cb_space *g, const double *q, double *gij, double *dg,
                            double *ddg) {
  cb_diagonal m[CB_FACTOR_MAX];
  int n = g->dim;
  memset(m, 0, sizeof m);
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    int dim = cb_factor_dim(g->factor[f]);
    if (!cartesian(c, g->factor[f]))
      c->metric(cb_trig_of(g->factor[f].curvature), dim, q + at, &m[f]);
    else
      for (int i = 0; i < dim; i++) m[f].g[i] = 1;
    if (!all_finite(dim, m[f].g))
      return cb_fail(CB_ERROR_DOMAIN, "the coordinates are outside the chart, or so large that numbers overflow");
    at += dim;
  }
  memset(gij, 0, (size_t)(n * n) * sizeof *gij);
  if (dg) memset(dg, 0, (size_t)(n * n * n) * sizeof *dg);
  if (ddg) memset(ddg, 0, (size_t)(n * n * n * n) * sizeof *ddg);
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    int dim = cb_factor_dim(g->factor[f]);
    for (int i = 0; i < dim; i++) {
      int diagonal = (at + i) * n + at + i;
      gij[diagonal] = m[f].g[i];
      for (int l = 0; dg && l < dim; l++) dg[(at + l) * n * n + diagonal] = m[f].dg[l][i];
      for (int l = 0; ddg && l < dim; l++)
        for (int k = 0; k < dim; k++) ddg[((at + k) * n + at + l) * n * n + diagonal] = m[f].ddg[k][l][i];
    }
    at += dim;
  }
  return CB_OK;
}

/* Computes *h (F of chart.h with its derivatives) for one factor. In Cartesian coordinates 4 F = |q1 - q2|^2. */
static void half_chord(const cb_factor_chart *c, cb_factor f, const double *q1, const double *q2, bool derivatives,
                       cb_half_chord *h) {
  int dim = cb_factor_dim(f);
  if (!cartesian(c, f)) {
    c->half_chord(cb_trig_of(f.curvature), dim, q1, q2, derivatives, h);
    return;
  }
  h->f = 0;
  h->cos2 = 1;
  for (int i = 0; i < dim; i++) {
    double e = q1[i] - q2[i];
    h->f += e * e / 4;
    h->g[i] = e / 2;
    h->g[dim + i] = -e / 2;
    h->h[i][i] = h->h[dim + i][dim + i] = 0.5;
    h->h[i][dim + i] = h->h[dim + i][i] = -0.5;
  }
}

cb_status cb_product_distance(const cb_factor_chart *c, const cb_space *g, const double *q1, const double *q2,
                              double *d, double *gradient, double *hessian) {
  int n = g->dim;
  bool derivatives = gradient || hessian;
  double sum = 0, gr[2 * CB_DIM_MAX] = {0}, he[4 * CB_DIM_MAX * CB_DIM_MAX] = {0};
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    cb_half_chord h = {0};
    int dim = cb_factor_dim(g->factor[f]);
    half_chord(c, g->factor[f], q1 + at, q2 + at, derivatives, &h);
    if (h.f < 0) h.f = 0; /* F < 0 is possible for angles outside their range */
    cb_square s = cb_square_of_half_chord(g->factor[f].curvature, h.f, h.cos2);
    sum += s.s;
    if (derivatives && !isfinite(s.ds))
      return cb_fail(CB_ERROR_DOMAIN,
                     "the distance of antipodal points has no derivatives: expected points closer to each other");
    for (int i = 0; derivatives && i < 2 * dim; i++) {
      int row = i < dim ? at + i : n + at + i - dim;
      gr[row] = s.ds * h.g[i];
      for (int j = 0; hessian && j < 2 * dim; j++) {
        int column = j < dim ? at + j : n + at + j - dim;
        he[row * 2 * n + column] = s.dds * h.g[i] * h.g[j] + s.ds * h.h[i][j];
      }
    }
    at += dim;
  }
  if (!isfinite(sum))
    return cb_fail(CB_ERROR_DOMAIN, "the coordinates are outside the chart, or so large that numbers overflow");
  if (derivatives && !(sum > 0))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the distance of coincident points has no derivatives: expected two different points");
  double root = sqrt(sum);
  *d = root;
  if (!derivatives) return CB_OK;
  cb_square_root_derivatives(root, 2 * n, gr, hessian ? he : NULL);
  if (gradient) memcpy(gradient, gr, (size_t)(2 * n) * sizeof *gr);
  if (hessian) memcpy(hessian, he, (size_t)(4 * n * n) * sizeof *he);
  return CB_OK;
}

/* Appends the transvections of the hyperbolic factor f to *origin. q and u are the coordinates in this factor and their
 * velocity. Moves the velocity back to the base point, and writes it to the components of f in v, a vector of the
 * complete space. */
static void reach(const cb_factor_chart *c, const cb_space *g, cb_factor f, const double *q, const double *u,
                  cb_origin *origin, double *v) {
  double direction[CB_DIM_MAX][CB_DIM_MAX] = {{0}}, length[CB_DIM_MAX];
  const int dim = cb_factor_dim(f);
  const int count = c->reach(cb_trig_of(f.curvature), dim, q, u, direction, length, v + f.offset);
  for (int i = 0; i < count; i++) {
    cb_origin step;
    double size = 0;
    for (int a = 0; a < dim; a++) size = hypot(size, direction[i][a]);
    if (length[i] == 0 || size == 0) continue;
    cb_origin_identity(g, &step);
    step.length = length[i];
    for (int a = 0; a < dim; a++) step.direction[a] = direction[i][a] / size;
    cb_origin_compose(g, origin, &step, origin);
  }
}

cb_status cb_product_to_origin(const cb_factor_chart *c, const cb_space *g, const double *q, const double *u,
                               cb_origin *origin, double *v) {
  cb_origin there;
  double rate[CB_COORD_MAX] = {0};
  cb_origin_identity(g, &there);
  for (int f = 0, at = 0; f < g->n_factors; at += cb_factor_dim(g->factor[f++])) {
    const cb_factor factor = g->factor[f];
    const int dim = cb_factor_dim(factor);
    if (factor.curvature < 0) {
      reach(c, g, factor, q + at, u + at, &there, rate);
    } else if (cartesian(c, factor)) {
      memcpy(there.shift + at, q + at, (size_t)dim * sizeof *q);
      memcpy(rate + factor.offset, u + at, (size_t)dim * sizeof *u);
    } else {
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "moving origins of %s do not reach every point: expected coordinates relative to the world",
                     g->class_->name);
    }
  }
  if (!isfinite(there.length) || !all_finite(CB_DIM_MAX, there.direction) || !all_finite(CB_DIM_MAX, there.shift))
    return cb_fail(CB_ERROR_DOMAIN, "the coordinates are outside the chart, or so large that numbers overflow");
  *origin = there;
  memcpy(v, rate, (size_t)g->embedding * sizeof *v);
  return CB_OK;
}

cb_status cb_product_from_origin(const cb_factor_chart *c, const cb_space *g, const cb_origin *origin, double *q) {
  double result[CB_DIM_MAX] = {0};
  for (int f = 0, at = 0; f < g->n_factors; at += cb_factor_dim(g->factor[f++])) {
    const cb_factor factor = g->factor[f];
    if (factor.curvature < 0 && c->from_reach)
      c->from_reach(cb_factor_dim(factor), origin->direction, origin->length, result + at);
    else if (cartesian(c, factor))
      memcpy(result + at, origin->shift + at, (size_t)cb_factor_dim(factor) * sizeof *q);
    else
      return cb_fail(
          CB_ERROR_UNSUPPORTED,
          "the point is %.4g from the base point, where this chart has no coordinates: expected the chart polar",
          origin->length);
  }
  memcpy(q, result, (size_t)g->dim * sizeof *q);
  return CB_OK;
}
