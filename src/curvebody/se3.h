/* The group SE(3): poses, twists and the maps between them that integrators use.
 *
 * A pose is a rotation, given by a unit quaternion (w, x, y, z), and a position. A twist Y = (omega, v) consists of an
 * angular and a linear velocity, and a momentum or wrench mu = (l, p) of an angular and a linear part. They are in the
 * body frame. ad*_Y (l, p) = (l × omega + p × v, p × omega).
 * A map tau takes twists to poses, and dtau^-1 is the inverse of its right-trivialised differential at Y, a 6x6 matrix.
 * W and V are the matrices with W a = omega × a and V a = v × a, and s = |omega|.
 *   cayley       rotation 1 + 4/(4+s^2) (W + W^2/2)
 *                translation (1 - W/2)^-1 v = 4/(4+s^2) (v + omega×v/2 + omega (omega.v)/4)
 *                dtau^-1 = [[1 - W/2 + omega omega^T/4, 0], [-(1 - W/2) V/2, 1 - W/2]]
 *   exponential  rotation and translation are those of the exponential map, s < 2 pi
 *                dtau^-1 = sum_k B_k/k! ad_Y^k = [[D, 0], [dD, D]], B_k Bernoulli's numbers,
 *                D = 1 - W/2 + e W^2, e = (1 - (s/2) cot(s/2))/s^2, dD the derivative of D if omega changes by v
 *   tln          tau is that of cayley, and 1 - ad_Y/2, of a trapezoidal rule, is used in place of dtau^-1
 * For users and authors. The functions allocate no memory. Outputs must be other arrays than inputs, except where a
 * comment allows it.
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
/* Computes out = a b, with a quaternion of length 1; out may be a or b. */
void cb_pose_multiply(const cb_pose *a, const cb_pose *b, cb_pose *out);
void cb_pose_inverse(const cb_pose *a, cb_pose *out);
void cb_pose_rotation(const cb_pose *a, double r[3][3]);
void cb_pose_point(const cb_pose *a, const double x[3], double out[3]);
/* Computes the pose `out` nearest the identity with out out = a. For a rotation by pi there are two such poses, and the
 * signs of a->q select one of them; otherwise these signs do not matter. */
void cb_pose_half(const cb_pose *a, cb_pose *out);
/* Computes the matrix of Ad_a: (omega, v) -> (R omega, x × R omega + R v), where R and x are the rotation and the
 * position of a. */
void cb_pose_adjoint(const cb_pose *a, double out[6][6]);

/* Computes tau(Y). */
void cb_se3_tau(cb_se3_map map, const double Y[6], cb_pose *out);
/* Computes the matrix dtau^-1 at Y. */
void cb_se3_dtau_inverse(cb_se3_map map, const double Y[6], double out[6][6]);
/* Compute out = dtau^-1_Y a, and out = (dtau^-1_Y)^T mu. */
void cb_se3_dtau_inverse_apply(cb_se3_map map, const double Y[6], const double a[6], double out[6]);
void cb_se3_dtau_inverse_transpose(cb_se3_map map, const double Y[6], const double mu[6], double out[6]);
/* Computes the derivative d((dtau^-1_Y)^T mu)/dY, which Newton's method needs. */
void cb_se3_dtau_inverse_transpose_derivative(cb_se3_map map, const double Y[6], const double mu[6], double out[6][6]);
/* Computes the twist Y with |omega| <= pi whose exponential is a. */
void cb_se3_log(const cb_pose *a, double Y[6]);
/* Computes ad*_Y mu. */
void cb_se3_ad_star(const double Y[6], const double mu[6], double out[6]);
/* Computes the matrix of Y -> ad*_Y mu. */
void cb_se3_ad_star_matrix(const double mu[6], double out[6][6]);
/* Computes Ad*_{g^-1} mu, the momentum in the axes of the world and about its origin, from the momentum mu in the body
 * frame. */
void cb_se3_momentum_to_world(const cb_pose *g, const double mu[6], double out[6]);
/* Computes the wrench in the body frame from the wrench `world`, which is in the axes of the world and about its
 * origin. */
void cb_se3_wrench_to_body(const cb_pose *g, const double world[6], double out[6]);

CB_API_END
#endif
