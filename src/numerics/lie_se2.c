/* SE(2): (x, y, theta), motions of the plane; theta keeps its whole turns.
 *
 *   (p, theta)(p', theta') = (p + R(theta) p', theta + theta')     [a, b] = (a_y b_w - a_w b_y, a_w b_x - a_x b_w, 0)
 *   exp(v, w) = (V v, w),  V = [[s, -c], [c, s]],  s = sin w/w, c = (1 - cos w)/w
 *   V^-1 = [[g, w/2], [-w/2, g]],  g = (w/2) cot(w/2)
 */
#include "numerics/lie_private.h"

static void multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c = cos(a[2]), s = sin(a[2]), x = b[0], y = b[1];
  const double product[3] = {a[0] + c * x - s * y, a[1] + s * x + c * y, a[2] + b[2]};
  memcpy(out, product, sizeof product);
}

static void inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), x = g[0], y = g[1];
  out[0] = -c * x - s * y;
  out[1] = s * x - c * y;
  out[2] = -g[2];
}

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  const double w = a[2], half = cb_sinc(w / 2), s = cb_sinc(w), c = w / 2 * half * half, x = a[0], y = a[1];
  out[0] = s * x - c * y;
  out[1] = c * x + s * y;
  out[2] = w;
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  double w = 0;
  const cb_status status = cb_lie_nearest_angle(g[2], &w);
  if (status != CB_OK) return status;
  const double half = w / 2, turned = half != 0 ? half / tan(half) : 1, x = g[0], y = g[1];
  out[0] = turned * x + half * y;
  out[1] = turned * y - half * x;
  out[2] = w;
  return CB_OK;
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), m[9] = {c, -s, g[1], s, c, -g[0], 0, 0, 1};
  memcpy(out, m, sizeof m);
}

static int matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), m[9] = {c, -s, g[0], s, c, g[1], 0, 0, 1};
  memcpy(out, m, sizeof m);
  return 3;
}

const cb_group cb_group_se2 = {.name = "se2",
                               .doc = "motions of the Euclidean plane",
                               .dim = 3,
                               .size = 3,
                               .axis = {"v_x", "v_y", "omega"},
                               .number = {"x", "y", "theta"},
                               .identity = cb_lie_vector_identity,
                               .multiply = multiply,
                               .inverse = inverse,
                               .exp = exponential,
                               .log = logarithm,
                               .adjoint = adjoint,
                               .bracket = cb_lie_plane_bracket,
                               .project = cb_lie_vector_project,
                               .matrix = matrix};
