/* Poses and the maps tau in spaces of constant curvature K: E^3 (K = 0), spheres (K > 0), hyperbolic spaces (K < 0).
 *
 * A pose is g = T(x) R(q), x and q the members of cb_pose. T(x) is the transvection that moves the base point to the
 * point with normal coordinates x; R(q) is the rotation about the base point with the quaternion q. In a sphere
 * |x| <= pi/sqrt(K); if x is the antipode of the base point, T(x) times the rotation by pi about x is the matrix -1,
 * for every direction of x. A twist Y = (omega, v), a momentum (l, p) and a wrench are in the body frame, first angular
 * and then linear. The algebra is the algebra of pairs (curvebody/lie.h). It acts on points (x, w) of R^4 by the matrix
 * [[hat(omega), v], [-K v^T, 0]], where hat(a) b = a × b, and
 *   ad*_Y (l, p) = (l × omega + p × v, p × omega + K l × v)
 * The maps tau take a twist to a pose; dtau^-1 is the inverse of the right-trivialised differential of tau at Y. With
 * W = hat(omega), V = hat(v) and, in numbers a + j b with j^2 = K, Z = omega + j v:
 *   cayley       (1 - Y/2)^-1 (1 + Y/2) of the 4x4 matrices: the rotation and, with u = (1 - W/2)^-1 v, the translation
 *                of curvebody/se3.h, x = 2 atan_K(|u|/2) u/|u|, atan_K(s) = atan(sqrt(K) s)/sqrt(K), or
 *                atanh(sqrt(-K) s)/sqrt(-K) for K < 0; for K < 0 it exists only for sqrt(-K) |u| < 2
 *                dtau^-1 = [[1 - W/2 + omega omega^T/4, -(K/2) V (1 - W/2)],
 *                           [-(1 - W/2) V/2, 1 - W/2 + (K/4) v v^T]]
 *   exponential  dtau^-1 = 1 - hat(Z)/2 + E(Z.Z) hat(Z)^2, E(n) = (1 - (w/2) cot(w/2))/n, w^2 = n; defined for
 *                |omega| + sqrt|K| |v| < 2 pi
 *   tln          1 - ad_Y/2 in place of dtau^-1, with the cayley map
 * With K = 0 these are the functions of curvebody/se3.h, bit for bit; cb_pose_inverse and cb_pose_rotation are valid in
 * every space. Lengths are in metres, K is in 1/m^2. In hyperbolic space results are accurate to round-off at any
 * distance of a pose from the base point; quantities that grow with the distance, such as Ad, overflow beyond about 700
 * radii 1/sqrt(-K).
 * For users and authors. Nothing is allocated. Outputs must be other arrays than inputs, except where a comment allows
 * the same array.
 * Derived here; the maps as in Bou-Rabee & Marsden, Found. Comput. Math. 9 (2009) 197, doi:10.1007/s10208-008-9030-4.
 */
#ifndef CURVEBODY_POSE_H
#define CURVEBODY_POSE_H

#include <curvebody/se3.h>

CB_API_BEGIN

void cb_pose_multiply_in(double K, const cb_pose *a, const cb_pose *b, cb_pose *out); /* out may be a or b */
/* Applies the pose a to the point with normal coordinates x; the result is in normal coordinates. */
void cb_pose_point_in(double K, const cb_pose *a, const double x[3], double out[3]);
/* Computes the 6x6 matrix of Ad_a, which maps a twist (omega, v) to a twist. */
void cb_pose_adjoint_in(double K, const cb_pose *a, double out[6][6]);

/* Computes the pose tau(Y); its numbers are nan if tau is not defined at Y. */
void cb_pose_tau_in(cb_se3_map map, double K, const double Y[6], cb_pose *out);
/* Compute the 6x6 matrix dtau^-1 at Y; and, for Newton's method, the derivative in Y of (dtau^-1)^T mu, where mu is a
 * constant momentum. */
void cb_pose_dtau_inverse_in(cb_se3_map map, double K, const double Y[6], double out[6][6]);
void cb_pose_dtau_inverse_transpose_derivative_in(cb_se3_map map, double K, const double Y[6], const double mu[6],
                                                  double out[6][6]);
/* Computes ad*_Y mu of the momentum mu. */
void cb_pose_ad_star_in(double K, const double Y[6], const double mu[6], double out[6]);

CB_API_END
#endif
