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
 *
 * Coordinates of a point on a geodesic of H^n at any distance come from the foot of the geodesic, the point that is
 * nearest to the base point. In radii of curvature, c is the distance of the foot, f the direction to the foot, t the
 * unit tangent there, and sigma the arc length from the foot:
 *
 *   x = cosh(sigma) (f sinh c, cosh c) + sinh(sigma) (t, 0)
 *   sinh a = cosh c cosh(sigma) D,   D n = f tanh c + t tanh(sigma)/cosh c,  |n| = 1     at distance a in direction n
 *   x' = a' n + m (tanh c/cosh(sigma))/D in a frame at x,  a' = tanh(sigma)/D,  D m = -f tanh(sigma)/cosh c + t tanh c
 *
 * The right-angled triangle of base point, foot and point gives the foot of the geodesic that starts at (a, n) with the
 * velocity n cos(psi) + m sin(psi):  sinh c = sinh a sin(psi),  tanh(sigma) = tanh a cos(psi),  cosh c sinh(sigma) =
 * sinh a cos(psi). cb_origin_third_side computes psi and the length between two points. All these expressions are
 * quotients or sums of terms of one sign, and numbers of size exp(a) occur only as logarithms, so that no digits are
 * lost at any distance. The round-off eps of a direction n moves a point by eps sinh(a). In the polar chart and the
 * ball this is the accuracy of coordinates. Translation coordinates may have more digits. Between two points x and y at
 * distance d (radii) whose coordinates in the embedding are finite, the point x(s) at the arc length s follows from
 *   sinh(d) x(s) = sinh(d - s) x + sinh(s) y
 * so that each component of x(s) has a small relative error.
 * Sources: do Carmo, Riemannian Geometry (1992), chapters 3 and 8; Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd
 * ed. (2006), sections 3.2 and 3.5, doi:10.1007/978-0-387-47322-2.
 */
#include "geometry/numeric.h"
#include "geometry/origin.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

/* --- exponential map, its inverse, transport and distance --- */

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
    /* The sum x + y has round-off along x, which matters near the antipode. Its part along x is therefore removed
     * before v gets its length. */
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

void cb_distance_all(const cb_space *g, size_t n, const double *x, const double *y, double *distance) {
  const size_t k = (size_t)g->embedding;
  for (size_t i = 0; i < n; i++) distance[i] = cb_distance(g, x + k * i, y + k * i);
}

void cb_exp_all(const cb_space *g, size_t n, const double *x, const double *v, double *y) {
  const size_t k = (size_t)g->embedding;
  double end[CB_COORD_MAX];
  for (size_t i = 0; i < n; i++) {
    cb_exp(g, x + k * i, v + k * i, end, NULL);
    memcpy(y + k * i, end, k * sizeof *y);
  }
}

