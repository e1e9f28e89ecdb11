/* A body in the plane, bounded by one smooth closed curve, in a perfect fluid without circulation: what of its flow does
 * not depend on other bodies.
 *
 *   z(s), 0 <= s < 2 pi, anticlockwise;  n out of the body;  twists and tensors in the order (omega, v_x, v_y)
 *   w = phi + i psi is analytic outside and 0 far away:   phi(z)/2 + Re[(1/2 pi i) PV int w dt/(t - z)] = 0
 *   psi is known on a rigid body:  Psi = (-|z|^2/2, y, -x), dPsi = <u, n> ds;  constants of psi drop out
 *   (1/2 + D) phi = R u,   D_zt = Im C_zt,   R u = -sum Re C_zt (Psi(t) - Psi(z)) u,   C_zt = t'/(2 pi (t - z)) ds
 *   K = -int phi dPsi:  twice the energy of unit motions, of a fluid of density 1
 * The conjugate psi stands for the normal velocity, so that no logarithm is integrated. Nystrom's method on the
 * trapezoidal rule: D is smooth, of diagonal Im(z''/2 z')/2 pi, the curvature's. phi is interpolated by its trigonometric
 * polynomial from `nodes` points to as many as D and R need to converge to round-off, once a body: a thin curve costs
 * no more nodes than phi needs. Points lie at s = (j + 1/2) 2 pi/nodes: a cusp at s = 0, where z' = 0, is none of them.
 * Sources: Kress, Linear Integral Equations (2014), sections 12.2 and 6.4, doi:10.1007/978-1-4614-9593-2; Newman, Marine
 * Hydrodynamics (1977), section 4.13. Lengths; mass by density 1.
 */
#pragma once

#include <curvebody/status.h>

#include <complex.h>

enum { CB_PLANE_NODES_MAX = 1024 };

/* z, z', z'' at s of a curve that is given by a few numbers. */
typedef struct cb_plane_curve {
  void (*at)(const double *number, double s, double complex z[3]);
  double number[4];
} cb_plane_curve;

/* Semi-axes a along x, b along y. */
cb_plane_curve cb_plane_ellipse(double a, double b);
/* Joukowski's symmetric foil from x = -length/2, its tail, to length/2, its nose: zeta + 1/zeta of a circle about
 * -bulge of radius 1 + bulge + tail. bulge >= 0 makes it thick; tail >= 0 rounds the tail, 0: a cusp. */
cb_plane_curve cb_plane_joukowski(double length, double bulge, double tail);

typedef struct cb_plane_body {
  struct cb_arena *arena;
  int n;
  double *x, *y, *dx, *dy;        /* nodes; z' 2 pi/n */
  double *stream[3], *flux[3];    /* Psi; Psi' 2 pi/n */
  double *own, *right[3];         /* 1/2 + D, [n][n]; R */
  double added[3][3], mass[3][3]; /* K alone; of the body filled with density 1 */
  int fine;                       /* points that D and R were summed on */
} cb_plane_body;

/* nodes: even, from 8 to CB_PLANE_NODES_MAX. CB_ERROR_ARGUMENT otherwise; CB_ERROR_DOMAIN where 2^18 points do not
 * resolve the curve's distance from itself, it is clockwise, or it cuts itself. */
cb_status cb_plane_body_create(const cb_plane_curve *curve, int nodes, cb_plane_body **out);
void cb_plane_body_free(cb_plane_body *b);
