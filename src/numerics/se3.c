/* Poses, their products, the maps tau and the logarithm (equations: se3.h). */
#include <curvebody/se3.h>
#include "numerics/se3_private.h"
#include "numerics/quaternion.h"
#include <math.h>
#include <string.h>

void cb_pose_identity(cb_pose *out) { *out = (cb_pose){{1, 0, 0, 0}, {0, 0, 0}}; }

void cb_pose_rotation(const cb_pose *a, double r[3][3]) { cb_quaternion_rotation(a->q, r); }

void cb_pose_point(const cb_pose *a, const double x[3], double out[3]) {
  double r[3][3], y[3];
  cb_pose_rotation(a, r);
  cb_apply3(r, x, y);
  for (int i = 0; i < 3; i++) out[i] = a->x[i] + y[i];
}

void cb_pose_multiply(const cb_pose *a, const cb_pose *b, cb_pose *out) {
  double q[4], x[3];
  cb_quaternion_multiply(a->q, b->q, q);
  cb_quaternion_project(q);
  cb_pose_point(a, b->x, x);
  memcpy(out->q, q, sizeof q);
  memcpy(out->x, x, sizeof x);
}

void cb_pose_inverse(const cb_pose *a, cb_pose *out) {
  double r[3][3], x[3];
  cb_pose_rotation(a, r);
  cb_apply3_transposed(r, a->x, x);
  *out = (cb_pose){{a->q[0], -a->q[1], -a->q[2], -a->q[3]}, {-x[0], -x[1], -x[2]}};
}

/* With b = tan(angle/4) axis of a: 1 + R_half = 2 (1 - hat(b))^-1, so that x = (1 + R_half) x_half gives x_half =
 * (x - b × x)/2. */
void cb_pose_half(const cb_pose *a, cb_pose *out) {
  cb_pose c = *a;
  if (c.q[0] < 0)
    for (int i = 0; i < 4; i++) c.q[i] = -c.q[i];
  c.q[0] += 1;
  const double b[3] = {c.q[1] / c.q[0], c.q[2] / c.q[0], c.q[3] / c.q[0]};
  cb_quaternion_project(c.q);
  double bx[3];
  cb_cross3(b, a->x, bx);
  for (int i = 0; i < 3; i++) c.x[i] = (a->x[i] - bx[i]) / 2;
  *out = c;
}

void cb_pose_adjoint(const cb_pose *a, double out[6][6]) {
  double r[3][3];
  cb_pose_rotation(a, r);
  for (int j = 0; j < 3; j++) {
    const double column[3] = {r[0][j], r[1][j], r[2][j]};
    double moved[3];
    cb_cross3(a->x, column, moved);
    for (int i = 0; i < 3; i++) {
      out[i][j] = out[i + 3][j + 3] = r[i][j];
      out[i][j + 3] = 0;
      out[i + 3][j] = moved[i];
    }
  }
}

static void cayley(const double Y[6], cb_pose *out) {
  const double *w = Y, *v = Y + 3, ww = cb_dot3(w, w), scale = 4 / (4 + ww), wv = cb_dot3(w, v);
  double across[3];
  cb_cross3(w, v, across);
  *out = (cb_pose){{1, w[0] / 2, w[1] / 2, w[2] / 2}, {0, 0, 0}};
  cb_quaternion_project(out->q);
  for (int i = 0; i < 3; i++) out->x[i] = scale * (v[i] + across[i] / 2 + w[i] * wv / 4);
}

enum { TERMS = 12, FEW = 5 };
/* 1/(2k)! and 1/(2k+1)! */
static const double even[TERMS] = {1.,
                                   1. / 2,
                                   1. / 24,
                                   1. / 720,
                                   1. / 40320,
                                   1. / 3628800,
                                   1. / 479001600,
                                   1. / 87178291200,
                                   4.7794773323873853e-14,
                                   1.5619206968586226e-16,
                                   4.1103176233121649e-19,
                                   8.8967913924505733e-22},
                    odd[TERMS] = {1.,
                                  1. / 6,
                                  1. / 120,
                                  1. / 5040,
                                  1. / 362880,
                                  1. / 39916800,
                                  1. / 6227020800,
                                  1. / 1307674368000,
                                  2.8114572543455208e-15,
                                  8.2206352466243297e-18,
                                  1.9572941063391261e-20,
                                  3.8681701706306841e-23};

