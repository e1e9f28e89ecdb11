/* What the files of the groups share: quaternions, pairs (omega, v), biquaternions.
 *
 * The double covers of so4 and so31 are the unit quaternions over the numbers s + t j with j^2 = K = 1 and -1; for so31
 * these are complex numbers, Q = exp((omega + i v)/2).
 */
#ifndef CB_NUMERICS_LIE_PRIVATE_H
#define CB_NUMERICS_LIE_PRIVATE_H

#include "numerics/lie.h"
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

extern const cb_group cb_group_so2, cb_group_se2, cb_group_so3, cb_group_se3, cb_group_so4, cb_group_so31,
    cb_group_so21, cb_group_h2e, cb_group_heisenberg, cb_group_rn_table[CB_GROUP_DIM];

/* A turn this close to half a turn (in the cosine of its half) has no sign: the round-off of one product. */
#define CB_LIE_HALF_TURN (8 * DBL_EPSILON)

/* CMPLX, which not all compilers have with glibc's complex.h */
static inline double complex cb_lie_complex(double re, double im) {
  const union {
    double parts[2];
    double complex z;
  } number = {{re, im}};
  return number.z;
}

static inline double cb_lie_sinc(double w) { return w != 0 ? sin(w) / w : 1; }

/* The angle nearest 0. */
static inline cb_status cb_lie_nearest_angle(double angle, double *out) {
  const double nearest = remainder(angle, 2 * M_PI);
  if (!(M_PI - fabs(nearest) > 2 * CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a half turn (angle %g) is not unique", angle);
  *out = nearest;
  return CB_OK;
}

/* out may be p or q */
static inline void cb_lie_quaternion_multiply(const double p[4], const double q[4], double out[4]) {
  const double product[4] = {
      p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
      p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  memcpy(out, product, sizeof product);
}

static inline void cb_lie_quaternion_inverse(const double q[4], double out[4]) {
  out[0] = q[0];
  for (int i = 1; i < 4; i++) out[i] = -q[i];
}

static inline void cb_lie_quaternion_project(double q[4]) {
  const double scale = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; i++) q[i] *= scale;
}

/* exp(a/2) */
static inline void cb_lie_quaternion_exp(const double a[3], double q[4]) {
  const double half = hypot(hypot(a[0], a[1]), a[2]) / 2, scale = cb_lie_sinc(half) / 2;
  q[0] = cos(half);
  for (int i = 0; i < 3; i++) q[1 + i] = scale * a[i];
}

/* a with exp(a/2) = q, |a| < 2 pi */
static inline void cb_lie_quaternion_log(const double q[4], double a[3]) {
  const double s = hypot(hypot(q[1], q[2]), q[3]), scale = s > 0 ? 2 * (atan2(s, q[0]) / s) : 2;
  for (int i = 0; i < 3; i++) a[i] = scale * q[1 + i];
}

void cb_lie_quaternion_rotation(const double q[4], double r[3][3]);

/* [(omega, v), (omega', v')] with K = G->K; out may be a or b */
void cb_lie_pair_bracket(const cb_group *G, const double *a, const double *b, double *out);

/* Lorentz matrices by biquaternions (lie_so31.c): coordinates (x, y, z, t). */
void cb_lie_lorentz_from(const double complex Q[4], double out[4][4]);
/* The Q with Re Q_0 >= 0, |Q.Q| = 1 to round-off, of the Lorentz matrix nearest m. */
void cb_lie_lorentz_to(const double m[4][4], double complex Q[4]);
cb_status cb_lie_lorentz_log(const double m[4][4], double a[6]);

/* Product of n x n matrices; out is neither. */
static inline void cb_lie_product(int n, const double *a, const double *b, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      out[i * n + j] = sum;
    }
}

/* Inverse of an isometry of the form +...+-: the transpose with the signs of its last row and column. */
static inline void cb_lie_form_inverse(int n, const double *g, double *out) {
  double t[16];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) t[i * n + j] = (i == n - 1) != (j == n - 1) ? -g[j * n + i] : g[j * n + i];
  memcpy(out, t, (size_t)(n * n) * sizeof *t);
}

/* Ad_g of an isometry of the form: the generator k is B with B_pq = 1 = -B_qp, (p, q) = plane[k], times the form;
 * g B g^T are minors of g. */
static inline void cb_lie_form_adjoint(int n, int dim, const int plane[][2], const double *g, int width, double *out) {
  for (int k = 0; k < dim; k++)
    for (int l = 0; l < dim; l++) {
      const double *p = g + plane[k][0] * n, *q = g + plane[k][1] * n;
      out[k * width + l] = p[plane[l][0]] * q[plane[l][1]] - p[plane[l][1]] * q[plane[l][0]];
    }
}

#endif
