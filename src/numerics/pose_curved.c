/* See numerics/pose_curved.h. */
#include "numerics/pose_curved.h"

#include "numerics/curved.h"
#include "numerics/quaternion.h"
#include "numerics/trig.h"

#include <string.h>

/* e + k o */
typedef struct motion {
  double e[4], o[4];
} motion;

static motion product(double K, const motion *a, const motion *b) {
  motion out;
  double other[4];
  cb_quaternion_multiply(a->e, b->e, out.e);
  cb_quaternion_multiply(a->o, b->o, other);
  for (int i = 0; i < 4; i++) out.e[i] += K * other[i];
  cb_quaternion_multiply(a->e, b->o, out.o);
  cb_quaternion_multiply(a->o, b->e, other);
  for (int i = 0; i < 4; i++) out.o[i] += other[i];
  return out;
}

/* Half the length h of x where s_K(h) = S, c_K(h) = C up to a common factor whose logarithm times 1/r is `more`. */
static double half_length(double K, double S, double C, double more) {
  const cb_trig t = cb_trig_of(K);
  return more > 0 ? more + log(t.r * S + C) / t.r : cb_trig_arc(t, S, C);
}

/* x and q of a motion that is c_K(more) times what is given, e of norm C and o of norm S. */
static void take(double K, const motion *m, double more, cb_pose *out) {
  const double *e = m->e, *o = m->o, C = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]),
               S = sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2] + o[3] * o[3]);
  double q[4], back[4], across[4];
  if (C > 1e-14 * S) {
    for (int i = 0; i < 4; i++) q[i] = e[i] / C;
  } else { /* the antipode of the base point: any direction leads there */
    const double along[4] = {0, -1, 0, 0};
    cb_quaternion_multiply(along, o, q);
    for (int i = 0; i < 4; i++) q[i] /= S;
  }
  cb_quaternion_inverse(q, back);
  cb_quaternion_multiply(o, back, across);
  const double length = sqrt(across[1] * across[1] + across[2] * across[2] + across[3] * across[3]),
               f = length > 0 ? 2 * half_length(K, S, C, more) / length : 0;
  for (int i = 0; i < 3; i++) out->x[i] = f * across[1 + i];
  memcpy(out->q, q, sizeof q);
  cb_quaternion_project(out->q);
}

/* The motion of a pose; far out in H^3 over c_K(*more). */
static motion of_pose(double K, const cb_pose *a, double *more) {
  const cb_trig t = cb_trig_of(K);
  const double r = sqrt(cb_dot3(a->x, a->x)), far = K < 0 && t.r * r > 80,
               C = far ? 1 : cb_trig_c(t, r / 2), S = far ? 1 / t.r : cb_trig_s(t, r / 2),
               f = r > 0 ? S / r : 0.5;
  const double along[4] = {0, f * a->x[0], f * a->x[1], f * a->x[2]};
  motion out;
  *more = far ? r / 2 - log(2.) / t.r : 0;
  for (int i = 0; i < 4; i++) out.e[i] = C * a->q[i];
  cb_quaternion_multiply(along, a->q, out.o);
  return out;
}

void cb_pose_multiply_in(double K, const cb_pose *a, const cb_pose *b, cb_pose *out) {
  double more[2];
  const motion m = of_pose(K, a, more), n = of_pose(K, b, more + 1), both = product(K, &m, &n);
  take(K, &both, more[0] + more[1], out);
}

void cb_pose_inverse_in(double K, const cb_pose *a, cb_pose *out) {
  double r[3][3], x[3];
  (void)K; /* (T(x) R)^-1 = R^-1 T(-x) = T(-R^-1 x) R^-1 */
  cb_pose_rotation(a, r);
  cb_apply3_transposed((const double(*)[3])r, a->x, x);
  *out = (cb_pose){{a->q[0], -a->q[1], -a->q[2], -a->q[3]}, {-x[0], -x[1], -x[2]}};
}

void cb_pose_place_in(double K, const cb_pose *a, double y[4]) { cb_curved_point(K, a->x, y); }

