/* The sine and cosine of a space of constant curvature K, r = sqrt|K|:
 *
 *   s_K(x) = sin(r x)/r | x | sinh(r x)/r,   c_K(x) = s_K'(x) = cos(r x) | 1 | cosh(r x),   c_K^2 + K s_K^2 = 1.
 */
#pragma once

#include <math.h>

typedef struct cb_trig {
  double k, r;
} cb_trig;

static inline cb_trig cb_trig_of(double k) { return (cb_trig){k, sqrt(fabs(k))}; }

static inline double cb_trig_s(cb_trig t, double x) {
  return t.k > 0 ? sin(t.r * x) / t.r : t.k < 0 ? sinh(t.r * x) / t.r : x;
}

static inline double cb_trig_c(cb_trig t, double x) { return t.k > 0 ? cos(t.r * x) : t.k < 0 ? cosh(t.r * x) : 1; }

/* u s_K(x) and u c_K(x), K < 0, where u may be as small as the other is large; 0 for u = 0 whatever x is. */
static inline double cb_trig_s_times(cb_trig t, double x, double u) {
  const double s = sinh(t.r * x), root = exp(0.5 * t.r * fabs(x));
  return u == 0 ? 0 : (isfinite(s) ? u * s : copysign(0.5, x) * u * root * root) / t.r;
}

static inline double cb_trig_c_times(cb_trig t, double x, double u) {
  const double c = cosh(t.r * x), root = exp(0.5 * t.r * fabs(x));
  return u == 0 ? 0 : isfinite(c) ? u * c : 0.5 * u * root * root;
}

/* s_K(x)/x, 1 at 0. */
static inline double cb_trig_sinc(cb_trig t, double x) { return x == 0 ? 1 : cb_trig_s(t, x) / x; }

/* The a with s_K(a) = s and, on a sphere, c_K(a) of the sign of c. s_K and R c_K need only be in proportion there. */
static inline double cb_trig_arc(cb_trig t, double s, double c) {
  return t.k > 0 ? atan2(t.r * s, c) / t.r : t.k < 0 ? asinh(t.r * s) / t.r : s;
}
