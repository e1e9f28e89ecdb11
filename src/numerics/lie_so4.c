/* SO(4): two unit quaternions, x -> l x r^* on the quaternions, isometries of S^3; (l, r) and (-l, -r) are one element.
 *
 *   exp(omega, v) = (exp((omega + v)/2), exp((omega - v)/2)):  1 -> exp(v) for omega = 0, 1 -> 1 for v = 0
 *   log: |omega + v| + |omega - v| < 2 pi, twice the larger of the two angles of rotation: l_w + r_w > 0
 * The matrix is on (x, y, z, w).
 */
#include "numerics/lie_private.h"

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  const double left[3] = {a[0] + a[3], a[1] + a[4], a[2] + a[5]}, right[3] = {a[0] - a[3], a[1] - a[4], a[2] - a[5]};
  cb_quaternion_exp(left, out);
  cb_quaternion_exp(right, out + 4);
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double sum = g[0] + g[4];
  if (!(fabs(sum) > 2 * CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a rotation with a half turn is not unique");
  double q[8], left[3], right[3];
  for (int i = 0; i < 8; i++) q[i] = sum < 0 ? -g[i] : g[i];
  cb_quaternion_log(q, left);
  cb_quaternion_log(q + 4, right);
  for (int i = 0; i < 3; i++) {
    out[i] = (left[i] + right[i]) / 2;
    out[3 + i] = (left[i] - right[i]) / 2;
  }
  return CB_OK;
}

static void adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  double left[3][3], right[3][3];
  cb_quaternion_rotation(g, left);
  cb_quaternion_rotation(g + 4, right);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[i * 6 + j] = out[(i + 3) * 6 + j + 3] = (left[i][j] + right[i][j]) / 2;
      out[i * 6 + j + 3] = out[(i + 3) * 6 + j] = (left[i][j] - right[i][j]) / 2;
    }
}

static int matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  static const int place[4] = {3, 0, 1, 2}; /* of (w, x, y, z) in (x, y, z, w) */
  double right[4];
  cb_quaternion_inverse(g + 4, right);
  for (int j = 0; j < 4; j++) {
    double x[4] = {0};
    x[j] = 1;
    cb_quaternion_multiply(g, x, x);
    cb_quaternion_multiply(x, right, x);
    for (int i = 0; i < 4; i++) out[4 * place[i] + place[j]] = x[i];
  }
  return 4;
}

const cb_group cb_group_so4 = {.name = "so4",
                               .doc = "rotations of four dimensions, isometries of S^3",
                               .size = 8,
                               CB_LIE_PAIRS,
                               .number = {"l_w", "l_x", "l_y", "l_z", "r_w", "r_x", "r_y", "r_z"},
                               CB_LIE_UNITS,
                               .K = 1};
