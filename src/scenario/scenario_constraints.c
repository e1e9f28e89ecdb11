/* The key `constraints:`.
 *
 *   - {rod: {between: [[a, 0], [b, 1]], length: "1 + .1*sin(t)"}} | {pin: {particle: [a, 0]}} | ...
 *
 * The key of an item names its class (src/dynamics/constraints/), which reads the map. A particle is [name of its body,
 * number in the body]. A target that is not given is the value at the start. This file has the functions with which
 * classes read their keys.
 */
#include "bodies/place.h"
#include "dynamics/constraint_private.h"
#include "scenario/private.h"
#include "tree/scalar.h"

#include <stdio.h>
#include <string.h>

/* ---- particles ---- */

cb_status cb_scenario_read_particle(cb_scenario *s, const cb_node *node, int *index) {
  const cb_builder *b = s->builder;
  if (node->kind == CB_NODE_MAP) return cb_scenario_read_body_point(s, node, index);
  if (node->kind != CB_NODE_LIST || node->count != 2)
    return cb_node_fail(node, "expected a particle [body, number]%s, found %s",
                        s->class->body ? " or a point {body: .., at: [x, y, z]}" : "", cb_node_found(node).text);
  int body = -1, first = -1;
  long long number = -1;
  cb_status status = cb_scenario_find_body(s, node->items[0], &body);
  if (!status) status = cb_node_int(node->items[1], &number);
  if (status) return status;
  const int count = cb_builder_body_particles(b, body, &first);
  if (number < 0 || number >= count)
    return cb_node_fail(node->items[1], "body `%s`: expected a particle from 0 to %d, found %lld",
                        cb_builder_body_name(b, body), count - 1, number);
  *index = first + (int)number;
  return CB_OK;
}

cb_status cb_scenario_read_moved_particle(cb_scenario *s, const cb_node *node, int *index) {
  int body;
  const cb_status status = cb_scenario_read_particle(s, node, index);
  if (status || node->kind == CB_NODE_MAP) return status;
  return cb_scenario_find_moved_body(s, node->items[0], &body);
}

cb_status cb_constraint_read_particle(const cb_constraint_entry *e, const cb_node *node, int *particle) {
  return cb_scenario_read_moved_particle(e->scenario, node, particle);
}

cb_status cb_constraint_read_particles(const cb_constraint_entry *e, const char *key, const cb_node *list, size_t least,
                                       size_t maximum, int *particle) {
  char range[32] = "";
  if (least == maximum)
    snprintf(range, sizeof range, "%zu", least);
  else if (maximum <= CB_ELEMENT_PARTICLES)
    snprintf(range, sizeof range, "%zu to %zu", least, maximum);
  else
    snprintf(range, sizeof range, "%zu or more", least);
  if (list->kind != CB_NODE_LIST || list->count < least || list->count > maximum)
    return cb_node_fail(list, "%s: expected %s particles, such as [[a, 0], [a, 1]]", key, range);
  cb_status status = CB_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    status = cb_scenario_read_moved_particle(e->scenario, list->items[i], &particle[i]);
    for (size_t j = 0; j < i && !status && maximum <= CB_ELEMENT_PARTICLES; j++)
      if (particle[j] == particle[i]) status = cb_node_fail(list->items[i], "%s: expected different particles", key);
  }
  return status;
}

cb_status cb_constraint_reserve(const cb_constraint_entry *e, size_t count, int **particle) {
  *particle = cb_arena_alloc(e->scenario->arena, count, sizeof **particle);
  return *particle ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu particles", count);
}

/* ---- other values ---- */

cb_status cb_constraint_placed(const cb_constraint_entry *e, cb_status status, const cb_node *node) {
  return cb_scenario_placed(e->scenario, status, node, false);
}

cb_status cb_constraint_placed_in(const cb_constraint_entry *e, cb_status status, const cb_node *node) {
  return cb_scenario_placed(e->scenario, status, node, true);
}

cb_status cb_constraint_read_body(const cb_constraint_entry *e, const cb_node *node, int *body) {
  return cb_scenario_find_moved_body(e->scenario, node, body);
}

cb_status cb_constraint_read_point(const cb_constraint_entry *e, const cb_node *node, double *x) {
  cb_origin origin;
  const cb_status status = cb_place_space_point(node, "at", e->space, &origin, x);
  return status ? status : cb_constraint_placed(e, cb_builder_centre_origin(e->builder, &origin), node);
}

