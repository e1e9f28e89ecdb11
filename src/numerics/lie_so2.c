/* SO(2): an angle, with its whole turns kept; log gives the angle nearest 0. */
#include "numerics/lie_private.h"

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  return cb_lie_nearest_angle(g[0], out);
}

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
                               .identity = cb_lie_vector_identity,
                               .multiply = cb_lie_vector_multiply,
                               .inverse = cb_lie_vector_inverse,
                               .exp = cb_lie_vector_exp,
                               .log = logarithm,
                               .adjoint = cb_lie_vector_adjoint,
                               .bracket = cb_lie_vector_bracket,
                               .project = cb_lie_vector_project,
                               .matrix = matrix};
