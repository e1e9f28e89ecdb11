/* A planar joint: displacement in the plane normal to the axis z, and rotation about it,
 * M(q) = T(q_1 x + q_2 y) R_z(q_3), with the axes x and y of frame A. */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  double turned[3];
  (void)data;
  out->q[2] = cb_joint_twist(m, 2, out->q[2], turned);
  const double c = cos(out->q[2]), s = sin(out->q[2]);
  out->q[0] = m->x[0];
  out->q[1] = m->x[1];
  out->S[0][3] = c;
  out->S[0][4] = -s;
  out->S[1][3] = s;
  out->S[1][4] = c;
  out->S[2][2] = 1;
  for (int i = 0; i < 2; i++) {
    out->N[i][i] = 1;
    out->gap[i] = turned[i];
  }
  out->N[2][5] = 1;
  out->gap[2] = m->x[2]; /* in the axes of A, so that rotations of B do not change this gap */
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  *m = (cb_pose){{cos(q[2] / 2), 0, 0, sin(q[2] / 2)}, {q[0], q[1], 0}};
}

const cb_joint_class cb_joint_planar = {.name = "planar",
                                        .title = "motion in a plane",
                                        .doc = "Two displacements normal to `axis` and the angle about it",
                                        .coordinates = 3,
                                        .gaps = 3,
                                        .symbol = {".x", ".y", ".angle"},
                                        .angular = {false, false, true},
                                        .axes = 1,
                                        .find = find,
                                        .place = place,
                                        .serial = true};
