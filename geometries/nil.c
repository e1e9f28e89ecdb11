/* Nil, the Heisenberg group with a left-invariant metric:
 *
 *   ds^2 = dx^2 + dy^2 + (dz - x dy)^2;   (a, b, c)(x, y, z) = (a + x, b + y, c + z + a y)
 *
 * In the frame e1 = d_x, e2 = d_y + x d_z, e3 = d_z the bracket is [e1, e2] = e3. The sectional curvatures are K(e1,
 * e2) = -3/4, K(e1, e3) = K(e2, e3) = 1/4. The continuous isometries are the left translations of the group and the
 * rotations about the z axis. The space is complete, and the coordinates are valid everywhere.
 *
 * On a geodesic w = z' - x y' is constant, and (x', y') has constant length h and rotates at the rate w. From the
 * identity to time 1, with rho = |(x, y)| and zeta = z - x y/2:
 *
 *   rho = 2 (h/w) sin(w/2),  at the angle of (x', y') after half the rotation; zeta = w + h^2 (w - sin w)/(2 w^2)
 *   zeta = w + rho^2 (w - sin w)/(8 sin^2(w/2)),  which grows with w: there is one w with |w| < 2 pi for rho > 0
 *
 * A geodesic is the shortest up to |w| = 2 pi, its first conjugate point. For rho = 0 and |zeta| > 2 pi the geodesics
 * in all directions are equally short, with the length sqrt(4 pi |zeta| - 4 pi^2).
 * Geodesics: Marenich, Geodesics in Heisenberg groups, Geom. Dedicata 66 (1997) 175, doi:10.1023/A:1004916117293.
 * Sources: Scott, The geometries of 3-manifolds, Bull. London Math. Soc. 15 (1983) 401, section 4,
 * doi:10.1112/blms/15.5.401; curvature: Milnor, Curvatures of left invariant metrics on Lie groups, Adv. Math. 21
 * (1976) 293, section 4, doi:10.1016/S0001-8708(76)80002-3.
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_metric_entries m = cb_metric_begin(g->dim, gij, dg, ddg);
  const double x = q[0];
  cb_metric_value(m, 0, 0, 1);
  cb_metric_value(m, 1, 1, 1 + x * x);
  cb_metric_value(m, 1, 2, -x);
  cb_metric_value(m, 2, 2, 1);
  cb_metric_first(m, 0, 1, 1, 2 * x);
  cb_metric_first(m, 0, 1, 2, -1);
  cb_metric_second(m, 0, 0, 1, 1, 2);
  return CB_OK;
}

static const char *const names[] = {"translation_x", "translation_y", "translation_z", "rotation_z", NULL};

static void killing(const cb_space *g, int index, const double *q, double *v) {
  (void)g;
  const double x = q[0], y = q[1];
  const double fields[][3] = {{1, 0, y}, {0, 1, 0}, {0, 0, 1}, {-y, x, (x * x - y * y) / 2}};
  memcpy(v, fields[index], sizeof fields[index]);
}

/* Sets the matrix m of the left translation L_a q = a + m q. */
static void translation(const cb_space *g, const double *a, double *m, double *low) {
  (void)g;
  (void)low;
  memcpy(m, (double[9]){1, 0, 0, 0, 1, 0, 0, a[0], 1}, 9 * sizeof *m);
}

/* --- geodesics --- */

static const double pi = 3.14159265358979323846;

/* Returns w - sin w without cancellation. */
static double lag(double w) {
  if (fabs(w) > 0.5) return w - sin(w);
  double sum = 1;
  for (int k = 8; k > 0; k--) sum = 1 - w * w / ((2 * k + 2) * (2 * k + 3)) * sum;
  return w * w * w / 6 * sum;
}

static double sinc(double x) { return x == 0 ? 1 : sin(x) / x; }

