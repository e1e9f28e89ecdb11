/* One factor of a space: its form, and projection to it. Arrays start at the factor's first coordinate. */
#pragma once

#include <curvebody/geometry.h>
#include <stdbool.h>

/* <u,v> in the factor. */
static inline double cb_factor_inner(cb_factor f, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < f.count - 1; a++) sum += u[a] * v[a];
  double last = u[f.count - 1] * v[f.count - 1];
  return f.curvature < 0 ? sum - last : sum + last;
}

static inline int cb_factor_dim(cb_factor f) { return f.curvature == 0 ? f.count : f.count - 1; }

/* How many factors are curved, and the n-th of them. */
static inline int cb_curved_factors(const cb_geometry *g) {
  int count = 0;
  for (int f = 0; f < g->n_factors; f++) count += g->factor[f].curvature != 0;
  return count;
}
static inline const cb_factor *cb_curved_factor(const cb_geometry *g, int n) {
  int f = 0;
  for (; f + 1 < g->n_factors; f++)
    if (g->factor[f].curvature != 0 && n-- == 0) break;
  return &g->factor[f];
}

/* x - y, and its square <x-y, x-y>. */
static inline double cb_factor_chord(cb_factor f, const double *x, const double *y, double *e) {
  for (int a = 0; a < f.count; a++) e[a] = x[a] - y[a];
  double square = cb_factor_inner(f, e, e);
  return square < 0 ? 0 : square; /* nan stays nan */
}

/* Of two points of a hyperbolic factor, by all but the last coordinate of each: where those cancel in the above. */
double cb_factor_far_square(cb_factor f, const double *x, const double *y);

/* Is a point of a hyperbolic factor so far out that cosh(a) is above this? */
static inline bool cb_factor_beyond(cb_factor f, const double *x, double cosh_a) {
  return f.curvature < 0 && -f.curvature * x[f.count - 1] * x[f.count - 1] > cosh_a * cosh_a;
}

/* As cb_factor_chord, of points that are on the space. */
static inline double cb_factor_chord_of_points(cb_factor f, const double *x, const double *y, double *e) {
  static const double cancels = 4;
  const double square = cb_factor_chord(f, x, y, e);
  const bool far = cb_factor_beyond(f, x, cancels) || cb_factor_beyond(f, y, cancels);
  return far ? cb_factor_far_square(f, x, y) : square;
}

/* 1 + K <x,y> = 2 c_K(d/2)^2 of a curved factor, given the square of the chord: by the chord to the antipode on a
 * sphere. */
static inline double cb_factor_antichord(cb_factor f, const double *x, const double *y, double square) {
  if (f.curvature < 0 || f.curvature * square < 2) return 2 - 0.5 * f.curvature * square;
  double sum = 0;
  for (int a = 0; a < f.count; a++) sum += (x[a] + y[a]) * (x[a] + y[a]);
  return 0.5 * f.curvature * sum;
}

/* The factor as a space of its own, for what is done factor by factor. */
cb_geometry cb_factor_alone(const cb_geometry *g, cb_factor f);

void cb_factor_project_point(cb_factor f, double *x);
void cb_factor_project_tangent(cb_factor f, const double *x, double *v);