cb_status cb_constraint_read_chart(const cb_constraint_entry *e, const cb_node *node, const char **name,
                                   const cb_chart **chart) {
  const cb_space *g = e->space;
  *name = NULL;
  *chart = g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!node) return CB_OK;
  cb_status status = cb_node_string(node, name);
  if (status) return status;
  *chart = cb_chart_find(g, *name);
  return *chart ? CB_OK : cb_place_unknown_chart(node, g, *name);
}

cb_status cb_constraint_read_expression(const cb_node *node, const char *const *names, size_t count,
                                        const char **text) {
  cb_expression *parsed;
  const cb_status status = cb_node_expression(node, &(cb_expression_scope){.names = names, .n = count}, &parsed);
  if (status) return status;
  cb_expression_free(parsed);
  return cb_node_string(node, text);
}

/* Finds the triangles of an area or a volume: listed triangles, or the triangles of a body. */
static cb_status take_triangles(const cb_constraint_entry *e, const cb_node *of, const cb_node *list,
                                const int (**triangle)[3], int *n) {
  if (!of == !list)
    return list ? cb_node_fail(list, "`triangles` next to `body`: expected only one of them")
                : cb_node_fail(e->map, "missing key 'body': expected a body with triangles, or `triangles`");
  if (of) {
    int body = -1;
    cb_status status = cb_constraint_read_body(e, of, &body);
    if (status) return status;
    *triangle = cb_builder_triangles(e->builder, body, n);
    return *n ? CB_OK
              : cb_node_fail(of, "body `%s` has no triangles: expected a mesh with faces, or a triangle",
                             cb_builder_body_name(e->builder, body));
  }
  if (list->kind != CB_NODE_LIST || !list->count || list->count > INT32_MAX / 4)
    return cb_node_fail(list, "triangles: expected a list of triples of particles");
  int *particle;
  cb_status status = cb_constraint_reserve(e, 3 * list->count, &particle);
  for (size_t t = 0; t < list->count && !status; t++)
    status = cb_constraint_read_particles(e, "triangles", list->items[t], 3, 3, particle + 3 * t);
  *triangle = (const int(*)[3])particle;
  *n = (int)list->count;
  return status;
}

cb_status cb_constraint_read_triangles(const cb_constraint_entry *e, const cb_node *body, const cb_node *list,
                                       const cb_node *target, const char *what, const char *range,
                                       cb_triangle_measure *add) {
  const int(*triangle)[3] = NULL;
  int n = 0;
  cb_target value;
  cb_status status = take_triangles(e, body, list, &triangle, &n);
  if (!status) status = cb_target_read(target, what, range, &value);
  return status ? status : cb_constraint_placed(e, add(e->builder, e->name, n, triangle, value), e->map);
}

/* ---- the items ---- */

cb_status cb_scenario_read_entry(cb_scenario *s, const cb_constraint_class *class, const cb_node *map,
                                 const cb_node *item) {
  static const char *const extra[] = {"name"};
  cb_constraint_entry e = {.scenario = s, .builder = s->builder, .space = s->space, .map = map};
  void *params = cb_arena_alloc(s->arena, class->params_size + 1, 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
  cb_status status = cb_params_bind(class->params, map, item, extra, 1, params);
  const cb_node *name = status ? NULL : cb_node_get(map, "name");
  if (name) status = cb_node_string(name, &e.name);
  return status || !s->builder ? status : class->read(&e, params);
}

static cb_status read_constraint(cb_scenario *s, const cb_node *node) {
  if (node->kind != CB_NODE_MAP || node->count != 1)
    return cb_node_fail(node, "expected a constraint: a map with one key, such as {rod: {between: [[a, 0], [a, 1]]}}");
  const cb_node *key = node->keys[0];
  const char *names[CB_REGISTRY_MAX];
  const size_t count = cb_registry_names(&cb_constraint_registry, names);
  const size_t found = cb_registry_find(&cb_constraint_registry, key->text, strlen(key->text));
  if (found == count) return cb_fail_unknown(key, "constraint", key->text, names, count);
  return cb_scenario_read_entry(s, cb_constraint_classes[found], node->items[0], node);
}

cb_status cb_scenario_read_constraints(cb_scenario *s, const cb_node *list) {
  return cb_scenario_for_items(s, list, "constraints", read_constraint);
}
