/* count(c): the number of rows, or of events, in which x, the value of c, is neither 0 nor nan. */
#include "sweep/reductions/reduction_value.h"

static void take(const double *argument, double t, double x, double *state) {
  (void)argument;
  (void)t;
  state[VALUE] += x != 0 && !isnan(x);
}

const cb_reduction_class cb_reduction_count = {
    .name = "count",
    .title = "c",
    .doc = "number of rows, or of events, in which c is not 0: count(event_kind == 0)",
    .counts = true,
    .take = take,
    .value = value_alone};
