/* Points, geodesic planes and isometries of a space of constant curvature K and dimension 3, with the same code for
 * every K.
 *
 *   point y = (x, w):  w^2 + K |x|^2 = 1;  the base point is (0, 1);  K = 0: w = 1
 *   tangent vector u = (u_x, u_w) at y:  w u_w + K x.u_x = 0,  <u, u'> = u_x.u'_x + u_w u'_w/K (K = 0: u_x.u'_x)
 *   normal coordinates v, whose length is the distance from the base point:  x = v s_K(|v|)/|v|,  w = c_K(|v|)
 *   Killing field of xi = (omega, v) in the algebra of curvebody/lie.h:  X(y) = (omega × x + w v, -K v.x)
 *   geodesic plane through a, b, c:  nu = a_w b×c + b_w c×a + c_w a×b,  nu_w = -a.(b×c), over sqrt(|nu|^2 + K nu_w^2):
 *     the unit normal at each of its points is (nu, K nu_w);  s_K of the signed distance from it is nu.x + nu_w w
 *   flux <X_xi(y), normal> = m.xi,  m = (x × nu, w nu - K nu_w x)
 * s_K and c_K are the sine and cosine of the space (below). Lengths are in metres, K is in 1/m^2. The formulae are
 * derived here; the models are in Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006),
 * doi:10.1007/978-0-387-47322-2.
 *
 * Quaternions over the numbers a + j b with j^2 = K: the double cover of the isometries of a space of curvature K.
 *
 *   a twist Y = (omega, v) is Z = omega + j v, and its exponential is exp(Z/2)
 *   transvection T(x): C + j s,  s = S_K(r/2) x/r,  C = C_K(r/2),  r = |x|
 *   a pose T(x) R(q): Q = (C + j s) q;  momentum M = p + j l,  Ad*_Q M = Q^-1 M Q,  ad*_Z M = M × Z
 *   product: (a1 + j b1)(a2 + j b2) = a1 a2 + K b1 b2 + j (a1 b2 + b1 a2)
 *   -1 in SO(4) is j/sqrt(K): it maps (a, b) to (sqrt(K) b, a/sqrt(K))
 * S_K and C_K are the functions s_K and c_K of the space, l is the angular and p the linear momentum. In hyperbolic
 * space numbers grow like exp(sqrt(-K) r/2), so they are stored times exp(-scale). For K = 0 these are dual
 * quaternions. The formulae are derived here; Clifford (1873), Proc. London Math. Soc. 4, 381,
 * doi:10.1112/plms/s1-4.1.381.
 */
#pragma once

#include "numerics/dd.h"
#include <curvebody/se3.h>

#include <math.h>
#include <stdbool.h>

/* cb_curved_point computes the point y at the normal coordinates v. cb_curved_velocity computes the tangent vector u at
 * this point if the coordinates change with velocity dv. On a sphere |v| < pi/sqrt(K). */
void cb_curved_point(double K, const double v[3], double y[4]);
void cb_curved_velocity(double K, const double v[3], const double dv[3], double u[4]);
/* Computes the normal coordinates v of y, which have the direction of x, also near the antipode of the base point. */
void cb_curved_normal(double K, const double y[4], double v[3]);
/* Computes out = T_p^-1 y, where T_p is the transvection from the base point to p; p must not be the antipode of the
 * base point. */
void cb_curved_towards(double K, const double p[4], const double y[4], double out[4]);
/* Computes plane = (nu, nu_w) through three points, normalised as above. Returns the norm N by which the plane was
 * divided. */
double cb_curved_plane(double K, const double a[4], const double b[4], const double c[4], double plane[4]);
/* Returns the area of the geodesic triangle. `norm` is the number that cb_curved_plane returns. */
double cb_curved_area(double K, const double a[4], const double b[4], const double c[4], double norm);
/* Returns F(a, b) = a_w b_w + K a_x.b_x, which is c_K of the distance of a and b. */
double cb_curved_form(double K, const double a[4], const double b[4]);
/* A quadrature rule of seven points on a triangle, of degree 5 (Radon, Monatsh. Math. 52 (1948) 286,
 * doi:10.1007/BF01525334). Each point has its barycentric coordinates and its weight; the weights sum to 1. */
enum { CB_CURVED_POINTS = 7 };
extern const double cb_curved_rule[CB_CURVED_POINTS][4];
/* Computes point k of the rule on a face with the corners y[3]: q = p/sqrt(c) for the sum p of the corners with the
 * barycentric coordinates. Returns c = F(p, p). The area that belongs to the point is its weight in the rule times N/(2
 * c^(3/2)), where N is the norm that cb_curved_plane returns. */
double cb_curved_node(double K, const double y[3][4], int k, double q[4]);
/* Computes m = (x × nu, w nu - K nu_w x) for the plane (nu, nu_w) and the point y = (x, w) (file head). */
void cb_curved_flux(double K, const double plane[4], const double y[4], double m[6]);
/* Returns the distance of two points. It is computed from their chord, which is accurate for near points too. */
double cb_curved_distance(double K, const double a[4], const double b[4]);

/* --- the sine and cosine of a space of constant curvature K, with r = sqrt|K| ---
 *
 *             K > 0          K = 0   K < 0
 *   s_K(x) =  sin(r x)/r     x       sinh(r x)/r
 *   c_K(x) =  cos(r x)       1       cosh(r x)        c_K = s_K',  c_K^2 + K s_K^2 = 1
 */

typedef struct cb_trig {
  double k, r;
} cb_trig;

static inline cb_trig cb_trig_of(double k) { return (cb_trig){k, sqrt(fabs(k))}; }

static inline double cb_trig_s(cb_trig t, double x) {
  return t.k > 0 ? sin(t.r * x) / t.r : t.k < 0 ? sinh(t.r * x) / t.r : x;
}

static inline double cb_trig_c(cb_trig t, double x) { return t.k > 0 ? cos(t.r * x) : t.k < 0 ? cosh(t.r * x) : 1; }

/* These functions return u s_K(x) and u c_K(x) for K < 0, where u may be very small and the other factor very large.
 * They return 0 for u = 0 and any x. */
static inline double cb_trig_s_times(cb_trig t, double x, double u) {
  const double s = sinh(t.r * x), root = exp(0.5 * t.r * fabs(x));
  return u == 0 ? 0 : (isfinite(s) ? u * s : copysign(0.5, x) * u * root * root) / t.r;
}

static inline double cb_trig_c_times(cb_trig t, double x, double u) {
  const double c = cosh(t.r * x), root = exp(0.5 * t.r * fabs(x));
  return u == 0 ? 0 : isfinite(c) ? u * c : 0.5 * u * root * root;
}

/* Returns s_K(x)/x, and 1 at x = 0. */
static inline double cb_trig_sinc(cb_trig t, double x) { return x == 0 ? 1 : cb_trig_s(t, x) / x; }

/* Returns the a with s_K(a) = s. On a sphere c_K(a) also has the sign of c, and only the ratio of s and c matters. */
static inline double cb_trig_arc(cb_trig t, double s, double c) {
  return t.k > 0 ? atan2(t.r * s, c) / t.r : t.k < 0 ? asinh(t.r * s) / t.r : s;
}

/* --- biquaternions --- */

/* The number a + j b, where j^2 is the curvature K. */
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
