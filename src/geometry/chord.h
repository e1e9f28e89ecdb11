/* The square of a distance from half its chord: F = s_K(d/2)^2, which is <x-y, x-y>/4 in the embedding.
 *
 *   s(F) = d^2 = (4/K) asin^2(sqrt z),  z = K F,    s' = 4 B,  s'' = 4 K B',
 *   B(z) = asin(sqrt z)/sqrt(z (1-z)),              2 z (1-z) B' = 1 - (1-2z) B.
 * One analytic function for spheres, flat and hyperbolic spaces, smooth at z = 0:
 * B = 1 + 2/3 z + 8/15 z^2 + 16/35 z^3 + ... (DLMF 4.24.3).
 */
#pragma once

#include "numerics/trig.h"
#include <math.h>

typedef struct cb_square {
  double s, ds, dds;
} cb_square;

/* cos2 = 1 - K F, which the caller may know better than by this difference when it is small (a sphere). */
static inline cb_square cb_square_of_half_chord(double k, double f, double cos2) {
  double z = k * f, size = fabs(z);
  if (k == 0 || size == 0) return (cb_square){4 * f, 4, 8. / 3 * k};
  double t = k > 0 ? atan2(sqrt(size), sqrt(cos2)) : asinh(sqrt(size));
  double b = t / (sqrt(size) * sqrt(cos2)), db;
  if (size < 1e-4) db = 2. / 3 + z * (16. / 15 + z * (48. / 35 + z * (512. / 315))); /* error z^4: 1e-16 */
  else db = (1 - (1 - 2 * z) * b) / (2 * z * cos2);
  return (cb_square){4 * t * t / fabs(k), 4 * b, 4 * k * db};
}

/* From the gradient and Hessian of s = d^2 (n numbers, n*n, in place) to those of d: d_a = s_a/2d, d_ab = s_ab/2d - d_a
 * d_b/d. hessian may be NULL. */
static inline void cb_square_root_derivatives(double d, int n, double *gradient, double *hessian) {
  double half = 0.5 / d, inverse = 1 / d;
  for (int a = 0; a < n; a++) gradient[a] *= half;
  if (!hessian) return;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) hessian[a * n + b] = hessian[a * n + b] * half - gradient[a] * gradient[b] * inverse;
}

/* The distance that belongs to a chord: w = c^2 = <x-y, x-y> of two points of a quadric of curvature k.
 *
 *   d = (2/r) asin(r c/2) | c | (2/r) asinh(r c/2),  r = sqrt|k|
 * nan where w is not a chord of two points (negative, or longer than the diameter of the sphere). */
static inline double cb_chord_distance(double k, double w) {
  double c = sqrt(w);
  if (k == 0) return c;
  double r = sqrt(fabs(k)), h = 0.5 * r * c;
  return 2 / r * (k > 0 ? asin(h) : asinh(h));
}
