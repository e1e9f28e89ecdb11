/* Shapes by their names. */
#include "tree/scalar.h"
#include "fluid/surface.h"

#include <stdlib.h>
#include <string.h>

cb_status cb_shape_create(const char *name, const cb_node *node, cb_surface **out) {
  static const char *const shared[] = {"name"}; /* the owner's */
  const char *names[128];
  size_t n = 0, found;
  while (cb_shape_classes[n] && n < sizeof names / sizeof *names) {
    names[n] = cb_shape_classes[n]->name;
    n++;
  }
  for (found = 0; found < n && strcmp(names[found], name);) found++;
  const cb_node *named = cb_node_get(node, "name");
  if (found == n) return cb_fail_unknown(named ? named : node, "shape", name, names, n);
  const cb_shape_class *class = cb_shape_classes[found];
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", name);
  cb_status status = cb_params_bind(class->params, node, node, shared, 1, params);
  if (!status) status = class->make(params, out);
  free(params);
  return status;
}
