/* A geodesic of H^n in terms of its foot, the point that is nearest to the base point. In radii of curvature, c is the
 * distance of the foot, f the direction to the foot, t the unit tangent there, and sigma the arc length from the foot:
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
 * with the relative accuracy of each component.
 * Source: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006), sections 3.2 and 3.5,
 * doi:10.1007/978-0-387-47322-2.
 */
#include "geometry/path.h"

#include "geometry/origin.h"
#include <string.h>

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

/* Returns the scalar product of two vectors, or 0 if it is only round-off. Round-off matters here, because a vector may
 * be larger than the part of it that is used by any factor. */
static double product(int dim, const double *v, const double *w) {
  const double sum = cb_origin_dot(dim, v, w), size = cb_origin_dot(dim, v, v) * cb_origin_dot(dim, w, w);
  return sum * sum < 1e-30 * size ? 0 : sum;
}

/* Returns CB_ERROR_DOMAIN if the round-off of the direction n at the distance `reach` (radii) changes coordinate i by
 * more than 1e-9 max(1, |q|). q is the value of the coordinate, and v its coordinate vector. */
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

/* Computes the velocity u of the coordinates. In the hyperbolic factor it has the components `radial` and `side` along
 * the vectors n and m, in the frame that T(direction, length) moves to the point. In a chart with a diagonal metric it
 * follows from the coordinate vectors at the point. All components of the factor are NaN if one of them cannot be
 * computed. reach is the distance in radii of a point that is given by its direction, or 0. If it is not 0, the
 * function returns CB_ERROR_DOMAIN as check_digits does. */
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
