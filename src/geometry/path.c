/* A geodesic of H^n by the point of it that is nearest to the base point, its foot. With c the distance of the foot, f
 * the direction to it, t the unit tangent there, and sigma the arc length from it, in radii of curvature:
 *
 *   x = cosh(sigma) (f sinh c, cosh c) + sinh(sigma) (t, 0)
 *   sinh a = cosh c cosh(sigma) D,   D n = f tanh c + t tanh(sigma)/cosh c,  |n| = 1     at distance a in direction n
 *   x' = a' (radial) + m (tanh c/cosh(sigma))/D,  a' = tanh(sigma)/D,  D m = -f tanh(sigma)/cosh c + t tanh c
 *
 * From a point at (a, n) with the velocity n cos(psi) + m sin(psi), by the right-angled triangle of base point, foot
 * and point:  sinh c = sinh a sin(psi),  tanh(sigma) = tanh a cos(psi),  cosh c sinh(sigma) = sinh a cos(psi).
 * psi and the length between two points are those of cb_origin_third_side. All are sums of terms of one sign or
 * quotients, and numbers of size exp(a) occur by their logarithms: digits are lost at no distance. A direction n has
 * round-off in its components, which moves a point by eps sinh(a). Numbers of the polar chart and of the ball say no
 * more; those of translations may, and there, between two points x and y at distance d (radii), where they are finite,
 *   sinh(d) x(s) = sinh(d - s) x + sinh(s) y
 * has the relative accuracy of each component.
 * Source: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006), sections 3.2 and 3.5,
 * doi:10.1007/978-0-387-47322-2.
 */
#include "geometry/path.h"

#include "geometry/origin_private.h"
#include <string.h>

enum { D = CB_DIM_MAX };

/* log sinh and log cosh, and the inverses of asinh(exp(y)). */
static double log_sinh(double x) { return x < 1 ? log(sinh(x)) : x + log1p(-exp(-2 * x)) - M_LN2; }
static double log_cosh(double x) { return fabs(x) + log1p(exp(-2 * fabs(x))) - M_LN2; }
static double asinh_exp(double y) { return y < 300 ? asinh(exp(y)) : y + M_LN2; }

bool cb_path_knows(const cb_geometry *g) {
  cb_geometry plain = *g;
  plain.chart = NULL;
  return cb_origin_grows(&plain);
}

static void begin(const cb_geometry *g, const cb_chart *chart, const double *q, cb_path *out) {
  *out = (cb_path){.space = *g, .chart = chart, .length = 1};
  out->space.chart = NULL;
  out->space.k = g->embedding;
  memcpy(out->start, q, (size_t)g->dim * sizeof *q);
}

/* Foot, tangent and sigma from the point at the distance a (radii) in direction n, with the cosine and sine of the
 * angle psi between n and the velocity, log(sinh a sin(psi)), and the unit vector m across n on the velocity's side
 * (0: none). */
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

cb_status cb_path_between(const cb_geometry *g, const cb_chart *chart, const double *q1, const double *q2,
                          cb_path *out) {
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
  if (!isfinite(out->length)) return cb_fail(CB_ERROR_DOMAIN, "a geodesic that is not finite");
  out->rate = out->length > 0 ? side / out->length : 0;
  out->ends = side > 0 && side < 700 && chart->to_point(&out->space, q1, out->x, NULL) == CB_OK &&
              chart->to_point(&out->space, q2, out->y, NULL) == CB_OK;
  for (int i = 0; i < D; i++) out->drift[i] = out->length > 0 ? out->drift[i] / out->length : 0;
  return CB_OK;
}

cb_status cb_path_from(const cb_geometry *g, const cb_chart *chart, const double *q, const double *u, cb_path *out,
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
  if (!isfinite(size)) return cb_fail(CB_ERROR_DOMAIN, "a velocity that is not finite");
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

/* Product of two vectors, 0 where it is no more than their round-off: components along a direction that a coordinate
 * is at right angles to are larger than those across it by any factor. */
static double product(int dim, const double *v, const double *w) {
  const double sum = cb_origin_dot(dim, v, w), size = cb_origin_dot(dim, v, v) * cb_origin_dot(dim, w, w);
  return sum * sum < 1e-30 * size ? 0 : sum;
}

/* CB_ERROR_DOMAIN where the round-off of the direction n at the distance `reach` (radii) moves a coordinate, whose
 * vector is v, too far. */
static cb_status check_digits(const cb_path *p, double reach, int i, const double *v, const double *n, double q) {
  static const double round_off = 1e-15, wanted = 1e-9;
  const cb_origin_part part = cb_origin_part_of(&p->space);
  const double size = sqrt(cb_origin_dot(part.dim, v, v)), along = product(part.dim, v, n) / size;
  const double change = round_off * sqrt(fmax(0, 1 - along * along)) / (part.rate * size);
  if (!(log_sinh(reach) + log(change) > log(wanted * fmax(1, fabs(q))))) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "coordinate %s of the chart %s is not known %g from the base point: expected the chart polar, or "
                 "points nearer to the base point",
                 p->chart->coordinates[i], p->chart->name, reach / part.rate);
}

