/* crossing(f, n): the time of the n-th zero of f, by linear interpolation between two rows,
 *
 *   t_k + (t_k+1 - t_k) x_k/(x_k - x_k+1),  x_k x_k+1 < 0, or x_k+1 = 0 and x_k != 0
 *
 * where x_k is the value of f in row k, at the time t_k. A zero in the first row does not count, because there is no
 * change of sign; a zero next to a row with nan does not count either.
 */
#include "sweep/reductions/reduction_value.h"

enum { ZEROS = TIME + 1, ZERO };

static void take(const double *argument, double t, double x, double *state) {
  const double before = state[VALUE];
  const bool both = state[ROWS] != 0 && !isnan(x) && !isnan(before);
  if (both && before != 0 && (x == 0 || (before < 0) != (x < 0)) && ++state[ZEROS] == argument[0])
    state[ZERO] = state[TIME] + (t - state[TIME]) * (before / (before - x));
  state[VALUE] = x;
  state[TIME] = t;
}

static double value(const double *argument, const double *state) {
  return state[ZEROS] >= argument[0] ? state[ZERO] : NAN;
}

static const cb_param arguments[] = {{"n", CB_PARAM_INT, 0, "1", "", ">= 1", NULL, "which zero is meant"},
                                     {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_reduction_class cb_reduction_crossing = {
    .name = "crossing",
    .title = "f, n",
    .doc = "time of the n-th zero, linear between rows; without n: time of the first zero",
    .arguments = arguments,
    .take = take,
    .value = value};
