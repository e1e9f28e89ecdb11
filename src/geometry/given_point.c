/* This file reads points of a space, and vectors there, from a map that gives them in coordinates of a chart or of the
 * embedding (given_point.h). */
#include "geometry/given_point.h"

#include "geometry/origin.h"
#include "tree/scalar.h"

#include <string.h>

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

/* Does the same as cb_place_read_map, relative to *origin, or to the world if origin is NULL. */
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
