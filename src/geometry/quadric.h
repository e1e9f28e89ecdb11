/* One factor of a space: its form, and projection to it. Arrays start at the factor's first coordinate. */
#ifndef CB_GEOMETRY_QUADRIC_H
#define CB_GEOMETRY_QUADRIC_H

#include <curvebody/geometry.h>

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
  return square > 0 ? square : 0;
}

/* 1 + K <x,y> = 2 c_K(d/2)^2 of a curved factor, given the square of the chord: by the chord to the antipode on a
 * sphere. */
static inline double cb_factor_antichord(cb_factor f, const double *x, const double *y, double square) {
  if (f.curvature < 0 || f.curvature * square < 2) return 2 - 0.5 * f.curvature * square;
  double sum = 0;
  for (int a = 0; a < f.count; a++) sum += (x[a] + y[a]) * (x[a] + y[a]);
  return 0.5 * f.curvature * sum;
}

void cb_factor_project_point(cb_factor f, double *x);
void cb_factor_project_tangent(cb_factor f, const double *x, double *v);

#endif
