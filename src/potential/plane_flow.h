/* Bodies in the plane in one perfect fluid: first each body without the others, then the energy of their motions
 * together.
 *
 *   (1/2 + D_i) phi_i + sum_{j != i} (Im C_ij phi_j + Re C_ij psi_j) = R_i u_i      for each body i (below)
 *   G_ab = -sum_i int phi_a dPsi u_b:  twice the energy of the motions a and b
 *   d phi follows from the same factors: if bodies move by V_i, u_i changes by du_i, and C_ij by
 *   -(V_j - V_i)(z) C_ij/(t - z)
 * phi + i psi is the complex potential. u_i is the twist of body i in its frame, and phi_a and u_b are those of motions
 * a and b. D, R, Psi and C_zt are those of one curve (below), and C_ij is C_zt for a node z of body i and a node t of
 * body j. V_i is a twist in the common frame, and (V_j - V_i)(z) is the velocity at z that it causes. There is no
 * circulation around any body and no flow far away; the density is 1. The error decreases like q^nodes, with q closer
 * to 1 the closer the bodies are. sum_t Im C_zt is 0 at a point outside a body and 1 inside; its deviation from 0 at
 * the nodes of another body shows the accuracy of the flow there. Twists are (omega, v_x, v_y), poses (theta, x, y).
 */
#pragma once

#include <curvebody/status.h>

#include <complex.h>

/* A body in the plane, bounded by one smooth closed curve, in a perfect fluid without circulation: the part of its flow
 * that does not depend on other bodies.
 *
 *   z(s), 0 <= s < 2 pi, anticlockwise;  n out of the body;  twists and tensors in the order (omega, v_x, v_y)
 *   w = phi + i psi is analytic outside and 0 far away:   phi(z)/2 + Re[(1/(2 pi i)) PV int w dt/(t - z)] = 0
 *   psi is known on a rigid body:  Psi = (-|z|^2/2, y, -x), dPsi = <u, n> ds;  constants of psi cancel
 *   (1/2 + D) phi = R u,   D_zt = Im C_zt,   R u = -sum Re C_zt (Psi(t) - Psi(z)) u,   C_zt = t'/(2 pi (t - z)) ds
 *   K = -int phi dPsi:  twice the energy of unit motions, of a fluid of density 1
 * z = x + i y and t are points of the curve, s is its parameter, ' is the derivative with respect to s, and n is the
 * normal. u is the twist (in <u, n> the velocity that it causes), PV is the principal value, and K the added mass. The
 * conjugate psi replaces the normal velocity, so that no logarithm has to be integrated. The discretisation is
 * Nystrom's method with the trapezoidal rule. D is smooth; its diagonal Im(z''/(2 z'))/(2 pi) ds comes from the
 * curvature. D and R need a certain number of points to converge to round-off. phi, which has `nodes` points, is
 * interpolated to these points by its trigonometric polynomial. This is done once per body, so a thin curve needs no
 * more nodes than phi does. The nodes are s = (j + 1/2) 2 pi/nodes, so that a cusp at s = 0, where z' = 0, is not a
 * node. Lengths have any unit; masses are for density 1. Sources: Kress, Linear Integral Equations (2014), sections
 * 12.2 and 6.4, doi:10.1007/978-1-4614-9593-2; Newman, Marine Hydrodynamics (1977), section 4.13. */

enum { CB_PLANE_NODES_MAX = 1024 };

/* A curve with the parameters `number`. at() sets z to the point, its first and its second derivative at s. */
typedef struct cb_plane_curve {
  void (*at)(const double *number, double s, double complex z[3]);
  double number[4];
} cb_plane_curve;

/* Returns an ellipse with the semi-axes a along x and b along y. */
cb_plane_curve cb_plane_ellipse(double a, double b);
/* Returns Joukowski's symmetric foil. Its tail is at x = -length/2 and its nose at length/2. It is the image of a
 * circle in the plane zeta by zeta + 1/zeta, scaled to this length. The circle has the radius 1 + bulge + tail. `bulge`
 * >= 0 is its distance from 0 and sets the thickness of the foil. `tail` >= 0 rounds the tail; 0 gives a cusp. */
cb_plane_curve cb_plane_joukowski(double length, double bulge, double tail);

typedef struct cb_plane_body {
  struct cb_arena *arena;
  int n;
  double *x, *y, *dx, *dy;        /* the nodes z; z' times 2 pi/n */
  double *stream[3], *flux[3];    /* Psi; Psi' times 2 pi/n */
  double *own, *right[3];         /* 1/2 + D, [n][n]; R */
  double added[3][3], mass[3][3]; /* K without other bodies; the mass of the body for density 1 */
  int fine;                       /* number of points on which D and R were summed */
} cb_plane_body;

/* Creates a body with an even number of nodes from 8 to CB_PLANE_NODES_MAX; otherwise returns CB_ERROR_ARGUMENT.
 * Returns CB_ERROR_DOMAIN if 2^18 points do not resolve the distance of the curve from itself, or if the curve is
 * clockwise or intersects itself. The caller frees the result. */
cb_status cb_plane_body_create(const cb_plane_curve *curve, int nodes, cb_plane_body **out);
void cb_plane_body_free(cb_plane_body *b);

/* The largest |sum_t Im C_zt| between two bodies that is accepted. The error of G is about 20 times smaller (measured
 * on two ellipses with axes 10:1, tip to tip). */
#define CB_PLANE_CLOSEST 1e-3

typedef struct cb_plane_flow cb_plane_flow;

/* Creates the flow around the bodies, which must outlive it. Allocates memory for at most `motions` motions and
 * `changes` changes of the poses. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_plane_flow_create(int bodies, const cb_plane_body *const *body, int motions, int changes,
                               cb_plane_flow **out);
void cb_plane_flow_free(cb_plane_flow *f);

/* Computes the symmetric G[motions][motions] from the twists u[motions][bodies][3]. Returns CB_STEP_DOMAIN if two
 * bodies overlap or are closer than their nodes resolve; the message gives their numbers from 1. Returns
 * CB_STEP_SINGULAR if the equations are singular. */
cb_status cb_plane_flow_solve(cb_plane_flow *f, const double (*pose)[3], int motions, const double *u, double *G);
/* Computes dG[changes][motions][motions], how G changes with the poses. cb_plane_flow_solve must have been called
 * before. V[changes][bodies][3] are changes of the poses, as twists in the common frame about its origin.
 * du[changes][motions][bodies][3] are the changes of the twists u that belong to them. */
void cb_plane_flow_change(cb_plane_flow *f, int changes, const double *V, const double *du, double *dG);

typedef struct cb_plane_error {
  double asymmetry; /* the largest |G_ab - G_ba| before G was made symmetric, divided by the largest |G_ab| */
  double closest;   /* the largest |sum_t Im C_zt| at nodes of another body */
} cb_plane_error;
cb_plane_error cb_plane_flow_error(const cb_plane_flow *f); /* the errors of the last solution */
