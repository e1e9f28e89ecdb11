/* From a map of the scenario to a body of its kind. */
#include <curvebody/body.h>

#include "tree/scalar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const shared[] = {"kind", "name", "place", "motion"};
enum { SHARED = sizeof shared / sizeof *shared };

static const cb_body_class *find(const char *name) {
  return cb_body_classes[cb_registry_find(&cb_body_registry, name, strlen(name))];
}

/* Begins the body under its `name`, or its kind with the first number that is free. */
static cb_status begin(const cb_node *node, const char *kind, cb_builder *b) {
  const cb_node *given = cb_node_get(node, "name");
  const char *name;
  char numbered[128];
  if (given) {
    cb_status status = cb_node_string(given, &name);
    if (status) return status;
    if (!*name) return cb_node_fail(given, "name: expected a name, found an empty text");
    if (cb_builder_find_body(b, name) >= 0)
      return cb_node_fail(given, "name: a body '%s' is there already, expected another name", name);
    return cb_builder_body(b, name, NULL);
  }
  for (int i = 1;; i++) {
    snprintf(numbered, sizeof numbered, "%s%d", kind, i);
    if (cb_builder_find_body(b, numbered) < 0) return cb_builder_body(b, numbered, NULL);
  }
}

cb_status cb_body_build_class(const cb_body_class *class, const cb_node *node, const cb_geometry *space,
                              cb_builder *b) {
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for a body of kind `%s`", class->name);
  cb_status status = cb_params_bind(class->params, node, node, shared, SHARED, params);
  if (!status) status = begin(node, class->name, b);
  if (!status) status = class->build(params, node, space, b);
  free(params);
  return status;
}

cb_status cb_body_build(const cb_node *node, const cb_geometry *space, cb_builder *b) {
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a body: a map with the key `kind`");
  const cb_node *kind = cb_node_get(node, "kind");
  if (!kind) return cb_node_fail(node, "the key `kind` is missing: a kind of body, such as `rod`");
  const char *name;
  cb_status status = cb_node_string(kind, &name);
  if (status) return status;
  const cb_body_class *class = find(name);
  return class ? cb_body_build_class(class, node, space, b)
               : cb_fail_no_class(kind, "kind of body", name, &cb_body_registry);
}

const cb_node *cb_body_resolved(const cb_node *node, struct cb_arena *arena) {
  return cb_params_resolved(find(cb_node_get(node, "kind")->text)->params, node, arena);
}
