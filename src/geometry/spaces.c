/* This file creates spaces from the registry and a map of parameters or, for the authors of spaces, from dimensions and
 * curvatures. It also computes the plot coordinates of a point. */
#include "tree/scalar.h"
#include "geometry/chart.h"
#include "geometry/numeric.h"
#include <curvebody/space.h>
#include <curvebody/intrinsic.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
      return cb_fail(CB_ERROR_ARGUMENT, "curvature %g: expected a size from 1e-200 to 1e200, or 0", k);
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
 * velocities xi_i' = (x_i' - xi_i s')/s with x' = v and s' = r v_n. Returns n. */
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
