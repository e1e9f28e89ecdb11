/* This file computes poses, their products, the maps tau from twists to poses, the logarithm, and the differentials of
 * tau (equations: curvebody/se3.h). Twists are (angular, linear), for example Y = (w, v); momenta are mu = (l, p) with
 * the angular part l. */
#include "numerics/lie_private.h"
#include "numerics/vec3.h"
#include <curvebody/se3.h>

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

/* Let b be tan(angle/4) times the axis of the rotation of a. Then 1 + R_half = 2 (1 - hat(b))^-1 with hat(b) y = b × y.
 * From x = (1 + R_half) x_half follows x_half = (x - b × x)/2. */
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
/* even[k] = 1/(2k)! and odd[k] = 1/(2k+1)! */
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

/* Computes cos(w/2), sin(w/2)/(w/2) and (w - sin w)/w^3 with n = w^2. The error of the series is below 1e-17, with FEW
 * terms for n < 0.01 and with TERMS - 1 terms for n < 2. */
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

/* --- the inverse right-trivialised differentials of tau and the derivatives of their transposes ---
 *
 * e(n) = (1 - (w/2) cot(w/2))/w^2 with n = w^2. Below n = 6 it is the series sum |B_{2k+2}|/(2k+2)! n^k with
 * Bernoulli's numbers B (its radius is 4 pi^2). Above n = 6, with g = (w/2) cot(w/2), it is
 *   e = (1 - g)/n,  e' = -(g' + e)/n,  e'' = -(g'' + 2 e')/n
 *   g' = (g - g^2 - n/4)/(2n),  g'' = (g' - 2 g g' - 1/4)/(2n) - g'/n
 */

/* The numbers |B_{2k+2}|/(2k+2)! = 2 zeta(2k+2)/(2 pi)^(2k+2) for k = 0, 1, .., with Bernoulli's numbers B and
 * Riemann's zeta: Abramowitz & Stegun (1964), 23.2.16 */
const double cb_even_series[22] = {
    0.083333333333333333333,   0.0013888888888888888889,  3.3068783068783068783e-5,  8.2671957671957671958e-7,
    2.0876756987868098979e-8,  5.2841901386874931848e-10, 1.3382536530684678833e-11, 3.3896802963225828668e-13,
    8.5860620562778445641e-15, 2.174868698558061873e-16,  5.5090028283602295152e-18, 1.3954464685812523341e-19,
    3.5347070396294674717e-21, 8.9535174270375468504e-23, 2.2679524523376830603e-24, 5.7447906688722024453e-26,
    1.4551724756148649019e-27, 3.6859949406653101782e-29, 9.336734257095044672e-31,  2.3650224157006299346e-32,
    5.9906717624821343047e-34, 1.5174548844682902617e-35};

void cb_se3_even(double n, double e[3]) {
  if (n < 6) {
    double value = 0, first = 0, second = 0; /* Horner's rule with derivatives */
    for (int k = n < 0.25 ? 8 : 21; k >= 0; k--) {
      second = second * n + first;
      first = first * n + value;
      value = value * n + cb_even_series[k];
    }
    e[0] = value;
    e[1] = first;
    e[2] = 2 * second;
    return;
  }
  const double half = sqrt(n) / 2, g = half / tan(half), g1 = (g - g * g - n / 4) / (2 * n);
  const double g2 = (g1 - 2 * g * g1 - 0.25) / (2 * n) - g1 / n;
  e[0] = (1 - g) / n;
  e[1] = -(g1 + e[0]) / n;
  e[2] = -(g2 + 2 * e[1]) / n;
}

/* Writes the blocks [[a, b], [c, d]]. */
static void blocks(const double a[3][3], const double b[3][3], const double c[3][3], const double d[3][3],
                   double out[6][6]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[i][j] = a[i][j];
      out[i][j + 3] = b[i][j];
      out[i + 3][j] = c[i][j];
      out[i + 3][j + 3] = d[i][j];
    }
}

static void add_identity(double m[3][3], double c) {
  for (int i = 0; i < 3; i++) m[i][i] += c;
}

static const double nothing[3][3];

