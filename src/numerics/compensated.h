/* Compensated sums: a number kept as high + low, high = fl(high + low).
 *
 * Source: Kahan (1965), Comm. ACM 8, 40, doi:10.1145/363707.363723; two-sum and two-product: Ogita, Rump & Oishi
 * (2005), SIAM J. Sci. Comput. 26, 1955, doi:10.1137/030601818.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* (high + low) += increment for one number. */
static inline void cb_compensated_add_one(double *high, double *low, double increment) {
  const double y = increment + *low;
  const double sum = *high + y;
  const double back = sum - *high;
  *low = (*high - (sum - back)) + (y - back);
  *high = sum;
}

/* The same for arrays; without `keep` the low parts are set to zero. */
void cb_compensated_add(size_t count, double *high, double *low, const double *increment, bool keep, int threads);

/* sum_a form_a (x_a + low_a)^2 - value, from exact products: its error is of order eps^2. form_a is 1 or -1. */
static inline double cb_compensated_norm(int count, const double *form, const double *x, const double *low,
                                         double value) {
  double sum = -value, rest = 0;
  for (int a = 0; a < count; a++) {
    const double product = x[a] * x[a], error = fma(x[a], x[a], -product);
    const double term = form[a] * product, next = sum + term, back = next - sum;
    rest += (sum - (next - back)) + (term - back) + form[a] * (error + 2 * x[a] * low[a]);
    sum = next;
  }
  return sum + rest;
}
