/* Geodesics: exponential map, its inverse, parallel transport, and distance, factor by factor:
 *
 *   exp_x(v) = c_K(|v|) x + s_K(|v|) v/|v|,   velocity there: c_K(|v|) v - K |v| s_K(|v|) x
 *   log_x(y) = d u/|u|,  u = y - K<x,y> x = (y - x) + (K/2) <y-x, y-x> x,  |u| = s_K(d)
 *                                 = (y + x) - (K/2) <y+x, y+x> x
 *   transport of w from x to y: w - K <w,y>/(1 + K<x,y>) (x + y)
 * K is the curvature, v and w are tangent vectors at x, d is the distance of x and y, and s_K, c_K are those of
 * numerics_curved.h.
 *
 * The differences y - x are used in place of <x,y>, so that no digits are lost at short distances. Beyond a quarter of
 * a great circle the sums y + x are used, so that no digits are lost near the antipode. Far from the base point of a
 * hyperbolic factor, vectors of the embedding are as large as x. There exp and transport use the origins that move the
 * base point to x and y (origin.h).
 * Source: do Carmo, Riemannian Geometry (1992), chapters 3 and 8.
 */
#include "geometry/quadric.h"
#include "geometry/numeric.h"
#include "geometry/origin.h"

#include <math.h>
#include <string.h>

/* If a point is closer to the antipode than this (relative to the radius), the direction of the shortest geodesic is
 * only round-off. */
static const double antipodal = 1e-14;

/* If the cosh of the distance from the base point is above this, vectors of the embedding are moved to the base
 * point. */
static const double by_origin = 4;

/* Computes the vector u at the base point that the transvection `at` to x maps to v. The component of v along
 * at->direction is divided by the cosh of the distance, and the other components stay. */
static void bring_back(const cb_space *one, const cb_origin *at, const double *v, double *u) {
  const double along = cb_origin_dot(one->dim, v, at->direction), c = cosh(cb_origin_radii(one, at));
  memset(u, 0, CB_COORD_MAX * sizeof *u);
  for (int i = 0; i < one->dim; i++) u[i] = v[i] - along * at->direction[i] + along / c * at->direction[i];
}

/* Computes the exponential map in a hyperbolic factor f for an x far from the base point: the end y and, if w is not
 * NULL, the velocity w there. */
static void far_exp(const cb_space *g, cb_factor f, const double *x, const double *v, double *y, double *w) {
  const cb_space one = cb_factor_alone(g, f);
  double base[CB_Q_MAX], u[CB_Q_MAX] = {0}, end[CB_Q_MAX], velocity[CB_Q_MAX];
  cb_origin at, step;
  cb_origin_at(&one, x, &at);
  cb_origin_identity(&one, &step);
  bring_back(&one, &at, v, u);
  for (int i = 0; i < one.dim; i++) step.length = hypot(step.length, u[i]);
  for (int i = 0; i < one.dim && step.length > 0; i++) step.direction[i] = u[i] / step.length;
  cb_origin_compose(&one, &at, &step, &at);
  cb_space_base_point(&one, base);
  cb_origin_world_point(&one, &at, base, end);
  cb_origin_world_vector(&one, &at, u, velocity);
  memcpy(y, end, (size_t)f.count * sizeof *y);
  if (w) memcpy(w, velocity, (size_t)f.count * sizeof *w);
}

/* Transports r, which is overwritten, in a hyperbolic factor for points far from the base point. `from` and `to` are
 * the origins at x and y, and inverse(from) (to) = T W with a transvection T and a rotation W. W^-1 rotates the vector
 * at the base point. */