static cb_status exponential(const cb_space *g, const double *q, const double *u, double *q1, double *u1) {
  (void)g;
  const double w = u[2] - q[0] * u[1], h = hypot(u[0], u[1]), angle = atan2(u[1], u[0]), chord = h * sinc(w / 2);
  const double x = chord * cos(angle + w / 2), y = chord * sin(angle + w / 2);
  const double zeta = w + (fabs(w) > 1e-100 ? h * (h * lag(w) / (2 * w * w)) : 0);
  const double end[3] = {q[0] + x, q[1] + y, q[2] + zeta + x * y / 2 + q[0] * y};
  const double rate[3] = {h * cos(angle + w), h * sin(angle + w), w + end[0] * h * sin(angle + w)};
  memcpy(q1, end, sizeof end);
  if (u1) memcpy(u1, rate, sizeof rate);
  return CB_OK;
}

/* Finds w for zeta >= 0 by bisection. Sets *rest to whether w is above pi. Returns 2 pi - w if *rest is true, otherwise
 * w. */
static double turn_of(double rho, double zeta, bool *rest) {
  double low = 0, high = pi;
  *rest = zeta > pi + rho * rho * pi / 8;
  for (int i = 0; i < 300; i++) {
    const double middle = low + (high - low) / 2, w = *rest ? 2 * pi - middle : middle, half = rho / sin(middle / 2);
    if (middle <= low || middle >= high) break;
    const double reached = w + half * (half * (*rest ? 2 * pi - lag(middle) : lag(middle)) / 8);
    *((reached < zeta) != *rest ? &low : &high) = middle;
  }
  return low;
}

/* Computes the velocity u of a shortest geodesic from q to y, and returns its length. Sets *unique to whether it is the
 * only shortest geodesic. */
static double shortest(const double *q, const double *y, double *u, bool *unique) {
  const double dx = y[0] - q[0], dy = y[1] - q[1], zeta = y[2] - q[2] - q[0] * dy - dx * dy / 2, rho = hypot(dx, dy);
  const double size = fabs(zeta);
  *unique = true;
  double w = size, h = 0;
  if (rho > 0) {
    bool rest;
    const double turn = turn_of(rho, size, &rest);
    w = rest ? 2 * pi - turn : turn;
    h = rho * (w / 2) / (w > 0 ? sin(turn / 2) : 1);
    if (!(w > 0)) h = rho;
  } else if (size > 2 * pi) {
    *unique = false;
    w = 2 * pi;
    h = 2 * sqrt(pi * (size - 2 * pi));
  }
  const double turn = copysign(w, zeta), angle = atan2(dy, dx) - turn / 2;
  u[0] = h * cos(angle);
  u[1] = h * sin(angle);
  u[2] = turn + q[0] * u[1];
  return hypot(h, w);
}

static cb_status logarithm(const cb_space *g, const double *q, const double *y, double *u) {
  (void)g;
  double way[3];
  bool unique;
  const double length = shortest(q, y, way, &unique);
  if (!unique)
    return cb_fail(CB_ERROR_DOMAIN,
                   "from (%.10g, %.10g, %.10g) to (%.10g, %.10g, %.10g) there is more than one shortest geodesic "
                   "(length %.12g): expected points closer to each other",
                   q[0], q[1], q[2], y[0], y[1], y[2], length);
  memcpy(u, way, sizeof way);
  return CB_OK;
}

static cb_status distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                          double *hessian) {
  double u[3];
  bool unique;
  if (gradient || hessian) return cb_numeric_distance(g, q1, q2, d, gradient, hessian);
  *d = shortest(q1, q2, u, &unique);
  return CB_OK;
}

static const cb_chart chart = {
    .name = "heisenberg",
    .doc = "coordinates of the Heisenberg group, (a, b, c)(x, y, z) = (a + x, b + y, c + z + a y)",
    .coordinates = {"x", "y", "z"},
    .metric = metric,
    .distance = distance,
};
static const struct cb_intrinsic intrinsic = {
    .exp = exponential, .log = logarithm, .killing_names = names, .killing = killing, .translation = translation};

static cb_status init(cb_space *g, const void *p) {
  (void)p;
  return cb_space_init_intrinsic(g, 3, &chart, &intrinsic);
}

const cb_space_class cb_space_nil = {
    .name = "nil",
    .title = "Nil",
    .doc = "Heisenberg group, dx^2 + dy^2 + (dz - x dy)^2; geodesics and distances in closed form",
    .init = init,
};
