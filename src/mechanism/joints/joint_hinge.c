/* A hinge: rotation about the axis z that both bodies share, M(q) = R_z(q). */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  double turned[3], moved[3];
  (void)data;
  out->q[0] = cb_joint_twist(m, 2, out->q[0], turned);
  cb_joint_displacement(m, moved);
  out->S[0][2] = 1;
  for (int i = 0; i < 2; i++) {
    out->N[i][i] = 1;
    out->gap[i] = turned[i];
  }
  for (int i = 0; i < 3; i++) {
    out->N[2 + i][3 + i] = 1;
    out->gap[2 + i] = moved[i];
  }
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  *m = (cb_pose){.q = {cos(q[0] / 2), 0, 0, sin(q[0] / 2)}};
}

const cb_joint_class cb_joint_hinge = {.name = "hinge",
                                       .title = "rotation about an axis",
                                       .doc = "One angle about `axis`; the two places coincide",
                                       .coordinates = 1,
                                       .gaps = 5,
                                       .symbol = {""},
                                       .angular = {true},
                                       .axes = 1,
                                       .find = find,
                                       .place = place,
                                       .serial = true,
                                       .curved = true};
