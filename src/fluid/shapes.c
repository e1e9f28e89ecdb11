/* Shapes by their names. */
#include "tree/scalar.h"
#include "core/arena.h"
#include "fluid/surface_private.h"

#include <stdlib.h>
#include <string.h>

/* Parameters that are numbers outlive the text that they are of. */
static cb_status remember(const cb_shape_class *class_, const void *params, cb_surface *s) {
  cb_surface_owned *o = (cb_surface_owned *)s;
  bool numbers = true, resolved = false;
  for (const cb_param *row = class_->params; row && row->name; row++) {
    if (row->type == CB_PARAM_STRING || row->type == CB_PARAM_NODE) numbers = false;
    if (row->type != CB_PARAM_INT || strcmp(row->name, "resolution") != 0) continue;
    resolved = true;
    o->resolution = row->offset;
  }
  if (!numbers || !resolved) return CB_OK;
  o->params = cb_arena_alloc(o->arena, 1, class_->params_size);
  if (!o->params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", class_->name);
  memcpy(o->params, params, class_->params_size);
  o->shape = class_;
  return CB_OK;
}

cb_status cb_shape_create_class(const cb_shape_class *class_, const cb_node *node, cb_surface **out) {
  static const char *const shared[] = {"name"}; /* the owner's */
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", class_->name);
  cb_status status = cb_params_bind(class_->params, node, node, shared, 1, params);
  cb_surface *made = NULL;
  if (!status) status = class_->make(params, &made);
  if (!status) status = remember(class_, params, made);
  free(params);
  if (status)
    cb_surface_free(made);
  else
    *out = made;
  return status;
}

cb_status cb_shape_create(const char *name, const cb_node *node, cb_surface **out) {
  const cb_shape_class *c = cb_shape_classes[cb_registry_find(&cb_shape_registry, name, strlen(name))];
  return c ? cb_shape_create_class(c, node, out) : cb_fail_no_class(node, "shape", name, &cb_shape_registry);
}
