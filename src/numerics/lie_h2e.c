/* SO(2,1) x R: a matrix on (x, y, t) and a height, isometries of H^2 x E; algebra (v_x, v_y, omega, v_z). The matrix is
 * blockwise: that of so21 and [[1, z], [0, 1]]. */
#include "numerics/lie_so21.h"

static void identity(const cb_group *G, double *g) {
  (void)G;
  for (int i = 0; i < 9; i++) g[i] = i % 4 == 0;
  g[9] = 0;
}

static void multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  double c[9];
  cb_lie_product(3, a, b, c);
  out[9] = a[9] + b[9];
  memcpy(out, c, sizeof c);
}

static void inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  cb_lie_form_inverse(3, g, out);
  out[9] = -g[9];
}

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  double g[9];
  cb_lie_so21_exp(a, g);
  out[9] = a[3];
  memcpy(out, g, sizeof g);
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double height = g[9];
  const cb_status status = cb_lie_so21_log(g, out);
  if (status != CB_OK) return status;
  out[3] = height;
  return CB_OK;
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  double m[9];
  memcpy(m, g, sizeof m);
  for (int i = 0; i < 4; i++) out[4 * i + 3] = out[12 + i] = 0;
  out[15] = 1;
  cb_lie_so21_adjoint(m, 4, out);
}

static void bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  cb_lie_so21_bracket(a, b, out);
  out[3] = 0;
}

static void project(const cb_group *G, double *g) {
  (void)G;
  cb_lie_so21_project(g);
}

static int matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  memset(out, 0, 25 * sizeof *out);
  for (int i = 0; i < 9; i++) out[i / 3 * 5 + i % 3] = g[i];
  out[18] = out[24] = 1;
  out[19] = g[9];
  return 5;
}

const cb_group cb_group_h2e = {.name = "h2e",
                               .doc = "isometries of H^2 x E",
                               .dim = 4,
                               .size = 10,
                               .axis = {"v_x", "v_y", "omega", "v_z"},
                               .number = {"xx", "xy", "xt", "yx", "yy", "yt", "tx", "ty", "tt", "z"},
                               .identity = identity,
                               .multiply = multiply,
                               .inverse = inverse,
                               .exp = exponential,
                               .log = logarithm,
                               .adjoint = adjoint,
                               .bracket = bracket,
                               .project = project,
                               .matrix = matrix};