cb_status cb_log_all(const cb_space *g, size_t n, const double *x, const double *y, double *v, size_t *which) {
  const size_t k = (size_t)g->embedding;
  double u[CB_COORD_MAX];
  for (size_t i = 0; i < n; i++) {
    const cb_status status = cb_log(g, x + k * i, y + k * i, u);
    *which = i;
    if (status) return status;
    memcpy(v + k * i, u, k * sizeof *v);
  }
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

/* --- geodesics of hyperbolic space by their foot --- */

enum { D = CB_DIM_MAX };

/* These functions return log sinh, log cosh, and asinh(exp(y)), which is the inverse of log sinh, without overflow. */
static double log_sinh(double x) { return x < 1 ? log(sinh(x)) : x + log1p(-exp(-2 * x)) - M_LN2; }
static double log_cosh(double x) { return fabs(x) + log1p(exp(-2 * fabs(x))) - M_LN2; }
static double asinh_exp(double y) { return y < 300 ? asinh(exp(y)) : y + M_LN2; }

bool cb_path_knows(const cb_space *g) {
  cb_space plain = *g;
  plain.chart = NULL;
  return cb_origin_grows(&plain);
}

static void begin(const cb_space *g, const cb_chart *chart, const double *q, cb_path *out) {
  *out = (cb_path){.space = *g, .chart = chart, .length = 1};
  out->space.chart = NULL;
  out->space.k = g->embedding;
  memcpy(out->start, q, (size_t)g->dim * sizeof *q);
}

/* Sets foot, normal, tangent and sigma of the geodesic through the point at the distance a (radii) in direction n. psi
 * is the angle between n and the velocity; its cosine and sine and log_height = log(sinh a sin(psi)) are given. m is
 * the unit vector orthogonal to n on the side of the velocity (0 if the velocity is along n). If a = 0, only the
 * tangent is set. */
static void set_foot(cb_path *p, int dim, double a, const double *n, double cosine, double sine, double log_height,
                     const double *m) {
  if (a == 0) {
    for (int i = 0; i < dim; i++) p->tangent[i] = cosine * n[i] + sine * m[i];
    return;
  }
  p->foot = asinh_exp(log_height);
  if (fabs(cosine) < 0.7)
    p->sigma = atanh(tanh(a) * cosine);
  else
    p->sigma = copysign(asinh_exp(log_sinh(a) + log(fabs(cosine)) - log_cosh(p->foot)), cosine);
  const double x = tanh(p->foot), y = tanh(p->sigma) / cosh(p->foot), size = hypot(x, y);
  for (int i = 0; i < dim; i++) {
    p->normal[i] = (x * n[i] - y * m[i]) / size;
    p->tangent[i] = (y * n[i] + x * m[i]) / size;
  }
}

cb_status cb_path_between(const cb_space *g, const cb_chart *chart, const double *q1, const double *q2, cb_path *out) {
  cb_origin one, two;
  double none[CB_Q_MAX] = {0}, v[CB_Q_MAX], back[D], side, cosine, sine, log_height, square;
  begin(g, chart, q1, out);
  const cb_origin_part part = cb_origin_part_of(&out->space);
  cb_status status = cb_origin_of(&out->space, chart, q1, none, &one, v);
  if (!status) status = cb_origin_of(&out->space, chart, q2, none, &two, v);
  if (status) return status;
  const double a = part.rate * one.length, b = part.rate * two.length;
  for (int i = 0; i < part.dim; i++) back[i] = -one.direction[i];
  const cb_origin_plane plane = cb_origin_plane_of(part.dim, back, two.direction);
  if (a == 0 || b == 0) {
    side = a + b;
    set_foot(out, part.dim, 0, a > 0 ? back : two.direction, 1, 0, 0, none);
    out->sigma = -a;
  } else {
    cb_origin_third_side(a, b, &plane, &side, &cosine, &sine, &log_height);
    set_foot(out, part.dim, a, one.direction, -cosine, sine, log_height, plane.across);
  }
  square = side * side / part.rate / part.rate;
  for (int i = 0; i < D; i++) {
    out->shift[i] = one.shift[i];
    out->drift[i] = two.shift[i] - one.shift[i];
    square += out->drift[i] * out->drift[i];
  }
  out->length = sqrt(square);
  if (!isfinite(out->length))
    return cb_fail(CB_ERROR_DOMAIN, "the geodesic has no finite length: expected points closer to each other");
  out->rate = out->length > 0 ? side / out->length : 0;
  out->ends = side > 0 && side < 700 && chart->to_point(&out->space, q1, out->x, NULL) == CB_OK &&
              chart->to_point(&out->space, q2, out->y, NULL) == CB_OK;
  for (int i = 0; i < D; i++) out->drift[i] = out->length > 0 ? out->drift[i] / out->length : 0;
  return CB_OK;
}

cb_status cb_path_from(const cb_space *g, const cb_chart *chart, const double *q, const double *u, cb_path *out,
                       double *speed) {
  cb_origin there;
  double v[CB_Q_MAX] = {0}, turned[D] = {0}, m[D] = {0}, along, across = 0, fast = 0, size = 0;
  int axis[D], coordinate[D];
  begin(g, chart, q, out);
  const cb_origin_part part = cb_origin_part_of(&out->space);
  const cb_status status = cb_origin_of(&out->space, chart, q, u, &there, v);
  if (status) return status;
  cb_origin_turn(part.dim, there.rotation, v + part.offset, turned);
  for (int i = 0; i < part.dim; i++) fast = hypot(fast, turned[i]);
  memcpy(out->shift, there.shift, sizeof out->shift);
  for (int i = cb_origin_shifted(&out->space, axis, coordinate) - 1; i >= 0; i--)
    out->drift[axis[i]] = v[coordinate[i]];
  size = fast;
  for (int i = 0; i < D; i++) size = hypot(size, out->drift[i]);
  if (!isfinite(size)) return cb_fail(CB_ERROR_DOMAIN, "the velocity is not finite: expected finite components");
  *speed = size;
  if (!(size > 0)) return CB_OK;
  for (int i = 0; i < D; i++) out->drift[i] /= size;
  out->rate = part.rate * fast / size;
  for (int i = 0; i < part.dim && fast > 0; i++) turned[i] /= fast;
  along = cb_origin_dot(part.dim, there.direction, turned);
  for (int i = 0; i < part.dim; i++) {
    m[i] = turned[i] - along * there.direction[i];
    across = hypot(across, m[i]);
  }
  for (int i = 0; i < part.dim && across > 0; i++) m[i] /= across;
  const double a = part.rate * there.length;
  set_foot(out, part.dim, a, there.direction, along, across, a > 0 ? log_sinh(a) + log(across) : 0, m);
  return CB_OK;
}

/* Returns the scalar product of two vectors, or 0 if it is only round-off. The component of one vector along the other
 * one may be smaller than the vector by any factor, and round-off must not be taken for such a component. */
static double product(int dim, const double *v, const double *w) {
  const double sum = cb_origin_dot(dim, v, w), size = cb_origin_dot(dim, v, v) * cb_origin_dot(dim, w, w);
  return sum * sum < 1e-30 * size ? 0 : sum;
}

/* Returns CB_ERROR_DOMAIN if coordinate i of a point has an error above 1e-9 max(1, |q|), where q is its value. The
 * point is at the distance `reach` (in radii) in the direction n, and the error comes from the round-off of n. v is the
 * coordinate vector of coordinate i. */
static cb_status check_digits(const cb_path *p, double reach, int i, const double *v, const double *n, double q) {
  static const double round_off = 1e-15, wanted = 1e-9;
  const cb_origin_part part = cb_origin_part_of(&p->space);
  const double size = sqrt(cb_origin_dot(part.dim, v, v)), along = product(part.dim, v, n) / size;
  const double change = round_off * sqrt(fmax(0, 1 - along * along)) / (part.rate * size);
  if (!(log_sinh(reach) + log(change) > log(wanted * fmax(1, fabs(q))))) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "coordinate %s of the chart %s has no correct digits at a distance of %g from the base point: "
                 "expected the chart polar, or points nearer to the base point",
                 p->chart->coordinates[i], p->chart->name, reach / part.rate);
}

