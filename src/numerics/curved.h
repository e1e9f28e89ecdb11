/* Points, geodesic planes and isometries of a space of constant curvature K of dimension 3, by one code for every K.
 *
 *   point y = (x, w):  w^2 + K |x|^2 = 1;  the base point is (0, 1);  K = 0: w = 1
 *   tangent vector u = (u_x, u_w) at y:  w u_w + K x.u_x = 0,  <u, u'> = u_x.u'_x + u_w u'_w/K, at w = 1 u_x.u'_x
 *   normal coordinates v, of length the distance from the base point:  x = v s_K(|v|)/|v|,  w = c_K(|v|)
 *   Killing field of xi = (omega, v) in the algebra of curvebody/lie.h:  X(y) = (omega × x + w v, -K v.x)
 *   geodesic plane through a, b, c:  nu = a_w b×c + b_w c×a + c_w a×b,  nu_w = -a.(b×c), over sqrt(|nu|^2 + K nu_w^2):
 *     the unit normal at each of its points is (nu, K nu_w);  s_K of the signed distance from it is nu.x + nu_w w
 *   flux <X_xi(y), normal> = m.xi,  m = (x × nu, w nu - K nu_w x)
 * Tangent vectors of length L in metres; K in 1/m^2. Derived here; Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd
 * ed. (2006), doi:10.1007/978-0-387-47322-2, for the models.
 */
#pragma once

/* The point at normal coordinates v, and the tangent vector there of their velocity dv (u_w follows). On a sphere
 * |v| < pi/sqrt(K). */
void cb_curved_point(double K, const double v[3], double y[4]);
void cb_curved_velocity(double K, const double v[3], const double dv[3], double u[4]);
/* Normal coordinates of y; at the antipode of the base point along x. */
void cb_curved_normal(double K, const double y[4], double v[3]);
/* out = T_p^-1 y, T_p the transvection from the base point to p; p is not its antipode. */
void cb_curved_towards(double K, const double p[4], const double y[4], double out[4]);
/* The plane through three points, plane = (nu, nu_w) of length 1; returns the norm it was divided by. */
double cb_curved_plane(double K, const double a[4], const double b[4], const double c[4], double plane[4]);
/* Area of the geodesic triangle, with that norm. */
double cb_curved_area(double K, const double a[4], const double b[4], const double c[4], double norm);
/* F(a, b) = a_w b_w + K a_x.b_x, c_K of their distance. */
double cb_curved_form(double K, const double a[4], const double b[4]);
/* A rule of seven points on a triangle, of degree 5 (Radon, Monatsh. Math. 52 (1948) 286, doi:10.1007/BF01525334):
 * barycentric coordinates, and the share of the area. */
enum { CB_CURVED_POINTS = 7 };
extern const double cb_curved_rule[CB_CURVED_POINTS][4];
/* Point k of a face with corners y, and c = F(sum lambda y, sum lambda y) before it was normalised: the face has the
 * area share * N/(2 c^(3/2)) there, N the norm that cb_curved_plane returns. */
double cb_curved_node(double K, const double y[3][4], int k, double q[4]);
/* m, for the plane's normal at y. */
void cb_curved_flux(double K, const double plane[4], const double y[4], double m[6]);
/* The distance of two points by their chord, without loss where they are near. */
double cb_curved_distance(double K, const double a[4], const double b[4]);
