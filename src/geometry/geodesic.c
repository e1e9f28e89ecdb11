/* Geodesics: exponential map, its inverse, and parallel transport, factor by factor, K the curvature.
 *
 *   exp_x(v) = c_K(|v|) x + s_K(|v|) v/|v|,   velocity there: c_K(|v|) v - K |v| s_K(|v|) x
 *   log_x(y) = d u/|u|,  u = y - K<x,y> x = (y - x) + (K/2) <y-x, y-x> x,  |u| = s_K(d)
 *                                 = (y + x) - (K/2) <y+x, y+x> x
 *   transport of u from x to y: u - K <u,y>/(1 + K<x,y>) (x + y)
 *
 * Differences y - x instead of <x,y>: no digits are lost at short distances; sums y + x beyond a quarter of a great
 * circle, none near the antipode. Far out in a hyperbolic factor, where vectors of the embedding are of the size of
 * x, exp and transport go by the origins that take the base point to x and y (origin.h).
 * Source: do Carmo, Riemannian Geometry (1992), chapters 3 and 8.
 */
#include "geometry/chord.h"
#include "geometry/intrinsic_private.h"
#include "geometry/origin_private.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

/* Closer to the antipode than this (relative to R) a shortest geodesic has no direction to round-off. */
static const double antipodal = 1e-14;

/* cosh of the distance from the base point beyond which vectors of the embedding are brought to it. */
static const double by_origin = 4;

/* The vector at the base point that `at`, a transvection to x, takes to v: tangent vectors shrink along x. */
static void bring_back(const cb_geometry *one, const cb_origin *at, const double *v, double *u) {
  const double along = cb_origin_dot(one->dim, v, at->direction), c = cosh(cb_origin_radii(one, at));
  memset(u, 0, CB_COORD_MAX * sizeof *u);
  for (int i = 0; i < one->dim; i++) u[i] = v[i] - along * at->direction[i] + along / c * at->direction[i];
}

/* exp far out. */
static void far_exp(const cb_geometry *g, cb_factor f, const double *x, const double *v, double *y, double *w) {
  const cb_geometry one = cb_factor_alone(g, f);
  double base[CB_Q_MAX], u[CB_Q_MAX] = {0}, end[CB_Q_MAX], velocity[CB_Q_MAX];
  cb_origin at, step;
  cb_origin_at(&one, x, &at);
  cb_origin_identity(&one, &step);
  bring_back(&one, &at, v, u);
  for (int i = 0; i < one.dim; i++) step.length = hypot(step.length, u[i]);
  for (int i = 0; i < one.dim && step.length > 0; i++) step.direction[i] = u[i] / step.length;
  cb_origin_compose(&one, &at, &step, &at);
  cb_geometry_base_point(&one, base);
  cb_origin_world_point(&one, &at, base, end);
  cb_origin_world_vector(&one, &at, u, velocity);
  memcpy(y, end, (size_t)f.count * sizeof *y);
  if (w) memcpy(w, velocity, (size_t)f.count * sizeof *w);
}

/* Transport far out: with T W = inverse(at x) (at y), W^-1 turns the vector at the base point. */
static void far_transport(const cb_geometry *g, cb_factor f, const double *x, const double *y, double *r) {
  const cb_geometry one = cb_factor_alone(g, f);
  double u[CB_Q_MAX] = {0}, turned[CB_Q_MAX] = {0};
  cb_origin from, to, relative;
  cb_origin_at(&one, x, &from);
  cb_origin_at(&one, y, &to);
  cb_origin_relative(&one, &from, &to, &relative);
  bring_back(&one, &from, r, u);
  cb_origin_turn_back(one.dim, relative.rotation, u, turned);
  cb_origin_world_vector(&one, &to, turned, u);
  memcpy(r, u, (size_t)f.count * sizeof *r);
}

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
    const cb_factor factor = g->factor[f];
    const int o = factor.offset;
    if (cb_factor_beyond(factor, x + o, by_origin))
      far_exp(g, factor, x + o, v + o, y + o, w ? w + o : NULL);
    else
      factor_exp(factor, x + o, v + o, y + o, w ? w + o : NULL);
  }
}

