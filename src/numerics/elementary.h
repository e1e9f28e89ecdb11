/* Elementary functions f(a) and f(a, b) with their partial derivatives up to second order.
 *
 * Each function returns f. For order >= 1 it also returns the first derivatives f_a and f_b, and for order 2 the second
 * derivatives f_aa, f_ab, f_bb. The order is a compile-time constant in each call, so that unused derivatives cost
 * nothing. f does not depend on the order, bit for bit.
 * Outside its domain f is NaN as in C, and cb_taylor_settle then makes the derivatives NaN, too.
 * The derivative at a kink is the one from the right (abs at 0: +1). If both arguments are equal, min and max have the
 * derivative of the first one. Source of the derivatives: DLMF (2010-) chapter 4, sections 4.7, 4.20, 4.24, 4.34, 4.38.
 * Among equal forms those without cancellation and overflow are used, such as 1/cosh² rather than 1 - tanh².
 */
#pragma once

#include <math.h>

typedef struct cb_taylor {
  double f, a, b, aa, ab, bb;
} cb_taylor;

/* Integer powers up to this exponent are computed by multiplication; the relative error of x^k is at most about k/2
 * units of round-off. */
#define CB_POWER_MULTIPLY_MAX 32

/* x^k */
static inline double cb_power_integer(double x, int k) {
  if (k < -CB_POWER_MULTIPLY_MAX || k > CB_POWER_MULTIPLY_MAX) return pow(x, k);
  double f = 1, square = x;
  for (int rest = k < 0 ? -k : k;;) {
    if (rest & 1) f *= square;
    if (!(rest >>= 1)) break;
    square *= square;
  }
  return k < 0 ? 1 / f : f;
}

/* Returns factor x^c, and 0 for factor 0 even if the power is infinite; this is the derivative of a polynomial. */
static inline double cb_power_term(double factor, double x, double c) { return factor == 0 ? 0 : factor * pow(x, c); }

static inline cb_taylor cb_taylor_settle(cb_taylor t) {
  if (t.f != t.f) t.a = t.b = t.aa = t.ab = t.bb = t.f;
  return t;
}

static inline cb_taylor cb_taylor_power_integer(double x, int k, int order) {
  cb_taylor t = {.f = cb_power_integer(x, k)};
  if (k < 0) {
    if (order >= 1) t.a = k * t.f / x;
    if (order >= 2) t.aa = (k - 1.0) * t.a / x;
    return t;
  }
  if (order >= 1 && k >= 1) t.a = k * cb_power_integer(x, k - 1);
  if (order >= 2 && k >= 2) t.aa = (double)k * (k - 1.0) * cb_power_integer(x, k - 2);
  return t;
}

/* x^c for a fixed c */
static inline cb_taylor cb_taylor_power_constant(double x, double c, int order) {
  cb_taylor t = {.f = pow(x, c)};
  if (order >= 1) t.a = x != 0 ? c * t.f / x : cb_power_term(c, x, c - 1);
  if (order >= 2) t.aa = x != 0 ? (c - 1) * t.a / x : cb_power_term(c * (c - 1), x, c - 2);
  return t;
}

/* Returns a^b. The derivatives with respect to b need a >= 0; at a = 0 they are the limits. */
static inline cb_taylor cb_taylor_power(double a, double b, int order) {
  cb_taylor t = cb_taylor_power_constant(a, b, order);
  if (order < 1) return t;
  if (a == 0 && b > 0) {
    if (order >= 2) t.ab = b > 1 ? 0 : -INFINITY;
    return t;
  }
  double l = log(a);
  t.b = t.f * l;
  if (order >= 2) {
    t.ab = (a != 0 ? t.f / a : pow(a, b - 1)) * (1 + b * l);
    t.bb = t.b * l;
  }
  return t;
}

static inline cb_taylor cb_taylor_divide(double a, double b, int order) {
  cb_taylor t = {.f = a / b};
  if (order >= 1) {
    t.a = 1 / b;
    t.b = -t.f * t.a;
  }
  if (order >= 2) {
    t.ab = -t.a * t.a;
    t.bb = -2 * t.b * t.a;
  }
  return t;
}

static inline cb_taylor cb_taylor_sqrt(double x, int order) {
  cb_taylor t = {.f = sqrt(x)};
  if (order >= 1) t.a = 0.5 / t.f;
  if (order >= 2) t.aa = -0.5 * t.a / x;
  return t;
}

static inline cb_taylor cb_taylor_exp(double x, int order) {
  cb_taylor t = {.f = exp(x)};
  if (order >= 1) t.a = t.f;
  if (order >= 2) t.aa = t.f;
  return t;
}

static inline cb_taylor cb_taylor_log(double x, int order) {
  cb_taylor t = {.f = log(x)};
  if (order >= 1) t.a = 1 / x;
  if (order >= 2) t.aa = -t.a * t.a;
  return t;
}

static inline cb_taylor cb_taylor_log10(double x, int order) {
  cb_taylor t = {.f = log10(x)};
  if (order >= 1) t.a = 0.43429448190325182765 / x; /* log10(e) */
  if (order >= 2) t.aa = -t.a / x;
  return t;
}

static inline cb_taylor cb_taylor_sin(double x, int order) {
  cb_taylor t = {.f = sin(x)};
  if (order >= 1) t.a = cos(x);
  if (order >= 2) t.aa = -t.f;
  return t;
}

