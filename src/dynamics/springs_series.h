/* The function psi(t) by which curvature enters a spring, as polynomials.
 *
 *   psi(t) = a / (sin a cos a),    t =  sin^2 a >= 0   (sphere)
 *   psi(t) = a / (sinh a cosh a),  t = -sinh^2 a <= 0  (hyperboloid)
 *
 * Here a = d/2R is half the distance in radians, with the radius R = 1/sqrt|K|, so t = K c^2/4 with the chord c. With
 * the rest length D of the spring,
 *
 *   d = psi(t) c sqrt(1 - t),   (d - D) / (c sqrt(1 - t)) = psi(t) - D / (c sqrt(1 - t)).
 *
 * Both are one function of one variable: psi(t) = 1 + 2t/3 + 8t^2/15 + ... is analytic at 0, where the two cases join.
 *
 * On [0, 1/2] and on [-1, 0] psi = 1 + t P(t - m), where m is the midpoint and P has degree 20. P was computed with 60
 * digits by Remez exchange for the relative error of psi; with rounded coefficients the error is below 1.3e-17.
 * Elsewhere the argument is reduced by half the angle:
 *
 *   t' = sin^2(a/2) = t / (2 (1 + sqrt(1 - t))),   psi(t) = psi(t') / sqrt(1 - t).
 */
#pragma once

#include <math.h>

enum { CB_SERIES_COUNT = 21 };

/* This number is added to c^2 (1 - t), so that coincident points do not divide by zero. It does not change the sum for
 * any c > 1e-142, because it is below half a unit in the last place. */
#define CB_CHORD_TINY 1e-300

enum { CB_SERIES_SPHERE, CB_SERIES_HYPERBOLOID };
static const double cb_series[2][CB_SERIES_COUNT] = {
    {8.36798304624580935e-01, 8.70409042002235123e-01, 9.81288123322060835e-01, 1.15315711886653571e+00,
     1.38967959489133785e+00, 1.70319659706562332e+00, 2.11279063305733628e+00, 2.64473419219956218e+00,
     3.33401611417157451e+00, 4.22668408091819092e+00, 5.38299817787686852e+00, 6.88261518208030321e+00,
     8.83308651827945113e+00, 1.13427194741075059e+01, 1.44967374041165886e+01, 1.92128667076731929e+01,
     2.68180907860988107e+01, 2.73352192875600402e+01, 1.91646456945613046e+01, 8.78245603039200233e+01,
     1.72195246824985503e+02},
    {4.79308007398107305e-01, 2.64360024660357629e-01, 1.54002730783605102e-01, 9.24167449388394874e-02,
     5.65104696138526916e-02, 3.50069883325705225e-02, 2.18943415250509588e-02, 1.37941017170121506e-02,
     8.74132159341149510e-03, 5.56555964298450709e-03, 3.55748574013722840e-03, 2.28150016585808302e-03,
     1.46683723897130577e-03, 9.44685123683212556e-04, 6.12834374694431984e-04, 4.02417435549544313e-04,
     2.51316744139678768e-04, 1.41770856356428796e-04, 1.12110411668471876e-04, 1.16908810036139333e-04,
     5.86279777202463034e-05}};

/* Computes psi(t) for t in one of the two intervals. P is evaluated in two halves with two lanes each, which shortens
 * the chain of dependent operations. */
static inline double cb_psi_near(double t) {
  typedef double pair __attribute__((vector_size(16)));
  const double *p = cb_series[t < 0 ? CB_SERIES_HYPERBOLOID : CB_SERIES_SPHERE];
  double s = t + (t < 0 ? 0.5 : -0.25), s2 = s * s, s4 = s2 * s2;
  pair low = {p[16] + p[20] * s4, p[17]}, high = {p[18], p[19]};
#pragma GCC unroll 4
  for (int i = 12; i >= 0; i -= 4) {
    low = low * (pair){s4, s4} + (pair){p[i], p[i + 1]};
    high = high * (pair){s4, s4} + (pair){p[i + 2], p[i + 3]};
  }
  low += high * (pair){s2, s2};
  return 1 + t * (low[0] + low[1] * s);
}

/* Returns psi(t) for t outside the two intervals of the polynomials, [-1, 0] and [0, 1/2]. */
static inline double cb_psi_far(double t) {
  double cosine = 1;
  while (t > 0.5 || t < -1) {
    double c = sqrt(1 - t);
    t /= 2 * (1 + c);
    cosine *= c;
  }
  return cb_psi_near(t) / cosine;
}

/* Returns psi(t) of one number. The sign of t selects the sphere or the hyperboloid. */
static inline double cb_psi(double t) { return t <= 0.5 && t >= -1 ? cb_psi_near(t) : cb_psi_far(t); }
