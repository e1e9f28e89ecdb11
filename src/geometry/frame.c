/* Points on quadrics and their frames: base points, frames, the transvection from the base point o = (0, ..., 0, R) to
 * x, and projections, factor by factor.
 *
 *   e_i(x) = E_i - sign(K) x_i (x + o)/(R (R + w))
 * K is the curvature, R = 1/sqrt|K|, E_i the i-th axis and w the last coordinate of x. e_i is E_i transported along the
 * geodesic from o to x; together with the last column x/R these are the columns of the transvection. On the lower half
 * of a sphere R + w is computed as |x_1..n|^2/(R - w), without cancellation.
 */
#include "geometry/numeric.h"
#include "geometry/origin.h"
#include "geometry/quadric.h"
#include "numerics/dd.h"
#include <curvebody/intrinsic.h>

#include <math.h>
#include <string.h>

static double radius(cb_factor f) { return 1 / sqrt(fabs(f.curvature)); }

void cb_space_base_point(const cb_space *g, double *x) {
  if (g->intrinsic) {
    memcpy(x, g->intrinsic->base, (size_t)g->dim * sizeof *x);
    return;
  }
  memset(x, 0, (size_t)g->embedding * sizeof *x);
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature != 0) x[g->factor[f].offset + g->factor[f].count - 1] = radius(g->factor[f]);
}

/* Computes the frame of one factor: e[i][a], i < dim, a < count. */
static void factor_frame(cb_factor f, const double *x, double e[CB_DIM_MAX][CB_COORD_MAX]) {
  int dim = cb_factor_dim(f), n = f.count - 1;
  for (int i = 0; i < dim; i++)
    for (int a = 0; a < f.count; a++) e[i][a] = a == i;
  if (f.curvature == 0) return;
  double r = radius(f), w = x[n], sum = r + w, square = 0;
  for (int a = 0; a < n; a++) square += x[a] * x[a];
  if (w < 0) sum = square / (r - w);
  if (!(sum > 0)) { /* x is the antipode of o; any orthonormal frame is correct there */
    e[0][0] = -1;
    return;
  }
  for (int i = 0; i < dim; i++) {
    double scale = (f.curvature > 0 ? -1 : 1) * x[i] / (r * sum);
    for (int a = 0; a < n; a++) e[i][a] += scale * x[a];
    e[i][n] = f.curvature > 0 ? -x[i] / r : x[i] / r;
  }
}

void cb_space_frame(const cb_space *g, const double *x, double *e) {
  if (g->intrinsic) {
    cb_intrinsic_frame(g, x, e);
    return;
  }
  double part[CB_DIM_MAX][CB_COORD_MAX];
  memset(e, 0, (size_t)(g->dim * g->embedding) * sizeof *e);
  for (int f = 0, row = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    factor_frame(factor, x + factor.offset, part);
    for (int i = 0; i < cb_factor_dim(factor); i++, row++)
      memcpy(e + row * g->embedding + factor.offset, part[i], (size_t)factor.count * sizeof *e);
  }
}

void cb_isometry_to(const cb_space *g, const double *x, cb_isometry *out) {
  double part[CB_DIM_MAX][CB_COORD_MAX];
  cb_isometry_identity(g, out);
  if (g->intrinsic) { /* the left translation of a group; other intrinsic spaces have none */
    cb_origin origin;
    cb_origin_at(g, x, &origin);
    cb_origin_isometry(g, &origin, out);
    return;
  }
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    int o = factor.offset, last = o + factor.count - 1;
    if (factor.curvature == 0) {
      memcpy(out->b + o, x + o, (size_t)factor.count * sizeof *x);
      continue;
    }
    double r = radius(factor);
    factor_frame(factor, x + o, part);
    for (int a = 0; a < factor.count; a++) {
      for (int i = 0; i < factor.count - 1; i++) out->m[o + a][o + i] = part[i][a];
      out->m[o + a][last] = x[o + a] / r;
    }
  }
}

/* --- points on quadrics and vectors tangent to them ---
 *
 *   <u,v> = sum_a form[a] u_a v_a,   <x,x> = 1/K = sign(K) R^2,   <x,v> = 0 for a tangent v,   H^n: x_last > 0
 *
 * Projection removes round-off and improves starting guesses. A point of a sphere is projected along the radius. A
 * point of a hyperboloid is projected by solving for the last coordinate. A projection along the radius would divide by
 * <x,x>, a small difference of large numbers far from the base point. For the same reason the square of a chord <x-y,
 * x-y> far from the base point is not computed as such a difference. Let |x| = R sinh a and |y| = R sinh b, both
 * without the last coordinates c_x = R cosh a and c_y = R cosh b. With the products x.y and x ^ y, also without the
 * last coordinates:
 *
 *   <x-y, x-y> = 4 R^2 sinh^2((a-b)/2) + 2 (|x||y| - x.y),   sinh(a-b) = (x-y).(x+y)/(|x| c_y + |y| c_x)
 *   |x||y| - x.y = |x ^ y|^2/(|x||y| + x.y) where x.y > 0, with the products of x ^ y exact
 */

/* A little less than the acosh of the largest number whose square is finite. This is a distance in radii. */
static const double largest_square = 354.8;

