/* Quaternions (w, x, y, z). Unit ones are rotations, q and -q the same one. */
#pragma once

#include "numerics/vec3.h"
#include <math.h>
#include <string.h>

static inline double cb_sinc(double w) { return w != 0 ? sin(w) / w : 1; }

/* out may be p or q */
static inline void cb_quaternion_multiply(const double p[4], const double q[4], double out[4]) {
  const double product[4] = {
      p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
      p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  memcpy(out, product, sizeof product);
}

static inline void cb_quaternion_inverse(const double q[4], double out[4]) {
  out[0] = q[0];
  for (int i = 1; i < 4; i++) out[i] = -q[i];
}

static inline void cb_quaternion_project(double q[4]) {
  const double scale = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; i++) q[i] *= scale;
}

/* exp(a/2) */
static inline void cb_quaternion_exp(const double a[3], double q[4]) {
  const double half = hypot(hypot(a[0], a[1]), a[2]) / 2, scale = cb_sinc(half) / 2;
  q[0] = cos(half);
  for (int i = 0; i < 3; i++) q[1 + i] = scale * a[i];
}

/* a with exp(a/2) = q, |a| < 2 pi */
static inline void cb_quaternion_log(const double q[4], double a[3]) {
  const double s = hypot(hypot(q[1], q[2]), q[3]), scale = s > 0 ? 2 * (atan2(s, q[0]) / s) : 2;
  for (int i = 0; i < 3; i++) a[i] = scale * q[1 + i];
}

/* 1 - 2 (y^2 + z^2) and not w^2 + x^2 - y^2 - z^2: small turns keep all their digits. */
static inline void cb_quaternion_rotation(const double q[4], double r[3][3]) {
  const double x = q[1], y = q[2], z = q[3], w2 = 2 * q[0], x2 = 2 * x, y2 = 2 * y, z2 = 2 * z;
  const double xx = x2 * x, yy = y2 * y, zz = z2 * z, xy = x2 * y, yz = y2 * z, zx = z2 * x, wx = w2 * x, wy = w2 * y,
               wz = w2 * z;
  r[0][0] = 1 - (yy + zz), r[0][1] = xy - wz, r[0][2] = zx + wy;
  r[1][0] = xy + wz, r[1][1] = 1 - (xx + zz), r[1][2] = yz - wx;
  r[2][0] = zx - wy, r[2][1] = yz + wx, r[2][2] = 1 - (xx + yy);
}
