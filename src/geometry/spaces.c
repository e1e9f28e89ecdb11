/* Creates spaces from the registry and a map of parameters or, for the authors of spaces, from dimensions and
 * curvatures; computes the plot coordinates of a point; and reads points of a space, and vectors there, from a map that
 * gives them in coordinates of a chart or of the embedding (given_point.h). */
#include "geometry/chart.h"
#include "geometry/given_point.h"
#include "geometry/numeric.h"
#include "geometry/origin.h"
#include "tree/scalar.h"
#include <curvebody/intrinsic.h>
#include <curvebody/space.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- spaces --- */

static const char embedding_plot[] = "embedding", ball_plot[] = "poincare", sphere_plot[] = "stereographic";

/* --- for the init functions of classes --- */

cb_status cb_space_init_product(cb_space *g, int n, const int *dim, const double *curvature) {
  if (n < 1 || n > CB_FACTOR_MAX) return cb_fail(CB_ERROR_ARGUMENT, "%d factors: expected 1 to %d", n, CB_FACTOR_MAX);
  int total = 0, offset = 0;
  for (int f = 0; f < n; f++) {
    double k = curvature[f], radius = k == 0 ? 1 : 1 / sqrt(fabs(k));
    if (dim[f] < 1 || (k != 0 && dim[f] < 2))
      return cb_fail(CB_ERROR_ARGUMENT, "a factor of dimension %d and curvature %g: expected at least %d", dim[f], k,
                     k == 0 ? 1 : 2);
    if (!isfinite(k) || !(radius * radius > 1e-200 && radius * radius < 1e200))
      return cb_fail(CB_ERROR_ARGUMENT, "curvature %g: expected an absolute value from 1e-200 to 1e200, or 0", k);
    total += dim[f];
    offset += k == 0 ? dim[f] : dim[f] + 1;
  }
  if (total > CB_DIM_MAX || offset > CB_COORD_MAX)
    return cb_fail(CB_ERROR_ARGUMENT, "dimension %d: expected at most %d", total, CB_DIM_MAX);
  g->n_factors = n;
  g->dim = total;
  g->k = g->embedding = offset;
  g->n_killing = g->n_charts = 0;
  g->chart = NULL;
  g->plot = embedding_plot;
  for (int f = 0, axis = 0, at = 0; f < n; axis += dim[f], at += g->factor[f].count, f++) {
    g->factor[f] = (cb_factor){at, curvature[f] == 0 ? dim[f] : dim[f] + 1, curvature[f]};
    for (int a = 0; a < g->factor[f].count; a++) g->form[at + a] = 1;
    if (curvature[f] < 0) g->form[at + dim[f]] = -1;
    if (offset > CB_DIM_MAX && curvature[f] != 0) g->plot = curvature[f] < 0 ? ball_plot : sphere_plot;
    cb_killing_build(g, g->factor[f], axis);
  }
  return cb_charts_build(g);
}

cb_status cb_space_init_constant(cb_space *g, int dim, double curvature) {
  return cb_space_init_product(g, 1, &dim, &curvature);
}

/* --- the keys that all spaces share --- */

static cb_status read_chart(cb_space *g, const cb_node *node) {
  const char *text, *names[CB_CHART_MAX];
  if (!node) return CB_OK;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  size_t n = 0;
  for (int i = 0; i < g->n_charts; i++)
    if (g->charts[i].metric && g->charts[i].distance) names[n++] = g->charts[i].name;
  const cb_chart *chart = cb_chart_find(g, text);
  if (!chart || !chart->metric || !chart->distance) return cb_fail_unknown(node, "chart", text, names, n);
  cb_space_see_in(g, chart);
  return CB_OK;
}

void cb_space_see_in(cb_space *g, const cb_chart *chart) {
  g->chart = chart;
  g->k = g->dim;
}

static cb_status read_plot(cb_space *g, const cb_node *node) {
  const char *text, *names[3];
  if (!node) return CB_OK;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  size_t n = 0;
  bool sphere = false, hyperbolic = false;
  for (int f = 0; f < g->n_factors; f++) {
    sphere |= g->factor[f].curvature > 0;
    hyperbolic |= g->factor[f].curvature < 0;
  }
  if (g->embedding <= 3) names[n++] = embedding_plot;
  if (sphere) names[n++] = sphere_plot;
  if (hyperbolic) names[n++] = ball_plot;
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], text) == 0) {
      g->plot = names[i];
      return CB_OK;
    }
  return cb_fail_unknown(node, "plot", text, names, n);
}

/* --- create and free --- */

