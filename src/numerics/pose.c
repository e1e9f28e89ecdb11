/* This file computes poses in spaces of constant curvature K, from biquaternions, or from SE(3) if K is 0
 * (curvebody/pose.h). Y: twist; tau: the maps from twists to poses; mu: momentum; numbers a + j b have j^2 = K. */
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "numerics/lie_private.h"
#include <curvebody/pose.h>

#include <math.h>
#include <stddef.h>
#include <stdbool.h>

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

/* Computes Ad of the pose T R, where T is C + j s and R a rotation. Ad of T is N_0 + j N_1 with N_0 = w + 2 K s s^T,
 * N_1 = hat(2 C s), w = C^2 - K s.s. As a matrix on (omega, v), a number A + j B is [[A, K B], [B, A]]. */
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
      for (int k = 0; k < 3; k++) {
        A += even[i][k] * r[k][j];
        B += odd[i][k] * r[k][j];
      }
      out[i][j] = out[3 + i][3 + j] = A;
      out[i][3 + j] = K * B;
      out[3 + i][j] = B;
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

/* --- the inverse right-trivialised differentials of tau in a curved space and the derivatives of their transposes ---
 *
 *   cayley: (dtau^-1)^T (l, p) = (l + w×l/2 + w (w.l)/4 + v × (p + w×p/2)/2,
 *                                 p + w×p/2 + (K/2) (v×l + w × (v×l)/2) + (K/4) v (v.p))
 *   exponential, over numbers: (dtau^-1)^T M = M - M×Z/2 + E (M×Z)×Z, with the derivative
 *     D = -hat(M)/2 - E hat(Z) hat(M) + E hat(M×Z) + 2 E' ((M×Z)×Z) Z^T
 *   On (omega, v) a matrix A + j B of numbers is [[A, K B], [B, A]]; from (omega, v) to M = p + j l it is
 *   [[B, A], [A, K B]] with rows l, p.
 * Here Y = (w, v) is the twist and mu = (l, p) the momentum; Z = w + j v, M = p + j l and n = Z.Z are numbers with j^2
 * = K, and hat(a) b = a × b. E(n) is computed as sum (c_k - 2/(2 pi)^(2k+2)) n^k + 2/(4 pi^2 - n), where c_k are the
 * numbers of cb_even_series. Without the contribution of the pole at 4 pi^2 the coefficients decrease like (16
 * pi^2)^-k.
 */

/* Computes E(n) and E'(n) of dexp^-1 = 1 - A/2 + E(n) A^2 (curvebody/pose.h). */
static void cb_number_even(double K, cb_number n, cb_number *E, cb_number *slope) {
  const bool small = fabs(n.a) + sqrt(fabs(K)) * fabs(n.b) < 0.25;
  const double pole = 4 * M_PI * M_PI;
  cb_number value = {0, 0}, first = {0, 0};
  double power = 2 * pow(1 / pole, 22);
  for (int k = small ? 8 : 21; k >= 0; k--) {
    first = cb_number_add(cb_number_multiply(K, first, n), value);
    value = cb_number_multiply(K, value, n);
    value.a += small ? cb_even_series[k] : cb_even_series[k] - power;
    power *= pole;
  }
  *E = value;
  *slope = first;
  if (small) return;
  const cb_number over = cb_number_inverse(K, (cb_number){pole - n.a, -n.b});
  *E = cb_number_add(value, cb_number_scale(2, over));
  *slope = cb_number_add(first, cb_number_scale(2, cb_number_multiply(K, over, over)));
}

static cb_number square(double K, const double Y[6]) {
  return (cb_number){cb_dot3(Y, Y) + K * cb_dot3(Y + 3, Y + 3), 2 * cb_dot3(Y, Y + 3)};
}

static void cross(double K, const cb_number a[3], const cb_number b[3], cb_number out[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = cb_number_add(cb_number_multiply(K, a[j], b[k]), cb_number_scale(-1, cb_number_multiply(K, a[k], b[j])));
  }
}

static void numbers(const double a[3], const double b[3], cb_number out[3]) {
  for (int i = 0; i < 3; i++) out[i] = (cb_number){a[i], b[i]};
}

void cb_pose_dexp_inverse_in(double K, const double Y[6], const double X[6], double out[6]) {
  cb_number Z[3], x[3], once[3], twice[3], E, slope;
  cb_number_even(K, square(K, Y), &E, &slope);
  numbers(Y, Y + 3, Z);
  numbers(X, X + 3, x);
  cross(K, Z, x, once);
  cross(K, Z, once, twice);
  for (int i = 0; i < 3; i++) {
    const cb_number more = cb_number_multiply(K, E, twice[i]);
    out[i] = X[i] - once[i].a / 2 + more.a;
    out[3 + i] = X[3 + i] - once[i].b / 2 + more.b;
  }
}

/* Writes the matrix [[first a, second b], [c, fourth d]]. */
static void blocks(const double a[3][3], double first, const double b[3][3], double second, const double c[3][3],
                   const double d[3][3], double fourth, double out[6][6]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[i][j] = first * a[i][j];
      out[i][3 + j] = second * b[i][j];
      out[3 + i][j] = c[i][j];
      out[3 + i][3 + j] = fourth * d[i][j];
    }
}

