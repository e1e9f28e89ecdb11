/* A plugin: a screw joint, which moves along its axis z by the pitch per radian as it turns about it.
 *
 *   M(q) = T(pitch q z) R_z(q),  S = (0, 0, 1; 0, 0, pitch)
 *
 * M is the pose of the second frame in the first frame at the angle q, T a translation, R_z a rotation about z, and S
 * the motion per radian (rotation; translation). The mechanism keeps five gaps at 0: the rotation that is not about z,
 * the displacement normal to z, and (z - pitch q)/sqrt(1 + pitch^2). */
#include <curvebody/plugin.h>

#include <math.h>

typedef struct screw {
  double pitch; /* m/rad */
} screw;

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  const double pitch = ((const screw *)data->params)->pitch, size = sqrt(1 + pitch * pitch), turn = 2 * acos(-1);
  const double angle = 2 * atan2(m->q[3], m->q[0]), q = angle + turn * nearbyint((out->q[0] - angle) / turn);
  const cb_pose back = {.q = {cos(q / 2), 0, 0, -sin(q / 2)}};
  cb_pose rest; /* what is left of m without its rotation about z; its q is near (1, 0, 0, 0) or (-1, 0, 0, 0) */
  cb_pose_multiply(&back, m, &rest);
  out->q[0] = q;
  out->S[0][2] = 1;
  out->S[0][5] = pitch;
  for (int i = 0; i < 2; i++) {
    out->N[i][i] = out->N[2 + i][3 + i] = 1;
    out->gap[i] = (rest.q[0] < 0 ? -2 : 2) * rest.q[1 + i];
    out->gap[2 + i] = rest.x[i];
  }
  out->N[4][2] = -pitch / size;
  out->N[4][5] = 1 / size;
  out->gap[4] = (rest.x[2] - pitch * q) / size;
}

static void place(const double *q, const cb_joint_data *data, cb_pose *m) {
  *m = (cb_pose){{cos(q[0] / 2), 0, 0, sin(q[0] / 2)}, {0, 0, ((const screw *)data->params)->pitch * q[0]}};
}

static const cb_param params[] = {
    {"pitch", CB_PARAM_REAL, offsetof(screw, pitch), NULL, "m/rad", "", NULL, "displacement per angle"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_joint_class my_screw = {.name = "screw",
                                        .title = "rotation about an axis with displacement along it",
                                        .doc = "One angle about `axis`",
                                        .coordinates = 1,
                                        .gaps = 5,
                                        .symbol = {""},
                                        .angular = {true},
                                        .axes = 1,
                                        .params = params,
                                        .size = sizeof(screw),
                                        .find = find,
                                        .place = place};

CB_PLUGIN(CB_PLUGIN_JOINT(&my_screw));