static void far_transport(const cb_space *g, cb_factor f, const double *x, const double *y, double *r) {
  const cb_space one = cb_factor_alone(g, f);
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

void cb_exp(const cb_space *g, const double *x, const double *v, double *y, double *w) {
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

/* Returns whether y is beyond a quarter of a great circle from x, given the square of their chord. */
static bool beyond_quarter(cb_factor f, double square) { return f.curvature > 0 && f.curvature * square > 2; }

static cb_status factor_log(cb_factor f, const double *x, const double *y, double *v) {
  double e[CB_COORD_MAX], square = cb_factor_chord_of_points(f, y, x, e);
  if (isnan(square))
    return cb_fail(CB_ERROR_DOMAIN,
                   "a geodesic to or from a point whose coordinates are not finite: expected finite coordinates");
  if (f.curvature == 0) {
    memcpy(v, e, (size_t)f.count * sizeof *v);
    return CB_OK;
  }
  double cos2 = 0.5 * cb_factor_antichord(f, x, y, square);
  if (f.curvature > 0 && !(cos2 > antipodal * antipodal))
    return cb_fail(CB_ERROR_DOMAIN,
                   "antipodal points have no unique shortest geodesic: expected points closer to each other");
  const cb_square of = cb_square_of_half_chord(f.curvature, 0.25 * square, cos2);
  /* d/s_K(d) is B(z) of quadric.h */
  double scale = 0.25 * of.ds;
  if (f.curvature < 0 && -f.curvature * square > 1) { /* v = d (y/s_K(d) - x c_K(d)/s_K(d)); no product overflows */
    const double r = sqrt(-f.curvature), d = sqrt(of.s), to = d * r / sinh(r * d), from = d * r / tanh(r * d);
    for (int a = 0; a < f.count; a++) v[a] = to * y[a] - from * x[a];
  } else if (beyond_quarter(f, square)) {
    /* The sum has round-off along x, which matters near the antipode. It is removed before the division by the
     * length. */
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

cb_status cb_log(const cb_space *g, const double *x, const double *y, double *v) {
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

cb_status cb_geodesic_point(const cb_space *g, const double *x, const double *y, double t, double *z) {
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

cb_status cb_transport(const cb_space *g, const double *x, const double *y, const double *u, double *w) {
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
      return cb_fail(CB_ERROR_DOMAIN,
                     "antipodal points have no unique shortest geodesic: expected points closer to each other");
    if (beyond_quarter(f, square))
      for (int a = 0; a < f.count; a++) e[a] = p[a] + q[a];
    double scale = f.curvature * cb_factor_inner(f, r, e) / denominator; /* <w,y> = <w,y-x> = <w,y+x> */
    for (int a = 0; a < f.count; a++) r[a] -= scale * (p[a] + q[a]);
    cb_factor_project_tangent(f, q, r);
  }
  memcpy(w, result, (size_t)g->embedding * sizeof *w);
  return CB_OK;
}

/* --- geodesic distance and its derivatives by chords ---
 *
 *   F = <x-y, x-y>/4 = s_K(d/2)^2 in each factor,   d^2 = sum over factors of s(F)   (quadric.h)
 *   F_x = I(x-y)/2 = -F_y,   F_xx = I/2 = F_yy = -F_xy,   I = diag(form)
 * F_x and F_xx are the derivatives of F with respect to x.
 *
 * An arccos or arccosh of <x,y> would lose half of the digits of a short distance.
 */

/* If the cosh of the distance from the base point is above this for one of two points, both points are assumed to lie
 * on the space. Nearer points may have been moved off the space by a step of an integrator. For them derivatives are
 * those of the chord as a function of all coordinates. */
static const double on_the_space = 100;

/* Returns s and its derivatives s' and s'' (quadric.h) for one factor, from the square of the chord. */
static cb_square square_of(cb_factor f, const double *x, const double *y, double square) {
  double cos2 = f.curvature == 0 ? 1 : 0.5 * cb_factor_antichord(f, x, y, square);
  return cb_square_of_half_chord(f.curvature, 0.25 * square, cos2);
}

double cb_distance(const cb_space *g, const double *x, const double *y) {
  if (g->intrinsic) {
    double d;
    return g->chart->distance(g, x, y, &d, NULL, NULL) ? NAN : d;
  }
  double e[CB_COORD_MAX], sum = 0;
  for (int f = 0; f < g->n_factors; f++) {
    int o = g->factor[f].offset;
    const double square = cb_factor_chord_of_points(g->factor[f], x + o, y + o, e);
    sum += square_of(g->factor[f], x + o, y + o, square).s;
  }
  return sqrt(sum);
}

/* Adds the contribution of one factor to the gradient and Hessian of d^2. */
static void add_factor(const cb_space *g, cb_factor f, cb_square s, const double *e, double *gradient,
                       double *hessian) {
  int k = g->embedding, n = 2 * k, o = f.offset;
  for (int a = 0; a < f.count; a++) {
    double part = 0.5 * s.ds * g->form[o + a] * e[a];
    gradient[o + a] += part;
    gradient[k + o + a] -= part;
  }
  if (!hessian) return;
  for (int a = 0; a < f.count; a++)
    for (int b = 0; b < f.count; b++) {
      double form_a = g->form[o + a], form_b = g->form[o + b];
      double part = 0.25 * s.dds * form_a * e[a] * form_b * e[b] + (a == b ? 0.5 * s.ds * form_a : 0);
      int row = o + a, column = o + b;
      hessian[row * n + column] += part;
      hessian[(k + row) * n + k + column] += part;
      hessian[row * n + k + column] -= part;
      hessian[(k + row) * n + column] -= part;
    }
}

cb_status cb_distance_derivatives(const cb_space *g, const double *x, const double *y, double *d, double *gradient,
                                  double *hessian) {
  if (g->intrinsic) return g->chart->distance(g, x, y, d, gradient, hessian);
  int n = 2 * g->embedding;
  double e[CB_FACTOR_MAX][CB_COORD_MAX], sum = 0, h[4 * CB_COORD_MAX * CB_COORD_MAX], gr[2 * CB_COORD_MAX];
  cb_square s[CB_FACTOR_MAX];
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const double *p = x + factor.offset, *q = y + factor.offset;
    double square = cb_factor_chord(factor, p, q, e[f]);
    if (cb_factor_beyond(factor, p, on_the_space) || cb_factor_beyond(factor, q, on_the_space))
      square = cb_factor_far_square(factor, p, q);
    s[f] = square_of(factor, p, q, square);
    sum += s[f].s;
    if (isnan(s[f].s))
      return cb_fail(CB_ERROR_DOMAIN,
                     "the distance of a point whose coordinates are not finite: expected finite coordinates");
    if (!isfinite(s[f].ds))
      return cb_fail(CB_ERROR_DOMAIN,
                     "the distance of antipodal points has no derivatives: expected points closer to each other");
  }
  if (!(sum > 0))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the distance of coincident points has no derivatives: expected two different points");
  memset(gr, 0, (size_t)n * sizeof *gr);
  if (hessian) memset(h, 0, (size_t)(n * n) * sizeof *h);
  for (int f = 0; f < g->n_factors; f++) add_factor(g, g->factor[f], s[f], e[f], gr, hessian ? h : NULL);
  double root = sqrt(sum);
  cb_square_root_derivatives(root, n, gr, hessian ? h : NULL);
  *d = root;
  if (gradient) memcpy(gradient, gr, (size_t)n * sizeof *gr);
  if (hessian) memcpy(hessian, h, (size_t)(n * n) * sizeof *h);
  return CB_OK;
}