static void dexp_inverse(double K, const double Y[6], double out[6][6]) {
  double even[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, odd[3][3] = {{0}};
  const double *w = Y, *v = Y + 3;
  cb_number E, slope;
  cb_number_even(K, square(K, Y), &E, &slope);
  cb_add_hat3(even, -0.5, w);
  cb_add_hats3(even, E.a, w, w);
  cb_add_hats3(even, K * E.a, v, v);
  cb_add_hats3(even, K * E.b, w, v);
  cb_add_hats3(even, K * E.b, v, w);
  cb_add_hat3(odd, -0.5, v);
  cb_add_hats3(odd, E.a, w, v);
  cb_add_hats3(odd, E.a, v, w);
  cb_add_hats3(odd, E.b, w, w);
  cb_add_hats3(odd, K * E.b, v, v);
  blocks(even, 1, odd, K, odd, even, 1, out);
}

static void dexp_derivative(double K, const double Y[6], const double mu[6], double out[6][6]) {
  cb_number Z[3], M[3], MZ[3], MZZ[3], E, slope, dot = {0, 0};
  double even[3][3], odd[3][3];
  cb_number_even(K, square(K, Y), &E, &slope);
  numbers(Y, Y + 3, Z);
  numbers(mu + 3, mu, M);
  cross(K, M, Z, MZ);
  cross(K, MZ, Z, MZZ);
  for (int i = 0; i < 3; i++) dot = cb_number_add(dot, cb_number_multiply(K, Z[i], M[i]));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      /* hat(Z) hat(M) = M Z^T - (Z.M) 1 */
      cb_number part = cb_number_scale(-1, cb_number_multiply(K, M[i], Z[j])), more;
      if (i == j) part = cb_number_add(part, dot);
      if (i != j) {
        const int k = 3 - i - j;
        const double sign = (i + 1) % 3 == j ? -1 : 1;
        part = cb_number_add(part, cb_number_scale(sign, MZ[k]));
        part = cb_number_multiply(K, E, part);
        part = cb_number_add(part, cb_number_scale(-0.5 * sign, M[k]));
      } else {
        part = cb_number_multiply(K, E, part);
      }
      more = cb_number_multiply(K, slope, cb_number_multiply(K, MZZ[i], Z[j]));
      part = cb_number_add(part, cb_number_scale(2, more));
      even[i][j] = part.a;
      odd[i][j] = part.b;
    }
  blocks(odd, 1, even, 1, even, odd, K, out);
}

static void cayley_inverse(double K, const double Y[6], double out[6][6]) {
  double top[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, low[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double right[3][3] = {{0}}, left[3][3] = {{0}};
  const double *w = Y, *v = Y + 3;
  cb_add_hat3(top, -0.5, w);
  cb_add_outer3(top, 0.25, w, w);
  cb_add_hat3(low, -0.5, w);
  cb_add_outer3(low, K / 4, v, v);
  cb_add_hat3(right, -0.5, v);
  cb_add_hats3(right, 0.25, v, w);
  cb_add_hat3(left, -0.5, v);
  cb_add_hats3(left, 0.25, w, v);
  blocks(top, 1, right, K, left, low, 1, out);
}

static void cayley_derivative(double K, const double Y[6], const double mu[6], double out[6][6]) {
  double top[3][3] = {{0}}, right[3][3] = {{0}}, left[3][3] = {{0}}, low[3][3] = {{0}}, wp[3], vl[3], carried[3];
  const double *w = Y, *v = Y + 3, *l = mu, *p = mu + 3;
  cb_cross3(w, p, wp);
  cb_cross3(v, l, vl);
  for (int i = 0; i < 3; i++) carried[i] = p[i] + wp[i] / 2;
  cb_add_hat3(top, -0.5, l);
  cb_add_outer3(top, 0.25, w, l);
  for (int i = 0; i < 3; i++) top[i][i] += 0.25 * cb_dot3(w, l);
  cb_add_hats3(top, -0.25, v, p);
  cb_add_hat3(right, -0.5, carried);
  cb_add_hat3(left, -0.5, p);
  cb_add_hat3(left, -K / 4, vl);
  cb_add_hat3(low, -K / 2, l);
  cb_add_hats3(low, -K / 4, w, l);
  cb_add_outer3(low, K / 4, v, p);
  for (int i = 0; i < 3; i++) low[i][i] += K / 4 * cb_dot3(v, p);
  blocks(top, 1, right, 1, left, low, 1, out);
}

/* Computes dtau^-1_Y of the map tln, which is 1 - ad_Y/2 with ad_Y = hat(Z). */
static void ad_inverse(double K, const double Y[6], double out[6][6]) {
  double even[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, odd[3][3] = {{0}};
  cb_add_hat3(even, -0.5, Y);
  cb_add_hat3(odd, -0.5, Y + 3);
  blocks(even, 1, odd, K, odd, even, 1, out);
}

static void ad_derivative(double K, const double mu[6], double out[6][6]) {
  double even[3][3] = {{0}}, odd[3][3] = {{0}};
  cb_add_hat3(even, -0.5, mu + 3);
  cb_add_hat3(odd, -0.5, mu);
  blocks(odd, 1, even, 1, even, odd, K, out);
}

void cb_pose_dtau_inverse_in(cb_se3_map map, double K, const double Y[6], double out[6][6]) {
  if (K == 0)
    cb_se3_dtau_inverse(map, Y, out);
  else if (map == CB_SE3_CAYLEY)
    cayley_inverse(K, Y, out);
  else if (map == CB_SE3_EXPONENTIAL)
    dexp_inverse(K, Y, out);
  else
    ad_inverse(K, Y, out);
}

void cb_pose_dtau_inverse_transpose_derivative_in(cb_se3_map map, double K, const double Y[6], const double mu[6],
                                                  double out[6][6]) {
  if (K == 0)
    cb_se3_dtau_inverse_transpose_derivative(map, Y, mu, out);
  else if (map == CB_SE3_CAYLEY)
    cayley_derivative(K, Y, mu, out);
  else if (map == CB_SE3_EXPONENTIAL)
    dexp_derivative(K, Y, mu, out);
  else
    ad_derivative(K, mu, out);
}
