/* SE(3): a unit quaternion and a place, motions of space; algebra (omega, v) (equations: se3.h). */
#include "numerics/lie_private.h"
#include <curvebody/se3.h>

static cb_pose pose(const double *g) { return (cb_pose){{g[0], g[1], g[2], g[3]}, {g[4], g[5], g[6]}}; }

static void store(const cb_pose *p, double *g) {
  memcpy(g, p->q, sizeof p->q);
  memcpy(g + 4, p->x, sizeof p->x);
}

static void multiply(const cb_group *G, const double *a, const double *b, double *out) {
  (void)G;
  cb_pose p = pose(a), q = pose(b);
  cb_pose_multiply(&p, &q, &p);
  store(&p, out);
}

static void inverse(const cb_group *G, const double *g, double *out) {
  (void)G;
  const cb_pose p = pose(g);
  cb_pose i;
  cb_pose_inverse(&p, &i);
  store(&i, out);
}

static void exponential(const cb_group *G, const double *a, double *out) {
  (void)G;
  cb_pose p;
  cb_se3_tau(CB_SE3_EXPONENTIAL, a, &p);
  store(&p, out);
}

static cb_status logarithm(const cb_group *G, const double *g, double *out) {
  (void)G;
  if (!(fabs(g[0]) > CB_LIE_HALF_TURN)) return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a half turn is not unique");
  const cb_pose p = pose(g);
  cb_se3_log(&p, out);
  return CB_OK;
}

static void adjoint(const cb_group *G, const double *g, double *out) {
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

static int matrix(const cb_group *G, const double *g, double *out) {
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
                               .identity = cb_lie_unit_identity,
                               .multiply = multiply,
                               .inverse = inverse,
                               .exp = exponential,
                               .log = logarithm,
                               .adjoint = adjoint,
                               .project = cb_lie_unit_project,
                               .matrix = matrix,
                               .K = 0};
