/* The mechanical connection of a body without momentum. The body consists of points with masses, in a space with
 * isometries; their positions in a body frame are functions of the shape.
 *
 *   position of point p, of mass m_p, in the world:  g x_p(r);   a_k: the Killing field of axis k of the group at x_p
 *   P_kl = sum_p m_p <a_k, a_l>,   Q_ki = sum_p m_p <a_k, d_i x_p>,   R_ij = sum_p m_p <d_i x_p, d_j x_p>
 *   A = P^-1 Q,   M = R - Q^T A:  twice the kinetic energy;   the momenta P xi + Q r' are zero
 *   d_i A = P^-1 E_i,  E_i = d_i Q - d_i P A;   d_i M = d_i R - (d_i Q)^T A - A^T E_i
 * r: shape; g: group element; x_p: position in the body frame; xi: body velocity; A, M: connection and cost metric;
 * d_i: derivative by r_i. The fields are affine in the embedding, so that d_i a_k follows from d_i x; second
 * derivatives of x(r) are exact. The group acts relative to the base point of the space; its elements are the numbers
 * of curvebody/lie.h:
 *   E2 se2, E3 se3, S2 so3 (rotations of (x, y, w)), S3 so4, H2 so21, H3 so31, H2 x E h2e
 * so3, so4, so21, so31 and h2e measure shifts of a curved factor in units of its radius of curvature. A subgroup can
 * replace the group if a symmetry keeps the momenta of the other axes at zero. Axes that commute form R^k in the units
 * of their Killing fields (a shift is a length); three other axes form se2, so3 or so21.
 * Sources: Marsden, Montgomery & Ratiu, Mem. Amer. Math. Soc. 436 (1990), section 3; Avron & Kenneth, New J. Physics 8
 * (2006) 68, doi:10.1088/1367-2630/8/5/068.
 */
#pragma once

#include <curvebody/bundle.h>
#include <curvebody/space.h>
#include "core/arena.h"

/* These functions return the space, the number of points and their masses [points] of a bundle of the class `points`;
 * the bundle owns them. */
const cb_space *cb_points_space(const cb_bundle *b);
int cb_points_count(const cb_bundle *b);
const double *cb_points_masses(const cb_bundle *b);
/* Computes the positions x[points][embedding] of the points in the body frame and (unless NULL) their derivatives
 * dx[points][n][embedding]. Returns CB_STEP_DOMAIN outside the domain of the chart or of the expressions. */
cb_status cb_points_place(const cb_bundle *b, const double *r, double *x, double *dx);
/* Computes v[embedding], the Killing field of axis k of the group at x[embedding]. */
void cb_points_field(const cb_bundle *b, int k, const double *x, double *v);
/* Computes the isometry of a group element. */
void cb_points_isometry(const cb_bundle *b, const double *g, cb_isometry *out);

/* A point x(q) of a chart, with its first and second derivatives. q has dim numbers, or `embedding` numbers for the
 * chart `embedding`. */
typedef struct cb_point_jet {
  double x[CB_COORD_MAX], d[CB_COORD_MAX][CB_COORD_MAX]; /* d[i][a] = dx_a/dq_i */
  double dd[CB_COORD_MAX][CB_COORD_MAX][CB_COORD_MAX];   /* dd[i][j][a] = d^2 x_a/dq_i dq_j */
} cb_point_jet;

/* Returns whether cb_points_chart supports this chart. */
bool cb_points_knows(const cb_chart *chart);
cb_status cb_points_chart(const cb_space *g, const cb_chart *chart, const double *q, cb_point_jet *out);

typedef struct cb_point {
  double mass;
  struct cb_expression *at[CB_COORD_MAX]; /* coordinates in the chart as expressions of the shape */
} cb_point;

typedef struct cb_points {
  cb_arena *arena;
  cb_space *space;
  const cb_chart *chart;
  int n, dim; /* n: number of shape variables; dim: number of axes of the group */
  int points;
  cb_point *point;
  double *mass;
  cb_killing field[CB_GROUP_DIM]; /* one field per axis of the group */
  int killing[CB_GROUP_DIM];      /* the index of each field among those of the space */
  /* for each field a x + b: the sum of the squares of the entries of a (field_size) and of b (shift_size) */
  double field_size[CB_GROUP_DIM], shift_size[CB_GROUP_DIM];
  cb_group rn; /* R^k with the names of its axes */
  /* for each row of the group's matrix, the coordinate of the embedding that belongs to it; -1: the homogeneous
   * coordinate. NULL: the group is R^k */
  const int *place;
} cb_points;

typedef struct cb_points_params {
  const cb_node *space, *chart, *shape, *parameters, *points, *lines, *group, *period;
} cb_points_params;

/* Fills p, and the members group, n, names, periods, points and lines of the bundle. Memory comes from p->arena, except
 * for the space and the expressions. */
cb_status cb_points_read(cb_bundle *b, cb_points *p, const cb_points_params *given);
void cb_points_free(cb_points *p);

/* These functions compute the form G = ((P, Q), (Q^T, R)), and the connection with its metric, as in
 * cb_bundle_class. */
cb_status cb_points_form(const cb_points *p, const double *r, double *G, double *dG);
cb_status cb_points_connection(const cb_points *p, const cb_group *group, const double *r, double *A, double *dA,
                               double *M, double *dM);

cb_status cb_points_plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]);
