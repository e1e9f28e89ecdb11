/* rms(f): sqrt((1/N) sum x^2), where x is the value of f, over the N rows, with a compensated sum. */
#include "sweep/reductions/reduction_value.h"

static void take(const double *argument, double t, double x, double *state) {
  (void)argument;
  (void)t;
  add(state, x * x);
}

static double value(const double *argument, const double *state) {
  (void)argument;
  return sqrt((state[VALUE] + state[REST]) / state[ROWS]);
}

const cb_reduction_class cb_reduction_rms = {
    .name = "rms", .title = "f", .doc = "root mean square over all rows", .take = take, .value = value};
