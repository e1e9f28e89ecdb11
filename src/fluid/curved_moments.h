/* Moments of solids and sheets, and the inertia that follows from them: in a space of curvature K, and in flat space
 * (below).
 *
 *   M = int rho y y^T dV  (4x4, y = (x, w)),  P = its 3x3 block of x,  c = int rho w x dV,  mass = M_ww + K tr P
 *   I = [[J, hat(c)], [hat(c)^T, mass 1 - K J]],  J = tr(P) 1 - P:  (1/2) xi^T I xi = (1/2) int rho |X_xi|^2 dV
 *   about another point: M -> T M T^T, T a transvection;  the centre is the point about which c = 0
 *
 * y = (x, w) is a point (numerics/numerics_curved.h), rho the density, hat(c) a = c × a, and 1 the identity matrix.
 * M_ww is the last diagonal entry of M. X_xi is the Killing field of the twist xi.
 *
 * A solid is the sum of the cones from an apex to its faces. The integral over a cone is the sum of W f (-nu_w)/S^3
 * over seven points of the face, in the apex's frame. W is the share of such a point in the face's area, and (nu, nu_w)
 * is the normal of the face's plane. d is the distance of the point from the apex, and u = x/|x|. S = s_K(d) and C =
 * c_K(d), with the sine s_K and the cosine c_K of the space. The four integrals have these f:
 *
 *   volume: F2,  x x^T: F4 u u^T,  w x: (S^4/4) u,  w^2: F2 - K F4,  F2 = (d - S C)/(2 K),  F4 = (3 F2 - S^3 C)/(4 K)
 *
 * The formulas were derived for this project. SI units; K is in 1/m^2.
 */
#pragma once

#include "numerics/numerics_curved.h"
#include <curvebody/mass.h>

typedef struct cb_curved_moments {
  double M[4][4], first[4]; /* M = int y y^T dV, first = int y dV, both times the density if there is one */
} cb_curved_moments;

/* These functions return integrals over t from 0 to d: F2 of s_K(t)^2 and F4 of s_K(t)^4, with the sine s_K of the
 * space. */
double cb_curved_f2(double K, double d);
double cb_curved_f4(double K, double d);

/* --- moments --- */
/* Adds the moments, for density 1, of the solid cone from the base point to the face with the corners y. */
void cb_curved_add_cone(double K, const double y[3][4], cb_curved_moments *m);
void cb_curved_add(cb_curved_moments *to, double factor, const cb_curved_moments *m);
/* Changes the moments to those of the body after the transvection from the base point to p. */
void cb_curved_move(double K, const double p[4], cb_curved_moments *m);
double cb_curved_content(double K, const cb_curved_moments *m);
/* Finds M from a given inertia I and mass, and sets `first` to 0. */
void cb_curved_of_inertia(double K, double mass, const double (*I)[6], cb_curved_moments *m);

/* Finds an apex for the cones of part p of s with the vertices at y. The apex is the mean of the corners. It is the
 * base point if this mean does not exist or is near the antipode of the base point. */
void cb_curved_apex(const cb_surface *s, const double (*y)[4], int p, double apex[4]);
/* Finds the moments of part p with its vertices at y, for density 1: as a solid (0 for an open part) and as a skin.
 * *area becomes the area of its faces. */
void cb_curved_of_part(const cb_surface *s, const double (*y)[4], int p, cb_curved_moments *solid,
                       cb_curved_moments *skin, double *area);

/* Finds mass, volume, centres and inertia from the moments of the mass (weight) and of the displaced volume (fluid). */
void cb_curved_mass(double K, const cb_curved_moments *weight, const cb_curved_moments *fluid, double area,
                    cb_mass *out);

/* Moments of simplices (triangles and tetrahedra) in flat space, for the mass properties of bodies at rest and of
 * changing shapes. */

/* The integrals of 1, x and x x^T over a solid or a surface. */
typedef struct cb_moments {
  double zero, one[3], two[3][3];
} cb_moments;

/* Adds the moments of a simplex for density 1. For the tetrahedron from the origin to the triangle x, content is the
 * volume, first = 4 and second = 20. For the triangle x itself, content is the area, first = 3 and second = 12. */
void cb_moments_add_simplex(cb_moments *m, const double x[3][3], double content, double first, double second);
void cb_moments_add(cb_moments *to, double factor, const cb_moments *m);
/* Converts moments about the point o into moments about the origin. */
void cb_moments_move(cb_moments *m, const double o[3]);
/* Adds [[J, m hat(c)], [-m hat(c), m 1]] to I, with J = tr(P) 1 - P, P = int rho x x^T dV and first = m c. m is the
 * mass, c its centre, hat(c) a = c × a, and 1 the identity matrix. */
void cb_inertia_add(double I[6][6], double mass, const double first[3], const double P[3][3]);
/* Checks the material of part p of s. Returns CB_ERROR_ARGUMENT if a number is negative or not finite, and
 * CB_ERROR_DOMAIN if the part is open and has a density but no thickness. */
cb_status cb_material_check(const cb_surface *s, int p, const cb_material *material, bool closed);
/* Finds the moments of part p of s with its vertices at x, for density 1, as a solid and as a skin. *closed becomes
 * true if the part has no border and its area vectors add up to 0. */
void cb_moments_of_part(const cb_surface *s, const double (*x)[3], int p, cb_moments *solid, cb_moments *skin,
                        bool *closed);
