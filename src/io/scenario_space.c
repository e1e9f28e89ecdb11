/* `space: h3` or `space: {name: h3, curvature: -1, chart: polar}`, and `bodies:`. */
#include "bodies/place.h"
#include "io/scenario_private.h"

#include <stdlib.h>
#include <string.h>

cb_status cb_scenario_read_space(cb_scenario *s, const cb_node *node) {
  const cb_node *name_node = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : node;
  if (!name_node) return cb_node_fail(node, "the key `name` is missing: the name of a space, such as `h3`");
  const char *name, *names[64];
  cb_status status = cb_node_string(name_node, &name);
  if (status) return status;
  size_t count = 0;
  bool known = false;
  for (; cb_geometry_classes[count] && count < 64; count++) {
    names[count] = cb_geometry_classes[count]->name;
    known = known || !strcmp(names[count], name);
  }
  if (!known) {
    const char *near = cb_nearest_name(name, names, count);
    return near ? cb_node_fail(name_node, "no space `%s`; did you mean `%s`?", name, near)
                : cb_node_fail(name_node, "no space `%s`; see `curvebody list spaces`", name);
  }
  return cb_geometry_create(name, node, &s->space);
}

cb_status cb_scenario_read_bodies(cb_scenario *s, const cb_node *node) {
  if (node->kind != CB_NODE_LIST || node->count == 0)
    return cb_node_fail(node, "expected a list of bodies, at least one");
  for (size_t i = 0; i < node->count; i++) {
    const cb_status status = cb_body_build(node->items[i], s->space, s->builder);
    if (status) return status;
  }
  return CB_OK;
}
