/* mean(f): (1/N) sum x, where x is the value of f, over the N rows, with a compensated sum. */
#include "sweep/reductions/reduction_value.h"

static void take(const double *argument, double t, double x, double *state) {
  (void)argument;
  (void)t;
  add(state, x);
}

static double value(const double *argument, const double *state) {
  (void)argument;
  return (state[VALUE] + state[REST]) / state[ROWS];
}

const cb_reduction_class cb_reduction_mean = {
    .name = "mean", .title = "f", .doc = "mean over all rows", .take = take, .value = value};
