/* Rods and strings: g = sum of distances - length. */
#include "dynamics/constraint_private.h"
#include "dynamics/pair.h"
#include <string.h>

static cb_status distance(const cb_constraints *c, const cb_constraint *row, int element, double t,
                          const double *const *x, int order, cb_element *out) {
  (void)row, (void)element, (void)t;
  return cb_pair_distance(c->space, x[0], x[1], &out->value, order > 0 ? out->gradient : NULL,
                          order > 1 ? out->hessian : NULL);
}

const cb_constraint_kind cb_constraint_rod = {.name = "rod", .element = distance, .sized = true};
const cb_constraint_kind cb_constraint_string = {.name = "string", .element = distance, .sized = true};
