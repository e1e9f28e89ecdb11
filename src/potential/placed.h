/* The added mass of closed bodies that move before a plane (potential/images.h has it at one place), and its
 * derivatives along the place g = (R, x): twice the kinetic energy of a fluid of density 1 is <G (Y, 1), (Y, 1)>.
 *
 *   A phi_a = -(S + s S') w_a,  A = I/2 - D - s D',  G_ab = -phi_a W w_b      s = 1: rigid, -1: free
 *   dG_ab = -s psi_b V_a dx,  A^T psi_b = W w_b,  V_a = grad D' phi_a - grad S' w_a
 * w the normal velocities of unit twists and of the shape, W the areas, S' and D' of the panels' images: only these
 * depend on the place. dx is how a point of the body moves against the images as a whole, along g (1 + hat(xi)) in its
 * own axes, nu and h the plane's normal and height there:
 *   dx = 2 nu <nu, xi_v> + 2 e × (x - h nu),  e = xi_omega - nu <nu, xi_omega>
 * so that the derivatives are those of the G that is found, to round-off, one more solution of the same factors, and
 * nothing changes along the plane and about its normal. Of a symmetric G half the sum of both. S, D of the panels on
 * their centres as in potential/kirchhoff.h, the same G as by images there. Dense matrices: memory as n^2, time as n^3.
 * Measured on a sphere of 512 faces against the series of two: beyond what it has of error far away, dG/dh is 1 % low
 * where the gap is as wide as a face, 3 % at a third of that and 12 % at a twentieth, G 0.5, 0.9 and 1.6 %.
 */
#pragma once

#include "potential/kirchhoff.h"
#include <curvebody/se3.h>

typedef struct cb_placed cb_placed;

enum { CB_PLACED_COLUMNS = 7 }; /* (Y, 1) */

typedef struct cb_placed_form {
  double G[CB_PLACED_COLUMNS][CB_PLACED_COLUMNS];
  double slope[6][CB_PLACED_COLUMNS][CB_PLACED_COLUMNS]; /* along each of xi */
} cb_placed_form;

/* options->wall in the world's axes. What cb_kirchhoff_create refuses of the body in free space is refused, and a plane
 * without a direction. x and face are borrowed for its life; the caller frees. */
cb_status cb_placed_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_placed **out);
void cb_placed_free(cb_placed *m);
/* In free space, with the vertices where they were at creation. */
const cb_kirchhoff_mass *cb_placed_far(const cb_placed *m, cb_kirchhoff_report *report);

/* With the vertices at x in the body's axes, moving with v there (NULL: at rest), at g. CB_STEP_DOMAIN for a body that
 * reaches the plane, or comes so near that its panels do not resolve the gap: G is far from symmetric, by 0.1 of it. Called
 * from any thread: each has a piece of its own while it works, that goes on from nothing it has found before. */
cb_status cb_placed_at(cb_placed *m, const double (*x)[3], const double (*v)[3], const cb_pose *g, cb_placed_form *out);
