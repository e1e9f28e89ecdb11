/* Functions with which the init functions of spaces (cb_space_class) fill a space: its Killing fields (isometry.c) and
 * its charts (charts.c).
 *
 * The chart of a product is made from a chart of each factor. A cb_factor_chart describes coordinates q of a factor of
 * dimension 2 or 3 and curvature K in which the metric is diagonal. The coordinate of a flat factor of dimension 1 is
 * Cartesian. The coordinates of a product are those of its factors one after the other, and the square of a distance is
 * the sum of the squares in the factors. s_K and c_K are the functions of numerics_curved.h.
 */
#pragma once

#include "numerics/numerics_curved.h"
#include <curvebody/space.h>

#include <stdbool.h>

/* f is F = s_K(d/2)^2 of two points q1 and q2 of a factor at the distance d. g and h are its gradient and Hessian (if
 * requested) with respect to the 2 dim numbers (q1, q2). cos2 is c_K(d/2)^2. */
typedef struct cb_half_chord {
  double f, cos2;
  double g[2 * CB_DIM_MAX], h[2 * CB_DIM_MAX][2 * CB_DIM_MAX];
} cb_half_chord;

/* A diagonal metric: g[i] = g_ii, dg[l][i] = dg_ii/dq_l and ddg[m][l][i] = d^2 g_ii/dq_m dq_l. */
typedef struct cb_diagonal {
  double g[CB_DIM_MAX], dg[CB_DIM_MAX][CB_DIM_MAX], ddg[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX];
} cb_diagonal;

typedef struct cb_factor_chart {
  bool curved_only;                  /* the chart is for curved factors only; flat factors have Cartesian coordinates */
  const char *names2[2], *names3[3]; /* the names of the coordinates; NULL: the names of the axes */
  /* Computes the point x[dim + 1] of the embedding (flat: x[dim]) and its Jacobian j[a][i] = dx_a/dq_i. */
  void (*to_point)(cb_trig k, int dim, const double *q, double *x, double j[CB_COORD_MAX][CB_DIM_MAX]);
  void (*from_point)(cb_trig k, int dim, const double *x, double *q);
  void (*metric)(cb_trig k, int dim, const double *q, cb_diagonal *m); /* the caller sets *m to zero first */
  void (*half_chord)(cb_trig k, int dim, const double *q1, const double *q2, bool derivatives, cb_half_chord *out);
  /* For H^n: writes the point of q as the image of the base point under T(direction[0], length[0]) T(direction[1],
   * length[1]) ..., where T is a transvection (cb_origin). Moves the velocity u of the coordinates back to the base
   * point by these T and writes the result to v[dim]. Returns the number of factors T. Directions need not have length
   * 1. */
  int (*reach)(cb_trig k, int dim, const double *q, const double *u, double direction[][CB_DIM_MAX], double *length,
               double *v);
  /* The inverse of `reach` for a single T: computes the coordinates q of the point to which T(direction, length) moves
   * the base point. NULL: the chart has no such function. */
  void (*from_reach)(int dim, const double *direction, double length, double *q);
} cb_factor_chart;
#define CB_FACTOR_CHART \
  .to_point = to_point, .from_point = from_point, .metric = metric, .half_chord = half_chord, .reach = reach

cb_status cb_product_to_point(const cb_factor_chart *c, const cb_space *g, const double *q, double *x,
                              double *jacobian);
cb_status cb_product_from_point(const cb_factor_chart *c, const cb_space *g, const double *x, double *q);
cb_status cb_product_metric(const cb_factor_chart *c, const cb_space *g, const double *q, double *gij, double *dg,
                            double *ddg);
cb_status cb_product_distance(const cb_factor_chart *c, const cb_space *g, const double *q1, const double *q2,
                              double *d, double *gradient, double *hessian);
cb_status cb_product_to_origin(const cb_factor_chart *c, const cb_space *g, const double *q, const double *u,
                               cb_origin *origin, double *v);
cb_status cb_product_from_origin(const cb_factor_chart *c, const cb_space *g, const cb_origin *origin, double *q);

/* Defines the functions chart_to_point .. chart_from_origin of a cb_chart, whose coordinates are those of `factor` in
 * each factor of the space. CB_PRODUCT_CHART sets the corresponding members. */
/* clang-format off */
#define CB_PRODUCT_CHART_FUNCTIONS(factor)                                                                           \
  static cb_status chart_to_point(const cb_space *g, const double *q, double *x, double *jacobian) {              \
    return cb_product_to_point(&factor, g, q, x, jacobian);                                                          \
  }                                                                                                                  \
  static cb_status chart_from_point(const cb_space *g, const double *x, double *q) {                              \
    return cb_product_from_point(&factor, g, x, q);                                                                  \
  }                                                                                                                  \
  static cb_status chart_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {       \
    return cb_product_metric(&factor, g, q, gij, dg, ddg);                                                           \
  }                                                                                                                  \
  static cb_status chart_distance(const cb_space *g, const double *q1, const double *q2, double *d,               \
                                  double *gradient, double *hessian) {                                               \
    return cb_product_distance(&factor, g, q1, q2, d, gradient, hessian);                                            \
  }                                                                                                                  \
  static cb_status chart_to_origin(const cb_space *g, const double *q, const double *u, cb_origin *origin,        \
                                   double *v) {                                                                      \
    return cb_product_to_origin(&factor, g, q, u, origin, v);                                                        \
  }                                                                                                                  \
  static cb_status chart_from_origin(const cb_space *g, const cb_origin *origin, double *q) {                     \
    return cb_product_from_origin(&factor, g, origin, q);                                                            \
  }
#define CB_PRODUCT_CHART                                                                                             \
  .to_point = chart_to_point, .from_point = chart_from_point, .metric = chart_metric, .distance = chart_distance,    \
  .to_origin = chart_to_origin, .from_origin = chart_from_origin
/* clang-format on */

/* Adds a chart like `prototype` to a space, with the names that its coordinates have in this space. */
cb_status cb_product_add(cb_space *g, const cb_chart *prototype, const cb_factor_chart *c);

/* These functions add one chart each, unless the chart does not exist in this space. */
cb_status cb_chart_polar_add(cb_space *g);
cb_status cb_chart_translation_add(cb_space *g);
cb_status cb_chart_stereographic_add(cb_space *g);

/* These functions are the members to_point and from_point of a chart whose coordinates are the point itself. */
cb_status cb_chart_own_to_point(const cb_space *g, const double *q, double *x, double *jacobian);
cb_status cb_chart_own_from_point(const cb_space *g, const double *x, double *q);

static inline double square(double x) { return x * x; }
/* Sets an entry of the Hessian and its mirror image. */
static inline void cb_half_chord_set(cb_half_chord *h, int i, int j, double value) { h->h[i][j] = h->h[j][i] = value; }

/* Adds the Killing fields of a factor. `axis` is the number of its first axis in the space (0: x). */
void cb_killing_build(cb_space *g, cb_factor f, int axis);

/* Adds the charts that all products of spaces of constant curvature have. */
cb_status cb_charts_build(cb_space *g);

/* Sets the chart in which the space is used. It must be called before anything refers to the space, because the space
 * must not change afterwards. */
void cb_space_see_in(cb_space *g, const cb_chart *chart);
