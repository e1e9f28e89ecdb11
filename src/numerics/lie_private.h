/* What the files of the groups share: quaternions, pairs (omega, v), biquaternions.
 *
 * The double covers of so4 and so31 are the unit quaternions over the numbers s + t j with j^2 = K = 1 and -1; for so31
 * these are complex numbers, Q = exp((omega + i v)/2).
 */
#pragma once

#include "numerics/quaternion.h"
#include <curvebody/lie.h>
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

/* The angle nearest 0. */
static inline cb_status cb_lie_nearest_angle(double angle, double *out) {
  const double nearest = remainder(angle, 2 * M_PI);
  if (!(M_PI - fabs(nearest) > 2 * CB_LIE_HALF_TURN))
    return cb_fail(CB_ERROR_DOMAIN, "the logarithm of a half turn (angle %g) is not unique", angle);
  *out = nearest;
  return CB_OK;
}

/* [(omega, v), (omega', v')] with K = G->K; out may be a or b */
void cb_lie_pair_bracket(const cb_group *G, const double *a, const double *b, double *out);

/* lie_shared.c. Numbers that add: */
void cb_lie_vector_identity(const cb_group *G, double *g);
void cb_lie_vector_multiply(const cb_group *G, const double *a, const double *b, double *out);
void cb_lie_vector_inverse(const cb_group *G, const double *g, double *out);
void cb_lie_vector_exp(const cb_group *G, const double *a, double *out);
cb_status cb_lie_vector_log(const cb_group *G, const double *g, double *out);
void cb_lie_vector_adjoint(const cb_group *G, const double *g, double *out);
void cb_lie_vector_bracket(const cb_group *G, const double *a, const double *b, double *out);
void cb_lie_vector_project(const cb_group *G, double *g);
/* unit quaternions one after the other: */
void cb_lie_unit_identity(const cb_group *G, double *g);
void cb_lie_unit_multiply(const cb_group *G, const double *a, const double *b, double *out);
void cb_lie_unit_inverse(const cb_group *G, const double *g, double *out);
void cb_lie_unit_project(const cb_group *G, double *g);
/* matrices that keep the form +...+-, and numbers that add: */
void cb_lie_form_identity(const cb_group *G, double *g);
void cb_lie_form_multiply(const cb_group *G, const double *a, const double *b, double *out);
void cb_lie_form_inverse(const cb_group *G, const double *g, double *out);
/* (a_y b_z - a_z b_y, a_z b_x - a_x b_z, K (a_x b_y - a_y b_x)), 0 beyond: so3, se2 and so21 with K = 1, 0, -1. */
void cb_lie_plane_bracket(const cb_group *G, const double *a, const double *b, double *out);

/* clang-format off */
/* Of unit quaternions, and of matrices that keep a form: the rest is of their files. */
#define CB_LIE_UNITS                                                                                            \
  .identity = cb_lie_unit_identity, .multiply = cb_lie_unit_multiply, .inverse = cb_lie_unit_inverse,           \
  .exp = exponential, .log = logarithm, .adjoint = adjoint, .project = cb_lie_unit_project, .matrix = matrix
#define CB_LIE_FORM                                                                                             \
  .identity = cb_lie_form_identity, .multiply = cb_lie_form_multiply, .inverse = cb_lie_form_inverse,           \
  .exp = exponential, .log = logarithm, .adjoint = adjoint, .project = project, .matrix = matrix, .K = -1
/* Of algebras of pairs. */
#define CB_LIE_PAIRS                                                                                            \
  .dim = 6, .axis = {"omega_x", "omega_y", "omega_z", "v_x", "v_y", "v_z"}, .bracket = cb_lie_pair_bracket, .pair = true
/* clang-format on */

/* Of groups whose exp is the identity of numbers. */
#define CB_LIE_VECTORS                                                                                          \
  .identity = cb_lie_vector_identity, .inverse = cb_lie_vector_inverse, .exp = cb_lie_vector_exp,               \
  .log = cb_lie_vector_log, .project = cb_lie_vector_project

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

/* Ad_g of an isometry of the form: the generator k is B with B_pq = 1 = -B_qp, (p, q) = plane[k], times the form;
 * g B g^T are minors of g. */
static inline void cb_lie_form_adjoint(int n, int dim, const int plane[][2], const double *g, int width, double *out) {
  for (int k = 0; k < dim; k++)
    for (int l = 0; l < dim; l++) {
      const double *p = g + plane[k][0] * n, *q = g + plane[k][1] * n;
      out[k * width + l] = p[plane[l][0]] * q[plane[l][1]] - p[plane[l][1]] * q[plane[l][0]];
    }
}