/* Velocity of the coordinates from the vectors n and m of the hyperbolic factor, that many times, in the frame that
 * T(direction, length) takes there: in a chart with a diagonal metric, by the vectors of the coordinates there. reach: of
 * a point that the direction tells, in radii, or 0. */
static cb_status pull(const cb_path *p, double reach, const double *q, const double *n, double radial, const double *m,
                      double side, double *u) {
  static const double scales[] = {1, 1e-300}; /* the second where the first overflows */
  const cb_geometry *g = &p->space;
  const cb_origin_part part = cb_origin_part_of(g);
  bool singular = false;
  for (int i = 0; i < g->dim; i++) {
    u[i] = i < part.axis || i >= part.axis + part.dim ? p->drift[i] : 0;
    for (int k = 0; k < 2 && i >= part.axis && i < part.axis + part.dim; k++) {
      cb_origin there;
      double unit[CB_Q_MAX] = {0}, v[CB_Q_MAX] = {0}, turned[D] = {0}, most = 0;
      unit[i] = scales[k];
      if (cb_origin_of(g, p->chart, q, unit, &there, v)) {
        u[i] = NAN;
        break;
      }
      cb_origin_turn(part.dim, there.rotation, v + part.offset, turned);
      bool finite = true;
      for (int a = 0; a < part.dim; a++) {
        most = fmax(most, fabs(turned[a]));
        finite = finite && isfinite(turned[a]);
      }
      if (!finite) continue;
      for (int a = 0; a < part.dim; a++) turned[a] /= most;
      const double along = radial * product(part.dim, turned, n) + side * product(part.dim, turned, m);
      u[i] = along / cb_origin_dot(part.dim, turned, turned) / most * scales[k];
      for (int a = 0; a < part.dim; a++) turned[a] *= most / scales[k];
      const cb_status status = reach > 0 && most > 0 ? check_digits(p, reach, i, turned, n, q[i]) : CB_OK;
      if (status) return status;
      break;
    }
    singular = singular || isnan(u[i]);
  }
  for (int i = part.axis; singular && i < part.axis + part.dim; i++) u[i] = NAN;
  return CB_OK;
}

/* Coordinates by the ends. */
static cb_status interpolate(const cb_path *p, double s, double *q) {
  const cb_geometry *g = &p->space;
  const double side = p->rate * p->length, part = fmin(p->rate * s, side), scale = sinh(side);
  const double from = sinh(side - part) / scale, to = sinh(part) / scale;
  const double fraction = p->length > 0 ? s / p->length : 0;
  double x[CB_COORD_MAX];
  for (int f = 0; f < g->n_factors; f++)
    for (int a = g->factor[f].offset; a < g->factor[f].offset + g->factor[f].count; a++)
      x[a] = g->factor[f].curvature < 0 ? from * p->x[a] + to * p->y[a] : p->x[a] + fraction * (p->y[a] - p->x[a]);
  cb_geometry_project_point(g, x);
  return p->chart->from_point(g, x, q);
}

cb_status cb_path_at(const cb_path *p, double s, double *q, double *u, double *picture) {
  const cb_geometry *g = &p->space;
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
  cb_geometry_base_point(g, base);
  cb_status status = CB_OK;
  if (s == 0)
    memcpy(q, p->start, (size_t)g->dim * sizeof *q);
  else
    status = p->ends ? interpolate(p, s, q) : cb_origin_coordinates(g, &there, base, p->chart, q);
  if (status) return status;
  const double speed = p->rate / part.rate, reach = s == 0 || p->ends ? 0 : part.rate * there.length;
  cb_origin_picture(g, &there, base, none, picture, rate);
  return pull(p, reach, q, there.direction, speed * radial, across, speed * side, u);
}
