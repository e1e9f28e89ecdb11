/* Elementary functions f(a) and f(a, b) with their partial derivatives up to second order.
 *
 * Each function returns f. For order >= 1 it also returns the first derivatives f_a and f_b, and for order 2 the second
 * derivatives f_aa, f_ab, f_bb. The order is a compile-time constant in each call, so that unused derivatives cost
 * nothing. f does not depend on the order, bit for bit.
 * Outside its domain f is NaN as in C, and cb_taylor_settle then makes the derivatives NaN, too.
 * The derivative at a kink is the one from the right (abs at 0: +1). If both arguments are equal, min and max have the
 * derivative of the first one. Source of the derivatives: DLMF (2010-) chapter 4, sections 4.7, 4.20, 4.24, 4.34, 4.38.
 * Among equal forms those without cancellation and overflow are used, such as 1/cosh² rather than 1 - tanh².
 *
 * The chain rules for these derivatives, and sin, cos and exp of eight numbers at once, are at the end.
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

/* Returns factor x^c, a term in the derivative of a polynomial. It is 0 if `factor` is 0, even if the power is
 * infinite. */
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

/* --- sin, cos and exp of eight numbers at once ---
 *
 * These functions use portable vectors and no fused products, so that every instruction set gives the same bits. The
 * errors are below 1 unit in the last place.
 *
 *   sin, cos   x = n pi/2 + r with an integer n, |r| <= pi/4; pi/2 is split into pieces of 33 bits (Cody & Waite);
 *              series in r with fdlibm's coefficients
 *   exp        x = n ln 2 + r with an integer n, |r| <= ln 2/2; e^r - 1 by its Taylor series to r^13
 * Sources: fdlibm 5.3 (Sun Microsystems, 1993), k_sin.c, k_cos.c, e_rem_pio2.c; Cody & Waite, Software Manual for the
 * Elementary Functions (1980), chapters 6 and 8.
 */

enum { CB_LANES = 8 };
typedef double cb_lanes __attribute__((vector_size(8 * CB_LANES)));
typedef long long cb_lane_bits __attribute__((vector_size(8 * CB_LANES)));

/* Adding and subtracting 3/2 2^52 rounds a number to an integer, which is in the last bits of the sum. */
#define CB_LANES_ROUND 0x1.8p52

#define CB_LANES_INLINE static inline __attribute__((always_inline))

/* Returns whether all numbers of a[n] are within [-maximum, maximum]. If the sign bit is removed, the bits of two
 * numbers compare like the numbers, and those of a NaN are larger than all others. */
CB_LANES_INLINE int cb_lanes_within(int n, const cb_lanes *a, double maximum) {
  const cb_lanes limit = (cb_lanes){0} + maximum;
  cb_lane_bits left = {0};
  for (int g = 0; g < n; g++) left |= (cb_lane_bits)limit - ((cb_lane_bits)a[g] & 0x7fffffffffffffffLL);
  long long any = 0;
  for (int i = 0; i < CB_LANES; i++) any |= left[i];
  return any >= 0;
}

