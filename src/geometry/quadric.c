/* Points on quadrics and vectors tangent to them, factor by factor.
 *
 *   <u,v> = sum_a form[a] u_a v_a,   <x,x> = 1/K = sign(K) R^2,   <x,v> = 0,   H^n: x_last > 0
 *
 * Projection is for round-off and starting guesses. A sphere is projected along the radius, a hyperboloid by solving
 * for the last coordinate: the radius would divide by <x,x>, a small difference of large numbers far from the base
 * point. Nor are its squares of chords differences of these: with s = |x| without the last coordinate, c = R cosh a,
 *
 *   <x-y, x-y> = 4 R^2 sinh^2((a-b)/2) + 2 (|x||y| - x.y),   sinh(a-b) = (x-y).(x+y)/(|x| c_y + |y| c_x)
 *   |x||y| - x.y = |x ^ y|^2/(|x||y| + x.y) where x.y > 0, with the products of x ^ y exact
 */
#include "geometry/intrinsic_private.h"
#include "geometry/quadric.h"
#include "numerics/dd.h"

#include <math.h>

/* acosh of the largest number whose square is finite. */
static const double largest_square = 354.8;

double cb_inner(const cb_geometry *g, const double *u, const double *v) {
  double sum = 0;
  for (int a = 0; a < g->embedding; a++) sum += g->form[a] * u[a] * v[a];
  return sum;
}

cb_status cb_geometry_check_point(const cb_geometry *g, const double *x, double tolerance) {
  if (g->intrinsic) return cb_intrinsic_check(g, x);
  for (int a = 0; a < g->embedding; a++)
    if (!isfinite(x[a]))
      return cb_fail(CB_ERROR_DOMAIN, "coordinate %d of a point of %s is not finite", a + 1, g->kind->name);
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    if (factor.curvature == 0) continue;
    const double *y = x + factor.offset;
    double last = y[factor.count - 1], square = cb_factor_inner(factor, y, y), size = 0;
    for (int a = 0; a < factor.count; a++) size += y[a] * y[a];
    if (!isfinite(size))
      return cb_fail(CB_ERROR_DOMAIN,
                     "the point is too far out for numbers of the embedding, which end %.4g from the base point of %s",
                     largest_square / sqrt(fabs(factor.curvature)), g->kind->name);
    if (!(fabs(factor.curvature * square - 1) <= tolerance * fmax(1, fabs(factor.curvature) * size)))
      return cb_fail(CB_ERROR_DOMAIN, "the point is not on %s: <x,x> = %.17g, expected %.17g", g->kind->name, square,
                     1 / factor.curvature);
    if (factor.curvature < 0 && !(last > 0))
      return cb_fail(CB_ERROR_DOMAIN, "the point is on the other sheet of %s: its last coordinate is %g, expected > 0",
                     g->kind->name, last);
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

cb_geometry cb_factor_alone(const cb_geometry *g, cb_factor f) {
  cb_geometry one = {.kind = g->kind, .dim = cb_factor_dim(f), .k = f.count, .embedding = f.count, .n_factors = 1};
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
    if (isinf(x[n])) { /* squares overflow before their root does */
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

void cb_geometry_project_point(const cb_geometry *g, double *x) {
  for (int f = 0; f < g->n_factors; f++) cb_factor_project_point(g->factor[f], x + g->factor[f].offset);
}

void cb_geometry_project_tangent(const cb_geometry *g, const double *x, double *v) {
  for (int f = 0; f < g->n_factors; f++) {
    int o = g->factor[f].offset;
    cb_factor_project_tangent(g->factor[f], x + o, v + o);
  }
}