cb_status cb_space_create_class(const cb_space_class *class_, const cb_node *node, cb_space **out) {
  static const char *const shared[] = {"name", "chart", "plot"};
  const cb_node *map = node && node->kind == CB_NODE_MAP ? node : NULL;
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  cb_space *g = calloc(1, sizeof *g);
  if (!params || !g) {
    free(params);
    free(g);
    return cb_fail(CB_ERROR_MEMORY, "no memory for space %s", class_->name);
  }
  g->class_ = class_;
  cb_status status = cb_params_bind(class_->params, map, node, shared, 3, params);
  if (!status) {
    status = class_->init(g, params);
    if (status && status != CB_ERROR_MEMORY && map)
      status = cb_node_fail(map, "space %s: %s", class_->name, cb_error_text());
  }
  if (!status) status = read_chart(g, cb_node_get(map, "chart"));
  if (!status) status = read_plot(g, cb_node_get(map, "plot"));
  free(params);
  if (status) {
    cb_space_free(g);
    return status;
  }
  *out = g;
  return CB_OK;
}

cb_status cb_space_create(const char *name, const cb_node *node, cb_space **out) {
  const cb_space_class *c = cb_space_classes[cb_registry_find(&cb_space_registry, name, strlen(name))];
  return c ? cb_space_create_class(c, node, out) : cb_fail_no_class(node, "space", name, &cb_space_registry);
}

void cb_space_free(cb_space *g) {
  if (!g) return;
  if (g->intrinsic && g->intrinsic->free) g->intrinsic->free(g);
  free(g->data);
  free(g);
}

/* --- plots: three plot coordinates of a point ---
 *
 *   embedding                   the coordinates x, if there are at most three
 *   stereographic and poincare  R x_i/(R + w) in each curved factor (chart_stereographic.c), x in flat factors;
 *                               w = x_n is the last coordinate of the factor, and R its radius of curvature
 */

/* Writes the plot coordinates xi_i = x_i/s with s = 1 + r x_n and r = 1/R. If v is not NULL, it also writes the
 * velocities xi_i' = (x_i' - xi_i s')/s with x' = v and s' = r v_n. Returns n, their number. */
static int ball(cb_factor f, const double *x, const double *v, double *plot, double *velocity) {
  int n = f.count - 1;
  double r = sqrt(fabs(f.curvature)), w = r * x[n], s = 1 + w;
  if (f.curvature > 0 && w < 0) { /* s without cancellation */
    double square = 0;
    for (int i = 0; i < n; i++) square += x[i] * x[i];
    s = f.curvature * square / (1 - w);
  }
  for (int i = 0; i < n; i++) {
    plot[i] = x[i] / s;
    if (v) velocity[i] = (v[i] - plot[i] * r * v[n]) / s;
  }
  return n;
}

void cb_plot_coordinates(const cb_space *g, const double *x, const double *v, double *plot, double *velocity) {
  if (g->intrinsic) {
    cb_intrinsic_plot(g, x, v, plot, velocity);
    return;
  }
  double p[3] = {0}, rate[3] = {0};
  bool whole = strcmp(g->plot, "embedding") == 0;
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    const double *y = x + factor.offset, *u = v ? v + factor.offset : NULL;
    if (factor.curvature != 0 && !whole) {
      at += ball(factor, y, u, p + at, rate + at);
      continue;
    }
    for (int a = 0; a < factor.count && at < 3; a++, at++) {
      p[at] = y[a];
      if (u) rate[at] = u[a];
    }
  }
  memcpy(plot, p, sizeof p);
  if (v && velocity) memcpy(velocity, rate, sizeof rate);
}

/* --- points in a scenario --- */

cb_status cb_place_fail(const cb_node *node, cb_status status) {
  if (status != CB_ERROR_ARGUMENT && status != CB_ERROR_DOMAIN && status < 0) return status;
  return cb_node_fail(node, "%s", cb_error_text());
}

cb_status cb_place_unknown_chart(const cb_node *node, const cb_space *g, const char *name) {
  const char *names[CB_CHART_MAX];
  const size_t n = cb_chart_count(g);
  for (size_t i = 0; i < n; i++) names[i] = cb_chart_at(g, i)->name;
  return cb_fail_unknown(node, "chart", name, names, n);
}

cb_status cb_place_chart(const cb_node *map, const cb_space *g, const cb_chart **chart) {
  const cb_node *node = cb_node_get(map, "chart");
  const char *name;
  if (!node) {
    *chart = g->chart;
    return CB_OK;
  }
  cb_status status = cb_node_string(node, &name);
  if (status) return status;
  const cb_chart *found = cb_chart_find(g, name);
  if (!found) return cb_place_unknown_chart(node, g, name);
  *chart = found != g->chart && !strcmp(found->name, "embedding") ? NULL : found;
  return CB_OK;
}

