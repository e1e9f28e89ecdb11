/* The slice t = constant of the Schwarzschild solution of mass M (a length, G = c = 1) in isotropic coordinates:
 *
 *   g = psi^4 1,   psi = 1 + M/(2 rho),   rho^2 = x^2 + y^2 + z^2,   areal radius R = rho psi^2
 *
 * where 1 is the unit matrix. The space is the part outside the throat, rho > M/2 (R > 2M). The throat is a minimal
 * sphere where the coordinates are regular. The sectional curvature is -M/R^3 for planes that contain the radius and
 * 2M/R^3 for planes normal to it; the scalar curvature is 0. A geodesic is the path of a body in this space, not in
 * spacetime. The isometries are the rotations and reflections about the centre.
 *
 * The shortest geodesic between two points lies in their plane through the centre. Set rho = (M/2) e^(2 eta), so that R
 * = 2M cosh^2 eta. Clairaut's constant is b = 2M beta = R sin(chi), chi is the angle with the radius, phi the angle
 * about the centre and s the arc length. t is a parameter in place of eta:
 *
 *   dphi/deta = 2b/sqrt(R^2 - b^2),   ds/deta = 2R^2/sqrt(R^2 - b^2)
 *   beta > 1, turning at R = b:  sinh eta = sqrt(beta - 1) cosh t;   beta < 1:  sinh eta = sqrt(1 - beta) sinh t
 *   dphi/dt = 2 beta/(C sqrt(C^2 + beta)),   ds/dt = 4M C^3/sqrt(C^2 + beta),   C = cosh eta
 *
 * If eta goes directly from one point to the other, the angle grows with beta. If eta has a turning point on the way,
 * the angle grows without bound as beta decreases towards 1. So there is one geodesic for each angle below pi. The
 * curvature of the plane is negative, so that it contains no other geodesic, and the way around the other side is
 * longer.
 * Source: Misner, Thorne & Wheeler, Gravitation (1973), eq. 31.22; Wald, General Relativity (1984), section 6.
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"
#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct schwarzschild_params {
  double mass;
} schwarzschild_params;

static const cb_param params[] = {
    {"mass", CB_PARAM_REAL, offsetof(schwarzschild_params, mass), "1", "length", "> 0", NULL,
     "M, half the radius of the horizon"},
    {0},
};

typedef struct slice {
  struct cb_intrinsic intrinsic; /* the first member; g->intrinsic points to it */
  double mass;
} slice;

static cb_status inside(const cb_space *g, const double *q) {
  const slice *own = g->data;
  const double rho = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  if (rho > own->mass / 2) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "point (%.6g, %.6g, %.6g), rho = %.6g: expected rho > M/2 = %.6g, outside the throat",
                 q[0], q[1], q[2], rho, own->mass / 2);
}

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  const cb_status status = inside(g, q);
  if (status) return status;
  const slice *own = g->data;
  /* psi and its derivatives with respect to s = rho^2 */
  const double s = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], half = own->mass / (2 * sqrt(s));
  const double psi = 1 + half, psi1 = -half / (2 * s), psi2 = 0.75 * half / (s * s);
  const double square = psi * psi, cube = square * psi;
  cb_metric_conformal(cb_metric_begin(g->dim, gij, dg, ddg), q, square * square, 4 * cube * psi1,
                      12 * square * psi1 * psi1 + 4 * cube * psi2);
  return CB_OK;
}

/* --- the shortest geodesic --- */

/* Returns the parameter t of the comment at the top of this file, at sinh(eta) = s; excess is beta - 1. */
static double time_at(double excess, double s) {
  const double scale = sqrt(fabs(excess));
  return excess > 0 ? acosh(fmax(1, s / scale)) : asinh(s / scale);
}

/* Adds to *angle and *length the angle and length/4M from t0 to t1, with excess = beta - 1, by Gauss's rule of 8 points
 * on panels of at most half a unit. The error is below round-off, because the singularities of the integrands are pi/2
 * away from the real axis. */
