/* SO(3): unit quaternions (w, x, y, z), rotations of space and isometries of S^2; q and -q are one rotation.
 *
 *   exp(a) = (cos(|a|/2), sin(|a|/2) a/|a|)     [a, b] = a × b     Ad_q = R(q)
 */
#include "numerics/lie_private.h"
#include "numerics/vec3.h"

void cb_lie_quaternion_rotation(const double q[4], double r[3][3]) {
  const double *u = q + 1;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r[i][j] = 2 * u[i] * u[j];
  /* 1 - 2 (y^2 + z^2) and not w^2 + x^2 - y^2 - z^2: small turns keep all their digits */
  r[0][0] = 1 - 2 * (u[1] * u[1] + u[2] * u[2]);
  r[1][1] = 1 - 2 * (u[0] * u[0] + u[2] * u[2]);
  r[2][2] = 1 - 2 * (u[0] * u[0] + u[1] * u[1]);
  cb_add_hat3(r, 2 * q[0], u);
}

static void identity(const cb_group *G, double *g) { (void)G, g[0] = 1, g[1] = g[2] = g[3] = 0; }

static void multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  cb_lie_quaternion_multiply(a, b, out);
}

static void inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  cb_lie_quaternion_inverse(g, out);
}

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  cb_lie_quaternion_exp(a, out);
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  if (!(fabs(g[0]) > CB_LIE_HALF_TURN)) return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a half turn is not unique");
  const double sign = g[0] < 0 ? -1 : 1, q[4] = {sign * g[0], sign * g[1], sign * g[2], sign * g[3]};
  cb_lie_quaternion_log(q, out);
  return CB_OK;
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  double r[3][3];
  cb_lie_quaternion_rotation(g, r);
  memcpy(out, r, sizeof r);
}

static void bracket(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  double c[3];
  cb_cross3(a, b, c);
  memcpy(out, c, sizeof c);
}

static void project(const cb_group *G, double *g) {
  (void)G;
  cb_lie_quaternion_project(g);
}

static int matrix(const cb_group *G, const double *g, double *out) {
  adjoint(G, g, out);
  return 3;
}

const cb_group cb_group_so3 = {.name = "so3",
                               .doc = "rotations of space, isometries of the sphere S^2",
                               .dim = 3,
                               .size = 4,
                               .axis = {"omega_x", "omega_y", "omega_z"},
                               .number = {"q_w", "q_x", "q_y", "q_z"},
                               .identity = identity,
                               .multiply = multiply,
                               .inverse = inverse,
                               .exp = exponential,
                               .log = logarithm,
                               .adjoint = adjoint,
                               .bracket = bracket,
                               .project = project,
                               .matrix = matrix};
