/* The added mass of two spheres in a perfect fluid of density 1. The first functions are for spheres of radius 1. */
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

/* The tensor K of two spheres of radii a and b, whose centres are at the distance d > a + b, and its derivative dK/dd,
 * for motions along the line of the centres (across = 0) or across it (across = 1). K[i][j] belongs to velocities of
 * sphere i and sphere j in the same direction. With the distance r from a centre, the angle t to the direction to the
 * other centre and associated Legendre functions P_n^m, m = `across`, the potential is
 *   phi = sum_n (a^(n+2) A_n P_n^m(cos t_1)/r_1^(n+1) + b^(n+2) B_n P_n^m(cos t_2)/r_2^(n+1))
 *   P_k^m(cos t_2)/r_2^(k+1) = sum_n C(k + n, k + m) r_1^n/d^(k+n+1) P_n^m(cos t_1),  C: binomial coefficients
 * The condition dphi/dr_1 = u P_1^m on the first sphere, where u is its velocity, gives the equations
 *   (n + 1) A_n = n sum_k C(k + n, k + m) a^(n-1) b^(k+2)/d^(k+n+1) B_k - u [n = 1]
 * and K_1j = -(4 pi a^3/3)(3 A_1 + [j = 1]), and likewise for the second sphere. For across = 0 the velocity u of each
 * sphere is that towards the other one, so that K_12 has the opposite sign. The equations are solved by iteration. A_n
 * and B_n decrease like (x/a)^n and (y/b)^n, where x and y are the limits of the images of images: x = a^2/(d - y),
 * y = b^2/(d - x). The results have errors of about 1e-15 for gaps of at least a hundredth of the smaller radius.
 * Sources: two_spheres.py in analysis/reference; Lamb (1932), article 138. */
typedef struct two_spheres {
  double K[2][2], slope[2][2];
} two_spheres;

enum { TWO_SPHERES_TERMS = 600 };

/* Computes the coefficients A_n and their derivatives by d from B_n and their derivatives. Returns the largest change
 * of these numbers. */
static inline double two_spheres_round(const double radius[2], double d, int m, int terms, double u, double A[][2],
                                       double B[][2]) {
  const double a = radius[0], b = radius[1];
  double change = 0, power = b * b * b / (d * d * d); /* power is a^(n-1) b^3/d^(n+2) */
  for (int n = 1; n <= terms; n++, power *= a / d) {
    double c = n * power * (m ? n * (n + 1.) / 2 : n + 1.), sum[2] = {n == 1 ? -u : 0, 0};
    for (int k = 1; k <= terms; k++) {
      sum[0] += c * B[k][0];
      sum[1] += c * (B[k][1] - (k + n + 1) / d * B[k][0]);
      c *= (k + 1. + n) / (k + 1. + m) * (b / d);
    }
    for (int i = 0; i < 2; i++) {
      change = fmax(change, fabs(sum[i] / (n + 1) - A[n][i]));
      A[n][i] = sum[i] / (n + 1);
    }
  }
  return change;
}

/* Computes the tensor K of two spheres and its derivative dK/dd (see two_spheres). */
static inline two_spheres two_spheres_of(double a, double b, double d, int across) {
  two_spheres out;
  double x = 0, y = 0, was = -1;
  while (x - was > 1e-9 * a) {
    was = x;
    x = a * a / (d - y);
    y = b * b / (d - x);
  }
  const int wanted = 5 + (int)(-40 / log(fmax(x / a, y / b))),
            terms = wanted < TWO_SPHERES_TERMS ? wanted : TWO_SPHERES_TERMS;
  const double radius[2][2] = {{a, b}, {b, a}};
  for (int j = 0; j < 2; j++) {
    double A[2][TWO_SPHERES_TERMS + 1][2] = {{{0}}}, change = 1;
    for (int round = 0; round < 10000 && change > 2e-16; round++) {
      change = two_spheres_round(radius[0], d, across, terms, j == 0, A[0], A[1]);
      change = fmax(change, two_spheres_round(radius[1], d, across, terms, j == 1, A[1], A[0]));
    }
    for (int i = 0; i < 2; i++) {
      const double scale = (i != j && !across ? 4 : -4) * M_PI / 3 * pow(radius[i][0], 3);
      out.K[i][j] = scale * (3 * A[i][1][0] + (i == j));
      out.slope[i][j] = scale * 3 * A[i][1][1];
    }
  }
  return out;
}

/* Returns the added mass per sphere for motion across the line of the centres, which are at the distance d. If
 * sign = 1, the spheres move together, if sign = -1, in opposite directions. */
static inline double across(double d, double sign) {
  const two_spheres s = two_spheres_of(1, 1, d, 1);
  return s.K[0][0] + sign * s.K[0][1];
}
