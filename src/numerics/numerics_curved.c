/* Points, planes, areas and fluxes in a space of constant curvature, and biquaternions. Functions of biquaternions are
 * products, square roots, conversions from and to poses, screws, the maps tau, the action of screws on momenta, and a
 * small transvection after a large one. The equations are in numerics_curved.h and curvebody/pose.h. */
#include "numerics/numerics_curved.h"

#include "numerics/vec3.h"

#include <math.h>
#include <stdbool.h>

void cb_curved_point(double K, const double v[3], double y[4]) {
  const cb_trig t = cb_trig_of(K);
  const double r = sqrt(cb_dot3(v, v)), f = cb_trig_sinc(t, r);
  for (int i = 0; i < 3; i++) y[i] = f * v[i];
  y[3] = cb_trig_c(t, r);
}

/* Returns (c_K(r) - s_K(r)/r)/r^2, the derivative of s_K(r)/r divided by r. Near 0 it uses the series, because the
 * difference has cancellation there. */
static double slope_of(cb_trig t, double r) {
  const double z = -t.k * r * r;
  if (fabs(z) > 0.01) return (cb_trig_c(t, r) - cb_trig_sinc(t, r)) / (r * r);
  return -t.k * (1. / 3 + z * (1. / 30 + z * (1. / 840 + z * (1. / 45360 + z / 3991680))));
}

void cb_curved_velocity(double K, const double v[3], const double dv[3], double u[4]) {
  const cb_trig t = cb_trig_of(K);
  const double r = sqrt(cb_dot3(v, v)), f = cb_trig_sinc(t, r), along = cb_dot3(v, dv), g = slope_of(t, r) * along;
  for (int i = 0; i < 3; i++) u[i] = f * dv[i] + g * v[i];
  u[3] = -K * f * along;
}

void cb_curved_normal(double K, const double y[4], double v[3]) {
  const double s = sqrt(cb_dot3(y, y)), f = s > 0 ? cb_trig_arc(cb_trig_of(K), s, y[3]) / s : 1;
  for (int i = 0; i < 3; i++) v[i] = f * y[i];
}

void cb_curved_towards(double K, const double p[4], const double y[4], double out[4]) {
  const double along = cb_dot3(p, y), f = K * along / (1 + p[3]) + y[3];
  for (int i = 0; i < 3; i++) out[i] = y[i] - f * p[i];
  out[3] = K * along + p[3] * y[3];
}

double cb_curved_plane(double K, const double a[4], const double b[4], const double c[4], double plane[4]) {
  double bc[3], ca[3], ab[3];
  cb_cross3(b, c, bc);
  cb_cross3(c, a, ca);
  cb_cross3(a, b, ab);
  for (int i = 0; i < 3; i++) plane[i] = a[3] * bc[i] + b[3] * ca[i] + c[3] * ab[i];
  plane[3] = -cb_dot3(a, bc);
  const double norm = sqrt(cb_dot3(plane, plane) + K * plane[3] * plane[3]);
  for (int i = 0; i < 4; i++) plane[i] /= norm;
  return norm;
}

#define NEAR_CORNER 0.10128650732345634
#define NEAR_SIDE 0.47014206410511509
const double cb_curved_rule[CB_CURVED_POINTS][4] = {
    {1. / 3, 1. / 3, 1. / 3, 0.225},
    {1 - 2 * NEAR_CORNER, NEAR_CORNER, NEAR_CORNER, 0.12593918054482715},
    {NEAR_CORNER, 1 - 2 * NEAR_CORNER, NEAR_CORNER, 0.12593918054482715},
    {NEAR_CORNER, NEAR_CORNER, 1 - 2 * NEAR_CORNER, 0.12593918054482715},
    {1 - 2 * NEAR_SIDE, NEAR_SIDE, NEAR_SIDE, 0.13239415278850618},
    {NEAR_SIDE, 1 - 2 * NEAR_SIDE, NEAR_SIDE, 0.13239415278850618},
    {NEAR_SIDE, NEAR_SIDE, 1 - 2 * NEAR_SIDE, 0.13239415278850618}};

double cb_curved_form(double K, const double a[4], const double b[4]) { return a[3] * b[3] + K * cb_dot3(a, b); }

