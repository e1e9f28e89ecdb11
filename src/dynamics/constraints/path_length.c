/* The length of a path through the particles at x_0, x_1, ... is constant. With the distance d of two points, the value
 * of the row is g = d(x_0, x_1) + d(x_1, x_2) + ... - length. */
#include "dynamics/builder_private.h"

#include "dynamics/constraint_private.h"

#include <stdlib.h>

extern const cb_constraint_class cb_constraint_path_length;

typedef struct keys {
  const cb_node *through, *target, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "through", through, NULL, "", "particles in their order, [[a, 0], [a, 1], ..]"),
    CB_CONSTRAINT_TARGET(keys, "length", target, "units of length"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_builder_path_length(cb_builder *b, const char *name, int n, const int *particle, cb_target length) {
  if (n < 2) return cb_fail(CB_ERROR_ARGUMENT, "path_length: expected at least two particles, found %d", n);
  int *ends = malloc(2 * (size_t)(n - 1) * sizeof *ends);
  if (!ends) return cb_fail(CB_ERROR_MEMORY, "no memory for a path of %d particles", n);
  for (int e = 0; e < n - 1; e++) {
    ends[2 * e] = particle[e];
    ends[2 * e + 1] = particle[e + 1];
  }
  cb_constraint row = {
      .class = &cb_constraint_path_length, .name = name, .elements = n - 1, .width = 2, .particle = ends};
  cb_status status = cb_builder_check_row(b, &row);
  if (!status && !length.expression && length.value <= 0)
    status = cb_fail(CB_ERROR_ARGUMENT, "path_length: length %g: expected > 0", length.value);
  if (!status) status = cb_builder_add_targeted(b, &row, &length);
  free(ends);
  return status;
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  const cb_node *list = p->through;
  const size_t count = list->kind == CB_NODE_LIST ? list->count : 0, maximum = count > 8 ? count : 8;
  int *particle;
  cb_target length;
  cb_status status = cb_constraint_reserve(e, maximum, &particle);
  if (!status) status = cb_constraint_read_particles(e, "through", list, 2, maximum, particle);
  if (!status) status = cb_target_read(p->target, "length", "> 0", &length);
  if (status) return status;
  status = cb_builder_path_length(e->builder, e->name, (int)count, particle, length);
  return cb_constraint_placed(e, status, list);
}

const cb_constraint_class cb_constraint_path_length = {.name = "path_length",
                                                       .title = "sum of the distances of successive particles",
                                                       .doc = "",
                                                       .params = table,
                                                       .params_size = sizeof(keys),
                                                       .read = read,
                                                       .points = 2,
                                                       .element = cb_element_distance,
                                                       .sized = true};
