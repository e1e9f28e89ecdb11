/* The distance that belongs to a chord: w = c^2 = <x-y, x-y> of two points of a quadric of curvature k.
 *
 *   d = (2/r) asin(r c/2) | c | (2/r) asinh(r c/2),  r = sqrt|k|
 * nan where w is not a chord of two points (negative, or longer than the diameter of the sphere).
 */
#ifndef CB_DYNAMICS_CHORD_H
#define CB_DYNAMICS_CHORD_H

#include <math.h>

static inline double cb_chord_distance(double k, double w) {
  double c = sqrt(w);
  if (k == 0) return c;
  double r = sqrt(fabs(k)), h = 0.5 * r * c;
  return 2 / r * (k > 0 ? asin(h) : asinh(h));
}

#endif
