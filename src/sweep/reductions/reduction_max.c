/* max(f): the maximum of x, the value of f, over all rows; nan if x is nan in a row. */
#include "sweep/reductions/reduction_value.h"

static void take(const double *argument, double t, double x, double *state) {
  (void)argument;
  replace_if(x > state[VALUE], t, x, state);
}

const cb_reduction_class cb_reduction_max = {
    .name = "max", .title = "f", .doc = "maximum over all rows", .take = take, .value = value_alone};
