/* One factor of a space: its form <u,v>, projections to it, and distances from chords. A curved factor of curvature K
 * contains the points x with <x,x> = 1/K. Arrays start at the first coordinate of the factor. */
#pragma once

#include "numerics/numerics_curved.h"
#include <curvebody/space.h>

#include <stdbool.h>
#include <math.h>

/* Returns <u,v> in the factor. */
static inline double cb_factor_inner(cb_factor f, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < f.count - 1; a++) sum += u[a] * v[a];
  double last = u[f.count - 1] * v[f.count - 1];
  return f.curvature < 0 ? sum - last : sum + last;
}

static inline int cb_factor_dim(cb_factor f) { return f.curvature == 0 ? f.count : f.count - 1; }

/* cb_curved_factors returns the number of curved factors, and cb_curved_factor the n-th of them, counted from 0. */
static inline int cb_curved_factors(const cb_space *g) {
  int count = 0;
  for (int f = 0; f < g->n_factors; f++) count += g->factor[f].curvature != 0;
  return count;
}
static inline const cb_factor *cb_curved_factor(const cb_space *g, int n) {
  int f = 0;
  for (; f + 1 < g->n_factors; f++)
    if (g->factor[f].curvature != 0 && n-- == 0) break;
  return &g->factor[f];
}

/* Writes x - y to e, and returns the square of the chord, <x-y, x-y>. */
static inline double cb_factor_chord(cb_factor f, const double *x, const double *y, double *e) {
  for (int a = 0; a < f.count; a++) e[a] = x[a] - y[a];
  double square = cb_factor_inner(f, e, e);
  return square < 0 ? 0 : square; /* NaN stays NaN */
}

/* Returns the square of the chord of two points of a hyperbolic factor. It does not use the difference of the last
 * coordinates, which would lose digits far from the base point.
 */
double cb_factor_far_square(cb_factor f, const double *x, const double *y);

/* Returns whether the cosh of the distance (in radii) of a point from the base point is above cosh_a. Returns false if
 * the factor is not hyperbolic. */
static inline bool cb_factor_beyond(cb_factor f, const double *x, double cosh_a) {
  return f.curvature < 0 && -f.curvature * x[f.count - 1] * x[f.count - 1] > cosh_a * cosh_a;
}

/* Writes x - y to e, and returns the square of the chord of two points that lie on the space. Far from the base point
 * of a hyperbolic factor it uses cb_factor_far_square. */
static inline double cb_factor_chord_of_points(cb_factor f, const double *x, const double *y, double *e) {
  static const double cancels = 4;
  const double square = cb_factor_chord(f, x, y, e);
  const bool far = cb_factor_beyond(f, x, cancels) || cb_factor_beyond(f, y, cancels);
  return far ? cb_factor_far_square(f, x, y) : square;
}

/* Returns 1 + K <x,y> = 2 c_K(d/2)^2 of a curved factor, where d is the distance of x and y and `square` the square of
 * their chord. On a sphere it is computed from the chord to the antipode if that chord is shorter. */
static inline double cb_factor_antichord(cb_factor f, const double *x, const double *y, double square) {
  if (f.curvature < 0 || f.curvature * square < 2) return 2 - 0.5 * f.curvature * square;
  double sum = 0;
  for (int a = 0; a < f.count; a++) sum += (x[a] + y[a]) * (x[a] + y[a]);
  return 0.5 * f.curvature * sum;
}

/* Returns the factor as a separate space. */
cb_space cb_factor_alone(const cb_space *g, cb_factor f);

void cb_factor_project_point(cb_factor f, double *x);
void cb_factor_project_tangent(cb_factor f, const double *x, double *v);

/* --- the square of a distance d from half its chord: F = s_K(d/2)^2, which is <x-y, x-y>/4 in the embedding ---
 *
 *   s(F) = d^2 = (4/K) asin^2(sqrt z),  z = K F,    s' = 4 B,  s'' = 4 K B',
 *   B(z) = asin(sqrt z)/sqrt(z (1-z)),              2 z (1-z) B' = 1 - (1-2z) B.
 * s_K is that of numerics_curved.h, K is the curvature, and s' and s'' are derivatives with respect to F. s(F) is one
 * analytic function for spherical, flat and hyperbolic spaces, smooth at z = 0: B = 1 + 2/3 z + 8/15 z^2 + 16/35 z^3 +
 * ... (DLMF 4.24.3).
 */

typedef struct cb_square {
  double s, ds, dds;
} cb_square;

/* Returns s, s' and s'' at F = f for the curvature k. cos2 is 1 - K F. On a sphere cos2 may be small, and the caller
 * may know more digits of it than this difference has. */
static inline cb_square cb_square_of_half_chord(double k, double f, double cos2) {
  double z = k * f, size = fabs(z);
  if (k == 0 || size == 0) return (cb_square){4 * f, 4, 8. / 3 * k};
  double t = k > 0 ? atan2(sqrt(size), sqrt(cos2)) : asinh(sqrt(size));
  double b = t / (sqrt(size) * sqrt(cos2)), db;
  if (size < 1e-4)
    db = 2. / 3 + z * (16. / 15 + z * (48. / 35 + z * (512. / 315))); /* the error is of order z^4, 1e-16 */
  else
    db = (1 - (1 - 2 * z) * b) / (2 * z * cos2);
  return (cb_square){4 * t * t / fabs(k), 4 * b, 4 * k * db};
}

/* Replaces gradient[n] and hessian[n*n] of s = d^2 by the derivatives of d: d_a = s_a/2d, d_ab = s_ab/2d - d_a d_b/d.
 * hessian may be NULL. */
static inline void cb_square_root_derivatives(double d, int n, double *gradient, double *hessian) {
  double half = 0.5 / d, inverse = 1 / d;
  for (int a = 0; a < n; a++) gradient[a] *= half;
  if (!hessian) return;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) hessian[a * n + b] = hessian[a * n + b] * half - gradient[a] * gradient[b] * inverse;
}

/* Returns the distance of two points of a quadric of curvature k from the square of their chord, w = c^2 = <x-y, x-y>:
 *
 *   d = (2/r) asin(r c/2) (k > 0), c (k = 0) or (2/r) asinh(r c/2) (k < 0),  r = sqrt|k|
 * The result is NaN if w is not a possible square (negative, or larger than the square of the sphere's diameter). */
static inline double cb_chord_distance(double k, double w) {
  double c = sqrt(w);
  if (k == 0) return c;
  double r = sqrt(fabs(k)), h = 0.5 * r * c;
  return 2 / r * (k > 0 ? asin(h) : asinh(h));
}
