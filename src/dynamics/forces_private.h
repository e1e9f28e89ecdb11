/* What a cb_forces holds, and the parts it is made of: springs, interactions, centres, fields.
 *
 * A part adds its force -form^-1 dV/dx (chart: -dV/dq) to force[n*k], its energy to *potential, and its second
 * derivatives to the blocks of the pattern. Nothing here allocates after creation, but for the pattern when first
 * asked.
 */
#pragma once

#include "dynamics/pair.h"
#include "dynamics/system_private.h"

struct cb_forces {
  const cb_system *system;
  cb_arena *arena;
  int threads;
  double raise[CB_Q_MAX]; /* -form^-1 in the embedding, -1 in a chart */
  bool springs_alone;         /* and by a plan */

  cb_springs_work *springs; /* NULL in a static chart, or without springs */

  cb_anchor *anchor;  /* [central][component]: centres as the components see them, by moving origins */
  cb_isometry *world; /* [component]: local to world, where there are fields */
  cb_isometry *local; /* [component]: its inverse */

  cb_origin *origin; /* [component]: as last set */
  cb_constraints *constraints, *constraints_with_space; /* NULL: there are none, not asked for */

  double *gather; /* scratch of interactions: coordinates of group b by column, masses, charges */

  cb_pattern pattern;
  int *spring_block; /* [spring][4]: blocks ii, ij, ji, jj in the pattern */
};

cb_status cb_springs_part_create(cb_forces *f);
/* Where there is a plan, sets force; otherwise adds to it. */
void cb_springs_part_set(cb_forces *f, int stages, const double *const *x, const double *const *v,
                         double *const *force);
cb_status cb_springs_part_add(cb_forces *f, const double *x, const double *v, double *force);
cb_status cb_springs_part_potential(cb_forces *f, const double *x, double *potential);
cb_status cb_springs_part_jacobian(cb_forces *f, const double *x, const double *v, double *dx, double *dv);

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
cb_status cb_fields_add(cb_forces *f, double t, const double *x, double *force);
cb_status cb_fields_potential(cb_forces *f, double t, const double *x, double *potential);
cb_status cb_fields_jacobian(cb_forces *f, double t, const double *x, double *dx);

cb_status cb_generalised_add(cb_forces *f, double t, const double *x, const double *v, double *force);
cb_status cb_generalised_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv);

/* Block (i, j) of the pattern, by search; it is there. */
int cb_pattern_find(const cb_pattern *p, int i, int j);

/* Adds -I^-1 hessian, block (row, column) of a (2k)^2 matrix of second derivatives, to a k x k block. */
void cb_forces_add_block(const cb_forces *f, const double *hessian, int row, int column, double *block);
