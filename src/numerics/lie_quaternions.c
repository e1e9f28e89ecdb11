/* Groups whose elements are unit quaternions (w, x, y, z): SO(3), SO(4), and SE(3), whose elements also have a position
 * after the quaternion. */
#include "numerics/lie_private.h"
#include <curvebody/se3.h>

/* --- common to the three groups --- */

static void unit_identity(const cb_group *G, double *g) {
  memset(g, 0, (size_t)G->size * sizeof *g);
  for (int k = 0; k + 4 <= G->size; k += 4) g[k] = 1;
}

static void unit_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_multiply(a + k, b + k, out + k);
}

static void unit_inverse(const cb_group *G, const double *g, double *out) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_inverse(g + k, out + k);
}

static void unit_project(const cb_group *G, double *g) {
  for (int k = 0; k + 4 <= G->size; k += 4) cb_quaternion_project(g + k);
}

/* clang-format off */
#define CB_LIE_UNITS(g)                                                                                            \
  .identity = unit_identity, .multiply = unit_multiply, .inverse = unit_inverse,           \
  .exp = g##_exponential, .log = g##_logarithm, .adjoint = g##_adjoint, .project = unit_project,    \
  .matrix = g##_matrix
/* clang-format on */

/* --- SO(3): rotations of space and isometries of S^2; q and -q are the same rotation ---
 *
 *   exp(a) = (cos(|a|/2), sin(|a|/2) a/|a|)     [a, b] = a × b     Ad_q = R(q), the matrix of the rotation
 */

static void so3_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  cb_quaternion_exp(a, out);
}

static cb_status so3_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  if (!(fabs(g[0]) > CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a rotation by pi is not unique: expected a smaller rotation");
  const double sign = g[0] < 0 ? -1 : 1, q[4] = {sign * g[0], sign * g[1], sign * g[2], sign * g[3]};
  cb_quaternion_log(q, out);
  return CB_OK;
}

static void so3_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  double r[3][3];
  cb_quaternion_rotation(g, r);
  memcpy(out, r, sizeof r);
}

static int so3_matrix(const cb_group *G, const double *g, double *out) {
  so3_adjoint(G, g, out);
  return 3;
}

const cb_group cb_group_so3 = {.name = "so3",
                               .doc = "rotations of space, isometries of the sphere S^2",
                               .dim = 3,
                               .size = 4,
                               .axis = {"omega_x", "omega_y", "omega_z"},
                               .number = {"q_w", "q_x", "q_y", "q_z"},
                               .bracket = cb_lie_plane_bracket,
                               CB_LIE_UNITS(so3),
                               .K = 1};

/* --- SO(4): two unit quaternions l and r, x -> l x r^* on the quaternions x, isometries of S^3 ---
 *
 * (l, r) and (-l, -r) are one element. r^* is the conjugate of r.
 *
 *   exp(omega, v) = (exp((omega + v)/2), exp((omega - v)/2)):  1 -> exp(v) for omega = 0, 1 -> 1 for v = 0
 *   log: (|omega + v| + |omega - v|)/2, the larger of the two angles of rotation, is below pi; then l_w + r_w > 0
 * The matrix is on (x, y, z, w).
 */

static void so4_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  const double left[3] = {a[0] + a[3], a[1] + a[4], a[2] + a[5]}, right[3] = {a[0] - a[3], a[1] - a[4], a[2] - a[5]};
  cb_quaternion_exp(left, out);
  cb_quaternion_exp(right, out + 4);
}

static cb_status so4_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  const double sum = g[0] + g[4];
  if (!(fabs(sum) > 2 * CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the logarithm of a rotation with an angle of pi is not unique: expected a smaller rotation");
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

static void so4_adjoint(const cb_group *G, const double *g, double *out) {
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

static int so4_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  static const int place[4] = {3, 0, 1, 2}; /* the indices of (w, x, y, z) in (x, y, z, w) */
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
                               CB_LIE_UNITS(so4),
                               .K = 1};

/* --- SE(3): a unit quaternion and a position, motions of space; algebra (omega, v) (equations: curvebody/se3.h) --- */

static cb_pose pose(const double *g) { return (cb_pose){{g[0], g[1], g[2], g[3]}, {g[4], g[5], g[6]}}; }

static void store(const cb_pose *p, double *g) {
  memcpy(g, p->q, sizeof p->q);
  memcpy(g + 4, p->x, sizeof p->x);
}

static void se3_multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  cb_pose p = pose(a), q = pose(b);
  cb_pose_multiply(&p, &q, &p);
  store(&p, out);
}

static void se3_inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  const cb_pose p = pose(g);
  cb_pose i;
  cb_pose_inverse(&p, &i);
  store(&i, out);
}

static void se3_exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  cb_pose p;
  cb_se3_tau(CB_SE3_EXPONENTIAL, a, &p);
  store(&p, out);
}

static cb_status se3_logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  if (!(fabs(g[0]) > CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a rotation by pi is not unique: expected a smaller rotation");
  const cb_pose p = pose(g);
  cb_se3_log(&p, out);
  return CB_OK;
}

static void se3_adjoint(const cb_group *G, const double *g, double *out) {
  (void)G;
  const cb_pose p = pose(g);
  double m[6][6];
  cb_pose_adjoint(&p, m);
  memcpy(out, m, sizeof m);
}

void cb_lie_pair_bracket(const cb_group *G, const double *a, const double *b, double *out) {
  double ww[3], vv[3], wv[3], vw[3];
  cb_cross3(a, b, ww);
  cb_cross3(a + 3, b + 3, vv);
  cb_cross3(a, b + 3, wv);
  cb_cross3(a + 3, b, vw);
  for (int i = 0; i < 3; i++) {
    out[i] = ww[i] + G->K * vv[i];
    out[3 + i] = wv[i] + vw[i];
  }
}

static int se3_matrix(const cb_group *G, const double *g, double *out) {
  (void)G;
  double r[3][3];
  cb_quaternion_rotation(g, r);
  for (int i = 0; i < 3; i++) {
    memcpy(out + 4 * i, r[i], sizeof r[i]);
    out[4 * i + 3] = g[4 + i];
    out[12 + i] = 0;
  }
  out[15] = 1;
  return 4;
}

const cb_group cb_group_se3 = {.name = "se3",
                               .doc = "motions of Euclidean space",
                               .size = 7,
                               CB_LIE_PAIRS,
                               .number = {"q_w", "q_x", "q_y", "q_z", "x", "y", "z"},
                               .identity = unit_identity,
                               .multiply = se3_multiply,
                               .inverse = se3_inverse,
                               .exp = se3_exponential,
                               .log = se3_logarithm,
                               .adjoint = se3_adjoint,
                               .project = unit_project,
                               .matrix = se3_matrix,
                               .K = 0};
