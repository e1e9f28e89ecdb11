/* Operators that compute potentials from normal velocities: on closed surfaces, on bodies near a plane, and on solids
 * together with sheets.
 *
 * On closed surfaces the equation is (I/2 - D) phi = -S w. phi is the potential of the fluid outside, w its velocity
 * along the normals, I the unit matrix, and S and D are those of potential/panels.h. The matrix I/2 - D is stored, or a
 * tree of panels computes its products (potential/far.h). The equation is solved by LU factors or by GMRES.
 */
#pragma once

#include "potential/kirchhoff.h"
#include "potential/linear_solvers.h"
#include "potential/panels.h"

/* The tree is used above this number of panels. On ellipsoids with far_error 1e-6 the stored matrix and the tree were
 * equally fast at 4200 panels, or at 5400 panels if GMRES needed 18 iterations. */
enum { CB_OPERATOR_STORED = 4500 };

typedef struct cb_operator cb_operator;

/* The method and the errors; the members are as in cb_kirchhoff_report. */
typedef struct cb_operator_report {
  cb_potential_method method;
  cb_krylov_result solved;
  double row_sum;
  int row; /* the panel whose row sum is row_sum */
  size_t bytes;
} cb_operator_report;

/* Creates the operator of the panels p, which must outlive it. The options far_error, tolerance, iterations and memory
 * must not be 0. Returns CB_ERROR_ARGUMENT if the memory is too small; the message gives both sizes. Returns
 * CB_ERROR_UNSUPPORTED for the method `hlu` in a build without hmat-oss. With a wall it also returns the errors of
 * cb_images_create. */
cb_status cb_operator_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_operator **out);
void cb_operator_free(cb_operator *o);
/* Discards the prepared data. It must be called after the panels have moved. */
void cb_operator_renew(cb_operator *o);

/* Solves the equation of phi for the normal velocities w[columns][n] of n panels, with at most CB_PANEL_COLUMNS
 * columns. phi[columns][n] first holds the start of the iteration, then the solution. Returns CB_ERROR_DOMAIN for a
 * surface that is not closed, and CB_ERROR_STEP if the iteration does not converge. */
cb_status cb_operator_solve(cb_operator *o, int columns, const double *w, double *phi);
cb_operator_report cb_operator_report_of(const cb_operator *o);

/* Bodies near a plane, by their images. The equations of a body and its image are those of one body. For a panel with
 * the normal velocity w and the potential phi, the values w' and phi' of its mirrored panel, whose normal also points
 * outwards, are
 *   rigid    w' = w,  phi' = phi     no flow through the plane; also a free surface at the frequency omega -> 0
 *   free     w' = -w, phi' = -phi    phi = 0 on the plane: a free surface at rest, omega -> infinity
 * The plane has no panels, so the result is as accurate as in free space. Each product has twice as many panels.
 * Sources: Lamb (1932), chapter VI. The two limits are those of phi_tt + g phi_z = 0 on a free surface, with the time
 * t, the height z and the gravity g: Newman, Marine Hydrodynamics (1977), chapter 6. */

typedef struct cb_images cb_images;

/* Scales the normal to length 1. Returns CB_ERROR_ARGUMENT if the normal is 0, or if a number is not finite. */
cb_status cb_mirror_check(cb_mirror *wall);

/* Does the same as cb_operator_create, for options with a wall. Returns CB_ERROR_DOMAIN if a panel is not on the side
 * of the fluid. */
cb_status cb_images_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_images **out);
void cb_images_free(cb_images *m);
void cb_images_renew(cb_images *m);
cb_status cb_images_solve(cb_images *m, int columns, const double *w, double *phi);
cb_operator_report cb_images_report_of(const cb_images *m);

/* Potentials on solids together with sheets of no thickness. The unknowns are phi on the panels of solids and mu on the
 * panels of sheets. mu is the jump of phi: its value on the side to which the normal n points, minus its value on the
 * other side.
 *
 *   (I/2 - D) phi - D mu = -S w                     on solids
 *   n.grad (D phi + D mu) = w + n.grad S w          on sheets
 * w is the normal velocity, and I, D and S are those of the head of this file. D phi and S w are sums over the panels
 * of solids, and D mu is a sum over those of sheets. The equations hold at the centres of the panels. The velocity of
 * the dipoles of a panel is that of a ring of vortices around its border: Hess & Smith (1967),
 * doi 10.1016/0376-0421(67)90003-6; Katz & Plotkin, Low-Speed Aerodynamics (2001), section 10.4. The added mass is
 * K = -int phi m dA - int mu m dA, with m and dA of kirchhoff.h. mu decreases like the square root of the distance from
 * a border (potential/mesh_pieces.h). A sheet may end on a solid if they share vertices there; pieces must not
 * intersect. */

typedef struct cb_sheet cb_sheet;

/* Creates the operator of the panels p, which must outlive it. The first `solids` panels are on solids, the others on
 * sheets. The options far_error, tolerance, iterations and memory must not be 0. Returns CB_ERROR_ARGUMENT if the
 * memory is too small; the message gives both sizes. Returns CB_ERROR_UNSUPPORTED for the method `hlu`. */
cb_status cb_sheet_create(const cb_panels *p, int solids, const cb_kirchhoff_options *options, cb_sheet **out);
void cb_sheet_free(cb_sheet *s);
/* Discards the prepared data. It must be called after the panels have moved. */
void cb_sheet_renew(cb_sheet *s);

/* Solves the equations of phi and mu for the normal velocities w[columns][n] of n panels, with at most CB_PANEL_COLUMNS
 * columns. phi[columns][n] (on sheets it holds mu) first holds the start of the iteration, then the solution. Returns
 * CB_ERROR_DOMAIN for solids that are not closed and for sheets inside solids. Returns CB_ERROR_STEP if the iteration
 * does not converge. */
cb_status cb_sheet_solve(cb_sheet *s, int columns, const double *w, double *phi);
cb_operator_report cb_sheet_report_of(const cb_sheet *s);
