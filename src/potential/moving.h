/* Kirchhoff's tensor of bodies that change their shape, and of bodies that move near a plane.
 *
 * The data that was prepared for a body is kept. Each solution starts from the same potentials, so that K, mu0 and
 * kinetic depend only on the positions and velocities, and not on earlier calls or on the thread:
 *   start    the potentials of the body as it was created, which save half of the iterations
 * The functions may be called from any thread. Each thread has a solver of its own while it works.
 */
#pragma once

#include "potential/kirchhoff.h"
#include <curvebody/se3.h>

typedef struct cb_moving cb_moving;

/* Does the same as cb_kirchhoff_create, and solves at x (in a curved space it also succeeds if there is no solution at
 * x). x and face are borrowed for its lifetime. The caller frees the result. */
cb_status cb_moving_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_moving **out);
void cb_moving_free(cb_moving *m);
/* Computes the added mass for vertices at x that move with v (NULL: at rest). */
cb_status cb_moving_added_mass(cb_moving *m, const double (*x)[3], const double (*v)[3], cb_kirchhoff_mass *out);
/* Does the same as cb_kirchhoff_form, for vertices at x. */
cb_status cb_moving_form(cb_moving *m, const double (*x)[3], int n, const double (*v)[3], double *G);
/* The report for the body as it was created. */
cb_kirchhoff_report cb_moving_report(const cb_moving *m);

/* The added mass of closed bodies that move near a plane, and its derivatives along the pose g = (R, x).
 * (potential/operator.h computes it at one pose.) Twice the kinetic energy of a fluid of density 1 is <G (Y, 1), (Y,
 * 1)> for the twist Y of the body; the last component belongs to the motion of the shape.
 *
 *   A phi_a = -(S + s S') w_a,  A = I/2 - D - s D',  G_ab = -phi_a W w_b      s = 1: rigid, -1: free
 *   dG_ab = -s psi_b V_a dx,  A^T psi_b = W w_b,  V_a = grad D' phi_a - grad S' w_a
 * w are the normal velocities of unit twists and of the shape, W the areas of the panels, S and D those of
 * potential/panels.h, and S' and D' are S and D of the images of the panels; only these depend on the pose. dx is the
 * motion of a point x of the body relative to its images along g (1 + hat(xi)), xi = (xi_omega, xi_v), in the body's
 * axes, with the plane's normal nu and height h there:
 *   dx = 2 nu <nu, xi_v> + 2 e × (x - h nu),  e = xi_omega - nu <nu, xi_omega>
 * The derivatives are therefore exact derivatives of the computed G, up to round-off. They cost one more solution with
 * the same factors, and vanish for motions along the plane and about its normal. The symmetric part of G and of its
 * derivatives is used. S and D at the centres of the panels are those of potential/kirchhoff.h, and G is the same as by
 * the images of potential/operator.h. The matrices are dense: memory grows as n^2, time as n^3. Measured on a sphere of
 * 512 faces against the series for two spheres, in addition to the error far from the plane: dG/dh is 1 % too small if
 * the gap is as wide as a face, 3 % at a third of this gap and 12 % at a twentieth; G is 0.5, 0.9 and 1.6 % too small.
 */

typedef struct cb_placed cb_placed;

enum { CB_PLACED_COLUMNS = 7 }; /* the components of (Y, 1) */

typedef struct cb_placed_form {
  double G[CB_PLACED_COLUMNS][CB_PLACED_COLUMNS];
  double slope[6][CB_PLACED_COLUMNS][CB_PLACED_COLUMNS]; /* derivatives of G along each component of xi */
} cb_placed_form;

/* options->wall is in the world's axes. Fails if cb_kirchhoff_create fails for the body in free space, or if the normal
 * of the plane is 0. CB_ERROR_UNSUPPORTED for sheets. x and face are borrowed for its lifetime. The caller frees the
 * result. */
cb_status cb_placed_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_placed **out);
void cb_placed_free(cb_placed *m);
/* The tensor in free space, with the vertices as at creation. */
const cb_kirchhoff_mass *cb_placed_far(const cb_placed *m, cb_kirchhoff_report *report);

/* Computes the form for vertices at x in the body's axes, which move with v there (NULL: at rest), and the body at the
 * pose g. CB_STEP_DOMAIN for a body that reaches the plane, or is so near that its panels do not resolve the gap: the
 * asymmetry of the linear part of G is then at least 0.1 of its trace. CB_ERROR_ARGUMENT if the matrices do not fit
 * into the memory. May be called from any thread. Each thread has a solver of its own while it works, and the result
 * does not depend on earlier calls. */
cb_status cb_placed_at(cb_placed *m, const double (*x)[3], const double (*v)[3], const cb_pose *g, cb_placed_form *out);
