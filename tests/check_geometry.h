/* Functions that make points and tangent vectors from their components in a frame, random points and vectors, and
 * random isometries. They work in any space that is a product of factors. */
#pragma once

#include "check.h"
#include <curvebody/space.h>

/* Computes the vector v at x that has the components c[dim] in the orthonormal frame at x. */
static inline void check_vector_at(const cb_space *g, const double *x, const double *c, double *v) {
  double frame[CB_DIM_MAX * CB_COORD_MAX];
  cb_space_frame(g, x, frame);
  for (int a = 0; a < g->embedding; a++) {
    v[a] = 0;
    for (int i = 0; i < g->dim; i++) v[a] += c[i] * frame[i * g->embedding + a];
  }
}

/* Computes the point x that a geodesic from the base point reaches after unit time. c[dim] are the components of its
 * initial velocity in the orthonormal frame at the base point. */
static inline void check_point_at(const cb_space *g, const double *c, double *x) {
  double base[CB_COORD_MAX], v[CB_COORD_MAX];
  cb_space_base_point(g, base);
  check_vector_at(g, base, c, v);
  cb_exp(g, base, v, x, NULL);
}

/* Makes a random tangent vector v at x whose components in the orthonormal frame are uniform in [-size, size]. */
static inline void check_random_tangent(const cb_space *g, uint64_t *state, const double *x, double size, double *v) {
  double c[CB_DIM_MAX];
  for (int i = 0; i < g->dim; i++) c[i] = check_uniform(state, -size, size);
  check_vector_at(g, x, c, v);
  cb_space_project_tangent(g, x, v);
}

/* Makes a random tangent vector v at x with a length of at most `size`. */
static inline void check_random_short_tangent(const cb_space *g, uint64_t *state, const double *x, double size,
                                              double *v) {
  do check_random_tangent(g, state, x, size, v);
  while (!(cb_inner(g, v, v) <= size * size));
}

/* Makes a random point x in the ball of radius r around the base point. The geodesic from the base point to x has a
 * random initial velocity that is uniform in a ball of the tangent space. */
static inline void check_random_point(const cb_space *g, uint64_t *state, double r, double *x) {
  double base[CB_COORD_MAX], v[CB_COORD_MAX];
  cb_space_base_point(g, base);
  check_random_short_tangent(g, state, base, r, v);
  cb_exp(g, base, v, x, NULL);
}

/* Makes a random isometry: the product of the flows of all Killing fields, each for a random time in [-size, size]. */
static inline void check_random_isometry(const cb_space *g, uint64_t *state, double size, cb_isometry *out) {
  cb_isometry_identity(g, out);
  for (int i = 0; i < g->n_killing; i++) {
    cb_isometry flow;
    cb_isometry_flow(g, i, check_uniform(state, -size, size), &flow);
    cb_isometry_compose(g, &flow, out, out);
  }
}

/* Returns the maximum of |a_i - b_i|. */
static inline double check_distance_max(int n, const double *a, const double *b) {
  double max = 0;
  for (int i = 0; i < n; i++) {
    double e = fabs(a[i] - b[i]);
    if (!(e <= max) && !isnan(max)) max = e; /* once it is nan, the result stays nan */
  }
  return max;
}
