/* argmin(f): the first time at which x, the value of f, has its minimum; nan if x is nan in a row. */
#include "sweep/reductions/reduction_value.h"

static void take(const double *argument, double t, double x, double *state) {
  (void)argument;
  replace_if(x < state[VALUE], t, x, state);
}

const cb_reduction_class cb_reduction_argmin = {
    .name = "argmin", .title = "f", .doc = "first time of the minimum", .take = take, .value = time_alone};