/* exp(X), X = (omega + k v)/2, by its series after halving, then squares. */
static motion exponential(double K, const double Y[6]) {
  const double size = (sqrt(cb_dot3(Y, Y)) + sqrt(fabs(K) * cb_dot3(Y + 3, Y + 3))) / 2;
  int halvings = 0;
  while (ldexp(size, -halvings) > 0.25) halvings++;
  motion X = {{0}, {0}}, term = {{1}, {0}}, sum = term;
  for (int i = 0; i < 3; i++) X.e[1 + i] = ldexp(Y[i] / 2, -halvings), X.o[1 + i] = ldexp(Y[3 + i] / 2, -halvings);
  for (int n = 1; n <= 13; n++) { /* 0.25^14/14! = 4e-20 */
    term = product(K, &term, &X);
    for (int i = 0; i < 4; i++) {
      sum.e[i] += term.e[i] /= n;
      sum.o[i] += term.o[i] /= n;
    }
  }
  for (; halvings > 0; halvings--) sum = product(K, &sum, &sum);
  return sum;
}

void cb_pose_exp_in(double K, const double Y[6], cb_pose *out) {
  const motion m = exponential(K, Y);
  take(K, &m, 0, out);
}

/* By elimination, as the matrix is near 1. */
void cb_pose_cayley_in(double K, const double Y[6], cb_pose *out) {
  double A[4][8] = {{0}}; /* 1 - A/2 and 1 + A/2 */
  const double w[3] = {Y[0] / 2, Y[1] / 2, Y[2] / 2};
  for (int i = 0; i < 4; i++) A[i][i] = A[i][4 + i] = 1;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    A[j][k] += w[i], A[k][j] -= w[i], A[j][4 + k] -= w[i], A[k][4 + j] += w[i];
    A[i][3] -= Y[3 + i] / 2, A[i][7] += Y[3 + i] / 2;
    A[3][i] += K * Y[3 + i] / 2, A[3][4 + i] -= K * Y[3 + i] / 2;
  }
  for (int c = 0; c < 4; c++) {
    int pivot = c;
    for (int i = c; i < 4; i++)
      if (fabs(A[i][c]) > fabs(A[pivot][c])) pivot = i;
    for (int j = 0; j < 8; j++) {
      const double swapped = A[c][j];
      A[c][j] = A[pivot][j], A[pivot][j] = swapped;
    }
    for (int i = 0; i < 4; i++) {
      const double f = A[i][c] / A[c][c];
      for (int j = c; j < 8 && i != c; j++) A[i][j] -= f * A[c][j];
    }
  }
  double p[4], q[4], m[3][3];
  for (int i = 0; i < 4; i++) p[i] = A[i][7] / A[i][i];
  for (int j = 0; j < 3; j++) {
    const double column[4] = {A[0][4 + j] / A[0][0], A[1][4 + j] / A[1][1], A[2][4 + j] / A[2][2],
                              A[3][4 + j] / A[3][3]};
    double turned[4];
    cb_curved_towards(K, p, column, turned);
    for (int i = 0; i < 3; i++) m[i][j] = turned[i];
  }
  /* the rotation of a step, far from half a turn: trace > -1 */
  q[0] = sqrt(fmax(0, 1 + m[0][0] + m[1][1] + m[2][2])) / 2;
  for (int i = 0; i < 3; i++) q[1 + i] = (m[(i + 2) % 3][(i + 1) % 3] - m[(i + 1) % 3][(i + 2) % 3]) / (4 * q[0]);
  memcpy(out->q, q, sizeof q);
  cb_quaternion_project(out->q);
  cb_curved_normal(K, p, out->x);
}

/* The square root of a motion m with e_0 > 0: of norm 1 + k 0, (1 + m)/sqrt(2 + 2 m_0), m_0 = e_0 + k o_0. */
void cb_pose_half_in(double K, const cb_pose *a, cb_pose *out) {
  double more;
  motion m = of_pose(K, a, &more);
  if (m.e[0] < 0)
    for (int i = 0; i < 4; i++) m.e[i] = -m.e[i], m.o[i] = -m.o[i];
  m.e[0] += 1;
  /* (a + k b)^-1/2 of 2 + 2 m_0, up to a real factor: c + k d, (c + k d)^2 (a + k b) real */
  const double re = m.e[0], im = m.o[0], size = re * re - K * im * im, c = re + sqrt(fabs(size)), d = -im;
  const motion root = {{c}, {d}}, half = product(K, &root, &m);
  const double norm = half.e[0] * half.e[0] + cb_dot3(half.e + 1, half.e + 1) +
                      K * (half.o[0] * half.o[0] + cb_dot3(half.o + 1, half.o + 1)),
               scale = 1 / sqrt(norm);
  motion unit = half;
  for (int i = 0; i < 4; i++) unit.e[i] *= scale, unit.o[i] *= scale;
  take(K, &unit, 0, out);
}