double cb_inner(const cb_space *g, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < g->embedding; a++) sum += g->form[a] * u[a] * v[a];
  return sum;
}

cb_status cb_space_check_point(const cb_space *g, const double *x, double tolerance) {
  if (g->intrinsic) return cb_intrinsic_check(g, x);
  for (int a = 0; a < g->embedding; a++)
    if (!isfinite(x[a]))
      return cb_fail(CB_ERROR_DOMAIN, "coordinate %d of a point of %s: expected a finite number", a + 1,
                     g->class_->name);
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    if (factor.curvature == 0) continue;
    const double *y = x + factor.offset;
    double last = y[factor.count - 1], square = cb_factor_inner(factor, y, y), size = 0;
    for (int a = 0; a < factor.count; a++) size += y[a] * y[a];
    if (!isfinite(size))
      return cb_fail(CB_ERROR_DOMAIN,
                     "the point is too far away for coordinates of the embedding, which overflow there: expected at "
                     "most %.4g from the base point of %s",
                     largest_square / sqrt(fabs(factor.curvature)), g->class_->name);
    if (!(fabs(factor.curvature * square - 1) <= tolerance * fmax(1, fabs(factor.curvature) * size)))
      return cb_fail(CB_ERROR_DOMAIN, "the point is not on %s: <x,x> = %.17g, expected %.17g", g->class_->name, square,
                     1 / factor.curvature);
    if (factor.curvature < 0 && !(last > 0))
      return cb_fail(CB_ERROR_DOMAIN, "the point is on the other sheet of %s: its last coordinate is %g, expected > 0",
                     g->class_->name, last);
  }
  return CB_OK;
}

cb_status cb_space_check_points(const cb_space *g, size_t n, const double *x, double tolerance, size_t *which) {
  for (*which = 0; *which < n; ++*which) {
    const cb_status status = cb_space_check_point(g, x + *which * (size_t)g->embedding, tolerance);
    if (status) return status;
  }
  return CB_OK;
}

double cb_factor_far_square(cb_factor f, const double *x, const double *y) {
  const int n = f.count - 1;
  const double R2 = -1 / f.curvature;
  double sx = 0, sy = 0, xy = 0, difference = 0, wedge = 0;
  for (int i = 0; i < n; i++) {
    sx = hypot(sx, x[i]);
    sy = hypot(sy, y[i]);
    xy += x[i] * y[i];
    difference += (x[i] - y[i]) * (x[i] + y[i]);
    for (int j = 0; j < i; j++) {
      const cb_dd left = cb_two_prod(x[i], y[j]), right = cb_two_prod(x[j], y[i]);
      const double minor = cb_dd_double(cb_dd_sub(left, right));
      wedge = hypot(wedge, minor);
    }
  }
  const double cx = sqrt(sx * sx + R2), cy = sqrt(sy * sy + R2);
  const double half = sinh(asinh(difference / (sx * cy + sy * cx)) / 2);
  const double angle = xy > 0 ? wedge * (wedge / (sx * sy + xy)) : sx * sy - xy;
  return 4 * R2 * half * half + 2 * angle;
}

cb_space cb_factor_alone(const cb_space *g, cb_factor f) {
  cb_space one = {.class_ = g->class_, .dim = cb_factor_dim(f), .k = f.count, .embedding = f.count, .n_factors = 1};
  one.factor[0] = (cb_factor){0, f.count, f.curvature};
  for (int a = 0; a < f.count; a++) one.form[a] = g->form[f.offset + a];
  return one;
}

void cb_factor_project_point(cb_factor f, double *x) {
  if (f.curvature == 0) return;
  int n = f.count - 1;
  double square = 0;
  for (int a = 0; a < n; a++) square += x[a] * x[a];
  if (f.curvature < 0) {
    x[n] = sqrt(square - 1 / f.curvature);
    if (isinf(x[n])) { /* the sum of squares overflows, but its root may be finite */
      x[n] = 0;
      for (int a = 0; a < n; a++) x[n] = hypot(x[n], x[a]);
    }
  } else {
    double scale = 1 / sqrt(f.curvature * (square + x[n] * x[n]));
    for (int a = 0; a <= n; a++) x[a] *= scale;
  }
}

void cb_factor_project_tangent(cb_factor f, const double *x, double *v) {
  if (f.curvature == 0) return;
  int n = f.count - 1;
  if (f.curvature < 0) {
    double sum = 0;
    for (int a = 0; a < n; a++) sum += x[a] * v[a];
    v[n] = sum / x[n];
  } else {
    double normal = f.curvature * cb_factor_inner(f, x, v);
    for (int a = 0; a <= n; a++) v[a] -= normal * x[a];
  }
}

void cb_space_project_point(const cb_space *g, double *x) {
  for (int f = 0; f < g->n_factors; f++) cb_factor_project_point(g->factor[f], x + g->factor[f].offset);
}

void cb_space_project_tangent(const cb_space *g, const double *x, double *v) {
  for (int f = 0; f < g->n_factors; f++) {
    int o = g->factor[f].offset;
    cb_factor_project_tangent(g->factor[f], x + o, v + o);
  }
}
