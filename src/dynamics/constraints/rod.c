/* A rod keeps the distance d of two particles at x and y: the value g = d(x, y) - length of its row is 0. */
#include "dynamics/builder_private.h"
#include "dynamics/constraint_private.h"

#include "dynamics/pair_potential_private.h"

extern const cb_constraint_class cb_constraint_rod;

typedef struct keys {
  const cb_node *between, *target, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "between", between, NULL, "", "two particles, [[a, 0], [b, 1]]"),
    CB_CONSTRAINT_TARGET(keys, "length", target, "units of length"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_builder_rod(cb_builder *b, const char *name, int i, int j, cb_target length) {
  cb_constraint row = {.class = &cb_constraint_rod, .name = name, .elements = 1, .width = 2, .particle = (int[]){i, j}};
  cb_status status = cb_builder_check_row(b, &row);
  if (!status && !length.expression && length.value <= 0)
    status = cb_fail(CB_ERROR_ARGUMENT, "rod: length %g: expected > 0", length.value);
  if (!status && b->point[i].origin == b->point[j].origin) {
    double d;
    status = cb_builder_check_apart(b->space, b->point[i].x, b->point[j].x, &d);
  }
  return status ? status : cb_builder_add_targeted(b, &row, &length);
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  int ends[2] = {-1, -1};
  cb_target length;
  cb_status status = cb_constraint_read_particles(e, "between", p->between, 2, 2, ends);
  if (!status) status = cb_target_read(p->target, "length", "> 0", &length);
  if (status) return status;
  return cb_constraint_placed(e, cb_builder_rod(e->builder, e->name, ends[0], ends[1], length), p->between);
}

cb_status cb_element_distance(const cb_constraints *c, const cb_constraint *row, int element, double t,
                              const double *const *x, int order, cb_element *out) {
  (void)row;
  (void)element;
  (void)t;
  return cb_pair_distance(c->space, x[0], x[1], &out->value, order > 0 ? out->gradient : NULL,
                          order > 1 ? out->hessian : NULL);
}

const cb_constraint_class cb_constraint_rod = {.name = "rod",
                                               .title = "distance of two particles",
                                               .doc = "",
                                               .params = table,
                                               .params_size = sizeof(keys),
                                               .read = read,
                                               .points = 2,
                                               .element = cb_element_distance,
                                               .sized = true,
                                               .bond = true};