static double series(const double *c, int terms, double x) {
  double sum = c[terms - 1];
  for (int k = terms - 2; k >= 0; k--) sum = sum * x + c[k];
  return sum;
}

/* cos(w/2), sin(w/2)/(w/2) and (w - sin w)/w^3 with n = w^2. What a series leaves out is below 1e-17: of FEW terms where
 * n < 0.01, of TERMS where n < 2. */
static void exponentials(double n, double *cosine, double *sinc, double *cubic) {
  if (n < 0.01) {
    *cosine = series(even, FEW, -n / 4);
    *sinc = series(odd, FEW, -n / 4);
    *cubic = series(odd + 1, FEW, -n);
    return;
  }
  const double w = sqrt(n), half = w / 2;
  *cosine = cos(half);
  *sinc = sin(half) / half;
  *cubic = n < 2 ? series(odd + 1, TERMS - 1, -n) : (w - sin(w)) / (n * w);
}

static void exponential(const double Y[6], cb_pose *out) {
  const double *w = Y, *v = Y + 3;
  double cosine, sinc, cubic, wv[3], wwv[3];
  exponentials(cb_dot3(w, w), &cosine, &sinc, &cubic);
  cb_cross3(w, v, wv);
  cb_cross3(w, wv, wwv);
  *out = (cb_pose){{cosine, sinc * w[0] / 2, sinc * w[1] / 2, sinc * w[2] / 2}, {0, 0, 0}};
  for (int i = 0; i < 3; i++) out->x[i] = v[i] + sinc * sinc / 2 * wv[i] + cubic * wwv[i];
}

void cb_se3_tau(cb_se3_map map, const double Y[6], cb_pose *out) {
  if (map == CB_SE3_EXPONENTIAL)
    exponential(Y, out);
  else
    cayley(Y, out);
}

void cb_se3_log(const cb_pose *a, double Y[6]) {
  const double sign = a->q[0] < 0 ? -1 : 1, *u = a->q + 1;
  const double s = hypot(hypot(u[0], u[1]), u[2]);
  const double scale = sign * (s > 0 ? 2 * atan2(s, fabs(a->q[0])) / s : 2);
  double wx[3], wwx[3], e[3];
  for (int i = 0; i < 3; i++) Y[i] = scale * u[i];
  cb_se3_even(cb_dot3(Y, Y), e);
  cb_cross3(Y, a->x, wx);
  cb_cross3(Y, wx, wwx);
  for (int i = 0; i < 3; i++) Y[3 + i] = a->x[i] - wx[i] / 2 + e[0] * wwx[i];
}

void cb_se3_ad_star(const double Y[6], const double mu[6], double out[6]) {
  double lw[3], pv[3], pw[3];
  cb_cross3(mu, Y, lw);
  cb_cross3(mu + 3, Y + 3, pv);
  cb_cross3(mu + 3, Y, pw);
  for (int i = 0; i < 3; i++) {
    out[i] = lw[i] + pv[i];
    out[3 + i] = pw[i];
  }
}

void cb_se3_ad_star_matrix(const double mu[6], double out[6][6]) {
  double l[3][3] = {{0}}, p[3][3] = {{0}};
  cb_add_hat3(l, 1, mu);
  cb_add_hat3(p, 1, mu + 3);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[i][j] = l[i][j];
      out[i][j + 3] = out[i + 3][j] = p[i][j];
      out[i + 3][j + 3] = 0;
    }
}

void cb_se3_momentum_to_world(const cb_pose *g, const double mu[6], double out[6]) {
  double r[3][3], l[3], p[3], xp[3];
  cb_pose_rotation(g, r);
  cb_apply3(r, mu, l);
  cb_apply3(r, mu + 3, p);
  cb_cross3(g->x, p, xp);
  for (int i = 0; i < 3; i++) {
    out[i] = l[i] + xp[i];
    out[3 + i] = p[i];
  }
}

void cb_se3_wrench_to_body(const cb_pose *g, const double world[6], double out[6]) {
  double r[3][3], xf[3], torque[3], force[3];
  cb_pose_rotation(g, r);
  cb_cross3(g->x, world + 3, xf);
  for (int i = 0; i < 3; i++) torque[i] = world[i] - xf[i];
  cb_apply3_transposed(r, world + 3, force);
  cb_apply3_transposed(r, torque, out);
  memcpy(out + 3, force, sizeof force);
}
