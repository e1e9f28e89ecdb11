/* The added mass of two unit spheres in a perfect fluid of density 1, by images. */
#ifndef CB_TESTS_TWO_SPHERES_H
#define CB_TESTS_TWO_SPHERES_H

#include <math.h>

/* Each sphere's share of two that are mirror images, d between their centres: along the line of centres by dipoles at
 * the images, m_n+1 = sign m_n/s^3 at 1/s, s = d - x_n, 2 T = 2 pi sum m - 4 pi/3; sign 1: opposed, -1: together. Lamb (1932), chapter VI. */
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

#endif
