/* SO(2,1), its part with the identity: matrices on (x, y, t) that keep x^2 + y^2 - t^2, isometries of H^2.
 *
 *   X = [[0, -w, v_x], [w, 0, v_y], [v_x, v_y, 0]],  X^3 = -n X,  n = w^2 - v_x^2 - v_y^2
 *   exp X = 1 + sin(r)/r X + (1 - cos r)/r^2 X^2,  r^2 = n (hyperbolic functions for n < 0)
 *   [a, b] = (a_y b_w - a_w b_y, a_w b_x - a_x b_w, -(a_x b_y - a_y b_x))
 * The logarithm and the projection are those of SO(3,1) with z fixed.
 */
#include "numerics/lie_so21.h"

/* sin(r)/r, r^2 = n */
static double sine(double n) {
  const double r = sqrt(fabs(n));
  return n < 0 ? (r > 0 ? sinh(r) / r : 1) : cb_lie_sinc(r);
}

void cb_lie_so21_exp(const double a[3], double g[9]) {
  const double x = a[0], y = a[1], w = a[2], v = hypot(x, y), n = (w - v) * (w + v);
  const double s = sine(n), half = sine(n / 4), c = half * half / 2;
  const double X[9] = {0, -w, x, w, 0, y, x, y, 0};
  double square[9];
  cb_lie_product(3, X, X, square);
  for (int i = 0; i < 9; i++) g[i] = (i % 4 == 0) + s * X[i] + c * square[i];
}

static const int place[3] = {0, 1, 3}; /* of (x, y, t) in (x, y, z, t) */

static void embed(const double g[9], double m[4][4]) {
  memset(m, 0, 16 * sizeof(double));
  m[2][2] = 1;
  for (int i = 0; i < 9; i++) m[place[i / 3]][place[i % 3]] = g[i];
}

cb_status cb_lie_so21_log(const double g[9], double a[3]) {
  double m[4][4], all[6];
  embed(g, m);
  const cb_status status = cb_lie_lorentz_log(m, all);
  if (status != CB_OK) return status;
  a[0] = all[3], a[1] = all[4], a[2] = all[2];
  return CB_OK;
}

void cb_lie_so21_adjoint(const double g[9], int width, double *out) {
  static const int plane[3][2] = {{2, 0}, {2, 1}, {1, 0}};
  cb_lie_form_adjoint(3, 3, plane, g, width, out);
}

void cb_lie_so21_bracket(const double a[3], const double b[3], double out[3]) {
  const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[1] * b[0] - a[0] * b[1]};
  memcpy(out, c, sizeof c);
}

void cb_lie_so21_project(double g[9]) {
  double m[4][4];
  double complex Q[4];
  embed(g, m);
  cb_lie_lorentz_to(m, Q);
  Q[1] = cb_lie_complex(0, cimag(Q[1])), Q[2] = cb_lie_complex(0, cimag(Q[2]));
  Q[0] = creal(Q[0]), Q[3] = creal(Q[3]);
  cb_lie_lorentz_from(Q, m);
  for (int i = 0; i < 9; i++) g[i] = m[place[i / 3]][place[i % 3]];
}

static void identity(const cb_group *G, double *g) {
  (void)G;
  for (int i = 0; i < 9; i++) g[i] = i % 4 == 0;
}

static void multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  double c[9];
  cb_lie_product(3, a, b, c);
  memcpy(out, c, sizeof c);
}

static void inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  cb_lie_form_inverse(3, g, out);
}

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  double g[9];
  cb_lie_so21_exp(a, g);
  memcpy(out, g, sizeof g);
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  return cb_lie_so21_log(g, out);
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  cb_lie_so21_adjoint(g, 3, out);
}

static void bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  cb_lie_so21_bracket(a, b, out);
}

static void project(const cb_group *G, double *g) {
  (void)G;
  cb_lie_so21_project(g);
}

static int matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  memcpy(out, g, 9 * sizeof *g);
  return 3;
}

const cb_group cb_group_so21 = {.name = "so21",
                                .doc = "isometries of the hyperbolic plane H^2",
                                .dim = 3,
                                .size = 9,
                                .axis = {"v_x", "v_y", "omega"},
                                .number = {"xx", "xy", "xt", "yx", "yy", "yt", "tx", "ty", "tt"},
                                .identity = identity,
                                .multiply = multiply,
                                .inverse = inverse,
                                .exp = exponential,
                                .log = logarithm,
                                .adjoint = adjoint,
                                .bracket = bracket,
                                .project = project,
                                .matrix = matrix};
