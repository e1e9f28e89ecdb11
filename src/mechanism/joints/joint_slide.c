/* A slide: displacement along the axis z without rotation, M(q) = T(q z). */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  const double sign = m->q[0] < 0 ? -2 : 2;
  (void)data;
  out->q[0] = m->x[2];
  out->S[0][5] = 1;
  for (int i = 0; i < 3; i++) {
    out->N[i][i] = 1;
    out->gap[i] = sign * m->q[1 + i];
  }
  for (int i = 0; i < 2; i++) {
    out->N[3 + i][3 + i] = 1;
    out->gap[3 + i] = m->x[i]; /* in the axes of A, so that rotations of B do not change it */
  }
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  *m = (cb_pose){{1}, {0, 0, q[0]}};
}

const cb_joint_class cb_joint_slide = {.name = "slide",
                                       .title = "displacement along an axis",
                                       .doc = "One displacement along `axis`, without rotation",
                                       .coordinates = 1,
                                       .gaps = 5,
                                       .symbol = {""},
                                       .axes = 1,
                                       .find = find,
                                       .place = place,
                                       .serial = true};
