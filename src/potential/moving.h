/* The added mass K (potential/kirchhoff.h) of bodies that change their shape, and of bodies that move near a plane.
 *
 * Data that was prepared for a body is reused. Each iteration starts from the potentials of the body as it was created,
 * which saves half of the iterations. K, mu0 and kinetic therefore depend only on the positions and velocities, and not
 * on earlier calls or on the thread. The functions may be called from any thread. Each thread has its own solver while
 * it works.
 */
#pragma once

#include "potential/kirchhoff.h"
#include <curvebody/se3.h>

typedef struct cb_moving cb_moving;

/* Creates the equations of the flow around a body, as cb_kirchhoff_create does, and solves them for the vertices x. In
 * a curved space it also succeeds if the equations have no solution at x. The result refers to x and face, which must
 * outlive it. The caller frees the result. */
cb_status cb_moving_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_moving **out);
void cb_moving_free(cb_moving *m);
/* Computes the added mass for vertices at x that move with velocity v (NULL: at rest). */
cb_status cb_moving_added_mass(cb_moving *m, const double (*x)[3], const double (*v)[3], cb_kirchhoff_mass *out);
/* Computes the form G of n motions v of the vertices, as cb_kirchhoff_form does, for vertices at x. */
cb_status cb_moving_form(cb_moving *m, const double (*x)[3], int n, const double (*v)[3], double *G);
/* Returns the report for the body as it was created. */
cb_kirchhoff_report cb_moving_report(const cb_moving *m);

/* The added mass of closed bodies that move near a plane, and its derivatives along the pose g = (R, x).
 * (potential/operator.h computes the added mass at one pose.) Twice the kinetic energy of a fluid of density 1 is <G
 * (Y, 1), (Y, 1)> for the twist Y of the body; the last component of (Y, 1) belongs to the motion of the shape.
 *
 *   A phi_a = -(S + s S') w_a,  A = I/2 - D - s D',  G_ab = -phi_a W w_b      s = 1: rigid, -1: free
 *   dG_ab = -s psi_b V_a dx,  A^T psi_b = W w_b,  V_a = grad D' phi_a - grad S' w_a
 * w_a are the normal velocities of unit twist a or of the shape, phi_a is the potential for w_a, and W are the areas of
 * the panels. I is the unit matrix, and S and D are those of potential/panels.h. S' and D' are S and D of the images of
 * the panels; only S' and D' depend on the pose. The pose changes to g (1 + hat(xi)) with the small twist xi =
 * (xi_omega, xi_v). dx is then the motion of a point x of the body relative to its image. In the body's axes, with the
 * normal nu and the height h of the plane in these axes:
 *   dx = 2 nu <nu, xi_v> + 2 e × (x - h nu),  e = xi_omega - nu <nu, xi_omega>
 * The results are exact derivatives of the computed G, up to round-off. The derivatives need one more solution with the
 * same factors. They vanish for motions along the plane and about its normal. The symmetric part of G and of its
 * derivatives is used. S and D at the centres of the panels are those of potential/kirchhoff.h, and G equals that of
 * the images in potential/operator.h. The matrices are dense: for n panels the memory grows like n^2 and the time like
 * n^3. The following errors were measured on a sphere of 512 faces against the series for two spheres, in addition to
 * the error far from the plane. dG/dh is 1 % too small if the gap is as wide as a face, 3 % at a third of this gap and
 * 12 % at a twentieth; G is 0.5, 0.9 and 1.6 % too small.
 */

typedef struct cb_placed cb_placed;

enum { CB_PLACED_COLUMNS = 7 }; /* the components of (Y, 1) */

typedef struct cb_placed_form {
  double G[CB_PLACED_COLUMNS][CB_PLACED_COLUMNS];
  double slope[6][CB_PLACED_COLUMNS][CB_PLACED_COLUMNS]; /* derivatives of G along each component of xi */
} cb_placed_form;

/* Creates a body near the plane options->wall, which is in the world's axes. Returns the errors of cb_kirchhoff_create
 * for the body in free space, CB_ERROR_ARGUMENT if the normal of the plane is 0, and CB_ERROR_UNSUPPORTED for sheets.
 * The result refers to x and face, which must outlive it. The caller frees the result. */
cb_status cb_placed_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_placed **out);
void cb_placed_free(cb_placed *m);
/* Returns the tensor in free space, with the vertices as at creation, and sets *report. */
const cb_kirchhoff_mass *cb_placed_far(const cb_placed *m, cb_kirchhoff_report *report);

/* Computes G and its derivatives for the body at the pose g. Its vertices are at x in the body's axes and move there
 * with velocity v (NULL: at rest). Returns CB_STEP_DOMAIN for a body that reaches the plane. It also returns
 * CB_STEP_DOMAIN for a body so near that its panels do not resolve the gap: the asymmetry of the linear part of G is
 * then at least 0.1 of its trace. Returns CB_ERROR_ARGUMENT if the matrices do not fit into the memory. The function
 * may be called from any thread. Each thread has its own solver while it works, and the result does not depend on
 * earlier calls. */
cb_status cb_placed_at(cb_placed *m, const double (*x)[3], const double (*v)[3], const cb_pose *g, cb_placed_form *out);
