/* A weld: no relative motion, M = 1. */
#include "mechanism/joint_parts.h"

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  const double sign = m->q[0] < 0 ? -2 : 2;
  double moved[3];
  (void)data;
  cb_joint_displacement(m, moved);
  for (int i = 0; i < 6; i++) out->N[i][i] = 1;
  for (int i = 0; i < 3; i++) {
    out->gap[i] = sign * m->q[1 + i];
    out->gap[3 + i] = moved[i];
  }
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  (void)data;
  (void)q;
  *m = (cb_pose){.q = {1}};
}

const cb_joint_class cb_joint_weld = {.name = "weld",
                                      .title = "no relative motion",
                                      .doc = "The two bodies move as one",
                                      .gaps = 6,
                                      .find = find,
                                      .place = place,
                                      .serial = true,
                                      .curved = true};
