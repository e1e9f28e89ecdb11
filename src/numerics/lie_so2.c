/* SO(2): an angle, with its whole turns kept; log gives the angle nearest 0. */
#include "numerics/lie_private.h"

static void identity(const cb_group *G, double *g) { (void)G, g[0] = 0; }

static void multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G, out[0] = a[0] + b[0];
}

static void inverse(const cb_group *G, const double *g, double *out) { (void)G, out[0] = -g[0]; }

static void exponential(const cb_group *G, const double *a, double *out) { (void)G, out[0] = a[0]; }

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  return cb_lie_nearest_angle(g[0], out);
}

static void adjoint(const cb_group *G, const double *g, double *out) { (void)G, (void)g, out[0] = 1; }

static void bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G, (void)a, (void)b, out[0] = 0;
}

static void project(const cb_group *G, double *g) { (void)G, (void)g; }

static int matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[0]), s = sin(g[0]), m[4] = {c, -s, s, c};
  memcpy(out, m, sizeof m);
  return 2;
}

const cb_group cb_group_so2 = {.name = "so2",
                               .doc = "rotations of the plane",
                               .dim = 1,
                               .size = 1,
                               .axis = {"omega"},
                               .number = {"theta"},
                               .abelian = true,
                               .identity = identity,
                               .multiply = multiply,
                               .inverse = inverse,
                               .exp = exponential,
                               .log = logarithm,
                               .adjoint = adjoint,
                               .bracket = bracket,
                               .project = project,
                               .matrix = matrix};
