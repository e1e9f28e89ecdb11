/* The groups R^n, SO(2), the Heisenberg group and SE(2). The numbers of a product are sums of the numbers of its
 * factors. The Heisenberg group adds a correction to one sum. In SE(2) the angle of the first factor rotates the
 * position of the second one before the sum. */
#include "numerics/lie_private.h"

/* --- R^n, n = 1 to 12: translations; up to n = 4 the matrix of x is [[I, x], [0, 1]] with the unit matrix I --- */
static int rn_matrix(const cb_group *G, const double *g, double *out) {
  const int n = G->dim + 1;
  if (n > 5) return 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = i == j ? 1 : j == n - 1 ? g[i] : 0;
  return n;
}

#define COORDINATES \
  { "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12" }
#define TRANSLATIONS(n)                                                                                              \
  {                                                                                                                  \
    .name = "r" #n, .doc = "translations of R^" #n, .dim = n, .size = n, .axis = COORDINATES, .number = COORDINATES, \
    .abelian = true, CB_LIE_VECTORS, .multiply = cb_lie_vector_multiply, .adjoint = cb_lie_vector_adjoint,           \
    .bracket = cb_lie_vector_bracket, .matrix = rn_matrix                                                            \
  }

const cb_group cb_group_rn_table[CB_GROUP_DIM] = {
    TRANSLATIONS(1), TRANSLATIONS(2), TRANSLATIONS(3), TRANSLATIONS(4),  TRANSLATIONS(5),  TRANSLATIONS(6),
    TRANSLATIONS(7), TRANSLATIONS(8), TRANSLATIONS(9), TRANSLATIONS(10), TRANSLATIONS(11), TRANSLATIONS(12)};

cb_group cb_group_rn(int n) { return n >= 1 && n <= CB_GROUP_DIM ? cb_group_rn_table[n - 1] : (cb_group){0}; }

/* --- SO(2): an angle that is not reduced modulo 2 pi; its logarithm is equal to it modulo 2 pi and nearest 0 --- */

static cb_status so2_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  return cb_lie_nearest_angle(g[0], out);
}

static int so2_matrix(const cb_group *G, const double *g, double *out) {
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
                               .angle = 1,
                               .identity = cb_lie_vector_identity,
                               .multiply = cb_lie_vector_multiply,
                               .inverse = cb_lie_vector_inverse,
                               .exp = cb_lie_vector_exp,
                               .log = so2_logarithm,
                               .adjoint = cb_lie_vector_adjoint,
                               .bracket = cb_lie_vector_bracket,
                               .project = cb_lie_vector_project,
                               .matrix = so2_matrix};

/* --- the Heisenberg group in exponential coordinates, where exp and log do not change the numbers ---
 *
 *   (x, y, z)(x', y', z') = (x + x', y + y', z + z' + (x y' - y x')/2)     [a, b] = (0, 0, a_x b_y - a_y b_x)
 *   matrix [[1, x, z + x y/2], [0, 1, y], [0, 0, 1]]
 * [a, b] is the bracket of the elements a and b of the algebra.
 */

static void heisenberg_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c[3] = {a[0] + b[0], a[1] + b[1], a[2] + b[2] + (a[0] * b[1] - a[1] * b[0]) / 2};
  memcpy(out, c, sizeof c);
}

static void heisenberg_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double m[9] = {1, 0, 0, 0, 1, 0, -g[1], g[0], 1};
  memcpy(out, m, sizeof m);
}

static void heisenberg_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c[3] = {0, 0, a[0] * b[1] - a[1] * b[0]};
  memcpy(out, c, sizeof c);
}

static int heisenberg_matrix(const cb_group *G, const double *g, double *out) {
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
                                      .multiply = heisenberg_multiply,
                                      .adjoint = heisenberg_adjoint,
                                      .bracket = heisenberg_bracket,
                                      .matrix = heisenberg_matrix};

/* --- SE(2): (x, y, theta), motions of the plane; theta is not reduced modulo 2 pi ---
 *
 *   (p, theta)(p', theta') = (p + R(theta) p', theta + theta')     [a, b] = (a_y b_w - a_w b_y, a_w b_x - a_x b_w, 0)
 *   exp(v, w) = (V v, w),  V = [[s, -c], [c, s]],  s = sin w/w, c = (1 - cos w)/w
 *   V^-1 = [[g, w/2], [-w/2, g]],  g = (w/2) cot(w/2)
 * p = (x, y) is the position, and R a rotation of the plane. V and V^-1 are 2 x 2 matrices. [a, b] is the bracket of
 * the elements a = (a_x, a_y, a_w) = (v, w) and b of the algebra.
 */

static void se2_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  const double c = cos(a[2]), s = sin(a[2]), x = b[0], y = b[1];
  const double product[3] = {a[0] + c * x - s * y, a[1] + s * x + c * y, a[2] + b[2]};
  memcpy(out, product, sizeof product);
}

static void se2_inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), x = g[0], y = g[1];
  out[0] = -c * x - s * y;
  out[1] = s * x - c * y;
  out[2] = -g[2];
}

static void se2_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  const double w = a[2], half = cb_sinc(w / 2), s = cb_sinc(w), c = w / 2 * half * half, x = a[0], y = a[1];
  out[0] = s * x - c * y;
  out[1] = c * x + s * y;
  out[2] = w;
}

static cb_status se2_logarithm(const cb_group *G, const double *g, double *out) {
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

static void se2_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double c = cos(g[2]), s = sin(g[2]), m[9] = {c, -s, g[1], s, c, -g[0], 0, 0, 1};
  memcpy(out, m, sizeof m);
}

static int se2_matrix(const cb_group *G, const double *g, double *out) {
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
                               .angle = 3,
                               .identity = cb_lie_vector_identity,
                               .multiply = se2_multiply,
                               .inverse = se2_inverse,
                               .exp = se2_exponential,
                               .log = se2_logarithm,
                               .adjoint = se2_adjoint,
                               .bracket = cb_lie_plane_bracket,
                               .project = cb_lie_vector_project,
                               .matrix = se2_matrix};
