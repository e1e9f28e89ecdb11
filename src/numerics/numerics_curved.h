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
 */
#pragma once

#include <math.h>

/* cb_curved_point computes the point y at the normal coordinates v. cb_curved_velocity computes the tangent vector u at
 * this point if the coordinates change with velocity dv. On a sphere |v| < pi/sqrt(K). */
void cb_curved_point(double K, const double v[3], double y[4]);
void cb_curved_velocity(double K, const double v[3], const double dv[3], double u[4]);
/* Computes the normal coordinates v of y, which have the direction of x, also near the antipode of the base point. */
void cb_curved_normal(double K, const double y[4], double v[3]);
/* Computes out = T_p^-1 y, where T_p is the transvection from the base point to p; p must not be the antipode of the
 * base point. */
void cb_curved_towards(double K, const double p[4], const double y[4], double out[4]);
/* Computes plane = (nu, nu_w) through three points, normalised as above. Returns the norm N by which it was divided. */
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
/* Computes m of the equations above for the plane and the point y. */
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