double cb_curved_node(double K, const double y[3][4], int k, double q[4]) {
  const double *l = cb_curved_rule[k];
  for (int i = 0; i < 4; i++) q[i] = l[0] * y[0][i] + l[1] * y[1][i] + l[2] * y[2][i];
  const double c = cb_curved_form(K, q, q), root = sqrt(c);
  for (int i = 0; i < 4; i++) q[i] /= root;
  return c;
}

double cb_curved_area(double K, const double a[4], const double b[4], const double c[4], double norm) {
  const double sum = 1 + cb_curved_form(K, a, b) + cb_curved_form(K, b, c) + cb_curved_form(K, c, a);
  return K == 0 ? 2 * norm / sum : 2 / K * atan2(K * norm, sum);
}

void cb_curved_flux(double K, const double plane[4], const double y[4], double m[6]) {
  cb_cross3(y, plane, m);
  for (int i = 0; i < 3; i++) m[3 + i] = y[3] * plane[i] - K * plane[3] * y[i];
}

double cb_curved_distance(double K, const double a[4], const double b[4]) {
  const cb_trig t = cb_trig_of(K);
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]}, e = a[3] - b[3];
  if (K == 0) return sqrt(cb_dot3(d, d));
  const double chord = sqrt(fmax(0, cb_dot3(d, d) + e * e / K)), half = t.r * chord / 2;
  if (K < 0) return 2 * asinh(half) / t.r;
  return half * half < 0.5 ? 2 * asin(half) / t.r : 2 * atan2(half, sqrt(fmax(0, 1 - half * half))) / t.r;
}

/* --- biquaternions --- */

/* Adds c times the product p q of two quaternions to `out`. */
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
    C = cosh(half);
    sinc = half > 0 ? sinh(half) / half / 2 : 0.5;
  } else if (K < 0) {
    const double e = exp(-2 * half);
    C = (1 + e) / 2;
    sinc = (1 - e) / half / 4;
    scale = half;
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
  cb_quaternion_multiply(Q->b, back, s); /* without round-off s[0] would be 0 */
  out->C = C;
  memcpy(out->s, s + 1, sizeof out->s);
}

/* Returns the distance r with S_K(r/2)/C_K(r/2) = S/C. C and S are stored times exp(-scale); this factor matters only
 * far from 0 in hyperbolic space. */
static double distance(double K, double C, double S, double scale) {
  const double root = sqrt(fabs(K)), z = root * S;
  if (K > 0) return 2 * atan2(z, C) / root;
  if (z < C / 2) return log1p(2 * z / (C - z)) / root; /* 2 atanh(z/C) */
  return 2 * (scale + log(C + z)) / root;
}

/* On a sphere a pose may be nearer to the antipode than to the base point. Then Q is the product of the matrix -1, a
 * transvection T(y) with |y| < pi/(2 sqrt(K)), and a rotation R. The matrix -1 is T(x) R(x, pi) for the x of length
 * pi/sqrt(K) in the direction opposite to y, where R(x, pi) is the rotation by pi about x. Without the low part of this
 * length, the round-off of pi would accumulate. */
void cb_biquaternion_pose(double K, const cb_biquaternion *Q, double scale, cb_pose *out, double low[3]) {
  cb_biquaternion swapped;
  cb_screw m;
  double a = 0, b = 0;
  for (int i = 0; i < 4; i++) {
    a += Q->a[i] * Q->a[i];
    b += Q->b[i] * Q->b[i];
  }
  const bool beyond = K * b > a;
  const double root = sqrt(fabs(K));
  for (int i = 0; beyond && i < 4; i++) {
    swapped.a[i] = root * Q->b[i];
    swapped.b[i] = Q->a[i] / root;
  }
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
  out->a[0] = scale;
  out->b[0] = -scale * along;
  for (int i = 0; i < 3; i++) {
    out->a[1 + i] = scale * w[i] / 2;
    out->b[1 + i] = scale * v[i] / 2;
  }
}