void cb_se3_dtau_inverse(cb_se3_map map, const double Y[6], double out[6][6]) {
  const double *w = Y, *v = Y + 3;
  double rotation[3][3] = {{0}}, mixed[3][3] = {{0}}, translation[3][3] = {{0}};
  add_identity(rotation, 1);
  cb_add_hat3(rotation, -0.5, w);
  cb_add_hat3(mixed, -0.5, v);
  memcpy(translation, rotation, sizeof rotation);
  if (map == CB_SE3_CAYLEY) {
    cb_add_outer3(rotation, 0.25, w, w);
    cb_add_hats3(mixed, 0.25, w, v);
  } else if (map == CB_SE3_EXPONENTIAL) {
    double e[3];
    cb_se3_even(cb_dot3(w, w), e);
    cb_add_hats3(rotation, e[0], w, w);
    cb_add_hats3(mixed, e[0], w, v);
    cb_add_hats3(mixed, e[0], v, w);
    cb_add_hats3(mixed, 2 * e[1] * cb_dot3(w, v), w, w);
    memcpy(translation, rotation, sizeof rotation);
  }
  blocks(rotation, nothing, mixed, translation, out);
}

/* Computes, for the map cayley and Y = (w, v), a = (a_w, a_v): (a_w - w × a_w/2 + w (w.a_w)/4, b - w × b/2), b = a_v -
 * v × a_w/2. */
void cb_se3_dtau_inverse_apply(cb_se3_map map, const double Y[6], const double a[6], double out[6]) {
  const double *w = Y, wa = cb_dot3(w, a);
  double across[3], moved[3], b[3], turned[3];
  if (map != CB_SE3_CAYLEY) {
    double A[6][6];
    cb_se3_dtau_inverse(map, Y, A);
    cb_apply6((const double(*)[6])A, a, out);
    return;
  }
  cb_cross3(w, a, across);
  cb_cross3(Y + 3, a, moved);
  for (int i = 0; i < 3; i++) b[i] = a[3 + i] - moved[i] / 2;
  cb_cross3(w, b, turned);
  for (int i = 0; i < 3; i++) {
    out[i] = a[i] - across[i] / 2 + w[i] * wa / 4;
    out[3 + i] = b[i] - turned[i] / 2;
  }
}

/* Computes, for the map cayley and Y = (w, v), mu = (l, p): (l + w × l/2 + w (w.l)/4 + v × f/2, f), f = p + w × p/2.
 */
void cb_se3_dtau_inverse_transpose(cb_se3_map map, const double Y[6], const double mu[6], double out[6]) {
  const double *w = Y, wl = cb_dot3(w, mu);
  double turned[3], across[3], moment[3];
  if (map != CB_SE3_CAYLEY) {
    double A[6][6];
    cb_se3_dtau_inverse(map, Y, A);
    cb_apply6_transposed((const double(*)[6])A, mu, out);
    return;
  }
  cb_cross3(w, mu + 3, turned);
  for (int i = 0; i < 3; i++) out[3 + i] = mu[3 + i] + turned[i] / 2;
  cb_cross3(w, mu, across);
  cb_cross3(Y + 3, out + 3, moment);
  for (int i = 0; i < 3; i++) out[i] = mu[i] + (across[i] + moment[i]) / 2 + w[i] * wl / 4;
}

/* Computes e(n) = (1 - (w/2) cot(w/2))/w^2, n = w^2, and its derivative e' for n < 0.01. In dexp^-1 they are multiplied
 * by n and n^2 and added to 1, so that the error is below 1e-17. */
static void even_small(double n, double e[2]) {
  const double *c = cb_even_series;
  e[0] = c[0] + n * (c[1] + n * (c[2] + n * (c[3] + n * c[4])));
  e[1] = c[1] + n * (2 * c[2] + n * (3 * c[3] + n * (4 * c[4])));
}

void cb_se3_dexp_inverse(const double Y[6], const double Z[6], double out[6]) {
  const double *w = Y, *v = Y + 3, *a = Z, *b = Z + 3;
  const double n = cb_dot3(w, w);
  double e[3], wa[3], wwa[3], va[3], wb[3], sum[3], w_sum[3], v_wa[3];
  if (n < 0.01)
    even_small(n, e);
  else
    cb_se3_even(n, e);
  const double slope = 2 * e[1] * cb_dot3(w, v);
  cb_cross3(w, a, wa);
  cb_cross3(w, wa, wwa);
  cb_cross3(v, a, va);
  cb_cross3(w, b, wb);
  for (int i = 0; i < 3; i++) sum[i] = va[i] + wb[i];
  cb_cross3(w, sum, w_sum);
  cb_cross3(v, wa, v_wa);
  for (int i = 0; i < 3; i++) {
    out[i] = a[i] - wa[i] / 2 + e[0] * wwa[i];
    out[3 + i] = b[i] - sum[i] / 2 + e[0] * (w_sum[i] + v_wa[i]) + slope * wwa[i];
  }
}

