/* Vectors and 3x3 matrices of space: products that SE(3) is written in. Outputs may not be inputs. */
#pragma once

#include <math.h>

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

/* The solid angle under which the triangle of these corners is seen from the origin, positive from its inner side (van
 * Oosterom & Strackee 1983, doi 10.1109/TBME.1983.325207): tan(w/2) = [a b c]/(abc + (a.b) c + (b.c) a + (c.a) b). */
static inline double cb_solid_angle3(const double corner[3][3]) {
  const double *a = corner[0], *b = corner[1], *c = corner[2];
  const double la = sqrt(cb_dot3(a, a)), lb = sqrt(cb_dot3(b, b)), lc = sqrt(cb_dot3(c, c));
  double n[3];
  cb_cross3(b, c, n);
  return 2 * atan2(cb_dot3(a, n), la * lb * lc + cb_dot3(a, b) * lc + cb_dot3(b, c) * la + cb_dot3(c, a) * lb);
}

/* out = R a and R^T a */
static inline void cb_apply3(const double r[3][3], const double a[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = r[i][0] * a[0] + r[i][1] * a[1] + r[i][2] * a[2];
}

static inline void cb_apply3_transposed(const double r[3][3], const double a[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = r[0][i] * a[0] + r[1][i] * a[1] + r[2][i] * a[2];
}

/* m += c hat(a), with hat(a) b = a × b */
static inline void cb_add_hat3(double m[3][3], double c, const double a[3]) {
  m[0][1] -= c * a[2], m[0][2] += c * a[1];
  m[1][0] += c * a[2], m[1][2] -= c * a[0];
  m[2][0] -= c * a[1], m[2][1] += c * a[0];
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