CB_LANES_INLINE void cb_lanes_sincos(const cb_lanes *at, cb_lanes *sine, cb_lanes *cosine) {
  const cb_lanes x = *at, whole = x * 0x1.45f306dc9c883p-1 + CB_LANES_ROUND, n = whole - CB_LANES_ROUND;
  const cb_lane_bits quarter = (cb_lane_bits)whole;
  /* r + low = x - n pi/2. The first two products are exact for |n| < 2^20. */
  const cb_lanes r0 = x - n * 0x1.921fb544p+0, w1 = n * 0x1.0b4611a6p-34, r1 = r0 - w1,
                 w2 = n * 0x1.3198a2e037073p-69 - ((r0 - r1) - w1), r = r1 - w2, low = (r1 - r) - w2;
  const cb_lanes z = r * r, v = z * r;
  const cb_lanes ps =
      8.33333333332248946124e-03 +
      z * (-1.98412698298579493134e-04 +
           z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  const cb_lanes s = r - ((z * (0.5 * low - v * ps) - low) - v * -1.66666666666666324348e-01);
  const cb_lanes pc = z * (4.16666666666666019037e-02 +
                           z * (-1.38888888888741095749e-03 +
                                z * (2.48015872894767294178e-05 +
                                     z * (-2.75573143513906633035e-07 +
                                          z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const cb_lanes half = 0.5 * z, w = 1 - half, c = w + (((1 - w) - half) + (z * pc - r * low));
  /* In the quarters n = 1 and 3 (modulo 4) sine and cosine are exchanged. The sine changes its sign in quarters 2 and
   * 3, the cosine in quarters 1 and 2. */
  const cb_lane_bits odd = -(quarter & 1), sign_s = (quarter & 2) << 62, sign_c = ((quarter + 1) & 2) << 62;
  *sine = (cb_lanes)(((odd & (cb_lane_bits)c) | (~odd & (cb_lane_bits)s)) ^ sign_s);
  *cosine = (cb_lanes)(((odd & (cb_lane_bits)s) | (~odd & (cb_lane_bits)c)) ^ sign_c);
}

CB_LANES_INLINE void cb_lanes_exp(const cb_lanes *at, cb_lanes *out) {
  const cb_lanes x = *at, whole = x * 0x1.71547652b82fep+0 + CB_LANES_ROUND, n = whole - CB_LANES_ROUND;
  const cb_lanes high = x - n * 0x1.62e42feep-1, low = n * 0x1.a39ef35793c76p-33, r = high - low;
  cb_lanes p = {0};
  p += 1 / 6227020800.;
  static const double inverse[] = {1 / 479001600., 1 / 39916800., 1 / 3628800., 1 / 362880., 1 / 40320., 1 / 5040.,
                                   1 / 720.,       1 / 120.,      1 / 24.,      1 / 6.,      0.5};
  for (int i = 0; i < (int)(sizeof inverse / sizeof *inverse); i++) p = p * r + inverse[i];
  const cb_lanes tail = ((high - r) - low) + r * r * p; /* e^r = 1 + r + tail */
  const cb_lane_bits power = ((cb_lane_bits)whole + 1023) << 52;
  *out = (1 + (r + tail)) * (cb_lanes)power;
}

/* The largest |x| for which these functions are used; for larger |x| the functions of the C library are used. */
#define CB_LANES_SINCOS_MAX 1e5
#define CB_LANES_EXP_MAX 700

/* --- chain rules ---
 *
 * Chain rules to second order on bare arrays: gradient g[n] and packed Hessian h[n(n+1)/2].
 *
 * One operand:   g_i = f_a a_i,            h_ij = f_a a_ij + f_aa a_i a_j
 * Two operands:  g_i = f_a a_i + f_b b_i,  h_ij = f_a a_ij + f_b b_ij + f_aa a_i a_j + f_ab (a_i b_j + b_i a_j)
 *                                                 + f_bb b_i b_j
 * f is a function of the operands a and b, and f_a, f_b, f_aa .. are its derivatives with respect to them. a_i, a_ij
 * and b_i, b_ij are the derivatives of a and b with respect to variables i and j, and g_i, h_ij those of the result.
 * Source: Griewank & Walther (2008), table 13.1 and section 13.3, doi:10.1137/1.9780898717761.
 *
 * The functions are inline, so that a constant n unrolls the loops. The result overlaps no operand.
 */

static inline void cb_kernel_linear(int n, double *restrict g, double *restrict h, double fa, const double *ag,
                                    const double *ah, double fb, const double *bg, const double *bh) {
  for (int i = 0; i < n; i++) g[i] = fa * ag[i] + fb * bg[i];
  for (int k = 0; k < n * (n + 1) / 2; k++) h[k] = fa * ah[k] + fb * bh[k];
}

static inline void cb_kernel_product(int n, double *restrict g, double *restrict h, double a, const double *ag,
                                     const double *ah, double b, const double *bg, const double *bh) {
  for (int i = 0; i < n; i++) g[i] = b * ag[i] + a * bg[i];
  for (int i = 0, k = 0; i < n; i++)
    for (int j = 0; j <= i; j++, k++) h[k] = b * ah[k] + a * bh[k] + (ag[i] * bg[j] + bg[i] * ag[j]);
}

static inline void cb_kernel_one(int n, double *restrict g, double *restrict h, double fa, double faa, const double *ag,
                                 const double *ah) {
  for (int i = 0; i < n; i++) g[i] = fa * ag[i];
  if (faa == 0) {
    for (int k = 0; k < n * (n + 1) / 2; k++) h[k] = fa * ah[k];
    return;
  }
  for (int i = 0, k = 0; i < n; i++)
    for (int j = 0; j <= i; j++, k++) h[k] = fa * ah[k] + faa * ag[i] * ag[j];
}

static inline void cb_kernel_two(int n, double *restrict g, double *restrict h, const cb_taylor *f, const double *ag,
                                 const double *ah, const double *bg, const double *bh) {
  for (int i = 0; i < n; i++) g[i] = f->a * ag[i] + f->b * bg[i];
  for (int i = 0, k = 0; i < n; i++)
    for (int j = 0; j <= i; j++, k++)
      h[k] = f->a * ah[k] + f->b * bh[k] + f->aa * ag[i] * ag[j] + f->ab * (ag[i] * bg[j] + bg[i] * ag[j]) +
             f->bb * bg[i] * bg[j];
}
