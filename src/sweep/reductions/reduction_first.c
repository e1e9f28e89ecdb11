/* first(f): x, the value of f, in the first row. */
#include "sweep/reductions/reduction_value.h"

static void take(const double *argument, double t, double x, double *state) {
  (void)argument;
  (void)t;
  if (state[ROWS] == 0) state[VALUE] = x;
}

const cb_reduction_class cb_reduction_first = {
    .name = "first", .title = "f", .doc = "value in the first row", .take = take, .value = value_alone};
