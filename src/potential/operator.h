/* Operators that compute potentials from normal velocities: on closed surfaces, on bodies near a plane, and on solids
 * and sheets together.
 *
 * On closed surfaces (I/2 - D) phi = -S w for the potential phi of a fluid outside, whose velocity along the normals is
 * w, with S and D of potential/panels.h and the unit matrix I. The matrix I/2 - D is stored, or applied by a tree of
 * panels (potential/far.h). It is solved by its LU factors or by GMRES.
 */
#pragma once

#include "potential/kirchhoff.h"
#include "potential/linear_solvers.h"
#include "potential/panels.h"

/* Up to this number of panels the stored matrix is as fast as the tree. Measured on ellipsoids with far_error 1e-6: the
 * times are equal at 4200 panels, and with 18 steps of the iteration at 5400. */
enum { CB_OPERATOR_STORED = 4500 };

typedef struct cb_operator cb_operator;

/* The method and the errors, as in cb_kirchhoff_report. */
typedef struct cb_operator_report {
  cb_potential_method method;
  cb_krylov_result solved;
  double row_sum;
  int row; /* the row of the largest row sum */
  size_t bytes;
} cb_operator_report;

/* p must outlive the operator. The options far_error, tolerance, iterations and memory must not be 0. CB_ERROR_ARGUMENT
 * if the memory is too small; the message gives both sizes. CB_ERROR_UNSUPPORTED for the method `hlu` if it is not
 * built in; with a wall also the errors of cb_images_create. */
cb_status cb_operator_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_operator **out);
void cb_operator_free(cb_operator *o);
/* The panels have moved: prepared data is discarded. */
void cb_operator_renew(cb_operator *o);

/* Solves for normal velocities w[columns][n]. phi[columns][n] first holds the start of the iteration, then the
 * solution. At most CB_PANEL_COLUMNS columns. CB_ERROR_DOMAIN for a surface that is not closed; CB_ERROR_STEP if the
 * iteration does not converge. */
cb_status cb_operator_solve(cb_operator *o, int columns, const double *w, double *phi);
cb_operator_report cb_operator_report_of(const cb_operator *o);

/* Bodies near a plane, by their images. Body and images are solved as one body. The normal velocities and potentials of
 * the mirrored panels, oriented outwards, are
 *   rigid    w' = w,  phi' = phi     no flow through it; also a free surface at the frequency omega -> 0
 *   free     w' = -w, phi' = -phi    phi = 0 on it: a free surface at rest, omega -> infinity
 * The plane has no panels, so the result is as accurate as in free space. Each product has twice as many panels.
 * Sources: Lamb (1932), chapter VI; Newman, Marine Hydrodynamics (1977), chapter 6, for the limits of phi_tt + g phi_z
 * = 0. */

typedef struct cb_images cb_images;

/* Scales the normal to length 1. CB_ERROR_ARGUMENT if it is 0 or a number is not finite. */
cb_status cb_mirror_check(cb_mirror *wall);

/* Does the same as cb_operator_create for options with a wall. CB_ERROR_DOMAIN if a panel is not on the fluid's
 * side. */
cb_status cb_images_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_images **out);
void cb_images_free(cb_images *m);
void cb_images_renew(cb_images *m);
cb_status cb_images_solve(cb_images *m, int columns, const double *w, double *phi);
cb_operator_report cb_images_report_of(const cb_images *m);

/* Potentials on solids and on sheets of no thickness together. The unknowns are phi on the panels of solids, and the
 * jump mu of phi along the normals on the panels of sheets.
 *
 *   (I/2 - D) phi - D mu = -S w                     on solids
 *   n.grad (D phi + D mu) = w + n.grad S w          on sheets; D mu: sum over sheets, S w on the right: sum over solids
 * The dipoles of a panel are a ring of vortices around its border: Hess & Smith (1967), doi
 * 10.1016/0376-0421(67)90003-6; Katz & Plotkin, Low-Speed Aerodynamics (2001), section 10.4. Then the added mass
 * (kirchhoff.h) is K = -int phi m dA - int mu m dA. The equations hold at the centres of the panels. mu decreases like
 * the square root of the distance to a border (potential/mesh_pieces.h). A sheet may end on a solid whose vertices it
 * shares; pieces must not intersect. */

typedef struct cb_sheet cb_sheet;

/* The first `solids` panels are on solids, the others on sheets. p must outlive the operator. The options far_error,
 * tolerance, iterations and memory must not be 0. CB_ERROR_ARGUMENT if the memory is too small; the message gives both
 * sizes. CB_ERROR_UNSUPPORTED for the method `hlu`. */
cb_status cb_sheet_create(const cb_panels *p, int solids, const cb_kirchhoff_options *options, cb_sheet **out);
void cb_sheet_free(cb_sheet *s);
/* The panels have moved: prepared data is discarded. */
void cb_sheet_renew(cb_sheet *s);

/* Solves for normal velocities w[columns][n]. phi[columns][n] (mu on sheets) holds the start of the iteration. At most
 * CB_PANEL_COLUMNS columns. CB_ERROR_DOMAIN for solids that are not closed, and for sheets inside solids; CB_ERROR_STEP
 * if the iteration does not converge. */
cb_status cb_sheet_solve(cb_sheet *s, int columns, const double *w, double *phi);
cb_operator_report cb_sheet_report_of(const cb_sheet *s);
