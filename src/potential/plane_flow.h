/* Bodies in the plane in one perfect fluid, each at its pose, and the energy of their motions together.
 *
 *   (1/2 + D_i) phi_i + sum_{j != i} (Im C_ij phi_j + Re C_ij psi_j) = R_i u_i      for each body i (plane_body.h)
 *   G_ab = -sum_i int phi_a dPsi u_b:  twice the energy of the motions a and b, u_i the twist of body i in its own frame
 *   d phi from the same factors: where bodies move by V_i, C_ij changes by -(V_j - V_i)(z) C_ij/(t - z), and data by du
 * Zero circulation about each body, no flow far away, density 1. The error falls like q^nodes, q the nearer 1 the closer
 * bodies are: sum_t Im C_zt is 0 at a point outside a body and 1 within, and its distance from 0 at other bodies' nodes
 * tells how well they see it. Twists (omega, v_x, v_y); poses (theta, x, y).
 */
#pragma once

#include "potential/plane_body.h"

/* The greatest |sum_t Im C_zt| between two bodies that is taken; the error of G is less by about 20 (measured on
 * ellipses of aspect 10, tip to tip). */
#define CB_PLANE_CLOSEST 1e-3

typedef struct cb_plane_flow cb_plane_flow;

/* Room for the bodies (borrowed), up to so many motions and so many changes of poses. */
cb_status cb_plane_flow_create(int bodies, const cb_plane_body *const *body, int motions, int changes,
                               cb_plane_flow **out);
void cb_plane_flow_free(cb_plane_flow *f);

/* u[motions][bodies][3] to G[motions][motions], symmetric. CB_STEP_DOMAIN where two bodies overlap or are closer than
 * their nodes resolve, with their numbers from 1. */
cb_status cb_plane_flow_solve(cb_plane_flow *f, const double (*pose)[3], int motions, const double *u, double *G);
/* Then, for changes V[changes][bodies][3] of the poses, twists in the common frame about its origin, and changes
 * du[changes][motions][bodies][3] of the motions that go with them: dG[changes][motions][motions]. */
void cb_plane_flow_change(cb_plane_flow *f, int changes, const double *V, const double *du, double *dG);

typedef struct cb_plane_error {
  double asymmetry; /* the greatest |G_ab - G_ba| over the greatest |G|, before it was made symmetric */
  double closest;   /* the greatest |sum_t Im C_zt| */
} cb_plane_error;
cb_plane_error cb_plane_flow_error(const cb_plane_flow *f); /* of the last solution */
