/* Shapes by their names. */
#include "tree/scalar.h"
#include "fluid/surface.h"

#include <stdlib.h>
#include <string.h>

cb_status cb_shape_create_class(const cb_shape_class *class_, const cb_node *node, cb_surface **out) {
  static const char *const shared[] = {"name"}; /* the owner's */
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", class_->name);
  cb_status status = cb_params_bind(class_->params, node, node, shared, 1, params);
  if (!status) status = class_->make(params, out);
  free(params);
  return status;
}

cb_status cb_shape_create(const char *name, const cb_node *node, cb_surface **out) {
  const cb_shape_class *c = cb_shape_classes[cb_registry_find(&cb_shape_registry, name, strlen(name))];
  return c ? cb_shape_create_class(c, node, out) : cb_fail_no_class(node, "shape", name, &cb_shape_registry);
}
