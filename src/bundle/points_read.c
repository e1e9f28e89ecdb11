/* What a scenario says of points: space, shape variables, parameters, places, masses, lines. */
#include "bundle/points.h"
#include "bundle/read.h"

#include <string.h>

static cb_status read_space(cb_points *p, const cb_points_params *given) {
  const cb_node *node = given->space, *named = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : node;
  const char *name;
  if (!named) return cb_node_fail(node, "space: missing key 'name'");
  cb_status status = cb_node_string(named, &name);
  if (!status) status = cb_geometry_create(name, node, &p->space);
  if (status) return status;
  const cb_geometry *g = p->space;
  if (g->intrinsic)
    return cb_node_fail(named, "space: expected one made of spheres, hyperbolic and flat factors, found %s", name);
  if (g->chart)
    return cb_node_fail(cb_node_get(node, "chart"), "space: expected no chart: the one of places is the bundle's");
  return CB_OK;
}

static cb_status read_chart(cb_points *p, const cb_node *node) {
  const cb_geometry *g = p->space;
  const char *name;
  char list[160] = "";
  const cb_status status = cb_node_string(node, &name);
  if (status) return status;
  p->chart = cb_chart_find(g, name);
  if (p->chart && cb_points_knows(p->chart)) return CB_OK;
  for (size_t i = 0; i < cb_chart_count(g); i++) {
    const cb_chart *chart = cb_chart_at(g, i);
    if (!cb_points_knows(chart)) continue;
    strncat(list, list[0] ? ", " : "", sizeof list - strlen(list) - 1);
    strncat(list, chart->name, sizeof list - strlen(list) - 1);
  }
  return cb_node_fail(node, "chart: expected one of %s, found '%.40s'", list, name);
}

static cb_status read_point(cb_points *p, const cb_bundle_names *s, const cb_node *node, int m) {
  static const char *const keys[] = {"mass", "at"};
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "points: expected {mass: ..., at: [...]}");
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (status) return status;
  const cb_node *mass = cb_node_get(node, "mass"), *at = cb_node_get(node, "at");
  if (!mass || !at) return cb_node_fail(node, "points: missing key '%s'", mass ? "at" : "mass");
  status = cb_bundle_read_number(s, mass, "mass", &p->mass[m]);
  if (status) return status;
  if (!(p->mass[m] > 0)) return cb_node_fail(mass, "mass: expected a number > 0, found %g", p->mass[m]);
  p->point[m].mass = p->mass[m];
  if (at->kind != CB_NODE_LIST || at->count != (size_t)p->chart->size)
    return cb_node_fail(at, "at: expected a list of %d coordinates, those of the chart %s of space %s", p->chart->size,
                        p->chart->name, p->space->kind->name);
  for (int c = 0; c < p->chart->size && !status; c++)
    status =
        cb_bundle_read_expression(s, at->items[c], p->chart->coordinates[c], s->name, s->shape, &p->point[m].at[c]);
  return status;
}

static cb_status read_points(cb_points *p, const cb_bundle_names *s, const cb_node *node) {
  enum { MOST = 100000 };
  if (node->kind != CB_NODE_LIST || node->count < 1 || node->count > MOST)
    return cb_node_fail(node, "points: expected a list of at least one {mass: ..., at: [...]}");
  p->point = cb_arena_alloc(p->arena, node->count, sizeof *p->point);
  p->mass = cb_arena_alloc(p->arena, node->count, sizeof *p->mass);
  if (!p->point || !p->mass) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", node->count);
  p->points = (int)node->count;
  cb_status status = CB_OK;
  for (int m = 0; m < p->points && !status; m++) status = read_point(p, s, node->items[m], m);
  return status;
}

static cb_status read_lines(cb_bundle *b, const cb_points *p, const cb_node *node) {
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_LIST) return cb_node_fail(node, "lines: expected a list of pairs of points, from 0");
  int(*line)[2] = cb_arena_alloc(p->arena, node->count, sizeof *line);
  if (!line) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu lines", node->count);
  for (size_t i = 0; i < node->count; i++) {
    const cb_node *pair = node->items[i];
    if (pair->kind != CB_NODE_LIST || pair->count != 2)
      return cb_node_fail(pair, "lines: expected a pair of points, from 0");
    for (int e = 0; e < 2; e++) {
      long long index;
      const cb_status status = cb_node_int(pair->items[e], &index);
      if (status) return status;
      if (index < 0 || index >= p->points)
        return cb_node_fail(pair->items[e], "lines: expected a point from 0 to %d, found %lld", p->points - 1, index);
      line[i][e] = (int)index;
    }
  }
  b->lines = (int)node->count;
  b->line = (const int(*)[2])line;
  return CB_OK;
}

cb_status cb_points_read(cb_bundle *b, cb_points *p, const cb_points_params *given) {
  cb_bundle_names s = {.count = 0};
  cb_status status = read_space(p, given);
  if (!status) status = read_chart(p, given->chart);
  if (!status) status = cb_bundle_read_shape(&s, given->shape, CB_JET_MAX);
  if (!status) status = cb_bundle_read_parameters(&s, given->parameters);
  if (!status) status = cb_bundle_read_periods(&s, given->period, b->period);
  if (!status) status = read_points(p, &s, given->points);
  if (!status) status = read_lines(b, p, given->lines);
  if (!status) status = cb_points_choose_group(p, given->group, &b->group);
  if (status) return status;
  b->n = p->n = s.shape;
  b->points = p->points;
  for (int i = 0; i < b->n; i++) {
    b->shape[i] = cb_arena_strdup(p->arena, s.name[i]);
    if (!b->shape[i]) return cb_fail(CB_ERROR_MEMORY, "no memory for names");
  }
  return CB_OK;
}

void cb_points_free(cb_points *p) {
  if (!p) return;
  for (int m = 0; m < p->points; m++)
    for (int c = 0; c < CB_COORD_MAX; c++) cb_expression_free(p->point[m].at[c]);
  cb_geometry_free(p->space);
  cb_arena_free(p->arena);
}
