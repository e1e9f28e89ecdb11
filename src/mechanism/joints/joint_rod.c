/* A massless rod of length L between the two places: |x| = L, where x is the place of frame B seen from frame A.
 *
 *   gap = (|x|^2 - L^2)/(2 L)
 */
#include "mechanism/joint_parts.h"

typedef struct rod {
  double length;
} rod;

static void find(const cb_pose *m, const cb_joint_data *data, cb_joint_motion *out) {
  const double length = ((const rod *)data->params)->length;
  double moved[3];
  cb_joint_displacement(m, moved);
  out->gap[0] = (cb_dot3(moved, moved) - length * length) / (2 * length);
  for (int i = 0; i < 3; i++) out->N[0][3 + i] = moved[i] / length;
}

static const cb_param params[] = {
    {"length", CB_PARAM_REAL, offsetof(rod, length), NULL, "m", "> 0", NULL, "distance of the two places"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_joint_class cb_joint_rod = {.name = "rod",
                                     .title = "massless rod",
                                     .doc = "The two places keep the distance `length`; the bodies stay otherwise free",
                                     .gaps = 1,
                                     .params = params,
                                     .size = sizeof(rod),
                                     .find = find};