static void integrate(double beta, double excess, double t0, double t1, double *angle, double *length) {
  static const double node[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static const double weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  const int panels = (int)ceil(2 * fabs(t1 - t0)) + 1;
  const double half = (t1 - t0) / panels / 2;
  for (int p = 0; p < panels; p++)
    for (int k = 0; k < 8; k++) {
      const double t = t0 + half * (2 * p + 1 + (k < 4 ? node[k] : -node[k - 4]));
      const double s = excess > 0 ? cosh(t) : sinh(t), square = 1 + fabs(excess) * s * s, root = sqrt(square + beta);
      *angle += half * weight[k % 4] * 2 * beta / (sqrt(square) * root);
      *length += half * weight[k % 4] * square * sqrt(square) / root;
    }
}

/* Computes the angle and length/4M of the geodesic from sinh(eta) = high to low <= high. `turns` means that the
 * geodesic passes its turning point.
 */
static void sweep(double excess, bool turns, double high, double low, double *angle, double *length) {
  const double beta = 1 + excess, far = time_at(excess, high), near = time_at(excess, low);
  *angle = *length = 0;
  integrate(beta, excess, turns ? 0 : near, far, angle, length);
  if (turns) integrate(beta, excess, 0, near, angle, length);
}

/* Returns beta - 1 of the geodesic that sweeps this angle, by bisection and secants. Sets *turns to whether the
 * geodesic has a turning point. Without a turning point the angle grows with beta. With a turning point the angle grows
 * with x, the change of t from the turning point to the inner end. */
static double excess_of(double wanted, double high, double low, bool *turns) {
  double angle, length, a, b, fa, fb;
  sweep(low * low, false, high, low, &angle, &length);
  *turns = wanted > angle;
  a = *turns ? 0 : -1;
  b = *turns ? 1 : low * low;
  fa = *turns ? angle - wanted : -wanted;
  for (fb = angle - wanted; *turns && fb < 0; b *= 2) {
    sweep(low * low / cosh(b) / cosh(b), true, high, low, &angle, &length);
    fb = angle - wanted;
    if (fb >= 0) break;
  }
  for (int i = 0; i < 200 && fabs(b - a) > 2e-16 * fmax(fabs(a), fabs(b)); i++) {
    double x = i % 3 == 2 ? (a + b) / 2 : a - fa * (b - a) / (fb - fa);
    if (!(x > a && x < b)) x = (a + b) / 2;
    if (x == a || x == b) break;
    const double excess = *turns ? low * low / cosh(x) / cosh(x) : x;
    sweep(excess, *turns, high, low, &angle, &length);
    if (angle < wanted) {
      a = x;
      fa = angle - wanted;
    } else {
      b = x;
      fb = angle - wanted;
    }
  }
  const double x = fabs(fa) < fabs(fb) ? a : b;
  return *turns ? low * low / cosh(x) / cosh(x) : x;
}

/* Computes the velocity u at p of the shortest geodesic to q. The integrals give a guess for Newton's method; if this
 * method fails, the guess is the result. */
static cb_status logarithm(const cb_space *g, const double *p, const double *q, double *u) {
  const slice *own = g->data;
  const double rho = sqrt(cb_dot3(p, p)), end = sqrt(cb_dot3(q, q));
  double across[3], cross[3], direction[3];
  cb_status status = inside(g, p);
  if (!status) status = inside(g, q);
  if (status) return status;
  cb_cross3(p, q, cross);
  cb_cross3(cross, p, across); /* orthogonal to p even for a small angle, unlike q minus its part along p */
  const double along = cb_dot3(p, q) / rho, area = sqrt(cb_dot3(cross, cross)), angle = atan2(area, cb_dot3(p, q));
  const double side = area > 2 * DBL_EPSILON * rho * end ? sqrt(cb_dot3(across, across)) : 0;
  const double mine = sinh(log(2 * rho / own->mass) / 2), other = sinh(log(2 * end / own->mass) / 2);
  bool turns = false;
  double swept, length, excess = -1;
  if (side > 0 || along < 0) excess = excess_of(angle, fmax(mine, other), fmin(mine, other), &turns);
  sweep(excess, turns, fmax(mine, other), fmin(mine, other), &swept, &length);
  length *= 4 * own->mass;
  if (side == 0 && along < 0)
    return cb_fail(CB_ERROR_DOMAIN,
                   "from (%g, %g, %g) to (%g, %g, %g) there is more than one shortest geodesic (length %.12g): "
                   "expected points closer to each other",
                   p[0], p[1], p[2], q[0], q[1], q[2], length);
  /* sin(chi) = b/R, cos(chi) = sqrt((R - b)(R + b))/R */
  const double square = 1 + mine * mine, sine = (1 + excess) / square;
  const double cosine = sqrt(fmax(0, mine * mine - excess) * (square + 1 + excess)) / square;
  const double psi = 1 + own->mass / (2 * rho), speed = length / (psi * psi);
  const bool inwards = turns || other < mine;
  for (int i = 0; i < 3; i++) {
    direction[i] = (inwards ? -cosine : cosine) * p[i] / rho + (side > 0 ? sine * across[i] / side : 0);
    u[i] = speed * direction[i];
  }
  double finer[3] = {u[0], u[1], u[2]};
  if (cb_numeric_log(g, p, q, true, finer, NULL) != CB_OK) return CB_OK;
  for (int i = 0; i < 3; i++) u[i] = finer[i];
  return CB_OK;
}

static const cb_chart chart = {
    .name = "isotropic",
    .doc = "isotropic Cartesian coordinates, outside the throat rho = M/2",
    .coordinates = {"x", "y", "z"},
    .metric = metric,
};

static cb_status init(cb_space *g, const void *p) {
  const schwarzschild_params *given = p;
  slice *own = g->data = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a Schwarzschild slice");
  own->mass = given->mass;
  own->intrinsic = (struct cb_intrinsic){.log = logarithm,
                                         .killing_names = cb_rotation_names,
                                         .killing = cb_rotation_field,
                                         .inside = inside,
                                         .base = {5 * given->mass, 0, 0}};
  return cb_space_init_intrinsic(g, 3, &chart, &own->intrinsic);
}

const cb_space_class cb_space_schwarzschild = {
    .name = "schwarzschild",
    .title = "spatial slice of Schwarzschild's solution",
    .doc =
        "metric (1 + M/(2 rho))^4 (dx^2 + dy^2 + dz^2), rho^2 = x^2 + y^2 + z^2, outside the throat rho = M/2; "
        "distances "
        "from integrated geodesics",
    .params = params,
    .params_size = sizeof(schwarzschild_params),
    .init = init,
};
