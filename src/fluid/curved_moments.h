/* Moments of solids and sheets in a space of curvature K, and the inertia that they make.
 *
 *   M = int rho y y^T dV  (4x4, y = (x, w)),  P = its block of x, c = int rho w x, mass = M_ww + K tr P
 *   I = [[J, hat(c)], [hat(c)^T, mass 1 - K J]],  J = tr(P) 1 - P:  (1/2) xi^T I xi = (1/2) int rho |X_xi|^2 dV
 *   about another point: M -> T M T^T, T a transvection;  the centre is where c = 0
 * A solid is the sum of cones from an apex to its faces, int over a cone = sum W f/S^3 <-nu_w>, over seven points of a
 * face in the apex's frame, at the distance d, S = s_K(d), C = c_K(d), u = x/|x|:
 *   f = F2, F4 u u^T, S^4/4 u, F2 - K F4  for the volume, xx^T, wx, ww,   F2 = (d - SC)/2K,  F4 = (3 F2 - S^3 C)/4K
 * Derived here.
 */
#pragma once

#include "numerics/curved.h"
#include <curvebody/mass.h>

typedef struct cb_curved_moments {
  double M[4][4], first[4]; /* int y y^T and int y */
} cb_curved_moments;

/* int of S^2 and S^4 over [0, d]. */
double cb_curved_f2(double K, double d);
double cb_curved_f4(double K, double d);

/* --- moments --- */
/* Adds the solid cone from the base point to the face y. */
void cb_curved_add_cone(double K, const double y[3][4], cb_curved_moments *m);
/* Adds the face; returns its area. */
double cb_curved_add_skin(double K, const double y[3][4], double factor, cb_curved_moments *m);
void cb_curved_add(cb_curved_moments *to, double factor, const cb_curved_moments *m);
/* What is at the base point goes to p. */
void cb_curved_move(double K, const double p[4], cb_curved_moments *m);
double cb_curved_content(double K, const cb_curved_moments *m);
/* Adds those of the whole sphere: of a solid that was found less its complement. */
void cb_curved_add_sphere(double K, cb_curved_moments *m);
/* The point about which c = 0, nearest to the mean. */
void cb_curved_centre(double K, const cb_curved_moments *m, double p[4]);
void cb_curved_inertia(double K, const cb_curved_moments *m, double I[6][6]);
/* M of such an inertia; first is 0. */
void cb_curved_of_inertia(double K, double mass, const double (*I)[6], cb_curved_moments *m);

/* Where cones of part p of s may come from, with the vertices at y: an apex in whose opposite point nothing lies. */
void cb_curved_apex(const cb_surface *s, const double (*y)[4], int p, double apex[4]);
/* Part p with its vertices at y. */
void cb_curved_of_part(const cb_surface *s, const double (*y)[4], int p, cb_curved_moments *solid,
                       cb_curved_moments *skin, double *area);

cb_status cb_curved_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out);
/* mass, volume, centres and inertia of such moments. */
void cb_curved_mass(double K, const cb_curved_moments *weight, const cb_curved_moments *fluid, double area,
                    cb_mass *out);