/* Is y beyond a quarter of a great circle from x, given the square of their chord? */
static bool beyond_quarter(cb_factor f, double square) { return f.curvature > 0 && f.curvature * square > 2; }

static cb_status factor_log(cb_factor f, const double *x, const double *y, double *v) {
  double e[CB_COORD_MAX], square = cb_factor_chord_of_points(f, y, x, e);
  if (isnan(square)) return cb_fail(CB_ERROR_DOMAIN, "a geodesic to or from a point that is not finite");
  if (f.curvature == 0) {
    memcpy(v, e, (size_t)f.count * sizeof *v);
    return CB_OK;
  }
  double cos2 = 0.5 * cb_factor_antichord(f, x, y, square);
  if (f.curvature > 0 && !(cos2 > antipodal * antipodal))
    return cb_fail(CB_ERROR_DOMAIN, "antipodal points have no unique shortest geodesic");
  const cb_square of = cb_square_of_half_chord(f.curvature, 0.25 * square, cos2);
  /* d / s_K(d) = B(z) of chord.h */
  double scale = 0.25 * of.ds;
  if (f.curvature < 0 && -f.curvature * square > 1) { /* d (y/s_K(d) - x c_K(d)/s_K(d)): no product overflows */
    const double r = sqrt(-f.curvature), d = sqrt(of.s), to = d * r / sinh(r * d), from = d * r / tanh(r * d);
    for (int a = 0; a < f.count; a++) v[a] = to * y[a] - from * x[a];
  } else if (beyond_quarter(f, square)) {
    /* The sum has round-off along x, which is removed before its length is divided by: near the antipode it counts. */
    for (int a = 0; a < f.count; a++) v[a] = x[a] + y[a];
    cb_factor_project_tangent(f, x, v);
    scale = sqrt(of.s / cb_factor_inner(f, v, v));
    for (int a = 0; a < f.count; a++) v[a] *= scale;
  } else {
    for (int a = 0; a < f.count; a++) v[a] = scale * (e[a] + 0.5 * f.curvature * square * x[a]);
  }
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

cb_status cb_geodesic_point(const cb_geometry *g, const double *x, const double *y, double t, double *z) {
  double v[CB_Q_MAX], result[CB_Q_MAX], e[CB_COORD_MAX];
  cb_status status = cb_log(g, x, y, v);
  if (status) return status;
  for (int a = 0; a < g->embedding; a++) v[a] *= t;
  cb_exp(g, x, v, result, NULL);
  for (int i = 0; !g->intrinsic && i < g->n_factors; i++) {
    const cb_factor f = g->factor[i];
    const double *p = x + f.offset, *q = y + f.offset;
    if (f.curvature >= 0) continue;
    const double r = sqrt(-f.curvature), half = r * sqrt(cb_factor_chord_of_points(f, p, q, e)) / 2;
    const double d = 2 * asinh(half), s = sinh(d);
    for (int a = 0; a < f.count && d > 0; a++)
      result[f.offset + a] = sinh((1 - t) * d) / s * p[a] + sinh(t * d) / s * q[a];
    cb_factor_project_point(f, result + f.offset);
  }
  memcpy(z, result, (size_t)g->embedding * sizeof *z);
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
    if (cb_factor_beyond(f, p, by_origin) || cb_factor_beyond(f, q, by_origin)) {
      far_transport(g, f, p, q, result + f.offset);
      continue;
    }
    double *r = result + f.offset, square = cb_factor_chord(f, q, p, e);
    double denominator = cb_factor_antichord(f, p, q, square);
    if (f.curvature > 0 && !(denominator > 2 * antipodal * antipodal))
      return cb_fail(CB_ERROR_DOMAIN, "antipodal points have no unique shortest geodesic");
    if (beyond_quarter(f, square))
      for (int a = 0; a < f.count; a++) e[a] = p[a] + q[a];
    double scale = f.curvature * cb_factor_inner(f, r, e) / denominator; /* <u,y> = <u,y-x> = <u,y+x> */
    for (int a = 0; a < f.count; a++) r[a] -= scale * (p[a] + q[a]);
    cb_factor_project_tangent(f, q, r);
  }
  memcpy(w, result, (size_t)g->embedding * sizeof *w);
  return CB_OK;
}
