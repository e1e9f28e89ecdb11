/* Points with masses whose places in a body frame are functions of the shape, in a space with isometries: the
 * mechanical connection of a body without momentum.
 *
 *   world place of point m:  g x_m(r);   a_k: the Killing field of axis k of the group at x_m
 *   P_kl = sum_m m <a_k, a_l>,   Q_ki = sum_m m <a_k, d_i x_m>,   R_ij = sum_m m <d_i x_m, d_j x_m>
 *   A = P^-1 Q,   M = R - Q^T A:  twice the kinetic energy;   the momenta P xi + Q r' are zero
 *   d_i A = P^-1 E_i,  E_i = d_i Q - d_i P A;   d_i M = d_i R - (d_i Q)^T A - A^T E_i
 * The fields are affine in the embedding, so that d_i a_k follows from d_i x; second derivatives of x(r) are exact.
 * The group acts about the base point of the space, by its numbers in lie.h:
 *   E2 se2, E3 se3, S2 so3 (turns of (x, y, w)), S3 so4, H2 so21, H3 so31, H2 x E h2e
 * so3, so4, so21, so31 and h2e count shifts of a curved factor in its radius R.
 * A subgroup stands for the group where symmetry keeps the momenta of the other axes zero: axes that commute are R^k in
 * the units of their Killing fields (a shift is a length), three others se2, so3 or so21.
 * Sources: Marsden, Montgomery & Ratiu, Mem. Amer. Math. Soc. 436 (1990), section 3; Avron & Kenneth, New J. Physics 8
 * (2006) 68, doi:10.1088/1367-2630/8/5/068.
 */
#pragma once

#include <curvebody/bundle.h>
#include <curvebody/geometry.h>
#include "core/arena.h"

/* Of a bundle named `points`: its space and masses [points], borrowed from it. */
const cb_geometry *cb_points_space(const cb_bundle *b);
int cb_points_count(const cb_bundle *b);
const double *cb_points_masses(const cb_bundle *b);
/* Places x[points][embedding] in the body frame and, where not NULL, dx[points][n][embedding] by shape variable.
 * CB_STEP_DOMAIN outside the chart or the expressions. */
cb_status cb_points_place(const cb_bundle *b, const double *r, double *x, double *dx);
/* The Killing field of axis k of the group at x. */
void cb_points_field(const cb_bundle *b, int k, const double *x, double *v);
/* The isometry of a group element. */
void cb_points_isometry(const cb_bundle *b, const double *g, cb_isometry *out);

/* x(q) of a chart with first and second derivatives, q[dim] or, in the embedding, q[embedding]. */
typedef struct cb_point_jet {
  double x[CB_COORD_MAX], d[CB_COORD_MAX][CB_COORD_MAX]; /* d[i][a] = dx_a/dq_i */
  double dd[CB_COORD_MAX][CB_COORD_MAX][CB_COORD_MAX];   /* dd[i][j][a] */
} cb_point_jet;

/* Can cb_points_chart do this chart? */
bool cb_points_knows(const cb_chart *chart);
cb_status cb_points_chart(const cb_geometry *g, const cb_chart *chart, const double *q, cb_point_jet *out);

typedef struct cb_point {
  double mass;
  struct cb_expression *at[CB_COORD_MAX]; /* coordinates in the chart, of the shape */
} cb_point;

typedef struct cb_points {
  cb_arena *arena;
  cb_geometry *space;
  const cb_chart *chart;
  int n, dim; /* shape variables, axes of the group */
  int points;
  cb_point *point;
  double *mass;
  cb_killing field[CB_GROUP_DIM];                            /* by axis of the group */
  int killing[CB_GROUP_DIM];                                 /* of the space, where the group is R^k */
  double field_size[CB_GROUP_DIM], shift_size[CB_GROUP_DIM]; /* squares of the entries of a and of b */
  cb_group rn;                                               /* R^k with the names of its axes */
  const int
      *place; /* coordinate of the embedding of each row of the group's matrix, -1: the homogeneous one; NULL: R^k */
} cb_points;

/* The whole group of the space, or a subgroup by a list of axes (NULL: none). */
cb_status cb_points_choose_group(cb_points *p, const cb_node *axes, const cb_group **group);

typedef struct cb_points_params {
  const cb_node *space, *chart, *shape, *parameters, *points, *lines, *group, *period;
} cb_points_params;

/* Fills p and the bundle's n, names, periods, points and lines; all memory from p->arena but space and expressions. */
cb_status cb_points_read(cb_bundle *b, cb_points *p, const cb_points_params *given);
void cb_points_free(cb_points *p);

/* G = ((P, Q), (Q^T, R)), and the connection, as in cb_bundle_class. */
cb_status cb_points_form(const cb_points *p, const double *r, double *G);
cb_status cb_points_connection(const cb_points *p, const cb_group *group, const double *r, double *A, double *dA,
                               double *M, double *dM);

cb_status cb_points_picture(const cb_bundle *b, const double *r, const double *g, double (*x)[3]);
