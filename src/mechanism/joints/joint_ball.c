/* A ball joint: any rotation about the shared place, M(q) = exp(hat(q)). q is the rotation vector in the axes of frame
 * A and has the same components in frame B. At |q| = pi the rotation vector jumps to its opposite. */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  double D[3][3], moved[3];
  (void)data;
  cb_joint_rotation_vector(m, out->q, D);
  cb_joint_displacement(m, moved);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) out->S[i][k] = D[k][i];
    out->N[i][3 + i] = 1;
    out->gap[i] = moved[i];
  }
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  *m = (cb_pose){{1}, {0}};
  cb_quaternion_exp(q, m->q);
}

const cb_joint_class cb_joint_ball = {.name = "ball",
                                      .title = "rotation about a point",
                                      .doc = "Three coordinates, the rotation vector; the two places coincide",
                                      .coordinates = 3,
                                      .gaps = 3,
                                      .symbol = {".x", ".y", ".z"},
                                      .angular = {true, true, true},
                                      .find = find,
                                      .place = place,
                                      .serial = true,
                                      .curved = true,
                                      .turns = true};
