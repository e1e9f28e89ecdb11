/* Poses in spaces of constant curvature: by biquaternions, and by SE(3) where there is none (curvebody/pose.h). */
#include <curvebody/pose.h>
#include "numerics/biquaternion.h"
#include "numerics/vec3.h"
#include <math.h>
#include <stddef.h>

void cb_pose_multiply_in(double K, const cb_pose *a, const cb_pose *b, cb_pose *out) {
  if (K == 0) {
    cb_pose_multiply(a, b, out);
    return;
  }
  cb_biquaternion p, q;
  const double scale = cb_biquaternion_of(K, a, &p) + cb_biquaternion_of(K, b, &q);
  cb_biquaternion_multiply(K, &p, &q, &p);
  cb_biquaternion_pose(K, &p, scale, out, NULL);
}

void cb_pose_point_in(double K, const cb_pose *a, const double x[3], double out[3]) {
  if (K == 0) {
    cb_pose_point(a, x, out);
    return;
  }
  cb_pose at = {{1, 0, 0, 0}, {x[0], x[1], x[2]}};
  cb_pose_multiply_in(K, a, &at, &at);
  for (int i = 0; i < 3; i++) out[i] = at.x[i];
}

/* Ad of T is N_0 + j N_1 = w + 2 K s s^T + j hat(2 C s), w = C^2 - K s.s; of numbers A + j B: [[A, K B], [B, A]]. */
void cb_pose_adjoint_in(double K, const cb_pose *a, double out[6][6]) {
  if (K == 0) {
    cb_pose_adjoint(a, out);
    return;
  }
  cb_biquaternion Q;
  double even[3][3] = {{0}}, odd[3][3] = {{0}}, r[3][3];
  const cb_pose shift = {{1, 0, 0, 0}, {a->x[0], a->x[1], a->x[2]}};
  const double scale = exp(2 * cb_biquaternion_of(K, &shift, &Q)), C = Q.a[0], *s = Q.b + 1;
  for (int i = 0; i < 3; i++) even[i][i] = scale * (C * C - K * cb_dot3(s, s));
  cb_add_outer3(even, 2 * scale * K, s, s);
  cb_add_hat3(odd, 2 * scale * C, s);
  cb_pose_rotation(a, r);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double A = 0, B = 0;
      for (int k = 0; k < 3; k++) A += even[i][k] * r[k][j], B += odd[i][k] * r[k][j];
      out[i][j] = out[3 + i][3 + j] = A;
      out[i][3 + j] = K * B, out[3 + i][j] = B;
    }
}

void cb_pose_tau_in(cb_se3_map map, double K, const double Y[6], cb_pose *out) {
  if (K == 0) {
    cb_se3_tau(map, Y, out);
    return;
  }
  cb_biquaternion Q;
  cb_biquaternion_tau(map, K, Y, &Q);
  cb_biquaternion_pose(K, &Q, 0, out, NULL);
}

void cb_pose_ad_star_in(double K, const double Y[6], const double mu[6], double out[6]) {
  double lv[3];
  cb_se3_ad_star(Y, mu, out);
  if (K == 0) return;
  cb_cross3(mu, Y + 3, lv);
  for (int i = 0; i < 3; i++) out[3 + i] += K * lv[i];
}
