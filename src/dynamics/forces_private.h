/* The contents of a cb_forces, and its parts: springs, interactions, central potentials and fields.
 *
 * Each part with the energy V adds its force -form^-1 dV/dx (in a chart: -dV/dq) to force[n*k], V to *potential, and
 * its second derivatives to the blocks of the pattern. Nothing allocates memory after creation, except that the pattern
 * and the constraints with the space's rows are made when they are first requested, and a new number of threads changes
 * the work space of the springs.
 */
#pragma once

#include "dynamics/pair_potential_private.h"
#include "dynamics/system_private.h"

struct cb_forces {
  const cb_system *system;
  cb_arena *arena;
  int threads;
  double raise[CB_Q_MAX]; /* the factors of dV/dx in a force: -form^-1 in the embedding, -1 in a chart */
  bool springs_alone;     /* springs with a plan are the only forces */

  cb_springs_work *springs; /* NULL in a space with a chart, or without springs */

  cb_anchor *anchor;  /* [central][component]: each centre, relative to the component's moving origin */
  cb_isometry *world; /* [component]: the isometry from local to world coordinates; only in systems with fields */
  cb_isometry *local; /* [component]: world to local, the inverse of `world` */

  cb_origin *origin; /* [component]: the origins that were set last */
  /* constraints: NULL if the system has none; constraints_with_space: NULL until it is first needed */
  cb_constraints *constraints, *constraints_with_space;

  cb_constraints *potentials; /* the rows that are potentials; NULL: there are none */
  double *potential_gradient; /* [entries of potentials][k]: scratch, the gradient of the sum of a row */

  double *gather; /* scratch of interactions: the coordinates of a group by column, then its masses or charges */

  cb_pattern pattern;
  /* [spring][4]: the numbers of the blocks ii, ij, ji and jj in the pattern, for a spring from i to j */
  int *spring_block;
};

cb_status cb_interactions_create(cb_forces *f);
cb_status cb_interactions_add(cb_forces *f, double t, const double *x, double *force);
cb_status cb_interactions_potential(cb_forces *f, double t, const double *x, double *potential);
cb_status cb_interactions_jacobian(cb_forces *f, double t, const double *x, double *dx);

cb_status cb_centrals_create(cb_forces *f);
cb_status cb_centrals_set_origins(cb_forces *f, const cb_origin *origin);
cb_status cb_centrals_add(cb_forces *f, double t, const double *x, double *force);
cb_status cb_centrals_potential(cb_forces *f, double t, const double *x, double *potential);
cb_status cb_centrals_jacobian(cb_forces *f, double t, const double *x, double *dx);

cb_status cb_fields_create(cb_forces *f);
cb_status cb_fields_set_origins(cb_forces *f, const cb_origin *origin);
cb_status cb_fields_add(cb_forces *f, double t, const double *x, const double *v, double *force);
cb_status cb_fields_potential(cb_forces *f, double t, const double *x, double *potential);
cb_status cb_fields_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv);

/* Adds the forces of the springs whose stiffness or other parameters depend on the time. If f->springs is NULL, which
 * means that there is no plan, adds the forces of all other springs, too. */
cb_status cb_forces_springs_add(cb_forces *f, double t, const double *x, const double *v, double *force);
/* Add the energy of all springs to *potential, and the derivatives of their forces to dx and dv. */
cb_status cb_forces_springs_potential(cb_forces *f, double t, const double *x, double *potential);
cb_status cb_forces_springs_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv);

/* Computes the value s of row r of the potentials. */
cb_status cb_potentials_value(cb_forces *f, int r, double t, const double *x, double *value);

/* Finds block (i, j) of the pattern, which must exist. */
int cb_pattern_find(const cb_pattern *p, int i, int j);

/* Adds -I^-1 times a k x k part of a (2k) x (2k) matrix of second derivatives to a block, with I = diag(form) (1 in a
 * chart). The part has the indices row and column, 0 or 1. */
void cb_forces_add_block(const cb_forces *f, const double *hessian, int row, int column, double *block);
