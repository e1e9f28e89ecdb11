/* Heisenberg group in exponential coordinates: exp and log are the identity of numbers.
 *
 *   (x, y, z)(x', y', z') = (x + x', y + y', z + z' + (x y' - y x')/2)     [a, b] = (0, 0, a_x b_y - a_y b_x)
 *   matrix [[1, x, z + x y/2], [0, 1, y], [0, 0, 1]]
 */
#include "numerics/lie_private.h"

static void multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c[3] = {a[0] + b[0], a[1] + b[1], a[2] + b[2] + (a[0] * b[1] - a[1] * b[0]) / 2};
  memcpy(out, c, sizeof c);
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double m[9] = {1, 0, 0, 0, 1, 0, -g[1], g[0], 1};
  memcpy(out, m, sizeof m);
}

static void bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c[3] = {0, 0, a[0] * b[1] - a[1] * b[0]};
  memcpy(out, c, sizeof c);
}

static int matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double m[9] = {1, g[0], g[2] + g[0] * g[1] / 2, 0, 1, g[1], 0, 0, 1};
  memcpy(out, m, sizeof m);
  return 3;
}

const cb_group cb_group_heisenberg = {.name = "heisenberg",
                                      .doc = "Heisenberg group, Dido's problem",
                                      .dim = 3,
                                      .size = 3,
                                      .axis = {"x", "y", "z"},
                                      .number = {"x", "y", "z"},
                                      CB_LIE_VECTORS,
                                      .multiply = multiply,
                                      .adjoint = adjoint,
                                      .bracket = bracket,
                                      .matrix = matrix};
