/* last(f): x, the value of f, in the last row. */
#include "sweep/reductions/reduction_value.h"

static void take(const double *argument, double t, double x, double *state) {
  (void)argument;
  (void)t;
  state[VALUE] = x;
}

const cb_reduction_class cb_reduction_last = {
    .name = "last",
    .title = "f",
    .doc = "value in the last row; also used for a field outside any reduction",
    .take = take,
    .value = value_alone};
