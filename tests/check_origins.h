/* Spaces whose coordinates are relative to moving origins, and functions that make random origins. */
#pragma once

#include "check_spaces.h"
#include "geometry/origin.h"

enum { K = CB_COORD_MAX, D = CB_DIM_MAX };

static const char *const moving[] = {"h3", "h2", "e3", "e2", "h3", "h2"};
static const char *const curvature[] = {"-1", "-1", "0", "0", "-2.3", "-0.4"};
enum { SPACES = sizeof moving / sizeof *moving };

static inline cb_space *space(int i) {
  check_map m;
  cb_space *g;
  check_ok(cb_space_create(moving[i], check_map_fill(&m, "curvature", curvature[i], NULL, NULL), &g));
  return g;
}

static inline double radius(const cb_space *g) {
  return g->factor[0].curvature ? 1 / sqrt(fabs(g->factor[0].curvature)) : 1;
}

/* Makes a random origin o: the product of random flows of all Killing fields whose flow an origin can represent. m is
 * the product of the same flows as an isometry of the embedding, or of the coordinates if the space is a group. */
static inline void random_origin(const cb_space *g, uint64_t *state, double size, cb_origin *o, cb_isometry *m) {
  cb_origin_identity(g, o);
  cb_isometry_identity(g, m);
  for (int i = 0; i < g->n_killing; i++) {
    cb_origin step;
    cb_isometry flow;
    double s = check_uniform(state, -size, size) * (i < g->dim ? radius(g) : 1);
    const cb_status status = cb_origin_flow(g, i, s, &step);
    if (status == CB_ERROR_UNSUPPORTED) continue;
    check_ok(status);
    cb_origin_compose(g, &step, o, o);
    cb_isometry_flow(g, i, s, &flow);
    cb_isometry_compose(g, &flow, m, m);
  }
}

/* Compares two computations of the sizes |X_i| of the Killing fields X_i at a point: from its coordinates x relative to
 * the origin o, and from its coordinates y in the world. */
static inline void check_killing_sizes(const cb_space *g, const cb_origin *o, const double *x, const double *y) {
  double size[CB_KILLING_MAX], X[CB_Q_MAX], gij[D * D];
  check_ok(cb_origin_killing_sizes(g, o, x, size));
  if (g->intrinsic) check_ok(g->chart->metric(g, y, gij, NULL, NULL));
  for (int i = 0; i < g->n_killing; i++) {
    cb_killing_at(g, i, y, X);
    double square = g->intrinsic ? 0 : cb_inner(g, X, X), largest = 1;
    for (int a = 0; a < g->embedding; a++) largest = fmax(largest, X[a] * X[a]);
    for (int a = 0; a < g->dim && g->intrinsic; a++)
      for (int b = 0; b < g->dim; b++) square += X[a] * gij[a * g->dim + b] * X[b];
    check_near(size[i] * size[i], square, 1e-12 * largest); /* the terms of <X,X> may cancel */
  }
}

/* Returns the maximum difference of the entries of two isometries. */
static inline double isometry_difference(const cb_space *g, const cb_isometry *a, const cb_isometry *b) {
  double max = check_distance_max(g->embedding, a->b, b->b);
  for (int i = 0; i < g->embedding; i++) max = fmax(max, check_distance_max(g->embedding, a->m[i], b->m[i]));
  return max;
}
