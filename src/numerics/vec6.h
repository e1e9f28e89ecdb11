/* Vectors and 6x6 matrices of SE(3), (angular, linear). Outputs may not be inputs. */
#pragma once

#include "numerics/vec3.h"

/* out += c a */
static inline void cb_add6(double c, const double a[6], double out[6]) {
  for (int i = 0; i < 6; i++) out[i] += c * a[i];
}

/* out = m a and m^T a */
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

/* Both parts turned, about the same origin: out = (R a, R a) and (R^T a, R^T a). */
static inline void cb_turn6(const double r[3][3], const double a[6], double out[6]) {
  cb_apply3(r, a, out);
  cb_apply3(r, a + 3, out + 3);
}

static inline void cb_turn6_transposed(const double r[3][3], const double a[6], double out[6]) {
  cb_apply3_transposed(r, a, out);
  cb_apply3_transposed(r, a + 3, out + 3);
}
