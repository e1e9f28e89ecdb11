/* Vectors, 3x3 matrices and quaternions of space, and vectors and 6x6 matrices of SE(3). An output may not be an input,
 * unless a comment allows it.
 *
 * A row of a 6x6 matrix of SE(3) is stored as three vectors of two numbers, which every x86-64 processor has (SSE2). A
 * sum of rows is the sum of its numbers in the same order, so results do not depend on the compiler. The address of a
 * row needs no alignment.
 */
#pragma once

#include <math.h>
#include <string.h>

static inline double cb_dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void cb_cross3(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = (b - a) × (c - a): twice the area vector of a triangle */
static inline void cb_normal3(const double a[3], const double b[3], const double c[3], double out[3]) {
  const double e1[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, e2[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  cb_cross3(e1, e2, out);
}

/* out = (b - a) × (c - a)/2 */
static inline void cb_area3(const double a[3], const double b[3], const double c[3], double out[3]) {
  cb_normal3(a, b, c, out);
  for (int k = 0; k < 3; k++) out[k] /= 2;
}

/* Returns the solid angle w of the triangle with these corners, seen from the origin. It is positive if the origin is
 * on the inner side, opposite to the normal (van Oosterom & Strackee 1983, doi 10.1109/TBME.1983.325207): tan(w/2) =
 * a.(b × c)/(|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|) for the corners a, b, c. */
static inline double cb_solid_angle3(const double corner[3][3]) {
  const double *a = corner[0], *b = corner[1], *c = corner[2];
  const double la = sqrt(cb_dot3(a, a)), lb = sqrt(cb_dot3(b, b)), lc = sqrt(cb_dot3(c, c));
  double n[3];
  cb_cross3(b, c, n);
  return 2 * atan2(cb_dot3(a, n), la * lb * lc + cb_dot3(a, b) * lc + cb_dot3(b, c) * la + cb_dot3(c, a) * lb);
}

/* cb_apply3 computes out = R a, and cb_apply3_transposed computes out = R^T a. */
static inline void cb_apply3(const double r[3][3], const double a[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = r[i][0] * a[0] + r[i][1] * a[1] + r[i][2] * a[2];
}

static inline void cb_apply3_transposed(const double r[3][3], const double a[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = r[0][i] * a[0] + r[1][i] * a[1] + r[2][i] * a[2];
}

/* m += c hat(a), with hat(a) b = a × b */
static inline void cb_add_hat3(double m[3][3], double c, const double a[3]) {
  m[0][1] -= c * a[2];
  m[0][2] += c * a[1];
  m[1][0] += c * a[2];
  m[1][2] -= c * a[0];
  m[2][0] -= c * a[1];
  m[2][1] += c * a[0];
}

/* m += c a b^T */
static inline void cb_add_outer3(double m[3][3], double c, const double a[3], const double b[3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m[i][j] += c * a[i] * b[j];
}

/* m += c hat(a) hat(b) = c (b a^T - (a.b) 1) */
static inline void cb_add_hats3(double m[3][3], double c, const double a[3], const double b[3]) {
  const double ab = cb_dot3(a, b);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) m[i][j] += c * b[i] * a[j];
    m[i][i] -= c * ab;
  }
}

/* --- quaternions (w, x, y, z): unit quaternions are rotations, and q and -q are the same rotation --- */

static inline double cb_sinc(double w) { return w != 0 ? sin(w) / w : 1; }

/* out = p q; out may be p or q. */
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

/* out = the rotation of the unit quaternion q applied to a: a + w t + u × t, t = 2 u × a, q = (w, u) */
static inline void cb_quaternion_turn(const double q[4], const double a[3], double out[3]) {
  const double twice[3] = {2 * q[1], 2 * q[2], 2 * q[3]};
  double t[3], ut[3];
  cb_cross3(twice, a, t);
  cb_cross3(q + 1, t, ut);
  for (int i = 0; i < 3; i++) out[i] = a[i] + q[0] * t[i] + ut[i];
}

/* Computes the quaternion exp(a/2). */
static inline void cb_quaternion_exp(const double a[3], double q[4]) {
  const double half = hypot(hypot(a[0], a[1]), a[2]) / 2, scale = cb_sinc(half) / 2;
  q[0] = cos(half);
  for (int i = 0; i < 3; i++) q[1 + i] = scale * a[i];
}

/* Computes the a with exp(a/2) = q and |a| < 2 pi, and a = 0 for q = -1. */
static inline void cb_quaternion_log(const double q[4], double a[3]) {
  const double s = hypot(hypot(q[1], q[2]), q[3]), scale = s > 0 ? 2 * (atan2(s, q[0]) / s) : 2;
  for (int i = 0; i < 3; i++) a[i] = scale * q[1 + i];
}

/* Computes the matrix of the rotation q. 1 - 2 (y^2 + z^2), used in place of w^2 + x^2 - y^2 - z^2, keeps all digits of
 * small rotations. */
static inline void cb_quaternion_rotation(const double q[4], double r[3][3]) {
  const double x = q[1], y = q[2], z = q[3], w2 = 2 * q[0], x2 = 2 * x, y2 = 2 * y, z2 = 2 * z;
  const double xx = x2 * x, yy = y2 * y, zz = z2 * z, xy = x2 * y, yz = y2 * z, zx = z2 * x, wx = w2 * x, wy = w2 * y,
               wz = w2 * z;
  r[0][0] = 1 - (yy + zz);
  r[0][1] = xy - wz;
  r[0][2] = zx + wy;
  r[1][0] = xy + wz;
  r[1][1] = 1 - (xx + zz);
  r[1][2] = yz - wx;
  r[2][0] = zx - wy;
  r[2][1] = yz + wx;
  r[2][2] = 1 - (xx + yy);
}

/* Computes the unit quaternion q = (w, x, y, z) of the rotation r. The largest of |w|, |x|, |y|, |z| is computed first:
 * Shepperd, J. Guidance and Control 1 (1978) 223, doi:10.2514/3.55767b. */
static inline void cb_quaternion_of_rotation(const double r[3][3], double q[4]) {
  int i = 0;
  const double trace = r[0][0] + r[1][1] + r[2][2];
  double maximum = trace;
  for (int k = 0; k < 3; k++)
    if (r[k][k] > maximum) {
      maximum = r[k][k];
      i = 1 + k;
    }
  if (i == 0) {
    q[0] = sqrt(1 + trace) / 2;
    for (int k = 0; k < 3; k++) q[1 + k] = (r[(k + 2) % 3][(k + 1) % 3] - r[(k + 1) % 3][(k + 2) % 3]) / (4 * q[0]);
  } else {
    const int a = i - 1, b = i % 3, c = (i + 1) % 3;
    q[i] = sqrt(1 + r[a][a] - r[b][b] - r[c][c]) / 2;
    q[0] = (r[c][b] - r[b][c]) / (4 * q[i]);
    q[1 + b] = (r[a][b] + r[b][a]) / (4 * q[i]);
    q[1 + c] = (r[a][c] + r[c][a]) / (4 * q[i]);
  }
  cb_quaternion_project(q);
}

/* --- vectors and 6x6 matrices of SE(3), (angular, linear) --- */

/* out += c a */
static inline void cb_add6(double c, const double a[6], double out[6]) {
  for (int i = 0; i < 6; i++) out[i] += c * a[i];
}

/* cb_apply6 computes out = m a, and cb_apply6_transposed computes out = m^T a. */
static inline void cb_apply6(const double m[6][6], const double a[6], double out[6]) {
  for (int i = 0; i < 6; i++) {
    double sum = 0;
    for (int j = 0; j < 6; j++) sum += m[i][j] * a[j];
    out[i] = sum;
  }
}

static inline void cb_apply6_transposed(const double m[6][6], const double a[6], double out[6]) {
  double sum[6];
  for (int i = 0; i < 6; i++) sum[i] = m[0][i] * a[0];
  for (int j = 1; j < 6; j++)
    for (int i = 0; i < 6; i++) sum[i] += m[j][i] * a[j];
  for (int i = 0; i < 6; i++) out[i] = sum[i];
}

/* out += a b */
static inline void cb_add_product6(const double a[6][6], const double b[6][6], double out[6][6]) {
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) out[i][j] += a[i][k] * b[k][j];
}

/* cb_turn6 rotates the angular and the linear part of a = (angular, linear) by R, and cb_turn6_transposed rotates them
 * by R^T. */
static inline void cb_turn6(const double r[3][3], const double a[6], double out[6]) {
  cb_apply3(r, a, out);
  cb_apply3(r, a + 3, out + 3);
}

static inline void cb_turn6_transposed(const double r[3][3], const double a[6], double out[6]) {
  cb_apply3_transposed(r, a, out);
  cb_apply3_transposed(r, a + 3, out + 3);
}

/* Replaces m by T m T^T, where T rotates both parts of a vector by r. */
static inline void cb_turn_matrix6(const double r[3][3], double m[6][6]) {
  for (int block = 0; block < 4; block++) {
    double out[3][3] = {{0}}, own[3][3];
    const int row = block / 2 * 3, column = block % 2 * 3;
    for (int i = 0; i < 9; i++) own[i / 3][i % 3] = m[row + i / 3][column + i % 3];
    for (int i = 0; i < 9; i++)
      for (int k = 0; k < 9; k++) out[i / 3][i % 3] += r[i / 3][k / 3] * own[k / 3][k % 3] * r[i % 3][k % 3];
    for (int i = 0; i < 9; i++) m[row + i / 3][column + i % 3] = out[i / 3][i % 3];
  }
}

/* Adds X^T K X to `out`. X maps the twist (w, v) of a motion with respect to the origin to its twist with respect to
 * the point c, (w, v + w × c). */
static inline void cb_add_carried6(const double K[6][6], const double c[3], double out[6][6]) {
  for (int j = 0; j < 6; j++) {
    const double axis[3] = {j == 0, j == 1, j == 2};
    double at[6] = {0}, l[6] = {0}, torque[3];
    at[j] = 1;
    if (j < 3) cb_cross3(axis, c, at + 3);
    for (int i = 0; i < 36; i++) l[i / 6] += K[i / 6][i % 6] * at[i % 6];
    cb_cross3(c, l + 3, torque);
    for (int i = 0; i < 6; i++) out[i][j] += l[i] + (i < 3 ? torque[i] : 0);
  }
}

/* --- rows of 6x6 matrices --- */

typedef double cb_two __attribute__((vector_size(16)));
typedef double cb_two_in_memory __attribute__((vector_size(16), aligned(8), may_alias));

typedef struct cb_row6 {
  cb_two a, b, c;
} cb_row6;

static inline cb_two cb_two_of(double x) { return (cb_two){x, x}; }

static inline cb_two cb_two_load(const double p[2]) { return *(const cb_two_in_memory *)p; }
static inline void cb_two_store(cb_two x, double p[2]) { *(cb_two_in_memory *)p = x; }

static inline cb_row6 cb_row6_load(const double p[6]) {
  return (cb_row6){cb_two_load(p), cb_two_load(p + 2), cb_two_load(p + 4)};
}
static inline void cb_row6_store(cb_row6 x, double p[6]) {
  cb_two_store(x.a, p);
  cb_two_store(x.b, p + 2);
  cb_two_store(x.c, p + 4);
}
/* c x */
static inline cb_row6 cb_row6_scale(double c, cb_row6 x) {
  const cb_two f = cb_two_of(c);
  return (cb_row6){f * x.a, f * x.b, f * x.c};
}
/* x + y */
static inline cb_row6 cb_row6_sum(cb_row6 x, cb_row6 y) { return (cb_row6){x.a + y.a, x.b + y.b, x.c + y.c}; }
/* x - y */
static inline cb_row6 cb_row6_less(cb_row6 x, cb_row6 y) { return (cb_row6){x.a - y.a, x.b - y.b, x.c - y.c}; }
/* x + c y */
static inline cb_row6 cb_row6_add(cb_row6 x, double c, cb_row6 y) { return cb_row6_sum(x, cb_row6_scale(c, y)); }

static inline double cb_row6_dot(cb_row6 x, cb_row6 y) {
  const cb_two sum = x.a * y.a + x.b * y.b + x.c * y.c;
  return sum[0] + sum[1];
}

/* Returns the row x times X = [[1, 0], [-hat(d), 1]], which is x + (d × x_linear, 0). X is the map (omega, v) to
 * (omega, v + omega × d). */
static inline cb_row6 cb_row6_see(const double d[3], cb_row6 x) {
  const cb_two last = {x.c[1], x.b[1]};
  return (cb_row6){x.a + ((cb_two){d[1], d[2]} * last - (cb_two){d[2], d[0]} * x.c),
                   {x.b[0] + (d[0] * x.c[0] - d[1] * x.b[1]), x.b[1]},
                   x.c};
}
