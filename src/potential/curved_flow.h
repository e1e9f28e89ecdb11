/* Computes the potential flow of a perfect fluid that fills a space of constant curvature K around a closed body. The
 * surface consists of geodesic triangles (panels) that carry constant sources and normal dipoles.
 *
 *   (1/2 - D) phi = -S v,  M_ab = -sum phi_a A m_b,  the sum is over the panels
 *   G        the potential of a source:  K < 0: r (coth(r d) - 1)/(4 pi);  K > 0: r (pi - r d) cot(r d)/(4 pi^2), with
 *            a uniform background
 *   D        K < 0: D_0 = -(1/(2 pi)) atan2([a b c], |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|), which is minus the
 *            solid angle/(4 pi);  K > 0: D_0 - sum W s r^3 (t - sin t cos t)/(4 pi^2 sin^3 t), t = r d, or, if the mean
 *            w of the corners is below -1/2, D = sum W s r^3 (u - sin u cos u)/(4 pi^2 sin^3 u), u = pi - t
 *   S        sum W G;  for panels near x: sqrt(1 + K f^2) times the integral of 1/(4 pi distance) in flat space over
 *            the triangle of the points p/w, plus sum W (G - 1/(4 pi |p| w^2)), which is smooth
 * phi is the potential, v the normal velocity, M the added mass, and A the area of a panel. In M_ab, a and b number the
 * unit twists about the base point; m_b is the mean normal velocity of a panel for unit twist b (the flux of
 * numerics/numerics_curved.h), and phi_a is phi for v = m_a. In G, D and S, d is the distance of a point y of the panel
 * from x, and r = sqrt|K|. T_x is the transvection from the base point to x, and (p, w) = T_x^-1 y. In D, a, b and c
 * are the vectors p of the corners of the panel. s is sin(r e)/r for K > 0 and sinh(r e)/r for K < 0, where e is the
 * distance of x from the panel's plane. W are the weights of a quadrature rule on the panel. f is the distance from 0
 * to the plane of the triangle whose corners have the positions p/w.
 *
 * The sum of each row of D is -1/2; for a body of volume |B| in a sphere of volume V = 2 pi^2/r^3 it is -1/2 + |B|/V.
 * Errors are of order h^2 for panels of size h below about 0.3/r. Lengths are in metres; the fluid has density 1.
 * Source of G: DeTurck & Gluck, J. Math. Phys. 49 (2008) 023504, doi:10.1063/1.2827467; the other equations were
 * derived for this project.
 */
#pragma once

#include "core/arena.h"
#include "potential/curved_kernel.h"
#include "potential/operator.h"

typedef struct cb_curved_flow cb_curved_flow;

/* Creates the equations for n faces on vertices at normal coordinates x, in the space of curvature options->curvature.
 * The options tolerance, iterations and memory must not be 0. Returns CB_ERROR_ARGUMENT for a matrix that does not fit
 * into the memory. Returns CB_ERROR_DOMAIN for a face without area. On a sphere it also returns CB_ERROR_DOMAIN for a
 * side longer than 1.5 radii, or for a vertex whose distance from the base point is at least the distance between
 * antipodes. Returns CB_ERROR_UNSUPPORTED for a method that is not available in curved spaces. The caller frees the
 * result. */
cb_status cb_curved_flow_create(int n, const double (*x)[3], const int (*face)[3], const cb_kirchhoff_options *options,
                                cb_curved_flow **out);
void cb_curved_flow_free(cb_curved_flow *f);
/* Moves the vertices to x. Returns CB_ERROR_DOMAIN as cb_curved_flow_create does. */
cb_status cb_curved_flow_move(cb_curved_flow *f, const double (*x)[3], const int (*face)[3]);

const double *cb_curved_flow_areas(const cb_curved_flow *f); /* [n], in m^2 */
/* Sets w[6][n] to the mean normal velocities of the panels for the unit twists about the base point. */
void cb_curved_flow_motions(const cb_curved_flow *f, double *w);
/* Sets w[n] to the mean normal velocities of the panels if the normal coordinates x of the vertices change with
 * velocity v. */
void cb_curved_flow_shape(const cb_curved_flow *f, const double (*x)[3], const double (*v)[3], const int (*face)[3],
                          double *w);
/* Solves the equation of phi for the normal velocities w[columns][n] (v at the top of this file), with at most
 * CB_PANEL_COLUMNS columns. phi[columns][n] first holds the start of the iteration, then the solution. Returns
 * CB_ERROR_DOMAIN if the row sums show that the surface is not closed, or if the matrix is singular. Returns
 * CB_ERROR_STEP if the iteration does not converge. */
cb_status cb_curved_flow_solve(cb_curved_flow *f, int columns, const double *w, double *phi);
cb_operator_report cb_curved_flow_report(const cb_curved_flow *f);
/* Returns the mean of (1/2 + the sum of a row of D), known after the first solution. The mean is |B|/V on a sphere; for
 * K < 0 it is 0. */
double cb_curved_flow_share(const cb_curved_flow *f);

/* Geodesic panels and their potentials at a point. */
typedef struct cb_curved_panels {
  int n;
  double K, r;         /* r = sqrt|K| */
  double (*centre)[4]; /* the centres, as (r x, w) for the point (x, w) of numerics/numerics_curved.h */
  double (*plane)[4], (*flux)[6], *area; /* plane: the plane of the panel; flux: m_b for each unit twist b */
  double *lanes;                         /* CB_CURVED_LANES rows (potential/curved_kernel.h) */
  size_t stride;
  bool few; /* all panels are so small that the rule of degree 2 is sufficient (potential/curved_kernel.h) */
  const cb_curved_kernels *kernels;
} cb_curved_panels;

/* Allocates n panels in the arena. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_curved_panels_take(cb_curved_panels *p, cb_arena *arena, int n, double K);
/* Places the panels of faces on vertices at normal coordinates x. Returns CB_ERROR_DOMAIN for a face as in
 * cb_curved_flow_create; the message gives the number of the face, counted from 1. */
cb_status cb_curved_panels_place(cb_curved_panels *p, const double (*x)[3], const int (*face)[3]);
/* Computes S (times r) and D of n panels from index `first` on, at the point x, which is stored in the form (r x, w).
 * self is as in cb_panels_range (potential/panels.h). D may be NULL. */
void cb_curved_panels_range(const cb_curved_panels *p, const double x[4], int first, int n, int self, double *S,
                            double *D);
/* Computes the gradients of S (times r) and D with respect to x, for n panels from index `first` on. The unit of length
 * is the radius of curvature 1/r. Each result has three rows, which start `width` numbers apart: the components in a
 * frame of the tangent space at x. This frame is the image of the axes at the base point under the transvection T_x
 * from the base point to x. */
void cb_curved_panels_gradients(const cb_curved_panels *p, const double x[4], int first, int n, size_t width, double *S,
                                double *D);