/* Ad_T^T: l + (C - 1) l_perp + S p × e, p + (C - 1) p_perp + K S l × e over the distance; then R^T. */
void cb_pose_coadjoint_in(double K, const cb_pose *a, const double mu[6], double out[6]) {
  const cb_trig t = cb_trig_of(K);
  const double d = sqrt(cb_dot3(a->x, a->x)), S = cb_trig_s(t, d), half = cb_trig_s(t, d / 2),
               less = -2 * K * half * half; /* C - 1 */
  double e[3], le[3], pe[3], moved[6], r[3][3];
  for (int i = 0; i < 3; i++) e[i] = d > 0 ? a->x[i] / d : 0;
  const double *l = mu, *p = mu + 3, l_along = cb_dot3(l, e), p_along = cb_dot3(p, e);
  cb_cross3(l, e, le);
  cb_cross3(p, e, pe);
  for (int i = 0; i < 3; i++) {
    moved[i] = l[i] + (less * (l[i] - l_along * e[i]) + S * pe[i]);
    moved[3 + i] = p[i] + (less * (p[i] - p_along * e[i]) + K * S * le[i]);
  }
  cb_pose_rotation(a, r);
  cb_apply3_transposed((const double(*)[3])r, moved, out);
  cb_apply3_transposed((const double(*)[3])r, moved + 3, out + 3);
}

void cb_bracket_in(double K, const double a[6], const double b[6], double out[6]) {
  double ww[3], vv[3], wv[3], vw[3];
  cb_cross3(a, b, ww), cb_cross3(a + 3, b + 3, vv), cb_cross3(a, b + 3, wv), cb_cross3(a + 3, b, vw);
  for (int i = 0; i < 3; i++) out[i] = ww[i] + K * vv[i], out[3 + i] = wv[i] + vw[i];
}

void cb_ad_star_in(double K, const double Y[6], const double mu[6], double out[6]) {
  double lw[3], pv[3], pw[3], lv[3];
  cb_cross3(mu, Y, lw), cb_cross3(mu + 3, Y + 3, pv), cb_cross3(mu + 3, Y, pw), cb_cross3(mu, Y + 3, lv);
  for (int i = 0; i < 3; i++) out[i] = lw[i] + pv[i], out[3 + i] = pw[i] + K * lv[i];
}

void cb_dexp_inverse_in(double K, const double Y[6], const double Z[6], double out[6]) {
  static const double B[9] = {1, -1. / 2, 1. / 12, 0, -1. / 720, 0, 1. / 30240, 0, -1. / 1209600}; /* B_k/k! */
  double term[6], next[6];
  memcpy(term, Z, sizeof term);
  memcpy(out, Z, sizeof term);
  for (int k = 1; k < 9; k++) {
    cb_bracket_in(K, Y, term, next);
    memcpy(term, next, sizeof term);
    for (int i = 0; i < 6; i++) out[i] += B[k] * term[i];
  }
}

/* [[1 - W/2 + w w^T/4, -(K/2) V (1 - W/2)], [-(1 - W/2) V/2, 1 - W/2 + (K/4) v v^T]], W = hat(w), V = hat(v) */
void cb_dcayley_inverse_in(double K, const double Y[6], double out[6][6]) {
  const double *w = Y, *v = Y + 3;
  double a[3][3] = {{0}}, upper[3][3] = {{0}}, lower[3][3] = {{0}};
  for (int i = 0; i < 3; i++) a[i][i] = 1;
  cb_add_hat3(a, -0.5, w);
  cb_add_hat3(upper, -K / 2, v);
  cb_add_hats3(upper, K / 4, v, w);
  cb_add_hat3(lower, -0.5, v);
  cb_add_hats3(lower, 0.25, w, v);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[i][j] = a[i][j] + w[i] * w[j] / 4, out[i][3 + j] = upper[i][j];
      out[3 + i][j] = lower[i][j], out[3 + i][3 + j] = a[i][j] + K / 4 * v[i] * v[j];
    }
}