cb_status cb_place_read(const cb_node *node, const cb_space *g, const cb_chart *chart, double *x, double *given,
                        cb_origin *origin) {
  const double zero[CB_COORD_MAX] = {0};
  double v[CB_COORD_MAX];
  cb_origin_identity(g, origin);
  cb_status status = cb_node_reals(node, (size_t)(chart ? g->dim : g->embedding), chart ? given : x);
  if (status) return status;
  if (!chart) {
    status = cb_space_check_point(g, x, 1e-9);
    if (!status) cb_space_project_point(g, x);
  }
  if (!status && cb_origin_grows(g)) {
    status = cb_origin_of(g, chart, chart ? given : x, zero, origin, v);
    if (!status && cb_origin_radii(g, origin) > cb_place_far) return CB_OK;
  }
  if (!status && chart && chart == g->chart && !chart->to_point)
    status = cb_chart_check(g, chart, given);
  else if (!status && chart)
    status = chart->to_point(g, given, x, NULL) ? cb_chart_check(g, chart, given) : CB_OK;
  return status ? cb_place_fail(node, status) : CB_OK;
}

cb_status cb_place_read_map(const cb_node *map, const char *what, const cb_space *g, const cb_chart **chart, double *x,
                            double *given, cb_origin *there) {
  static const char *const keys[] = {"chart", "point"};
  if (map->kind == CB_NODE_LIST)
    return cb_node_fail(map, "expected a map, such as {point: [...]} or {chart: polar, point: [...]}");
  cb_status status = cb_node_check_keys(map, keys, 2);
  if (status) return status;
  const cb_node *point = cb_node_get(map, "point");
  if (!point) return cb_node_fail(map, "%s: expected a point, such as {chart: embedding, point: [...]}", what);
  status = cb_place_chart(map, g, chart);
  return status ? status : cb_place_read(point, g, *chart, x, given, there);
}

cb_status cb_place_too_far(const cb_node *map, const char *what, const cb_space *g, const cb_origin *there) {
  return cb_node_fail(map, "%s: the point is %.6g from the base point, expected at most %.6g", what, there->length,
                      cb_place_far * there->length / cb_origin_radii(g, there));
}

/* Reads a point as cb_place_read_map does, but relative to *origin, or to the world if origin is NULL. */
static cb_status read_at(const cb_node *map, const char *what, const cb_space *g, const cb_chart **chart,
                         cb_origin *origin, double *x, double *given) {
  cb_origin there;
  cb_status status = cb_place_read_map(map, what, g, chart, x, given, &there);
  if (status) return status;
  const double radii = cb_origin_radii(g, &there);
  if (!origin) return radii > cb_place_far ? cb_place_too_far(map, what, g, &there) : CB_OK;
  cb_origin_identity(g, origin);
  if (!cb_origin_grows(g) || radii <= cb_place_near) return CB_OK;
  *origin = there;
  cb_space_base_point(g, x);
  return CB_OK;
}

cb_status cb_place_point(const cb_node *map, const char *what, const cb_space *g, cb_origin *origin, double *x) {
  const cb_chart *chart;
  double given[CB_DIM_MAX], point[CB_COORD_MAX];
  cb_status status = read_at(map, what, g, &chart, origin, point, given);
  if (status) return status;
  if (chart && !chart->to_point) return cb_node_fail(map, "%s: the chart '%s' has no embedding", what, chart->name);
  memcpy(x, point, (size_t)g->embedding * sizeof *x);
  return CB_OK;
}

cb_status cb_place_space_point(const cb_node *map, const char *what, const cb_space *g, cb_origin *origin, double *x) {
  const cb_chart *chart;
  double given[CB_DIM_MAX], point[CB_COORD_MAX];
  cb_status status = read_at(map, what, g, &chart, origin, point, given);
  if (status) return status;
  if (g->chart && chart != g->chart) {
    status = g->chart->from_point(g, point, given);
    if (status) return cb_place_fail(map, status);
  }
  memcpy(x, g->chart ? given : point, (size_t)g->k * sizeof *x);
  return CB_OK;
}

cb_status cb_place_vector(const cb_node *at, const cb_node *node, const cb_space *g, const double *x, double *vector) {
  const cb_chart *chart = NULL;
  double u[CB_COORD_MAX], q[CB_COORD_MAX], point[CB_COORD_MAX], v[CB_COORD_MAX];
  cb_status status = cb_place_chart(at, g, &chart);
  if (status) return status;
  status = cb_node_reals(node, (size_t)(chart ? g->dim : g->embedding), u);
  if (status) return status;
  if (chart == g->chart) {
    memcpy(vector, u, (size_t)g->k * sizeof *u);
    if (!g->chart) cb_space_project_tangent(g, x, vector);
    return CB_OK;
  }
  /* The charts differ, so the vector is converted through the coordinates of the embedding. */
  if (g->chart)
    status = g->chart->to_point(g, x, point, NULL);
  else
    memcpy(point, x, sizeof point);
  if (!status && chart) status = chart->from_point(g, point, q);
  if (!status && chart) status = cb_chart_push(g, chart, q, u, point, v);
  if (!chart) memcpy(v, u, sizeof v);
  if (!status && g->chart) status = cb_chart_pull(g, g->chart, point, v, q, vector);
  if (!status && !g->chart) memcpy(vector, v, (size_t)g->k * sizeof *v);
  return status ? cb_place_fail(node, status) : CB_OK;
}