/* Returns the sum of (-z)^k/(2k + odd)! over k >= 0, for a number z with |z| < pi^2. The truncation error is below
 * 1e-17. */
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
  out->a[0] = cosine.a;
  out->b[0] = cosine.b;
  for (int i = 0; i < 3; i++) {
    const cb_number part = cb_number_multiply(K, sinc, (cb_number){w[i], v[i]});
    out->a[1 + i] = part.a;
    out->b[1 + i] = part.b;
  }
}

void cb_biquaternion_tau(cb_se3_map map, double K, const double Y[6], cb_biquaternion *out) {
  if (map == CB_SE3_EXPONENTIAL)
    exponential(K, Y, out);
  else
    cayley(K, Y, out);
}

/* Computes (1 + Q)/sqrt(2 (1 + Q_0)), where Q_0 = a[0] + j b[0] and the square root has a positive real part. */
void cb_biquaternion_half(double K, const cb_biquaternion *Q, cb_biquaternion *out) {
  const cb_number n = {2 * (1 + Q->a[0]), 2 * Q->b[0]};
  const double real = sqrt((n.a + sqrt(n.a * n.a - K * n.b * n.b)) / 2);
  const cb_number over = cb_number_inverse(K, (cb_number){real, n.b / (2 * real)});
  for (int i = 0; i < 4; i++) {
    const cb_number part = cb_number_multiply(K, over, (cb_number){(i == 0) + Q->a[i], Q->b[i]});
    out->a[i] = part.a;
    out->b[i] = part.b;
  }
}

/* --- the action of screws C + j s on momenta M = p + j l ---
 *
 *   (C - j s) M (C + j s)/N = M + 2 (C j M × s + K (M × s) × s)/N,  N = C^2 + K s.s
 *   l += 2 (C p × s + K (l × s) × s)/N,  p += 2 K (C l × s + (p × s) × s)/N
 */

static void cross(const cb_dd a[3], const double b[3], cb_dd out[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = cb_dd_sub(cb_dd_mul_d(a[j], b[k]), cb_dd_mul_d(a[k], b[j]));
  }
}

static cb_dd square(const double s[3]) {
  return cb_dd_add(cb_dd_add(cb_two_prod(s[0], s[0]), cb_two_prod(s[1], s[1])), cb_two_prod(s[2], s[2]));
}

/* Adds factor (c a + e b) to v. */
static void add(cb_dd factor, double c, const cb_dd a[3], double e, const cb_dd b[3], cb_dd v[3]) {
  for (int i = 0; i < 3; i++)
    v[i] = cb_dd_add(v[i], cb_dd_mul(factor, cb_dd_add(cb_dd_mul_d(a[i], c), cb_dd_mul_d(b[i], e))));
}

void cb_screw_carry(double K, double C, const double s[3], cb_dd l[3], cb_dd p[3]) {
  const cb_dd norm = cb_dd_add(cb_two_prod(C, C), cb_dd_mul_d(square(s), K));
  const cb_dd factor = cb_dd_div(cb_dd_of(2), norm);
  cb_dd ls[3], ps[3], lss[3], pss[3];
  cross(l, s, ls);
  cross(p, s, ps);
  cross(ls, s, lss);
  cross(ps, s, pss);
  add(factor, C, ps, K, lss, l);
  add(cb_dd_mul_d(factor, K), C, ls, 1, pss, p);
}

/* Replaces v by v + 2 (q_0 u × v + u × (u × v))/|q|^2, where u is the vector part of q. */
void cb_screw_turn(const double q[4], cb_dd v[3]) {
  const double *u = q + 1;
  if (u[0] == 0 && u[1] == 0 && u[2] == 0) return;
  const cb_dd factor = cb_dd_div(cb_dd_of(2), cb_dd_add(cb_two_prod(q[0], q[0]), square(u)));
  cb_dd vu[3], vuu[3];
  cross(v, u, vu);
  cross(vu, u, vuu);
  add(factor, -q[0], vu, 1, vuu, v);
}

static void carry(double K, double C, const double s[3], const double mu[6], double out[6]) {
  const double factor = 2 / (C * C + K * cb_dot3(s, s));
  double ls[3], ps[3], lss[3], pss[3];
  cb_cross3(mu, s, ls);
  cb_cross3(mu + 3, s, ps);
  cb_cross3(ls, s, lss);
  cb_cross3(ps, s, pss);
  for (int i = 0; i < 3; i++) {
    out[i] = mu[i] + factor * (C * ps[i] + K * lss[i]);
    out[3 + i] = mu[3 + i] + factor * K * (C * ls[i] + pss[i]);
  }
}

