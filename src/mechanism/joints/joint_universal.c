/* A universal joint: rotation about the axis x of frame A, then about the axis y of frame B, M(q) = R_x(q_1) R_y(q_2).
 * The two axes stay perpendicular. */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  double r[3][3], moved[3];
  (void)data;
  cb_pose_rotation(m, r);
  cb_apply3_transposed((const double(*)[3])r, m->x, moved);
  /* R y = (-gap, cos q_1, sin q_1), R^T x = (cos q_2, -gap, sin q_2) */
  const double first = atan2(r[2][1], r[1][1]), second = atan2(r[0][2], r[0][0]), c = cos(second), s = sin(second);
  out->q[0] = cb_joint_unwind(first, out->q[0]);
  out->q[1] = cb_joint_unwind(second, out->q[1]);
  out->S[0][0] = c;
  out->S[0][2] = s;
  out->S[1][1] = 1;
  out->N[0][0] = -s;
  out->N[0][2] = c;
  out->gap[0] = -r[0][1];
  for (int i = 0; i < 3; i++) {
    out->N[1 + i][3 + i] = 1;
    out->gap[1 + i] = moved[i];
  }
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  const double x[4] = {cos(q[0] / 2), sin(q[0] / 2), 0, 0}, y[4] = {cos(q[1] / 2), 0, sin(q[1] / 2), 0};
  *m = (cb_pose){{1}, {0}};
  cb_quaternion_multiply(x, y, m->q);
}

const cb_joint_class cb_joint_universal = {
    .name = "universal",
    .title = "rotation about two perpendicular axes",
    .doc = "Two angles, about `axis` in the first body and `axis_in` in the second",
    .coordinates = 2,
    .gaps = 4,
    .symbol = {".1", ".2"},
    .angular = {true, true},
    .axes = 2,
    .find = find,
    .place = place,
    .serial = true,
    .curved = true};
