/* Makes the chart of a product from a chart of each factor (chart.h).
 *
 *   metric = diag of the metrics of all factors,   d^2 = sum over factors of s(F)
 * d is the distance of two points, and F and s are those of quadric.h.
 */
#include "geometry/chart.h"
#include "geometry/quadric.h"
#include "geometry/origin.h"

#include <math.h>
#include <string.h>

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
