/* Reads the key `coupling` of `fluid` (fluid/body_coupling.h). */
#include "fluid/body_coupling.h"

#include "core/failure.h"
#include "core/registry.h"
#include "tree/scalar.h"

#include <curvebody/param.h>
#include <stdlib.h>
#include <string.h>

extern const cb_registry cb_body_coupling_registry;

cb_status cb_body_coupling_read(const cb_node *node, cb_body_coupling **out) {
  static const char *const shared[] = {"name"};
  const cb_node *map = node->kind == CB_NODE_MAP ? node : NULL, *named = map ? cb_node_get(map, "name") : node;
  const char *name;
  if (!named) return cb_node_fail(node, "the key `name` is missing: expected none, dipole or exact");
  cb_status status = cb_node_string(named, &name);
  *out = NULL;
  if (status || !strcmp(name, "none")) return status;
  const cb_body_coupling_class *class =
      cb_body_coupling_classes[cb_registry_find(&cb_body_coupling_registry, name, strlen(name))];
  if (!class) return cb_fail_no_class(named, "coupling", name, &cb_body_coupling_registry);
  cb_body_coupling *c = calloc(1, sizeof *c);
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  status = c && params ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the coupling %s", class->name);
  if (!status) status = cb_params_bind(class->params, map, node, shared, 1, params);
  if (!status && class->read) status = class->read(params);
  if (status) {
    free(params);
    free(c);
    return status;
  }
  *c = (cb_body_coupling){class, params};
  *out = c;
  return CB_OK;
}

void cb_body_coupling_free(cb_body_coupling *c) {
  if (!c) return;
  free(c->params);
  free(c);
}
