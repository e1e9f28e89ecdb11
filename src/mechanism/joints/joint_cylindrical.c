/* A cylindrical joint: displacement along the axis z, and rotation about it, M(q) = T(q_1 z) R_z(q_2). */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  double turned[3];
  (void)data;
  out->q[1] = cb_joint_twist(m, 2, out->q[1], turned);
  const double c = cos(out->q[1]), s = sin(out->q[1]);
  /* the displacement in axes that turn with B only about z; rotations of B about other axes do not change it */
  const double moved[2] = {c * m->x[0] + s * m->x[1], c * m->x[1] - s * m->x[0]};
  out->q[0] = m->x[2];
  out->S[0][5] = 1;
  out->S[1][2] = 1;
  for (int i = 0; i < 2; i++) {
    out->N[i][i] = 1;
    out->gap[i] = turned[i];
    out->N[2 + i][3 + i] = 1;
    out->gap[2 + i] = moved[i];
  }
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  *m = (cb_pose){{cos(q[1] / 2), 0, 0, sin(q[1] / 2)}, {0, 0, q[0]}};
}

const cb_joint_class cb_joint_cylindrical = {.name = "cylindrical",
                                             .title = "displacement along an axis and rotation about it",
                                             .doc = "A displacement along `axis` and the angle about it",
                                             .coordinates = 2,
                                             .gaps = 4,
                                             .symbol = {".x", ".angle"},
                                             .angular = {false, true},
                                             .axes = 1,
                                             .find = find,
                                             .place = place,
                                             .serial = true};
