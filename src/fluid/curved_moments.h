/* Moments of solids and sheets, and the inertia that follows from them: in a space of curvature K, and in flat space
 * (below).
 *
 *   M = int rho y y^T dV  (4x4, y = (x, w)),  P = its block of x, c = int rho w x, mass = M_ww + K tr P
 *   I = [[J, hat(c)], [hat(c)^T, mass 1 - K J]],  J = tr(P) 1 - P:  (1/2) xi^T I xi = (1/2) int rho |X_xi|^2 dV
 *   about another point: M -> T M T^T, T a transvection;  the centre is where c = 0
 *
 * y = (x, w) is a point (numerics/numerics_curved.h), rho the density, hat(c) a = c × a, and 1 the identity matrix.
 * X_xi is the Killing field of the twist xi, s_K and c_K are the sine and cosine of the curvature K. A solid is the sum
 * of the cones from an apex to its faces. The integral over a cone is the sum of W f (-nu_w)/S^3 over seven points of
 * the face in the apex's frame. d is the distance of such a point from the apex, W its share of the area, (nu, nu_w)
 * the normal of the face's plane, S = s_K(d), C = c_K(d), u = x/|x|:
 *
 *   f = F2, F4 u u^T, S^4/4 u, F2 - K F4  for the volume, xx^T, wx, ww,   F2 = (d - SC)/2K,  F4 = (3 F2 - S^3 C)/4K
 *
 * The formulas were derived for this project. SI units; K is in 1/m^2.
 */
#pragma once

#include "numerics/numerics_curved.h"
#include <curvebody/mass.h>

typedef struct cb_curved_moments {
  double M[4][4], first[4]; /* int y y^T and int y */
} cb_curved_moments;

/* These return the integrals of S^2 and S^4 over [0, d]. */
double cb_curved_f2(double K, double d);
double cb_curved_f4(double K, double d);

/* --- moments --- */
/* Adds the solid cone from the base point to the face y. */
void cb_curved_add_cone(double K, const double y[3][4], cb_curved_moments *m);
void cb_curved_add(cb_curved_moments *to, double factor, const cb_curved_moments *m);
/* Changes the moments to those of the same body after the transvection from the base point to p. */
void cb_curved_move(double K, const double p[4], cb_curved_moments *m);
double cb_curved_content(double K, const cb_curved_moments *m);
/* Finds M from a given inertia, and sets `first` to 0. */
void cb_curved_of_inertia(double K, double mass, const double (*I)[6], cb_curved_moments *m);

/* Finds an apex for the cones of part p of s with the vertices at y: the mean of the corners, or the base point if they
 * have no mean. */
void cb_curved_apex(const cb_surface *s, const double (*y)[4], int p, double apex[4]);
/* Finds the moments of part p with its vertices at y. */
void cb_curved_of_part(const cb_surface *s, const double (*y)[4], int p, cb_curved_moments *solid,
                       cb_curved_moments *skin, double *area);

/* Finds mass, volume, centres and inertia from the moments of the mass (weight) and of the displaced volume (fluid). */
void cb_curved_mass(double K, const cb_curved_moments *weight, const cb_curved_moments *fluid, double area,
                    cb_mass *out);

/* Moments of simplices in flat space, for the mass properties of bodies at rest and of changing shapes. */

/* The integrals of 1, x and x x^T. */
typedef struct cb_moments {
  double zero, one[3], two[3][3];
} cb_moments;

/* Adds the tetrahedron from the origin to x (content is its volume; first = 4 and second = 20 are divisors), or the
 * triangle x (content is its area; divisors 3 and 12). */
void cb_moments_add_simplex(cb_moments *m, const double x[3][3], double content, double first, double second);
void cb_moments_add(cb_moments *to, double factor, const cb_moments *m);
/* Converts moments about o into moments about the origin. */
void cb_moments_move(cb_moments *m, const double o[3]);
/* I += [[J, m hat(c)], [-m hat(c), m 1]], J = tr(P) 1 - P, with first = m c and P = int x x^T. */
void cb_inertia_add(double I[6][6], double mass, const double first[3], const double P[3][3]);
/* Is the material of part p of s admissible? CB_ERROR_ARGUMENT, or CB_ERROR_DOMAIN if the part is open and has a
 * density but no thickness. */
cb_status cb_material_check(const cb_surface *s, int p, const cb_material *material, bool closed);
/* Finds the moments of part p of s at x, as a solid and as a skin. *closed: the part has no border and its area vectors
 * add up to 0. */
void cb_moments_of_part(const cb_surface *s, const double (*x)[3], int p, cb_moments *solid, cb_moments *skin,
                        bool *closed);