/* Computes the velocity u of the coordinates. In the hyperbolic factor u has the components `radial` and `side` along
 * the vectors n and m, in the frame that the transvections T(direction, length) move to the point. In a chart with a
 * diagonal metric u follows from the coordinate vectors at the point. All components of the factor are NaN if one of
 * them cannot be computed. reach is the distance in radii of a point that is given by its direction, or 0. If it is not
 * 0, the function returns CB_ERROR_DOMAIN as check_digits does. */
static cb_status pull(const cb_path *p, double reach, const double *q, const double *n, double radial, const double *m,
                      double side, double *u) {
  /* the second scale is for coordinate vectors that overflow with the first */
  static const double scales[] = {1, 1e-300};
  const cb_space *g = &p->space;
  const cb_origin_part part = cb_origin_part_of(g);
  bool singular = false;
  for (int i = 0; i < g->dim; i++) {
    u[i] = i < part.axis || i >= part.axis + part.dim ? p->drift[i] : 0;
    for (int k = 0; k < 2 && i >= part.axis && i < part.axis + part.dim; k++) {
      cb_origin there;
      double unit[CB_Q_MAX] = {0}, v[CB_Q_MAX] = {0}, turned[D] = {0}, maximum = 0;
      unit[i] = scales[k];
      if (cb_origin_of(g, p->chart, q, unit, &there, v)) {
        u[i] = NAN;
        break;
      }
      cb_origin_turn(part.dim, there.rotation, v + part.offset, turned);
      bool finite = true;
      for (int a = 0; a < part.dim; a++) {
        maximum = fmax(maximum, fabs(turned[a]));
        finite = finite && isfinite(turned[a]);
      }
      if (!finite) continue;
      for (int a = 0; a < part.dim; a++) turned[a] /= maximum;
      const double along = radial * product(part.dim, turned, n) + side * product(part.dim, turned, m);
      u[i] = along / cb_origin_dot(part.dim, turned, turned) / maximum * scales[k];
      for (int a = 0; a < part.dim; a++) turned[a] *= maximum / scales[k];
      const cb_status status = reach > 0 && maximum > 0 ? check_digits(p, reach, i, turned, n, q[i]) : CB_OK;
      if (status) return status;
      break;
    }
    singular = singular || isnan(u[i]);
  }
  for (int i = part.axis; singular && i < part.axis + part.dim; i++) u[i] = NAN;
  return CB_OK;
}

