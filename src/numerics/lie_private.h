/* Definitions that the files of the groups share: the functions of lie.c, pairs (omega, v), and the series of SE(3).
 *
 * The double covers of so4 and so31 are the unit quaternions over the numbers s + t j. Here j^2 = K is 1 for so4 and -1
 * for so31, where the numbers are complex; then Q = exp((omega + i v)/2).
 */
#pragma once

#include "numerics/vec3.h"
#include <curvebody/lie.h>

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

extern const cb_group cb_group_so2, cb_group_se2, cb_group_so3, cb_group_se3, cb_group_so4, cb_group_so31,
    cb_group_so21, cb_group_h2e, cb_group_heisenberg, cb_group_rn_table[CB_GROUP_DIM];

/* If the cosine of half the angle of a rotation is below this bound, the sign of its axis is not determined. The bound
 * is the round-off of one product. */
#define CB_LIE_HALF_TURN (8 * DBL_EPSILON)

/* Returns re + i im. CMPLX does the same, but does not exist in some compilers with glibc's complex.h. */
static inline double complex cb_lie_complex(double re, double im) {
  const union {
    double parts[2];
    double complex z;
  } number = {{re, im}};
  return number.z;
}

/* Sets *out to the angle modulo 2 pi that is nearest 0. Returns CB_ERROR_DOMAIN for pi, up to round-off. */
static inline cb_status cb_lie_nearest_angle(double angle, double *out) {
  const double nearest = remainder(angle, 2 * M_PI);
  if (!(M_PI - fabs(nearest) > 2 * CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the logarithm of a rotation by pi (angle %g) is not unique: expected a smaller rotation", angle);
  *out = nearest;
  return CB_OK;
}

/* --- lie.c --- */
/* The terms B_2j/(2j)!, j = 1, 2, .., of the series of dexp^-1, with Bernoulli's numbers B. */
enum { CB_LIE_TERMS = 6 };
extern const double cb_lie_even[CB_LIE_TERMS];
/* Sets out to the unit matrix. It is Ad_g of a group in which the numbers of a product are the sums of those of its
 * factors. */
void cb_lie_vector_adjoint(const cb_group *G, const double *g, double *out);
/* Computes (a_y b_z - a_z b_y, a_z b_x - a_x b_z, K (a_x b_y - a_y b_x)) with K = G->K, and 0 in further places. This
 * is the bracket of so3, se2 and so21 with K = 1, 0, -1. */
void cb_lie_plane_bracket(const cb_group *G, const double *a, const double *b, double *out);

/* Computes out = a b for n x n matrices; out must be another array than a and b. */
static inline void cb_lie_product(int n, const double *a, const double *b, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      out[i * n + j] = sum;
    }
}

/* Computes out = dexp_{-a}^-1 xi, the rate a' of a curve exp(a(t)) with the body velocity xi. The series xi + [a, xi]/2
 * + sum_j B_2j ad_a^2j xi/(2j)! is summed until its terms are round-off. If a is too large for the series, the matrix
 * is used. Fails in the same cases as cb_group_dexp_inverse. */
cb_status cb_lie_left_rate(const cb_group *G, const double *a, const double *xi, double *out);

/* --- se3.c --- */
/* The coefficients of (1 - (w/2) cot(w/2))/w^2 in powers of w^2. */
extern const double cb_even_series[22];

/* Computes e(n) = (1 - (w/2) cot(w/2))/w^2 and its first two derivatives with respect to n = w^2 < 4 pi^2. */
void cb_se3_even(double n, double e[3]);
/* Computes out = dtau^-1_Y Z for the exponential tau (curvebody/se3.h). */
void cb_se3_dexp_inverse(const double Y[6], const double Z[6], double out[6]);
