/* Solid angles and logarithms of panels, for the vectors of any instruction set. The kernels include this file after
 * they have defined WIDTH, vec (one number of each of WIDTH panels) and functions on vec.
 *
 *   atan2(y, x)  = base + atan(t), |t| <= tan(pi/8): t = y/x, (y - x)/(y + x) or -x/y, and base = 0, pi/4 or pi/2;
 *                  computed from |y| and |x|, then moved to the quadrant of (x, y)
 *   L = ln(p/q)  = e ln 2 + 2 atanh(s), s = (p - 2^e q)/(p + 2^e q), p = (R1 + R2 + l)^2, q = 2 (R1 R2 + a.b);
 *                  if e = 0, s = l/(R1 + R2), which has no cancellation
 * L, l, R1 and R2 are those of an edge in potential/panels.h. a and b are the vectors from x to the ends of the edge,
 * and e is an integer for which 2^e is near p/q. atan and atanh are polynomials that interpolate at Chebyshev's points
 * with relative errors below 1e-17. The total error is below 4 units in the last place of the largest term.
 */
#pragma once

#include <stddef.h>

#if defined(WIDTH)

#define INLINE static inline __attribute__((always_inline))

typedef unsigned long long bits __attribute__((vector_size(8 * WIDTH)));
typedef struct xyz {
  vec x, y, z;
} xyz;

#define PI 3.14159265358979323846

INLINE vec dot(xyz a, xyz b) { return fma3(a.z, b.z, fma3(a.y, b.y, a.x * b.x)); }
INLINE vec size_of(vec a) { return (vec)((bits)a & 0x7fffffffffffffffULL); }
INLINE xyz seen(const double *p, size_t stride, xyz x) {
  return (xyz){load(p) - x.x, load(p + stride) - x.y, load(p + 2 * stride) - x.z};
}
INLINE xyz load3(const double *p, size_t stride) { return (xyz){load(p), load(p + stride), load(p + 2 * stride)}; }

/* Returns 2 atan2(y, x), and 0 if y is 0. */
INLINE vec double_angle(vec y, vec x) {
  static const double c[] = {-0x1.5555555555555p-2, 0x1.9999999999953p-3, -0x1.249249248d7e6p-3, 0x1.c71c71c3045bap-4,
                             -0x1.745d165de250bp-4, 0x1.3b1392d7e8f74p-4, -0x1.110e87e6a8722p-4, 0x1.e19a10824a50bp-5,
                             -0x1.ac7a7bd8f05c0p-5, 0x1.74dd67f0d3109p-5, -0x1.1b32a3266af2ep-5, 0x1.0ad10221730d6p-6};
  const vec ay = size_of(y), ax = size_of(x), some = set(0.4142135623730950) * ax,
            maximum = set(2.414213562373095) * ax;
  const vec up = where_above(ay, maximum, -ax, where_above(ay, some, ay - ax, ay));
  const vec down = where_above(ay, maximum, ay, where_above(ay, some, ay + ax, ax)) + set(1e-300);
  const vec base = where_above(ay, maximum, set(PI / 2), where_above(ay, some, set(PI / 4), set(0)));
  const vec t = up / down, z = t * t;
  /* The even and the odd powers are summed separately, because the two shorter chains of operations run in parallel. */
  const vec w = z * z;
  vec even = set(c[10]), odd = set(c[11]);
#pragma GCC unroll 5
  for (int i = 8; i >= 0; i -= 2) {
    even = fma3(even, w, set(c[i]));
    odd = fma3(odd, w, set(c[i + 1]));
  }
  const vec first = base + fma3(t * z, fma3(odd, z, even), t);
  const vec half = where_above(set(0), x, set(PI) - first, first);
  return where_above(ay, set(0), (vec)((bits)(half + half) | ((bits)y & 0x8000000000000000ULL)), set(0));
}

/* Returns the logarithm L of an edge of length l (see the file head), for v = R1 R2 + a.b and sum = R1 + R2. */
INLINE vec edge_log(vec sum, vec l, vec v) {
  static const double c[] = {0x1.5555555555555p-2, 0x1.9999999999f4ap-3, 0x1.24924923d8d53p-3, 0x1.c71c72e6a0bf3p-4,
                             0x1.745caa083f891p-4, 0x1.3b2a29705fb2cp-4, 0x1.0e857c4765545p-4, 0x1.16d0d0a09926bp-4};
  const vec root_p = sum + l, p = root_p * root_p, least = set(1e-40) * p;
  vec q = v + v;
  q = where_above(least, q, least, q);
  /* The bits of p and q are read as integers. Their difference, divided by 2^52, is log2(p/q) with an error of at most
   * 0.09. e is the integer nearest to this quotient. */
  const bits e = ((bits)p - (bits)q + 0x8000000000000ULL) >> 52;
  const vec scaled = (vec)((bits)q + (e << 52)), power = (vec)(e | 0x4330000000000000ULL) - set(0x1p52);
  const vec s = where_above(power, set(0.5), p - scaled, l) / where_above(power, set(0.5), p + scaled, sum);
  const vec z = s * s, w = z * z;
  vec even = set(c[6]), odd = set(c[7]);
#pragma GCC unroll 3
  for (int i = 4; i >= 0; i -= 2) {
    even = fma3(even, w, set(c[i]));
    odd = fma3(odd, w, set(c[i + 1]));
  }
  const vec half = fma3(s * z, fma3(odd, z, even), s);
  return fma3(power, set(0.693147180559945309), half + half);
}

/* Returns R1 R2 + a.b, for both = R1 R2, ab = a.b and the length l of the edge. Near the edge it uses the distance of x
 * from the line of the edge, because the sum has cancellation there. This distance has the components `across` in the
 * plane of the panel and h perpendicular to it. */
INLINE vec product(vec both, vec ab, vec across, vec h, vec l) {
  const vec edge = set(-0.9) * both, v = both + ab;
  if (!any_above(edge, ab)) return v;
  return where_above(edge, ab, fma3(across, across, h * h) * (l * l) / (both - ab), v);
}

/* Returns 2 atan(t) (sign = -1) or 2 atanh(t) (sign = 1) for |t| <= 1/16, from its series. */
INLINE vec small_angle(vec t, double sign) {
  const vec z = set(sign) * (t * t);
  vec sum = set(1. / 13);
#pragma GCC unroll 6
  for (int k = 11; k >= 3; k -= 2) sum = fma3(sum, z, set(1. / k));
  const vec half = fma3(t * z, sum, t);
  return half + half;
}

#endif
