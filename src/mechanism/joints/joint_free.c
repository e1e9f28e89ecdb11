/* A free joint: any relative motion, M(q) = T(q_1, q_2, q_3) exp(hat(q_4, q_5, q_6)); the displacement is in the axes
 * of frame A. It constrains nothing; springs and forces may act on its coordinates. */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  double D[3][3], r[3][3];
  (void)data;
  cb_joint_rotation_vector(m, out->q + 3, D);
  cb_pose_rotation(m, r);
  for (int i = 0; i < 3; i++) {
    out->q[i] = m->x[i];
    for (int k = 0; k < 3; k++) {
      out->S[i][3 + k] = r[i][k];
      out->S[3 + i][k] = D[k][i];
    }
  }
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  *m = (cb_pose){{1}, {q[0], q[1], q[2]}};
  cb_quaternion_exp(q + 3, m->q);
}

const cb_joint_class cb_joint_free = {.name = "free",
                                      .title = "any relative motion",
                                      .doc = "Six coordinates: displacement and rotation vector",
                                      .coordinates = 6,
                                      .symbol = {".x", ".y", ".z", ".rx", ".ry", ".rz"},
                                      .angular = {false, false, false, true, true, true},
                                      .find = find,
                                      .place = place,
                                      .serial = true,
                                      .turns = true};
