/* Functions that classes of joints share. m = (q, x): pose of frame B of the joint seen from frame A, with the rotation
 * R(m); S: twists of B relative to A, one per coordinate; N: covectors of the gaps (curvebody/joint.h). When the member
 * `find` of a class is called, all rows of S and N are 0. */
#pragma once

#include "numerics/vec3.h"
#include <curvebody/joint.h>

/* Finds the displacement of frame B in the axes of frame B, R(m)^T x. */
static inline void cb_joint_displacement(const cb_pose *m, double out[3]) {
  double r[3][3];
  cb_pose_rotation(m, r);
  cb_apply3_transposed(r, m->x, out);
}

/* Adds whole turns to `angle`. Returns the result that is nearest to `near`. */
static inline double cb_joint_unwind(double angle, double near) {
  const double turn = 6.283185307179586476925, missing = near - angle;
  return fabs(missing) < 3 ? angle : angle + turn * nearbyint(missing / turn);
}

/* Splits the rotation of m into one about the axis (0, 1, 2) and a remainder: q = exp(angle axis) d. Returns the angle
 * nearest to `near`; gap[3]: the rotation vector of the remainder d to first order, whose component along the axis is
 * 0. */
static inline double cb_joint_twist(const cb_pose *m, int axis, double near, double gap[3]) {
  const double w = m->q[0], s = m->q[1 + axis], length = sqrt(w * w + s * s), sign = w < 0 ? -1 : 1;
  double back[4] = {length > 0 ? w / length : 1}, d[4];
  back[1 + axis] = length > 0 ? -s / length : 0;
  cb_quaternion_multiply(back, m->q, d);
  for (int i = 0; i < 3; i++) gap[i] = 2 * d[1 + i];
  gap[axis] = 0;
  return cb_joint_unwind(2 * atan2(sign * s, sign * w), near);
}

/* Finds the rotation vector a of m, and D by columns, where D a' is the angular velocity in the axes of frame B:
 *   D = 1 - (1 - cos w)/w^2 hat(a) + (w - sin w)/w^3 hat(a)^2,  w = |a| */
static inline void cb_joint_rotation_vector(const cb_pose *m, double a[3], double D[3][3]) {
  double q[4];
  const double sign = m->q[0] < 0 ? -1 : 1;
  for (int i = 0; i < 4; i++) q[i] = sign * m->q[i];
  cb_quaternion_log(q, a);
  const double w2 = cb_dot3(a, a), w = sqrt(w2);
  const double c1 = w > 1e-2 ? (1 - cos(w)) / w2 : 1. / 2 - w2 / 24 + w2 * w2 / 720,
               c2 = w > 1e-2 ? (w - sin(w)) / (w2 * w) : 1. / 6 - w2 / 120 + w2 * w2 / 5040;
  memset(D, 0, 9 * sizeof **D);
  for (int i = 0; i < 3; i++) D[i][i] = 1;
  cb_add_hat3(D, -c1, a);
  cb_add_hats3(D, c2, a, a);
}
