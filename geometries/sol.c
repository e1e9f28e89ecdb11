/* Sol, a solvable group with a left-invariant metric:
 *
 *   ds^2 = e^2z dx^2 + e^-2z dy^2 + dz^2;   (a, b, c)(x, y, z) = (a + e^-c x, b + e^c y, c + z)
 *
 * In the frame e1 = e^-z d_x, e2 = e^z d_y, e3 = d_z the sectional curvatures are K(e1, e2) = 1, K(e1, e3) = K(e2, e3)
 * = -1. The isometries are the left translations of the group, and their products with the seven rotations and
 * reflections about the origin that also keep the metric. The space is complete, and the coordinates are valid
 * everywhere.
 *
 * Planes y = constant are totally geodesic hyperbolic planes, e^2z dx^2 + dz^2, and the map that drops y does not
 * lengthen any curve. Between points of one plane the geodesic of the plane is therefore the shortest. A geodesic
 * starts at 0 with unit velocity (a, b) and reaches (x(s), z(s)) after the length s. Its end (x, z) is at the distance
 * d:
 *
 *   e^z(s) = cosh s + b sinh s,  x(s) = a sinh s e^-z(s);   sinh^2(d/2) = x^2 e^z/4 + sinh^2(z/2)
 *   a sinh d = x e^z,   b sinh d = sinh z - x^2 e^z/2
 *
 * The same holds for planes x = constant with -z in place of z. Other geodesics need elliptic functions and are
 * integrated.
 * Sources: Scott, The geometries of 3-manifolds, Bull. London Math. Soc. 15 (1983) 401, section 4,
 * doi:10.1112/blms/15.5.401; curvature: Milnor, Curvatures of left invariant metrics on Lie groups, Adv. Math. 21
 * (1976) 293, section 4, doi:10.1016/S0001-8708(76)80002-3.
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"
#include "numerics/dd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_metric_entries m = cb_metric_begin(g->dim, gij, dg, ddg);
  const double grow = exp(2 * q[2]), decay = exp(-2 * q[2]);
  cb_metric_value(m, 0, 0, grow);
  cb_metric_value(m, 1, 1, decay);
  cb_metric_value(m, 2, 2, 1);
  cb_metric_first(m, 2, 0, 0, 2 * grow);
  cb_metric_first(m, 2, 1, 1, -2 * decay);
  cb_metric_second(m, 2, 2, 0, 0, 4 * grow);
  cb_metric_second(m, 2, 2, 1, 1, 4 * decay);
  return CB_OK;
}

static const char *const names[] = {"translation_x", "translation_y", "translation_z", NULL};

static void killing(const cb_space *g, int index, const double *q, double *v) {
  (void)g;
  const double fields[][3] = {{1, 0, 0}, {0, 1, 0}, {-q[0], q[1], 1}};
  memcpy(v, fields[index], sizeof fields[index]);
}

/* Sets the matrix m = diag(e^-c, e^c, 1) of the left translation L_a q = a + m q, where c is the third number of a. low
 * (NULL: not requested): the low parts of m. */
static void translation(const cb_space *g, const double *a, double *m, double *low) {
  (void)g;
  const cb_dd shrink = cb_dd_exp(-a[2]), grow = cb_dd_exp(a[2]);
  memcpy(m, (double[9]){shrink.hi, 0, 0, 0, grow.hi, 0, 0, 0, 1}, 9 * sizeof *m);
  if (low) memcpy(low, (double[9]){[0] = shrink.lo, [4] = grow.lo}, 9 * sizeof *low);
}

/* --- geodesics in planes --- */

/* Finds the kind of plane that contains a velocity or difference v. Returns 1 for a plane y = constant, -1 for x =
 * constant, 0 for neither. */
static int plane_of(const double *v) { return v[1] == 0 ? 1 : v[0] == 0 ? -1 : 0; }

static cb_status exponential(const cb_space *g, const double *q, const double *u, double *q1, double *u1) {
  const int sign = plane_of(u), along = sign > 0 ? 0 : 1;
  if (!sign) return cb_numeric_exp(g, q, u, q1, u1, NULL);
  const double scale = exp(sign * q[2]), v = scale * u[along], w = sign * u[2], s = hypot(v, w);
  double end[3] = {q[0], q[1], q[2]}, rate[3] = {0};
  if (s > 0) {
    const double a = v / s, b = w / s, more = b < 0 ? a * a / (1 - b) : 1 + b, less = b < 0 ? 1 - b : a * a / (1 + b);
    /* grown is e^z e^-s, and slope is (e^z)' e^-s. */
    const double grown = (more + less * exp(-2 * s)) / 2, slope = (more - less * exp(-2 * s)) / 2;
    if (!(grown > 1e-280))
      return cb_fail(CB_ERROR_DOMAIN, "a geodesic of length %.6g is too long: expected a smaller velocity or step", s);
    end[along] += a * (-expm1(-2 * s) / 2) / grown / scale;
    end[2] += sign * (s + log(grown));
    rate[along] = s * a * exp(-2 * s) / (grown * grown) / scale;
    rate[2] = sign * s * slope / grown;
  }
  memcpy(q1, end, sizeof end);
  if (u1) memcpy(u1, rate, sizeof rate);
  return CB_OK;
}

/* If the points q and y lie in one plane where the first or the second coordinate is constant: computes the velocity u
 * at q of the shortest geodesic from q to y, and its length. Returns false for other points, and if a number
 * overflows. */
static bool shortest(const double *q, const double *y, double *u, double *length) {
  const double move[3] = {y[0] - q[0], y[1] - q[1], y[2] - q[2]};
  const int sign = plane_of(move), along = sign > 0 ? 0 : 1;
  if (!sign) return false;
  const double scale = exp(sign * q[2]), x = scale * move[along], z = sign * move[2], root = x * exp(z / 2);
  const double half = hypot(root / 2, sinh(z / 2)), cosine = hypot(1, half),
               d = 2 * asinh(half); /* half and cosine are sinh and cosh of d/2 */
  memset(u, 0, 3 * sizeof *u);
  *length = d;
  if (!(d > 0)) return true;
  u[along] = d * (root / half) * (exp(z / 2) / cosine / 2) / scale;
  u[2] = sign * d * (sinh(z / 2) / half * (cosh(z / 2) / cosine) - root / half / 2 * (root / cosine / 2));
  return isfinite(d) && isfinite(u[along]) && isfinite(u[2]);
}

static cb_status logarithm(const cb_space *g, const double *q, const double *y, double *u) {
  double length;
  return shortest(q, y, u, &length) ? CB_OK : cb_numeric_log(g, q, y, false, u, NULL);
}

static cb_status distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                          double *hessian) {
  double u[3];
  if (!gradient && !hessian && shortest(q1, q2, u, d)) return CB_OK;
  return cb_numeric_distance(g, q1, q2, d, gradient, hessian);
}

static const cb_chart chart = {
    .name = "solvable",
    .doc = "coordinates of the group, (a, b, c)(x, y, z) = (a + e^-c x, b + e^c y, c + z)",
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

const cb_space_class cb_space_sol = {
    .name = "sol",
    .title = "Sol",
    .doc = "solvable group, e^2z dx^2 + e^-2z dy^2 + dz^2; distances by integrated geodesics",
    .init = init,
};