static inline cb_taylor cb_taylor_cos(double x, int order) {
  cb_taylor t = {.f = cos(x)};
  if (order >= 1) t.a = -sin(x);
  if (order >= 2) t.aa = -t.f;
  return t;
}

static inline cb_taylor cb_taylor_tan(double x, int order) {
  cb_taylor t = {.f = tan(x)};
  if (order >= 1) t.a = 1 + t.f * t.f;
  if (order >= 2) t.aa = 2 * t.f * t.a;
  return t;
}

static inline cb_taylor cb_taylor_cot(double x, int order) {
  cb_taylor t = {.f = 1 / tan(x)};
  if (order >= 1) t.a = -(1 + t.f * t.f);
  if (order >= 2) t.aa = -2 * t.f * t.a;
  return t;
}

static inline cb_taylor cb_taylor_asin(double x, int order) {
  cb_taylor t = {.f = asin(x)};
  if (order >= 1) t.a = 1 / sqrt((1 - x) * (1 + x));
  if (order >= 2) t.aa = x * t.a * t.a * t.a;
  return t;
}

static inline cb_taylor cb_taylor_acos(double x, int order) {
  cb_taylor t = {.f = acos(x)};
  if (order >= 1) t.a = -1 / sqrt((1 - x) * (1 + x));
  if (order >= 2) t.aa = x * t.a * t.a * t.a;
  return t;
}

static inline cb_taylor cb_taylor_atan(double x, int order) {
  cb_taylor t = {.f = atan(x)};
  if (order >= 1) t.a = 1 / (1 + x * x);
  if (order >= 2) t.aa = -2 * x * t.a * t.a;
  return t;
}

/* Returns atan2(a, b), where a is the ordinate: f_a = b/r², f_b = -a/r² with r² = a² + b². */
static inline cb_taylor cb_taylor_atan2(double a, double b, int order) {
  cb_taylor t = {.f = atan2(a, b)};
  if (order < 1) return t;
  double r = hypot(a, b), s = a / r, c = b / r;
  t.a = c / r;
  t.b = -s / r;
  if (order >= 2) {
    t.aa = -2 * s * c / r / r;
    t.ab = (s - c) * (s + c) / r / r;
    t.bb = -t.aa;
  }
  return t;
}

static inline cb_taylor cb_taylor_sinh(double x, int order) {
  cb_taylor t = {.f = sinh(x)};
  if (order >= 1) t.a = cosh(x);
  if (order >= 2) t.aa = t.f;
  return t;
}

static inline cb_taylor cb_taylor_cosh(double x, int order) {
  cb_taylor t = {.f = cosh(x)};
  if (order >= 1) t.a = sinh(x);
  if (order >= 2) t.aa = t.f;
  return t;
}

static inline cb_taylor cb_taylor_tanh(double x, int order) {
  cb_taylor t = {.f = tanh(x)};
  if (order < 1) return t;
  double c = cosh(x);
  t.a = 1 / c / c;
  if (order >= 2) t.aa = -2 * t.f * t.a;
  return t;
}

static inline cb_taylor cb_taylor_coth(double x, int order) {
  cb_taylor t = {.f = 1 / tanh(x)};
  if (order < 1) return t;
  double s = sinh(x);
  t.a = -1 / s / s;
  if (order >= 2) t.aa = -2 * t.f * t.a;
  return t;
}

static inline cb_taylor cb_taylor_asinh(double x, int order) {
  cb_taylor t = {.f = asinh(x)};
  if (order >= 1) t.a = 1 / hypot(1, x);
  if (order >= 2) t.aa = -x * t.a * t.a * t.a;
  return t;
}

static inline cb_taylor cb_taylor_acosh(double x, int order) {
  cb_taylor t = {.f = acosh(x)};
  if (order >= 1) t.a = 1 / (sqrt(x - 1) * sqrt(x + 1));
  if (order >= 2) t.aa = -x * t.a * t.a * t.a;
  return t;
}

static inline cb_taylor cb_taylor_atanh(double x, int order) {
  cb_taylor t = {.f = atanh(x)};
  if (order >= 1) t.a = 1 / ((1 - x) * (1 + x));
  if (order >= 2) t.aa = 2 * x * t.a * t.a;
  return t;
}

static inline cb_taylor cb_taylor_abs(double x, int order) {
  cb_taylor t = {.f = fabs(x)};
  if (order >= 1) t.a = x >= 0 ? 1 : -1;
  return t;
}

/* Unlike C's fmin and fmax, the result is NaN if either argument is NaN. */
static inline cb_taylor cb_taylor_min(double a, double b) {
  int first = a <= b || a != a;
  return (cb_taylor){.f = first ? a : b, .a = first, .b = !first};
}

static inline cb_taylor cb_taylor_max(double a, double b) {
  int first = a >= b || a != a;
  return (cb_taylor){.f = first ? a : b, .a = first, .b = !first};
}

/* Returns √(a² + b²). At the origin the derivatives are the limits along the first axis from the right: gradient (1,
 * 0), f_aa = f_ab = 0, f_bb = inf. */
static inline cb_taylor cb_taylor_hypot(double a, double b, int order) {
  cb_taylor t = {.f = hypot(a, b)};
  if (order < 1) return t;
  double c = t.f > 0 ? a / t.f : 1, s = t.f > 0 ? b / t.f : 0;
  t.a = c;
  t.b = s;
  if (order >= 2 && t.f > 0) {
    t.aa = s * s / t.f;
    t.ab = -s * c / t.f;
  }
  if (order >= 2) t.bb = c * c / t.f;
  return t;
}
