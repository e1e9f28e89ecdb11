/* Stereographic projection from the antipode of the base point: it is conformal, and geodesic spheres are round.
 *
 *   x_i = 2 q_i/(1 + K|q|^2),  w = R (1 - K|q|^2)/(1 + K|q|^2),   q_i = R x_i/(R + w)
 *   metric 4 |dq|^2/(1 + K|q|^2)^2,   s_K(d/2)^2 = |q1-q2|^2/((1 + K|q1|^2)(1 + K|q2|^2))
 * q are the coordinates, (x, w) is the point of the embedding, K the curvature, and R = 1/sqrt|K|. d is the distance of
 * the points q1 and q2, and s_K is that of numerics_curved.h.
 *
 * In H^n this is the Poincare ball |q| < R. On a sphere the equator is |q| = R, and the antipode has no coordinates.
 * Source: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006), sections 4.1 and 4.5,
 * doi:10.1007/978-0-387-47322-2.
 */
#include "geometry/chart.h"
#include "numerics/dd.h"
#include "numerics/small.h"

#include <math.h>

/* Returns u = 1 + K|q|^2, and NaN outside the ball. Near the border of the ball (u < 1/4, about log(4/u) radii from the
 * base point) u is computed from the given numbers q in double-double arithmetic. */
static double conformal(cb_trig k, int dim, const double *q) {
  double u = 1 + k.k * cb_dot(dim, q, q);
  if (u < 0.25) {
    cb_dd sum = cb_dd_of(0);
    for (int i = 0; i < dim; i++) sum = cb_dd_add(sum, cb_two_prod(q[i], q[i]));
    u = cb_dd_double(cb_dd_add_d(cb_dd_mul_d(sum, k.k), 1));
  }
  return u > 0 ? u : NAN;
}

static void to_point(cb_trig k, int dim, const double *q, double *x, double j[CB_COORD_MAX][CB_DIM_MAX]) {
  double u = conformal(k, dim, q), scale = 2 / u;
  for (int a = 0; a < dim; a++) {
    x[a] = scale * q[a];
    for (int i = 0; i < dim; i++) j[a][i] = scale * ((a == i) - k.k * scale * q[a] * q[i]);
    j[dim][a] = -k.k / k.r * scale * scale * q[a];
  }
  x[dim] = (2 - u) / u / k.r;
}

static void from_point(cb_trig k, int dim, const double *x, double *q) {
  double w = k.r * x[dim], sum = 1 + w;
  if (k.k > 0 && w < 0) sum = k.k * cb_dot(dim, x, x) / (1 - w);
  for (int i = 0; i < dim; i++) q[i] = x[i] / sum;
}

static void metric(cb_trig k, int dim, const double *q, cb_diagonal *m) {
  double u = conformal(k, dim, q), g = 4 / (u * u), slope = -4 * k.k * g / u; /* dg/dq_l = slope q_l */
  for (int i = 0; i < dim; i++) {
    m->g[i] = g;
    for (int l = 0; l < dim; l++) {
      m->dg[l][i] = slope * q[l];
      for (int n = 0; n < dim; n++) m->ddg[n][l][i] = slope * ((n == l) - 6 * k.k / u * q[n] * q[l]);
    }
  }
}

static void half_chord(cb_trig k, int dim, const double *q1, const double *q2, bool derivatives, cb_half_chord *out) {
  double e[CB_DIM_MAX], v1 = 1 / conformal(k, dim, q1), v2 = 1 / conformal(k, dim, q2);
  for (int i = 0; i < dim; i++) e[i] = q1[i] - q2[i];
  double square = cb_dot(dim, e, e), vv = v1 * v2, f = square * vv;
  out->f = f;
  out->cos2 = 1 - k.k * f;
  /* A small cos2 is computed without cancellation: cos2 = ((1 + K q1.q2)^2 + K^2 |q1 x q2|^2) v1 v2, where v1 = 1/(1 +
   * K|q1|^2) and v2 = 1/(1 + K|q2|^2). */
  if (k.k > 0 && out->cos2 < 0.5) {
    double one = 1 + k.k * cb_dot(dim, q1, q2), cross = 0;
    for (int i = 0; i < dim; i++)
      for (int j = 0; j < i; j++) {
        double minor = q1[i] * q2[j] - q1[j] * q2[i];
        cross += minor * minor;
      }
    out->cos2 = (one * one + k.k * k.k * cross) * vv;
  }
  if (!derivatives) return;
  /* F = |e|^2 v1 v2 with e = q1 - q2, v1 = 1/(1 + K|q1|^2) and dv1/dq1_i = -2K v1^2 q1_i. Therefore dF/dq1_i = 2 v1 v2
   * e_i - 2K v1 F q1_i, and so on. */
  double t1 = 2 * k.k * v1, t2 = 2 * k.k * v2;
  for (int i = 0; i < dim; i++) {
    out->g[i] = 2 * vv * e[i] - f * t1 * q1[i];
    out->g[dim + i] = -2 * vv * e[i] - f * t2 * q2[i];
    for (int j = 0; j < dim; j++) {
      int same = i == j;
      out->h[i][j] = vv * (2 * same - 2 * e[i] * t1 * q1[j] - 2 * e[j] * t1 * q1[i]) +
                     f * (2 * t1 * t1 * q1[i] * q1[j] - t1 * same);
      out->h[dim + i][dim + j] = vv * (2 * same + 2 * e[i] * t2 * q2[j] + 2 * e[j] * t2 * q2[i]) +
                                 f * (2 * t2 * t2 * q2[i] * q2[j] - t2 * same);
      out->h[i][dim + j] = out->h[dim + j][i] =
          vv * (-2 * same - 2 * e[i] * t2 * q2[j] + 2 * e[j] * t1 * q1[i]) + f * t1 * t2 * q1[i] * q2[j];
    }
  }
}

static int reach(cb_trig k, int dim, const double *q, const double *u, double direction[][CB_DIM_MAX], double *length,
                 double *v) {
  const double scale = 2 / conformal(k, dim, q);
  for (int i = 0; i < dim; i++) {
    direction[0][i] = q[i];
    v[i] = scale * u[i];
  }
  length[0] = cb_trig_arc(k, scale * sqrt(cb_dot(dim, q, q)), 1);
  return 1;
}

static const cb_factor_chart stereographic = {
    .curved_only = true,
    CB_FACTOR_CHART,
};

CB_PRODUCT_CHART_FUNCTIONS(stereographic)

cb_status cb_chart_stereographic_add(cb_space *g) {
  static const cb_chart sphere = {
      .name = "stereographic",
      .doc = "stereographic projection from the antipode of the base point; the equator has radius R",
      CB_PRODUCT_CHART,
  };
  cb_chart chart = sphere;
  bool curved = false;
  for (int f = 0; f < g->n_factors; f++) {
    curved |= g->factor[f].curvature != 0;
    if (g->factor[f].curvature >= 0) continue;
    chart.name = "poincare";
    chart.alias = "stereographic";
    chart.doc = "Poincare ball of radius R, conformal";
  }
  return curved ? cb_product_add(g, &chart, &stereographic) : CB_OK;
}
