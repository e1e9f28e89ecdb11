/* Quaternions over the numbers a + j b with j^2 = K: the double cover of the isometries of a space of curvature K.
 *
 *   a twist Y = (omega, v) is Z = omega + j v, and its exponential is exp(Z/2)
 *   transvection T(x): C + j s,  s = S_K(r/2) x/r,  C = C_K(r/2),  r = |x|
 *   a pose T(x) R(q): Q = (C + j s) q;  momentum M = p + j l,  Ad*_Q M = Q^-1 M Q,  ad*_Z M = M × Z
 *   product: (a1 + j b1)(a2 + j b2) = a1 a2 + K b1 b2 + j (a1 b2 + b1 a2)
 *   -1 in SO(4) is j/sqrt(K): it maps (a, b) to (sqrt(K) b, a/sqrt(K))
 * S_K and C_K are the functions s_K and c_K of numerics_curved.h, l is the angular and p the linear momentum. In
 * hyperbolic space numbers grow like exp(sqrt(-K) r/2), so they are stored times exp(-scale). For K = 0 these are dual
 * quaternions. The formulae are derived here; Clifford (1873), Proc. London Math. Soc. 4, 381,
 * doi:10.1112/plms/s1-4.1.381.
 */
#pragma once

#include "numerics/dd.h"
#include <curvebody/se3.h>
#include <stdbool.h>

/* The number a + j b. */
typedef struct cb_number {
  double a, b;
} cb_number;

static inline cb_number cb_number_add(cb_number x, cb_number y) { return (cb_number){x.a + y.a, x.b + y.b}; }
static inline cb_number cb_number_scale(double c, cb_number x) { return (cb_number){c * x.a, c * x.b}; }
static inline cb_number cb_number_multiply(double K, cb_number x, cb_number y) {
  return (cb_number){x.a * y.a + K * (x.b * y.b), x.a * y.b + x.b * y.a};
}
static inline cb_number cb_number_inverse(double K, cb_number x) {
  const double norm = x.a * x.a - K * (x.b * x.b);
  return (cb_number){x.a / norm, -x.b / norm};
}

typedef struct cb_biquaternion {
  double a[4], b[4]; /* a + j b; each part is (w, x, y, z) */
} cb_biquaternion;

/* The pose (C + j s) q with q of length 1; C^2 + K s.s = 1, up to the factor exp(-2 scale). */
typedef struct cb_screw {
  double q[4], C, s[3];
} cb_screw;

void cb_biquaternion_multiply(double K, const cb_biquaternion *p, const cb_biquaternion *q, cb_biquaternion *out);
/* Computes Q of a pose, times exp(-scale), and returns scale. */
double cb_biquaternion_of(double K, const cb_pose *g, cb_biquaternion *out);
/* Computes the pose of Q times exp(scale). low (may be NULL) receives the low part of x, which is 0 except near the
 * antipode of the base point. */
void cb_biquaternion_pose(double K, const cb_biquaternion *Q, double scale, cb_pose *out, double low[3]);
/* Computes the screw of Q. The pose of Q must not move the base point to its antipode. */
void cb_biquaternion_screw(const cb_biquaternion *Q, cb_screw *out);
/* Computes tau(Y) (curvebody/pose.h); its numbers are NaN if tau(Y) does not exist. */
void cb_biquaternion_tau(cb_se3_map map, double K, const double Y[6], cb_biquaternion *out);
/* Computes the square root of Q that is nearest to the identity. Q must rotate by less than pi and move by less than
 * half a great circle. */
void cb_biquaternion_half(double K, const cb_biquaternion *Q, cb_biquaternion *out);

/* Applies Ad* of C + j s to the momentum (l, p) in double-double arithmetic. p.p + K l.l and l.p keep their values to
 * that precision, for any length of C + j s. */
void cb_screw_carry(double K, double C, const double s[3], cb_dd l[3], cb_dd p[3]);
/* Replaces v by q v q^-1 in double-double arithmetic, for any length of q. */
void cb_screw_turn(const double q[4], cb_dd v[3]);
/* cb_screw_momentum computes Ad*_m mu, and cb_screw_momentum_back computes Ad*_{m^-1} mu, in double precision. */
void cb_screw_momentum(double K, const cb_screw *m, const double mu[6], double out[6]);
void cb_screw_momentum_back(double K, const cb_screw *m, const double mu[6], double out[6]);

/* Computes dx and turn (a quaternion, not of length 1) with T(x + low) T(y) = T(x + low + dx) turn, where T(y) is C + j
 * s. The errors are of the size of the round-off of s. Returns false if, on a sphere, one of the points x + low and x +
 * low + dx is within 0.14 radii of the antipode of the base point. */
bool cb_screw_shift(double K, const double x[3], const double low[3], double C, const double s[3], double dx[3],
                    double turn[4]);

/* Computes dexp^-1_Y Z (curvebody/pose.h). */
void cb_pose_dexp_inverse_in(double K, const double Y[6], const double Z[6], double out[6]);
