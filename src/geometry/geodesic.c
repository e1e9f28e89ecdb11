/* Geodesics: exponential map, its inverse, and parallel transport, factor by factor, K the curvature.
 *
 *   exp_x(v) = c_K(|v|) x + s_K(|v|) v/|v|,   velocity there: c_K(|v|) v - K |v| s_K(|v|) x
 *   log_x(y) = d u/|u|,  u = y - K<x,y> x = (y - x) + (K/2) <y-x, y-x> x,  |u| = s_K(d)
 *   transport of u from x to y: u - K <u,y>/(1 + K<x,y>) (x + y)
 *
 * Differences y - x instead of <x,y>: no digits are lost at short distances.
 * Source: do Carmo, Riemannian Geometry (1992), chapters 3 and 8.
 */
#include "geometry/chord.h"
#include "geometry/intrinsic_private.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

/* Closer to the antipode than this (relative to R) a shortest geodesic has no direction to round-off. */
static const double antipodal = 1e-14;

static void factor_exp(cb_factor f, const double *x, const double *v, double *y, double *w) {
  double square = cb_factor_inner(f, v, v), t = sqrt(square > 0 ? square : 0);
  cb_trig k = cb_trig_of(f.curvature);
  double c = cb_trig_c(k, t), s = cb_trig_sinc(k, t), normal = -f.curvature * t * t * s;
  double end[CB_COORD_MAX], velocity[CB_COORD_MAX];
  for (int a = 0; a < f.count; a++) {
    end[a] = (f.curvature == 0 ? x[a] : c * x[a]) + s * v[a];
    velocity[a] = c * v[a] + normal * x[a];
  }
  cb_factor_project_point(f, end);
  cb_factor_project_tangent(f, end, velocity);
  memcpy(y, end, (size_t)f.count * sizeof *y);
  if (w) memcpy(w, velocity, (size_t)f.count * sizeof *w);
}

void cb_exp(const cb_geometry *g, const double *x, const double *v, double *y, double *w) {
  if (g->intrinsic) {
    cb_intrinsic_exp(g, x, v, y, w);
    return;
  }
  for (int f = 0; f < g->n_factors; f++) {
    int o = g->factor[f].offset;
    factor_exp(g->factor[f], x + o, v + o, y + o, w ? w + o : NULL);
  }
}

static cb_status factor_log(cb_factor f, const double *x, const double *y, double *v) {
  double e[CB_COORD_MAX], square = cb_factor_chord(f, y, x, e);
  if (f.curvature == 0) {
    memcpy(v, e, (size_t)f.count * sizeof *v);
    return CB_OK;
  }
  double cos2 = 0.5 * cb_factor_antichord(f, x, y, square);
  if (f.curvature > 0 && !(cos2 > antipodal * antipodal))
    return cb_fail(CB_ERROR_DOMAIN, "antipodal points have no unique shortest geodesic");
  /* d / s_K(d) = B(z) of chord.h */
  double scale = 0.25 * cb_square_of_half_chord(f.curvature, 0.25 * square, cos2).ds;
  for (int a = 0; a < f.count; a++) v[a] = scale * (e[a] + 0.5 * f.curvature * square * x[a]);
  cb_factor_project_tangent(f, x, v);
  return CB_OK;
}

cb_status cb_log(const cb_geometry *g, const double *x, const double *y, double *v) {
  if (g->intrinsic) return cb_intrinsic_log(g, x, y, v);
  double result[CB_COORD_MAX] = {0};
  for (int f = 0; f < g->n_factors; f++) {
    int o = g->factor[f].offset;
    cb_status status = factor_log(g->factor[f], x + o, y + o, result + o);
    if (status) return status;
  }
  memcpy(v, result, (size_t)g->embedding * sizeof *v);
  return CB_OK;
}

cb_status cb_transport(const cb_geometry *g, const double *x, const double *y, const double *u, double *w) {
  if (g->intrinsic) return cb_intrinsic_transport(g, x, y, u, w);
  double result[CB_COORD_MAX], e[CB_COORD_MAX];
  memcpy(result, u, (size_t)g->embedding * sizeof *u);
  for (int i = 0; i < g->n_factors; i++) {
    cb_factor f = g->factor[i];
    if (f.curvature == 0) continue;
    const double *p = x + f.offset, *q = y + f.offset;
    double *r = result + f.offset, square = cb_factor_chord(f, q, p, e);
    double denominator = cb_factor_antichord(f, p, q, square);
    if (f.curvature > 0 && !(denominator > 2 * antipodal * antipodal))
      return cb_fail(CB_ERROR_DOMAIN, "antipodal points have no unique shortest geodesic");
    double scale = f.curvature * cb_factor_inner(f, r, e) / denominator; /* <u,y> = <u,y-x> */
    for (int a = 0; a < f.count; a++) r[a] -= scale * (p[a] + q[a]);
    cb_factor_project_tangent(f, q, r);
  }
  memcpy(w, result, (size_t)g->embedding * sizeof *w);
  return CB_OK;
}
