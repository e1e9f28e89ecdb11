/* Definitions that the built-in reductions share: the use of the numbers of their state, and compensated sums. */
#pragma once

#include <curvebody/reduction.h>
#include <math.h>

/* Indices of the state of a reduction. ROWS: the number of rows so far. VALUE: the value or the sum so far. TIME: the
 * time of the value. REST: the remainder of the sum, which round-off has removed from it. */
enum { ROWS, VALUE, TIME, REST = TIME };

static inline double value_alone(const double *argument, const double *state) {
  (void)argument;
  return state[VALUE];
}

/* Replaces the value by x and its time by t. A value of nan stays. */
static inline void replace_if(bool better, double t, double x, double *state) {
  if (!(state[ROWS] == 0 || better || (isnan(x) && !isnan(state[VALUE])))) return;
  state[VALUE] = x;
  state[TIME] = t;
}

/* Returns the time of the value; nan if the value is nan. */
static inline double time_alone(const double *argument, const double *state) {
  (void)argument;
  return isnan(state[VALUE]) ? NAN : state[TIME];
}

/* Neumaier's sum state[VALUE] + state[REST] (1974), Z. Angew. Math. Mech. 54, 39, doi:10.1002/zamm.19740540106; an
 * infinite sum has no remainder. */
static inline void add(double *state, double x) {
  const double old = state[VALUE], sum = old + x;
  if (isfinite(sum)) state[REST] += fabs(old) >= fabs(x) ? (old - sum) + x : (x - sum) + old;
  state[VALUE] = sum;
}