void cb_screw_momentum(double K, const cb_screw *m, const double mu[6], double out[6]) {
  double r[3][3], carried[6];
  carry(K, m->C, m->s, mu, carried);
  cb_quaternion_rotation(m->q, r);
  cb_apply3_transposed(r, carried, out);
  cb_apply3_transposed(r, carried + 3, out + 3);
}

void cb_screw_momentum_back(double K, const cb_screw *m, const double mu[6], double out[6]) {
  double r[3][3], turned[6];
  const double back[3] = {-m->s[0], -m->s[1], -m->s[2]};
  cb_quaternion_rotation(m->q, r);
  cb_apply3(r, mu, turned);
  cb_apply3(r, mu + 3, turned + 3);
  carry(K, m->C, back, turned, out);
}

/* --- a small transvection after a large one: T(x) T(y) = T(x') R by differences, with a rotation R ---
 *
 *   T(x) = C + j s,  T(y) = c + j e,  T(x') = C' + j s';  the quaternion of R is (A, K W)/C'
 *   (C + j s)(c + j e) = A + j V + K W,  A = C c - K s.e,  V = C e + c s,  W = s × e
 *   C'^2 = A^2 + K^2 W.W,  s' = (A V - K V × W)/C'
 *   r' - r = 2/k atan2(k (C dS - S dC), C C' + K S S'), k = sqrt|K|, S = |s|
 *          K < 0: 2/k log(1 + (dC + k dS)/(C + k S))
 *   x' - x = (r' - r) s'/S' + r/S (ds - dS s'/S')
 * Here r = |x|, r' = |x'|, S' = |s'|, dC = C' - C, dS = S' - S and ds = s' - s. 1 - c is computed as K e.e/(1 + c), so
 * that all differences are of the size of e. For K < 0, C and s may have a common factor.
 */

bool cb_screw_shift(double K, const double x[3], const double low[3], double c, const double e[3], double dx[3],
                    double turn[4]) {
  const double root = sqrt(fabs(K));
  const cb_pose at = {{1, 0, 0, 0}, {x[0] + low[0], x[1] + low[1], x[2] + low[2]}};
  cb_biquaternion T;
  cb_biquaternion_of(K, &at, &T);
  const double C = T.a[0], *s = T.b + 1, r = sqrt(cb_dot3(at.x, at.x)), S = sqrt(cb_dot3(s, s));
  const double less = K * cb_dot3(e, e) / (1 + c), dA = -C * less - K * cb_dot3(s, e), A = C + dA;
  double V[3], W[3], VW[3], dV[3], ds[3], to[3];
  for (int i = 0; i < 3; i++) {
    dV[i] = C * e[i] - less * s[i];
    V[i] = s[i] + dV[i];
  }
  cb_cross3(s, e, W);
  cb_cross3(V, W, VW);
  const double C1 = sqrt(A * A + K * K * cb_dot3(W, W)), dC = (dA * (2 * C + dA) + K * K * cb_dot3(W, W)) / (C1 + C);
  if (K > 0 && fmin(C, C1) < 0.07) return false;
  for (int i = 0; i < 3; i++) {
    ds[i] = (A * dV[i] + (dA - dC) * s[i] - K * VW[i]) / C1;
    to[i] = s[i] + ds[i];
  }
  const double S1 = sqrt(cb_dot3(to, to)), dS = S1 > 0 ? (2 * cb_dot3(s, ds) + cb_dot3(ds, ds)) / (S1 + S) : -S;
  const double dr =
      K > 0 ? atan2(root * (C * dS - S * dC), C * C1 + K * S * S1) : log1p((dC + root * dS) / (C + root * S));
  for (int i = 0; i < 3; i++) {
    const double direction = S1 > 0 ? to[i] / S1 : 0;
    dx[i] = 2 * dr / root * direction + (S > 0 ? r / S : 2) * (ds[i] - dS * direction);
  }
  turn[0] = A;
  for (int i = 0; i < 3; i++) turn[1 + i] = K * W[i];
  return true;
}
