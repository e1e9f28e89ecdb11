/* SO(2,1), its part with the identity: matrices on (x, y, t) that keep x^2 + y^2 - t^2, isometries of H^2, and
 * SO(2,1) x R with a height behind the matrix and the algebra (v_x, v_y, omega, v_z), isometries of H^2 x E.
 *
 *   X = [[0, -w, v_x], [w, 0, v_y], [v_x, v_y, 0]],  X^3 = -n X,  n = w^2 - v_x^2 - v_y^2
 *   exp X = 1 + sin(r)/r X + (1 - cos r)/r^2 X^2,  r^2 = n (hyperbolic functions for n < 0)
 *   [a, b] = (a_y b_w - a_w b_y, a_w b_x - a_x b_w, -(a_x b_y - a_y b_x))
 * The logarithm and the projection are those of SO(3,1) with z fixed.
 */
#include "numerics/lie_private.h"

/* sin(r)/r, r^2 = n */
static double sine(double n) {
  const double r = sqrt(fabs(n));
  return n < 0 ? (r > 0 ? sinh(r) / r : 1) : cb_sinc(r);
}

static void exponential(const cb_group *G, const double *a, double *out) {
  const double x = a[0], y = a[1], w = a[2], v = hypot(x, y), n = (w - v) * (w + v);
  const double s = sine(n), half = sine(n / 4), c = half * half / 2;
  const double X[9] = {0, -w, x, w, 0, y, x, y, 0};
  double square[9];
  cb_lie_product(3, X, X, square);
  if (G->dim > 3) out[9] = a[3];
  for (int i = 0; i < 9; i++) out[i] = (i % 4 == 0) + s * X[i] + c * square[i];
}

static const int place[3] = {0, 1, 3}; /* of (x, y, t) in (x, y, z, t) */

static void embed(const double g[9], double m[4][4]) {
  memset(m, 0, 16 * sizeof(double));
  m[2][2] = 1;
  for (int i = 0; i < 9; i++) m[place[i / 3]][place[i % 3]] = g[i];
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  double m[4][4], all[6];
  embed(g, m);
  const cb_status status = cb_lie_lorentz_log(m, all);
  if (status != CB_OK) return status;
  const double a[4] = {all[3], all[4], all[2], G->dim > 3 ? g[9] : 0};
  memcpy(out, a, (size_t)G->dim * sizeof *a);
  return CB_OK;
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  static const int plane[3][2] = {{2, 0}, {2, 1}, {1, 0}};
  double m[9];
  memcpy(m, g, sizeof m);
  cb_lie_vector_adjoint(G, g, out); /* of a height: 1 */
  cb_lie_form_adjoint(3, 3, plane, m, G->dim, out);
}

static void project(const cb_group *G, double *g) {
  (void)G;
  double m[4][4];
  double complex Q[4];
  embed(g, m);
  cb_lie_lorentz_to(m, Q);
  Q[1] = cb_lie_complex(0, cimag(Q[1])), Q[2] = cb_lie_complex(0, cimag(Q[2]));
  Q[0] = creal(Q[0]), Q[3] = creal(Q[3]);
  cb_lie_lorentz_from(Q, m);
  for (int i = 0; i < 9; i++) g[i] = m[place[i / 3]][place[i % 3]];
}

/* For a height z with [[1, z], [0, 1]]. */
static int matrix(const cb_group *G, const double *g, double *out) {
  const int n = G->dim > 3 ? 5 : 3;
  memset(out, 0, (size_t)(n * n) * sizeof *out);
  for (int i = 0; i < 9; i++) out[i / 3 * n + i % 3] = g[i];
  if (n == 5) out[18] = out[24] = 1, out[19] = g[9];
  return n;
}

const cb_group cb_group_so21 = {.name = "so21",
                                .doc = "isometries of the hyperbolic plane H^2",
                                .dim = 3,
                                .size = 9,
                                .axis = {"v_x", "v_y", "omega"},
                                .number = {"xx", "xy", "xt", "yx", "yy", "yt", "tx", "ty", "tt"},
                                .bracket = cb_lie_plane_bracket,
                                CB_LIE_FORM};

const cb_group cb_group_h2e = {.name = "h2e",
                               .doc = "isometries of H^2 x E",
                               .dim = 4,
                               .size = 10,
                               .axis = {"v_x", "v_y", "omega", "v_z"},
                               .number = {"xx", "xy", "xt", "yx", "yy", "yt", "tx", "ty", "tt", "z"},
                               .bracket = cb_lie_plane_bracket,
                               CB_LIE_FORM};
