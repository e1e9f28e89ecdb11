/* Poses and the maps tau as biquaternions (equations: biquaternion.h, curvebody/pose.h). */
#include "numerics/biquaternion.h"
#include "numerics/quaternion.h"
#include <math.h>
#include <stdbool.h>

/* out += c p q */
static void add_product(double c, const double p[4], const double q[4], double out[4]) {
  double product[4];
  cb_quaternion_multiply(p, q, product);
  for (int i = 0; i < 4; i++) out[i] += c * product[i];
}

void cb_biquaternion_multiply(double K, const cb_biquaternion *p, const cb_biquaternion *q, cb_biquaternion *out) {
  cb_biquaternion c = {0};
  cb_quaternion_multiply(p->a, q->a, c.a);
  cb_quaternion_multiply(p->a, q->b, c.b);
  add_product(K, p->b, q->b, c.a);
  add_product(1, p->b, q->a, c.b);
  *out = c;
}

double cb_biquaternion_of(double K, const cb_pose *g, cb_biquaternion *out) {
  const double r = sqrt(cb_dot3(g->x, g->x)), half = sqrt(fabs(K)) * r / 2;
  double C = cos(half), sinc = cb_sinc(half) / 2, scale = 0;
  if (K < 0 && half < 0.5) {
    C = cosh(half), sinc = half > 0 ? sinh(half) / half / 2 : 0.5;
  } else if (K < 0) {
    const double e = exp(-2 * half);
    C = (1 + e) / 2, sinc = (1 - e) / half / 4, scale = half;
  }
  const double s[4] = {0, sinc * g->x[0], sinc * g->x[1], sinc * g->x[2]};
  for (int i = 0; i < 4; i++) out->a[i] = C * g->q[i];
  cb_quaternion_multiply(s, g->q, out->b);
  return scale;
}

void cb_biquaternion_screw(const cb_biquaternion *Q, cb_screw *out) {
  const double *a = Q->a, C = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
  double back[4], s[4];
  for (int i = 0; i < 4; i++) out->q[i] = a[i] / C;
  cb_quaternion_inverse(out->q, back);
  cb_quaternion_multiply(Q->b, back, s); /* its real part is round-off */
  out->C = C;
  memcpy(out->s, s + 1, sizeof out->s);
}

/* r with S_K(r/2)/C_K(r/2) = S/C, where the length of (C, S) matters only far from 0. */
static double distance(double K, double C, double S, double scale) {
  const double root = sqrt(fabs(K)), z = root * S;
  if (K > 0) return 2 * atan2(z, C) / root;
  if (z < C / 2) return log1p(2 * z / (C - z)) / root; /* 2 atanh(z/C) */
  return 2 * (scale + log(C + z)) / root;
}

/* Nearer the antipode than the base point: Q = -1 T(y) R with y near 0, and -1 = T(x) R(x, half a turn) for the x of
 * length pi/sqrt(K) against y. Without the low part of that length, the round-off of pi would add up. */
void cb_biquaternion_pose(double K, const cb_biquaternion *Q, double scale, cb_pose *out, double low[3]) {
  cb_biquaternion swapped;
  cb_screw m;
  double a = 0, b = 0;
  for (int i = 0; i < 4; i++) a += Q->a[i] * Q->a[i], b += Q->b[i] * Q->b[i];
  const bool beyond = K * b > a;
  const double root = sqrt(fabs(K));
  for (int i = 0; beyond && i < 4; i++) swapped.a[i] = root * Q->b[i], swapped.b[i] = Q->a[i] / root;
  cb_biquaternion_screw(beyond ? &swapped : Q, &m);
  const double S = sqrt(cb_dot3(m.s, m.s)), r = distance(K, m.C, S, scale);
  memcpy(out->q, m.q, sizeof m.q);
  if (low) low[0] = low[1] = low[2] = 0;
  if (!beyond) {
    for (int i = 0; i < 3; i++) out->x[i] = S > 0 ? r * (m.s[i] / S) : m.s[i];
    return;
  }
  double axis[4] = {0, 1, 0, 0};
  for (int i = 0; S > 0 && i < 3; i++) axis[1 + i] = -m.s[i] / S;
  cb_quaternion_multiply(axis, m.q, out->q);
  const double pole = M_PI / root; /* pi is M_PI + 1.2e-16 */
  const cb_dd length = cb_dd_add_d(cb_two_sum(pole, -r), (fma(-pole, root, M_PI) + 1.2246467991473532e-16) / root);
  for (int i = 0; i < 3; i++) {
    const cb_dd x = cb_dd_mul_d(length, axis[1 + i]);
    out->x[i] = x.hi;
    if (low) low[i] = x.lo;
  }
}

static void cayley(double K, const double Y[6], cb_biquaternion *out) {
  const double *w = Y, *v = Y + 3, along = cb_dot3(w, v) / 4, turn = 1 + cb_dot3(w, w) / 4;
  const double scale = 1 / sqrt(turn + K * (cb_dot3(v, v) / 4 + along * along));
  out->a[0] = scale, out->b[0] = -scale * along;
  for (int i = 0; i < 3; i++) out->a[1 + i] = scale * w[i] / 2, out->b[1 + i] = scale * v[i] / 2;
}

/* sum (-z)^k/(2k + odd)!, to 1e-17 where |z| < pi^2 */
static cb_number series(double K, int odd, cb_number z) {
  const int terms = fabs(z.a) + sqrt(fabs(K)) * fabs(z.b) < 0.5 ? 8 : 19;
  cb_number sum = {1, 0};
  for (int k = terms; k > 0; k--) {
    sum = cb_number_scale(-1.0 / ((2 * k - 1 + odd) * (2 * k + odd)), cb_number_multiply(K, z, sum));
    sum.a += 1;
  }
  return sum;
}

static void exponential(double K, const double Y[6], cb_biquaternion *out) {
  const double *w = Y, *v = Y + 3;
  const cb_number z = {(cb_dot3(w, w) + K * cb_dot3(v, v)) / 4, cb_dot3(w, v) / 2};
  const cb_number cosine = series(K, 0, z), sinc = cb_number_scale(0.5, series(K, 1, z));
  out->a[0] = cosine.a, out->b[0] = cosine.b;
  for (int i = 0; i < 3; i++) {
    const cb_number part = cb_number_multiply(K, sinc, (cb_number){w[i], v[i]});
    out->a[1 + i] = part.a, out->b[1 + i] = part.b;
  }
}

void cb_biquaternion_tau(cb_se3_map map, double K, const double Y[6], cb_biquaternion *out) {
  if (map == CB_SE3_EXPONENTIAL)
    exponential(K, Y, out);
  else
    cayley(K, Y, out);
}

/* (1 + Q)/sqrt(2 (1 + Q_0)), the root of a number of positive real part. */
void cb_biquaternion_half(double K, const cb_biquaternion *Q, cb_biquaternion *out) {
  const cb_number n = {2 * (1 + Q->a[0]), 2 * Q->b[0]};
  const double real = sqrt((n.a + sqrt(n.a * n.a - K * n.b * n.b)) / 2);
  const cb_number over = cb_number_inverse(K, (cb_number){real, n.b / (2 * real)});
  for (int i = 0; i < 4; i++) {
    const cb_number part = cb_number_multiply(K, over, (cb_number){(i == 0) + Q->a[i], Q->b[i]});
    out->a[i] = part.a, out->b[i] = part.b;
  }
}