/* Computes the coordinates at arc length s by interpolation between the two ends (the last formula at the top of this
 * file). */
static cb_status interpolate(const cb_path *p, double s, double *q) {
  const cb_space *g = &p->space;
  const double side = p->rate * p->length, part = fmin(p->rate * s, side), scale = sinh(side);
  const double from = sinh(side - part) / scale, to = sinh(part) / scale;
  const double fraction = p->length > 0 ? s / p->length : 0;
  double x[CB_COORD_MAX];
  for (int f = 0; f < g->n_factors; f++)
    for (int a = g->factor[f].offset; a < g->factor[f].offset + g->factor[f].count; a++)
      x[a] = g->factor[f].curvature < 0 ? from * p->x[a] + to * p->y[a] : p->x[a] + fraction * (p->y[a] - p->x[a]);
  cb_space_project_point(g, x);
  return p->chart->from_point(g, x, q);
}

cb_status cb_path_at(const cb_path *p, double s, double *q, double *u, double *plot) {
  const cb_space *g = &p->space;
  const cb_origin_part part = cb_origin_part_of(g);
  const double sigma = p->sigma + p->rate * s, x = tanh(p->foot), y = tanh(sigma) / cosh(p->foot), size = hypot(x, y);
  const double radial = size > 0 ? tanh(sigma) / size : 1, side = size > 0 ? x / cosh(sigma) / size : 0;
  double base[CB_Q_MAX], none[CB_Q_MAX] = {0}, rate[3], across[D] = {0};
  cb_origin there;
  cb_origin_identity(g, &there);
  if (size > 0) there.length = asinh_exp(log_cosh(p->foot) + log_cosh(sigma) + log(size)) / part.rate;
  for (int i = 0; i < part.dim; i++) {
    there.direction[i] = size > 0 ? (x * p->normal[i] + y * p->tangent[i]) / size : p->tangent[i];
    across[i] = size > 0 ? (x * p->tangent[i] - y * p->normal[i]) / size : 0;
  }
  for (int i = 0; i < D; i++) there.shift[i] = p->shift[i] + p->drift[i] * s;
  cb_space_base_point(g, base);
  cb_status status = CB_OK;
  if (s == 0)
    memcpy(q, p->start, (size_t)g->dim * sizeof *q);
  else
    status = p->ends ? interpolate(p, s, q) : cb_origin_coordinates(g, &there, base, p->chart, q);
  if (status) return status;
  const double speed = p->rate / part.rate, reach = s == 0 || p->ends ? 0 : part.rate * there.length;
  cb_origin_plot(g, &there, base, none, plot, rate);
  return pull(p, reach, q, there.direction, speed * radial, across, speed * side, u);
}
