/* (I/2 - D) phi = -S w on the panels of closed surfaces: the potential phi of a fluid outside whose velocity along the
 * normals is w. The matrix is stored, or applied by a tree of panels (potential/far.h); solved by its LU factors or by
 * GMRES.
 */
#pragma once

#include "potential/kirchhoff.h"
#include "potential/krylov.h"
#include "potential/panels.h"

/* Panels up to which the stored matrix is solved with as quickly as the tree: ellipsoids' seconds at far_error 1e-6 are
 * equal at 4200, of 18 steps of the iteration at 5400. */
enum { CB_OPERATOR_STORED = 4500 };

typedef struct cb_operator cb_operator;

/* What was done and chosen: see cb_kirchhoff_report. */
typedef struct cb_operator_report {
  cb_potential_method method;
  cb_krylov_result solved;
  double row_sum;
  int row; /* where that is */
  size_t bytes;
} cb_operator_report;

/* p outlives it; options without zeros. CB_ERROR_ARGUMENT where the memory is too small, with both sizes. */
cb_status cb_operator_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_operator **out);
void cb_operator_free(cb_operator *o);
/* The panels have moved: what was prepared of them is void. */
void cb_operator_renew(cb_operator *o);

/* phi[columns][n] holds where to start, of w[columns][n]; at most CB_PANEL_COLUMNS columns. */
cb_status cb_operator_solve(cb_operator *o, int columns, const double *w, double *phi);
cb_operator_report cb_operator_report_of(const cb_operator *o);
