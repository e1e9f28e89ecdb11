/* Small vectors of the base point's tangent space, for the files about origins. */
#ifndef CB_GEOMETRY_ORIGIN_PRIVATE_H
#define CB_GEOMETRY_ORIGIN_PRIVATE_H

#include "geometry/origin.h"

#include <math.h>

static inline double cb_origin_dot(int dim, const double *u, const double *v) {
  double sum = 0;
  for (int i = 0; i < dim; i++) sum += u[i] * v[i];
  return sum;
}

/* w = A v, and A^T v. w is not v. */
static inline void cb_origin_turn(int dim, const double *a, const double *v, double *w) {
  for (int i = 0; i < dim; i++) w[i] = cb_origin_dot(dim, a + i * dim, v);
}

static inline void cb_origin_turn_back(int dim, const double *a, const double *v, double *w) {
  for (int i = 0; i < dim; i++) {
    w[i] = 0;
    for (int j = 0; j < dim; j++) w[i] += a[j * dim + i] * v[j];
  }
}

/* 1/R in a hyperbolic space, 0 in a flat one. */
static inline double cb_origin_rate(const cb_geometry *g) { return sqrt(fabs(g->factor[0].curvature)); }

#endif
