/* sin, cos and exp of eight numbers at once, in portable vectors and without fused products, so that every instruction
 * set gives the same bits. The errors are below 1 unit in the last place.
 *
 *   sin, cos   x = n pi/2 + r with an integer n, |r| <= pi/4; pi/2 is split into pieces of 33 bits (Cody & Waite);
 *              series in r with fdlibm's coefficients
 *   exp        x = n ln 2 + r with an integer n, |r| <= ln 2/2; e^r - 1 by its Taylor series to r^13
 * Sources: fdlibm 5.3 (Sun Microsystems, 1993), k_sin.c, k_cos.c, e_rem_pio2.c; Cody & Waite, Software Manual for the
 * Elementary Functions (1980), chapters 6 and 8.
 */
#pragma once

#include <math.h>

enum { CB_LANES = 8 };
typedef double cb_lanes __attribute__((vector_size(8 * CB_LANES)));
typedef long long cb_lane_bits __attribute__((vector_size(8 * CB_LANES)));

/* Adding and subtracting 3/2 2^52 rounds a number to an integer, which is in the last bits of the sum. */
#define CB_LANES_ROUND 0x1.8p52

#define CB_LANES_INLINE static inline __attribute__((always_inline))

/* Returns whether all numbers of a[n] are within [-maximum, maximum]. Without the sign, bits compare like the numbers,
 * and a NaN is larger than all numbers. */
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
