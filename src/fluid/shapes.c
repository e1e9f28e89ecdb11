/* Shapes by their names. */
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
  if (found == n) {
    const char *near = cb_nearest_name(name, names, n), *mark = near ? "'" : "";
    const char *did = near ? "; did you mean " : "", *other = near ? near : "";
    if (node) return cb_node_fail(node, "no shape is called '%s'%s%s%s%s", name, did, mark, other, mark);
    return cb_fail(CB_ERROR_INPUT, "no shape is called '%s'%s%s%s%s", name, did, mark, other, mark);
  }
  const cb_shape_class *class = cb_shape_classes[found];
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", name);
  cb_status status = cb_params_bind(class->params, node, node, shared, 1, params);
  if (!status) status = class->make(params, out);
  free(params);
  return status;
}
