/* A blade at x along the geodesic to y, on a surface: no velocity across it.
 *
 *   a.v = det(x, y, v)/(R s_K(d)) = 0,   s_K(d)^2 = w (1 - K w/4),  w = <x-y, x-y>
 * is the component of v to the left of the direction to y. The last coordinate stands as w/R; flat: rows (x, 1),
 * (y, 1), (v, 0).
 */
#include "dynamics/constraint_charts.h"
#include <math.h>

enum { K = CB_COORD_MAX, N = 3 };

/* The covector det(x, e, .)/R with e = y - x, which is bilinear in x and e. */
static void cross(const cb_geometry *g, const double *x, const double *e, double *out) {
  const double curvature = g->factor[0].curvature;
  double last = curvature == 0 ? 1 : sqrt(fabs(curvature)), x2 = curvature == 0 ? 1 : last * x[2],
         e2 = curvature == 0 ? 0 : last * e[2];
  out[0] = x[1] * e2 - x2 * e[1];
  out[1] = x2 * e[0] - x[0] * e2;
  out[2] = curvature == 0 ? 0 : last * (x[0] * e[1] - x[1] * e[0]);
}

static cb_status in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                              const double *const *x, int order, cb_element *out) {
  const cb_geometry *g = c->space;
  const int k = g->embedding, size = 2 * k;
  const double curvature = g->factor[0].curvature;
  double e[N] = {0}, w = 0, a[N];
  (void)row;
  (void)element;
  (void)t;
  for (int i = 0; i < k; i++) {
    e[i] = x[1][i] - x[0][i];
    w += g->form[i] * e[i] * e[i];
  }
  double ss = w * (1 - 0.25 * curvature * w), h = 1 / sqrt(ss), h_w = -0.5 * h / ss * (1 - 0.5 * curvature * w);
  if (!(ss > 0)) return cb_fail(CB_STEP_DOMAIN, "a blade has no direction: its ends coincide or are antipodal");
  if (!order) return CB_OK;
  cross(g, x[0], e, a);
  for (int i = 0; i < k; i++) out->gradient[i] = h * a[i];
  if (order < 2) return CB_OK;
  for (int j = 0; j < k; j++) {
    /* d/dy_j moves e alone; d/dx_j moves e the other way, and x */
    double unit[N] = {0}, by_e[N], by_x[N];
    unit[j] = 1;
    cross(g, x[0], unit, by_e);
    if (curvature == 0) { /* minus the same at the origin, for the row (x, 1) is not linear in x */
      double origin[N] = {0}, at_origin[N];
      cross(g, unit, e, by_x);
      cross(g, origin, e, at_origin);
      for (int i = 0; i < k; i++) by_x[i] -= at_origin[i];
    } else {
      cross(g, unit, e, by_x);
    }
    for (int i = 0; i < k; i++) {
      double along = 2 * h_w * g->form[j] * e[j] * a[i], turning = h * by_e[i];
      out->hessian[i * size + k + j] = along + turning;
      out->hessian[i * size + j] = -along - turning + h * by_x[i];
    }
  }
  return CB_OK;
}

static cb_status blade(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                       int order, cb_element *out) {
  if (c->space->intrinsic) return cb_blade_by_metric(c->space, x, order, out);
  return cb_element_by_embedding(in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_kind cb_constraint_blade = {.name = "blade", .element = blade, .velocity = true};
