/* Potentials on solids and sheets of no thickness together: phi on the panels of solids, the jump mu of it across those
 * of sheets, along their normals.
 *
 *   (I/2 - D) phi - D mu = -S w                     on solids
 *   n.grad (D phi + D mu) = w + n.grad S w          on sheets;  D, mu: of sheets,  S, w on the right: of solids
 * A panel's dipoles are a ring of vortices about its border: Hess & Smith (1967), doi 10.1016/0376-0421(67)90003-6;
 * Katz & Plotkin, Low-Speed Aerodynamics (2001), section 10.4. K = -int phi m dA - int mu m dA with it. Collocation at
 * centres; mu goes like the root of the distance to a border (potential/pieces.h). A sheet may end on a solid whose
 * vertices it shares; no piece cuts another.
 */
#pragma once

#include "potential/operator.h"

typedef struct cb_sheet cb_sheet;

/* The first `solids` panels are those of solids, the others are sheets. p outlives it; options without zeros.
 * CB_ERROR_ARGUMENT where the memory is too small, with both sizes. */
cb_status cb_sheet_create(const cb_panels *p, int solids, const cb_kirchhoff_options *options, cb_sheet **out);
void cb_sheet_free(cb_sheet *s);
/* The panels have moved: what was prepared of them is void. */
void cb_sheet_renew(cb_sheet *s);

/* phi[columns][n], mu on sheets, holds where to start, of normal velocities w[columns][n]; at most CB_PANEL_COLUMNS
 * columns. CB_ERROR_DOMAIN for solids that are not closed and sheets inside of them. */
cb_status cb_sheet_solve(cb_sheet *s, int columns, const double *w, double *phi);
cb_operator_report cb_sheet_report_of(const cb_sheet *s);
