/* SO(3): unit quaternions (w, x, y, z), rotations of space and isometries of S^2; q and -q are one rotation.
 *
 *   exp(a) = (cos(|a|/2), sin(|a|/2) a/|a|)     [a, b] = a × b     Ad_q = R(q)
 */
#include "numerics/lie_private.h"

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  cb_quaternion_exp(a, out);
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  if (!(fabs(g[0]) > CB_LIE_HALF_TURN)) return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a half turn is not unique");
  const double sign = g[0] < 0 ? -1 : 1, q[4] = {sign * g[0], sign * g[1], sign * g[2], sign * g[3]};
  cb_quaternion_log(q, out);
  return CB_OK;
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  double r[3][3];
  cb_quaternion_rotation(g, r);
  memcpy(out, r, sizeof r);
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
                               .bracket = cb_lie_plane_bracket,
                               CB_LIE_UNITS,
                               .K = 1};
