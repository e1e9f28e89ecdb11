/* The group SE(3): poses, twists and the maps between them that integrators use.
 *
 * A pose is a rotation (unit quaternion w, x, y, z) and a position; a twist Y = (omega, v) and a wrench or momentum
 * mu = (angular, linear) are in the body frame. ad*_Y (l, p) = (l × omega + p × v, p × omega).
 * Maps tau from twists to the group and the inverses of their right-trivialised differentials (W = hat(omega),
 * V = hat(v), w = omega; w^2 = |omega|^2, and w is |omega| in the row `exponential`):
 *   cayley       rotation 1 + 4/(4+w^2) (W + W^2/2); translation 4/(4+w^2) (v + w×v/2 + w (w.v)/4) = (1 - W/2)^-1 v
 *                dtau^-1 = [[1 - W/2 + w w^T/4, 0], [-(1 - W/2) V/2, 1 - W/2]]
 *   exponential  dtau^-1 = sum B_k/k! ad_Y^k = [[D, 0], [dD(v), D]], D = 1 - W/2 + e W^2, e = (1 - (w/2) cot(w/2))/w^2,
 *                dD(v) the derivative of D along v; w < 2 pi
 *   tln          C = 1 - ad_Y/2 in place of dtau^-1 (the trapezoidal rule of the Kirchhoff thesis), with the cayley map
 * For users and authors. Nothing is allocated; outputs must be other arrays than inputs, except where a comment allows
 * it.
 * Source: Bou-Rabee & Marsden, Found. Comput. Math. 9 (2009) 197, doi:10.1007/s10208-008-9030-4; Iserles et al., Acta
 * Numerica 9 (2000) 215, doi:10.1017/S0962492900002154; Müller, Proc. R. Soc. A 477 (2021) 20210303,
 * doi:10.1098/rspa.2021.0303 (se(3) by differentials of so(3)).
 */
#ifndef CURVEBODY_SE3_H
#define CURVEBODY_SE3_H

#include <curvebody/api.h>

CB_API_BEGIN

typedef struct cb_pose {
  double q[4], x[3]; /* unit quaternion (w, x, y, z); position in the world */
} cb_pose;

typedef enum cb_se3_map { CB_SE3_CAYLEY, CB_SE3_EXPONENTIAL, CB_SE3_TLN } cb_se3_map;

void cb_pose_identity(cb_pose *out);
void cb_pose_multiply(const cb_pose *a, const cb_pose *b, cb_pose *out); /* out may be a or b; out->q has length 1 */
void cb_pose_inverse(const cb_pose *a, cb_pose *out);
void cb_pose_rotation(const cb_pose *a, double r[3][3]);
void cb_pose_point(const cb_pose *a, const double x[3], double out[3]);
/* Computes the square root nearest the identity: out out = a. Not defined for a rotation by 2 pi, q = (-1, 0, 0, 0). */
void cb_pose_half(const cb_pose *a, cb_pose *out);
/* Computes the matrix of Ad_a: (omega, v) -> (R omega, x × R omega + R v), R and x the rotation and the position of
 * a. */
void cb_pose_adjoint(const cb_pose *a, double out[6][6]);

/* Computes tau(Y). */
void cb_se3_tau(cb_se3_map map, const double Y[6], cb_pose *out);
/* Computes dtau^-1_Y as a 6x6 matrix. */
void cb_se3_dtau_inverse(cb_se3_map map, const double Y[6], double out[6][6]);
/* out = dtau^-1_Y a, and (dtau^-1_Y)^T mu */
void cb_se3_dtau_inverse_apply(cb_se3_map map, const double Y[6], const double a[6], double out[6]);
void cb_se3_dtau_inverse_transpose(cb_se3_map map, const double Y[6], const double mu[6], double out[6]);
/* For Newton's method: d((dtau^-1_Y)^T mu)/dY. */
void cb_se3_dtau_inverse_transpose_derivative(cb_se3_map map, const double Y[6], const double mu[6], double out[6][6]);
void cb_se3_log(const cb_pose *a, double Y[6]); /* inverse of the exponential; the rotation is by at most pi */
void cb_se3_ad_star(const double Y[6], const double mu[6], double out[6]);
/* Computes the matrix of Y -> ad*_Y mu. */
void cb_se3_ad_star_matrix(const double mu[6], double out[6][6]);
/* Computes Ad*_{g^-1} mu: converts a momentum in the body frame to one in the world, about the world's origin. The next
 * function is its inverse, for a wrench. */
void cb_se3_momentum_to_world(const cb_pose *g, const double mu[6], double out[6]);
void cb_se3_wrench_to_body(const cb_pose *g, const double world[6], double out[6]);

CB_API_END
#endif
