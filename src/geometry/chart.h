/* Charts put together from coordinates of one factor each.
 *
 * A cb_factor_chart describes coordinates q of a factor of dimension 2 or 3 and curvature K whose metric is diagonal; a
 * flat factor of dimension 1 is its own coordinate. In a product the coordinates follow one another and d^2 is the sum.
 */
#pragma once

#include "numerics/trig.h"
#include <curvebody/geometry.h>
#include <stdbool.h>

/* F = s_K(d/2)^2 of two points, with its derivatives in (q1, q2) where wanted: n = 2 dim. cos2 = c_K(d/2)^2. */
typedef struct cb_half_chord {
  double f, cos2;
  double g[2 * CB_DIM_MAX], h[2 * CB_DIM_MAX][2 * CB_DIM_MAX];
} cb_half_chord;

/* Metric g_i = g_ii with dg[l][i] = dg_i/dq_l and ddg[m][l][i]. */
typedef struct cb_diagonal {
  double g[CB_DIM_MAX], dg[CB_DIM_MAX][CB_DIM_MAX], ddg[CB_DIM_MAX][CB_DIM_MAX][CB_DIM_MAX];
} cb_diagonal;

typedef struct cb_factor_chart {
  bool curved_only;                  /* in a flat factor its Cartesian coordinates are taken instead */
  const char *names2[2], *names3[3]; /* of the coordinates; NULL: those of the axes */
  /* x[dim + 1] (flat: x[dim]) and its Jacobian j[a][i] = dx_a/dq_i. */
  void (*to_point)(cb_trig k, int dim, const double *q, double *x, double j[CB_COORD_MAX][CB_DIM_MAX]);
  void (*from_point)(cb_trig k, int dim, const double *x, double *q);
  void (*metric)(cb_trig k, int dim, const double *q, cb_diagonal *m); /* m is zero before */
  void (*half_chord)(cb_trig k, int dim, const double *q1, const double *q2, bool derivatives, cb_half_chord *out);
  /* In H^n: x(q) as T(direction[0], length[0]) T(direction[1], length[1]) ... of the base point, and v[dim], what the
   * velocity u of the coordinates is there. Returns how many; directions need not be of unit length. */
  int (*reach)(cb_trig k, int dim, const double *q, const double *u, double direction[][CB_DIM_MAX], double *length,
               double *v);
  /* The inverse, q of T(direction, length) of the base point; NULL: none. */
  void (*from_reach)(int dim, const double *direction, double length, double *q);
} cb_factor_chart;
#define CB_FACTOR_CHART \
  .to_point = to_point, .from_point = from_point, .metric = metric, .half_chord = half_chord, .reach = reach

cb_status cb_product_to_point(const cb_factor_chart *c, const cb_geometry *g, const double *q, double *x,
                              double *jacobian);
cb_status cb_product_from_point(const cb_factor_chart *c, const cb_geometry *g, const double *x, double *q);
cb_status cb_product_metric(const cb_factor_chart *c, const cb_geometry *g, const double *q, double *gij, double *dg,
                            double *ddg);
cb_status cb_product_distance(const cb_factor_chart *c, const cb_geometry *g, const double *q1, const double *q2,
                              double *d, double *gradient, double *hessian);
cb_status cb_product_to_origin(const cb_factor_chart *c, const cb_geometry *g, const double *q, const double *u,
                               cb_origin *origin, double *v);
cb_status cb_product_from_origin(const cb_factor_chart *c, const cb_geometry *g, const cb_origin *origin,
                                 double *q);

/* chart_to_point .. chart_from_origin of a cb_chart whose coordinates are those of `factor` on each factor, and these
 * as members of it. */
/* clang-format off */
#define CB_PRODUCT_CHART_FUNCTIONS(factor)                                                                           \
  static cb_status chart_to_point(const cb_geometry *g, const double *q, double *x, double *jacobian) {              \
    return cb_product_to_point(&factor, g, q, x, jacobian);                                                          \
  }                                                                                                                  \
  static cb_status chart_from_point(const cb_geometry *g, const double *x, double *q) {                              \
    return cb_product_from_point(&factor, g, x, q);                                                                  \
  }                                                                                                                  \
  static cb_status chart_metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {       \
    return cb_product_metric(&factor, g, q, gij, dg, ddg);                                                           \
  }                                                                                                                  \
  static cb_status chart_distance(const cb_geometry *g, const double *q1, const double *q2, double *d,               \
                                  double *gradient, double *hessian) {                                               \
    return cb_product_distance(&factor, g, q1, q2, d, gradient, hessian);                                            \
  }                                                                                                                  \
  static cb_status chart_to_origin(const cb_geometry *g, const double *q, const double *u, cb_origin *origin,        \
                                   double *v) {                                                                      \
    return cb_product_to_origin(&factor, g, q, u, origin, v);                                                        \
  }                                                                                                                  \
  static cb_status chart_from_origin(const cb_geometry *g, const cb_origin *origin, double *q) {                     \
    return cb_product_from_origin(&factor, g, origin, q);                                                            \
  }
#define CB_PRODUCT_CHART                                                                                             \
  .to_point = chart_to_point, .from_point = chart_from_point, .metric = chart_metric, .distance = chart_distance,    \
  .to_origin = chart_to_origin, .from_origin = chart_from_origin
/* clang-format on */

/* Adds the chart to a space, with the names of its coordinates there. */
cb_status cb_product_add(cb_geometry *g, const cb_chart *prototype, const cb_factor_chart *c);

/* Each adds its chart where the space has it. */
cb_status cb_chart_polar_add(cb_geometry *g);
cb_status cb_chart_translation_add(cb_geometry *g);
cb_status cb_chart_stereographic_add(cb_geometry *g);
cb_status cb_chart_embedding_add(cb_geometry *g);

/* Of a chart whose coordinates are the point itself. */
cb_status cb_chart_own_to_point(const cb_geometry *g, const double *q, double *x, double *jacobian);
cb_status cb_chart_own_from_point(const cb_geometry *g, const double *x, double *q);

static inline double square(double x) { return x * x; }
/* Symmetric entry of a Hessian. */
static inline void cb_half_chord_set(cb_half_chord *h, int i, int j, double value) { h->h[i][j] = h->h[j][i] = value; }
