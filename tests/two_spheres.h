/* The added mass of two spheres of radius 1 in a perfect fluid of density 1. */
#pragma once

#include <math.h>

/* Returns the added mass per sphere for motion along the line of the centres, which are at the distance d. If sign = 1,
 * the spheres move in opposite directions, if sign = -1, together. The flow is that of dipoles m_n at the images x_n,
 * with m_0 = 1, x_0 = 0, m_(n+1) = sign m_n/s^3, x_(n+1) = 1/s, s = d - x_n; the added mass is 2 pi sum m_n - 4 pi/3.
 * Source: Lamb, Hydrodynamics (1932), chapter VI. */
static inline double axial(double d, double sign) {
  double x = 0, m = 1, sum = 0;
  for (int n = 0; n < 1000 && fabs(m) > 1e-18; n++) {
    const double s = d - x;
    sum += m;
    m *= sign / (s * s * s);
    x = 1 / s;
  }
  return 2 * M_PI * sum - 4 * M_PI / 3;
}

/* Returns the added mass per sphere for motion across the line of the centres, which are at the distance d >= 2.1. If
 * sign = 1, the spheres move together, if sign = -1, in opposite directions. With the distance r from a centre, the
 * angle a to the line of the centres and associated Legendre functions P_n^1, the potential is phi = sum A_n (P_n^1(cos
 * a)/r^(n+1) + sign times the same of the other sphere). Around the other sphere P_k^1/r^(k+1) is sum_n C(k + n, n + 1)
 * r^n P_n^1/d^(k+n+1) with binomial coefficients C. The condition dphi/dr = P_1^1 on a sphere gives the A_n, and the
 * added mass is -(4 pi/3)(1 + 3 A_1). */
static inline double across(double d, double sign) {
  enum { N = 120 };
  double A[N + 1] = {0}, was = 1;
  for (int round = 0; round < 2000 && fabs(A[1] - was) > 1e-16; round++) {
    was = A[1];
    for (int n = 1; n <= N; n++) {
      double sum = 0, c = n * pow(d, -n - 2); /* n C(k + n, n + 1)/d^(k+n+1) for k = 1 */
      for (int k = 1; k <= N; k++) {
        sum += c * A[k];
        c *= (k + n + 1.) / (k * d); /* C(k + 1 + n, n + 1) = C(k + n, n + 1) (k + n + 1)/k */
      }
      A[n] = ((n == 1 ? -1 : 0) + sign * sum) / (n + 1);
    }
  }
  return -4 * M_PI / 3 * (1 + 3 * A[1]);
}