/* Adds d(D^T l)/dw = -hat(l)/2 - e (hat(w × l) + W hat(l)) + 2 e' (W W l) w^T to q. D = 1 - W/2 + e W W is the angular
 * block of dexp^-1, W = hat(w), and hat(a) b = a × b. */
static void exponential_turn(const double e[3], const double w[3], const double l[3], double q[3][3]) {
  double wl[3], wwl[3];
  cb_cross3(w, l, wl);
  cb_cross3(w, wl, wwl);
  cb_add_hat3(q, -0.5, l);
  cb_add_hat3(q, -e[0], wl);
  cb_add_hats3(q, -e[0], w, l);
  cb_add_outer3(q, 2 * e[1], wwl, w);
}

static void exponential_derivative(const double Y[6], const double mu[6], double out[6][6]) {
  const double *w = Y, *v = Y + 3, *l = mu, *p = mu + 3, wv = cb_dot3(w, v);
  double e[3], vp[3], wp[3], wwp[3], sum[3], wvp[3], vwp[3], top[3][3] = {{0}}, side[3][3] = {{0}};
  cb_se3_even(cb_dot3(w, w), e);
  exponential_turn(e, w, l, top);
  exponential_turn(e, w, p, side);
  cb_cross3(v, p, vp);
  cb_cross3(w, p, wp);
  cb_cross3(w, wp, wwp);
  cb_cross3(w, vp, wvp);
  cb_cross3(v, wp, vwp);
  for (int i = 0; i < 3; i++) sum[i] = wvp[i] + vwp[i];
  /* Adds d/dw of  v × p/2 + e (w × (v × p) + v × (w × p)) + 2 e' (w.v) w × (w × p). */
  cb_add_hat3(top, -e[0], vp);
  cb_add_hats3(top, -e[0], v, p);
  cb_add_outer3(top, 2 * e[1], sum, w);
  cb_add_outer3(top, 2 * e[1], wwp, v);
  cb_add_hat3(top, -2 * e[1] * wv, wp);
  cb_add_hats3(top, -2 * e[1] * wv, w, p);
  cb_add_outer3(top, 4 * e[2] * wv, wwp, w);
  blocks(top, side, side, nothing, out);
}

/* Computes the derivative of (dtau^-1)^T mu with respect to Y = (w, v). For mu = (l, p) this vector is (l + w×l/2 + w
 * (w.l)/4 + v × (p + w×p/2)/2,  p + w×p/2). */
static void cayley_derivative(const double Y[6], const double mu[6], double out[6][6]) {
  const double *w = Y, *v = Y + 3, *l = mu, *p = mu + 3;
  double wp[3], carried[3], top[3][3] = {{0}}, right[3][3] = {{0}}, below[3][3] = {{0}};
  cb_cross3(w, p, wp);
  for (int i = 0; i < 3; i++) carried[i] = p[i] + wp[i] / 2;
  cb_add_hat3(top, -0.5, l);
  cb_add_outer3(top, 0.25, w, l);
  add_identity(top, 0.25 * cb_dot3(w, l));
  cb_add_hats3(top, -0.25, v, p);
  cb_add_hat3(right, -0.5, carried);
  cb_add_hat3(below, -0.5, p);
  blocks(top, right, below, nothing, out);
}

void cb_se3_dtau_inverse_transpose_derivative(cb_se3_map map, const double Y[6], const double mu[6], double out[6][6]) {
  if (map == CB_SE3_CAYLEY) {
    cayley_derivative(Y, mu, out);
  } else if (map == CB_SE3_EXPONENTIAL) {
    exponential_derivative(Y, mu, out);
  } else { /* the derivative of mu - ad*_Y mu/2 */
    cb_se3_ad_star_matrix(mu, out);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) out[i][j] *= -0.5;
  }
}
