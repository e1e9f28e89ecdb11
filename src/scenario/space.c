/* `space: h3`, `space: {name: h3, curvature: -1, chart: polar}` or `space: {metric: ...}`, and `bodies:`. */
#include "bodies/place.h"
#include "geometry/text_metric.h"
#include "scenario/private.h"

#include <stdlib.h>
#include <string.h>

cb_status cb_space_read(const cb_node *node, cb_geometry **out) {
  if (cb_text_metric_is(node)) return cb_text_metric_create(node, out);
  const cb_node *name_node = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : node;
  cb_status status = cb_scenario_check_class("space", node);
  if (status) return status;
  if (!name_node)
    return cb_node_fail(node,
                        "the key `name` is missing: the name of a space, such as `h3`; or `metric`, a metric as "
                        "text");
  const char *name;
  status = cb_node_string(name_node, &name);
  return status ? status : cb_geometry_create(name, node, out);
}

cb_status cb_space_open_text(const char *name, const char *text, cb_geometry **out) {
  cb_tree *tree;
  cb_status status = cb_yaml_read_text(name, text, strlen(text), &tree);
  if (status) return status;
  status = cb_space_read(cb_tree_root(tree), out);
  cb_tree_free(tree);
  return status;
}

cb_status cb_scenario_read_space(cb_scenario *s, const cb_node *node) { return cb_space_read(node, &s->space); }

cb_status cb_scenario_read_bodies(cb_scenario *s, const cb_node *node) {
  if (node->kind != CB_NODE_LIST || node->count == 0)
    return cb_node_fail(node, "expected a list of bodies, at least one");
  s->failed = cb_arena_alloc(s->arena, node->count, sizeof *s->failed);
  if (!s->failed) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", node->count);
  s->bodies = node;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < node->count; i++) {
    const cb_node *body = node->items[i], *mesh = cb_node_get(cb_node_get(body, "mesh"), "file");
    const char *path;
    cb_status status = cb_scenario_check_class("bodies.*", body);
    if (!status)
      status = s->builder ? cb_body_build(body, s->space, s->builder) : cb_scenario_check_map("bodies.*", body);
    if (!status && mesh) status = cb_scenario_file(s, mesh, &path);
    s->failed[i] = cb_errors_add(&errors, body, status) != CB_OK;
  }
  return cb_errors_end(&errors);
}
