/* Charts of products of constant curvature with their second derivatives: x(q) on jets.
 *
 * The formulae are those of geometry/chart_polar.c, chart_translation.c, chart_stereographic.c. They are smooth in q on
 * the axis of polar coordinates too, where the metric of the chart is singular.
 */
#include "bundle/points.h"
#include "geometry/quadric.h"
#include "numerics/trig.h"

#include <string.h>

/* s_K(q) and c_K(q) */
static cb_jet sine(cb_trig k, const cb_jet *q) {
  const double s = cb_trig_s(k, q->v);
  return cb_jet_compose(q, s, cb_trig_c(k, q->v), -k.k * s);
}

static cb_jet cosine(cb_trig k, const cb_jet *q) {
  const double c = cb_trig_c(k, q->v);
  return cb_jet_compose(q, c, -k.k * cb_trig_s(k, q->v), -k.k * c);
}

static cb_jet times(cb_jet a, cb_jet b) { return cb_jet_mul(&a, &b); }

static void polar(cb_trig k, int dim, const cb_jet *q, cb_jet *x) {
  const cb_trig unit = {1, 1};
  const cb_jet s = sine(k, &q[0]), cg = cosine(unit, &q[dim - 1]), sg = sine(unit, &q[dim - 1]);
  cb_jet across = s;
  if (dim == 3) {
    across = times(s, sine(unit, &q[1]));
    x[2] = times(s, cosine(unit, &q[1]));
  }
  x[0] = times(across, cg);
  x[1] = times(across, sg);
  if (k.k == 0) return;
  x[dim] = cosine(k, &q[0]);
  x[dim] = cb_jet_scale(&x[dim], 1 / k.r);
}

static void translation(cb_trig k, int dim, const cb_jet *q, cb_jet *x) {
  const cb_jet ca = cosine(k, &q[0]), cc = times(ca, cosine(k, &q[1]));
  x[0] = times(ca, sine(k, &q[1]));
  x[1] = sine(k, &q[0]);
  if (dim == 3) x[2] = times(cc, sine(k, &q[2]));
  if (k.k == 0) return;
  x[dim] = dim == 3 ? times(cc, cosine(k, &q[2])) : cc;
  x[dim] = cb_jet_scale(&x[dim], 1 / k.r);
}

/* x_i = 2 q_i/u, w = R (2 - u)/u,  u = 1 + K|q|^2; nan outside the ball */
static void stereographic(cb_trig k, int dim, const cb_jet *q, cb_jet *x) {
  cb_jet u = cb_jet_constant(q[0].n, 1);
  for (int i = 0; i < dim; i++) {
    cb_jet square = times(q[i], q[i]);
    square = cb_jet_scale(&square, k.k);
    u = cb_jet_add(&u, &square);
  }
  const double v = u.v > 0 ? u.v : NAN;
  const cb_jet scale = cb_jet_compose(&u, 2 / v, -2 / (v * v), 4 / (v * v * v));
  for (int i = 0; i < dim; i++) x[i] = times(scale, q[i]);
  x[dim] = cb_jet_shift(&scale, -1);
  x[dim] = cb_jet_scale(&x[dim], 1 / k.r);
}

typedef void (*factor_chart)(cb_trig k, int dim, const cb_jet *q, cb_jet *x);

static const struct {
  const char *name;
  factor_chart of;
  bool curved_only; /* a flat factor has its Cartesian coordinates */
} charts[] = {{"polar", polar, false},
              {"translation", translation, false},
              {"stereographic", stereographic, true},
              {"poincare", stereographic, true},
              {"embedding", NULL, true}};
enum { CHARTS = sizeof charts / sizeof *charts };

static int find(const cb_chart *chart) {
  for (int i = 0; i < CHARTS; i++)
    if (!strcmp(charts[i].name, chart->name)) return i;
  return -1;
}

bool cb_points_knows(const cb_chart *chart) { return find(chart) >= 0; }

cb_status cb_points_chart(const cb_geometry *g, const cb_chart *chart, const double *q, cb_point_jet *out) {
  const int which = find(chart), size = chart->size, k = g->embedding;
  memset(out, 0, sizeof *out);
  cb_status status = chart->to_point(g, q, out->x, NULL);
  if (status) return status;
  if (!charts[which].of) {
    for (int i = 0; i < k; i++) out->d[i][i] = 1;
    return CB_OK;
  }
  cb_jet u[CB_COORD_MAX], x[CB_COORD_MAX] = {0};
  for (int i = 0; i < size; i++) u[i] = cb_jet_variable(size, i, q[i]);
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const int dim = cb_factor_dim(factor);
    const bool cartesian = factor.curvature == 0 && (charts[which].curved_only || factor.count == 1);
    if (cartesian)
      memcpy(x + factor.offset, u + at, (size_t)dim * sizeof *x);
    else
      charts[which].of(cb_trig_of(factor.curvature), dim, u + at, x + factor.offset);
    at += dim;
  }
  for (int a = 0; a < k; a++)
    for (int i = 0; i < size; i++) {
      out->d[i][a] = x[a].g[i];
      for (int j = 0; j < size; j++) out->dd[i][j][a] = x[a].h[cb_jet_packed(i, j)];
    }
  return CB_OK;
}
