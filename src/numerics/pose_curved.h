/* Poses and twists in a space of constant curvature K, by one code for every K.
 *
 *   g = T(x) R(q): T the transvection from the base point to normal coordinates x, |x| <= pi/sqrt(K) on a sphere; for
 *   K = 0 the pose of curvebody/se3.h. Twists (omega, v), [(w, v), (w', v')] = (w × w' + K v × v', w × v' + v × w').
 *   A motion is E + k O, k^2 = K, of quaternions E and O, up to sign: T(x) = C + k S x/|x|, C = c_K(|x|/2),
 *   S = s_K(|x|/2), R(q) = q, exp(Y) that of (omega + k v)/2;  E = C q, O = S x/|x| q brings x and q back
 * so that places far out in H^3 lose nothing: a product with T(x) is that with 1 + k S/C x/|x|, and |x| grows by a
 * logarithm. Biquaternions: Clifford (1873), Proc. London Math. Soc. 4, 381, doi:10.1112/plms/s1-4.1.381.
 */
#ifndef CB_NUMERICS_POSE_CURVED_H
#define CB_NUMERICS_POSE_CURVED_H

#include <curvebody/se3.h>

void cb_pose_exp_in(double K, const double Y[6], cb_pose *out);
/* (1 - A/2)^-1 (1 + A/2), A the matrix of Y on points (x, w). */
void cb_pose_cayley_in(double K, const double Y[6], cb_pose *out);
void cb_pose_multiply_in(double K, const cb_pose *a, const cb_pose *b, cb_pose *out); /* out may be either */
void cb_pose_inverse_in(double K, const cb_pose *a, cb_pose *out);
/* The square root nearest the identity. */
void cb_pose_half_in(double K, const cb_pose *a, cb_pose *out);
/* The place of the body frame's origin, (x, w). */
void cb_pose_place_in(double K, const cb_pose *a, double y[4]);
/* Ad*_a mu = Ad_a^T mu: a momentum that is the same in the world, in the body frame after it has moved by a. */
void cb_pose_coadjoint_in(double K, const cb_pose *a, const double mu[6], double out[6]);

void cb_bracket_in(double K, const double a[6], const double b[6], double out[6]);
void cb_ad_star_in(double K, const double Y[6], const double mu[6], double out[6]); /* ad*_Y mu */
/* dexp^-1_Y Z by its series, |Y| < 1 or so: up to ad^8. */
void cb_dexp_inverse_in(double K, const double Y[6], const double Z[6], double out[6]);
/* dtau^-1_Y of the Cayley map. */
void cb_dcayley_inverse_in(double K, const double Y[6], double out[6][6]);

#endif
