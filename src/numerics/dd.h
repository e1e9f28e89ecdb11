/* Double-double numbers and compensated sums. A double-double number is an unevaluated sum hi + lo with |lo| <=
 * ulp(hi)/2 (about 32 digits).
 *
 * two_sum and two_prod are exact; add, mul, div and sqrt have relative errors of a few 2^-104.
 * Sources: Knuth, The Art of Computer Programming 2, 3rd ed. (1997), section 4.2.2; Joldes, Muller & Popescu, Tight and
 * rigorous error bounds for basic building blocks of double-word arithmetic, ACM TOMS 44 (2017) 15,
 * doi:10.1145/3121432. The functions need strict doubles (-ffp-contract=off and no -ffast-math). They are valid if
 * nothing overflows or underflows.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cb_dd {
  double hi, lo;
} cb_dd;

static inline cb_dd cb_dd_of(double a) { return (cb_dd){a, 0}; }
static inline double cb_dd_double(cb_dd a) { return a.hi + a.lo; }

/* Returns a + b exactly. */
static inline cb_dd cb_two_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (cb_dd){s, (a - (s - t)) + (b - t)};
}

/* Returns a + b exactly, if |a| >= |b| or a = 0. */
static inline cb_dd cb_fast_two_sum(double a, double b) {
  double s = a + b;
  return (cb_dd){s, b - (s - a)};
}

/* Returns a b exactly. */
static inline cb_dd cb_two_prod(double a, double b) {
  double p = a * b;
  return (cb_dd){p, fma(a, b, -p)};
}

static inline cb_dd cb_dd_neg(cb_dd a) { return (cb_dd){-a.hi, -a.lo}; }

static inline cb_dd cb_dd_add(cb_dd a, cb_dd b) {
  cb_dd s = cb_two_sum(a.hi, b.hi), t = cb_two_sum(a.lo, b.lo);
  s = cb_fast_two_sum(s.hi, s.lo + t.hi);
  return cb_fast_two_sum(s.hi, s.lo + t.lo);
}

static inline cb_dd cb_dd_add_d(cb_dd a, double b) {
  cb_dd s = cb_two_sum(a.hi, b);
  return cb_fast_two_sum(s.hi, s.lo + a.lo);
}

static inline cb_dd cb_dd_sub(cb_dd a, cb_dd b) { return cb_dd_add(a, cb_dd_neg(b)); }

static inline cb_dd cb_dd_mul(cb_dd a, cb_dd b) {
  cb_dd p = cb_two_prod(a.hi, b.hi);
  return cb_fast_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline cb_dd cb_dd_mul_d(cb_dd a, double b) {
  cb_dd p = cb_two_prod(a.hi, b);
  return cb_fast_two_sum(p.hi, p.lo + a.lo * b);
}

static inline cb_dd cb_dd_div(cb_dd a, cb_dd b) {
  double q = a.hi / b.hi;
  cb_dd r = cb_dd_sub(a, cb_dd_mul_d(b, q));
  double q2 = r.hi / b.hi;
  r = cb_dd_sub(r, cb_dd_mul_d(b, q2));
  return cb_dd_add_d(cb_fast_two_sum(q, q2), r.hi / b.hi);
}

/* Returns sqrt(a) for a >= 0, by one Newton step from the root in double precision. */
static inline cb_dd cb_dd_sqrt(cb_dd a) {
  if (!(a.hi > 0)) return cb_dd_of(0);
  double s = sqrt(a.hi);
  cb_dd r = cb_dd_sub(a, cb_two_prod(s, s));
  return cb_fast_two_sum(s, r.hi / (2 * s));
}

/* Returns exp(x) for |x| < 700. With x = k ln 2 + 64 r for an integer k, so that |r| < ln 2/128, exp(r) is the sum of
 * 12 terms of its series and is squared six times. The relative error is about 64 2^-104. */
static inline cb_dd cb_dd_exp(double x) {
  const cb_dd ln2 = {0.6931471805599453, 2.3190468138462996e-17};
  const double k = rint(x / ln2.hi);
  cb_dd r = cb_dd_mul_d(cb_dd_sub(cb_dd_of(x), cb_dd_mul_d(ln2, k)), 1.0 / 64), sum = cb_dd_of(1);
  for (int n = 12; n > 0; n--) sum = cb_dd_add_d(cb_dd_div(cb_dd_mul(sum, r), cb_dd_of(n)), 1);
  for (int n = 0; n < 6; n++) sum = cb_dd_mul(sum, sum);
  return (cb_dd){ldexp(sum.hi, (int)k), ldexp(sum.lo, (int)k)};
}

/* --- compensated sums: a number is stored as high + low, where high is the sum rounded to double precision ---
 *
 * Source: Kahan (1965), Comm. ACM 8, 40, doi:10.1145/363707.363723; two-sum and two-product: Ogita, Rump & Oishi
 * (2005), SIAM J. Sci. Comput. 26, 1955, doi:10.1137/030601818.
 */

/* Adds `increment` to the number high + low. */
static inline void cb_compensated_add_one(double *high, double *low, double increment) {
  const double y = increment + *low;
  const double sum = *high + y;
  const double back = sum - *high;
  *low = (*high - (sum - back)) + (y - back);
  *high = sum;
}

/* Returns sum_a form_a (x_a + low_a)^2 - value from exact products; the error is of order eps^2 for the round-off eps.
 * form_a is 1 or -1. */
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
