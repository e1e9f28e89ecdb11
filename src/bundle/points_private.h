/* What the files of points share. */
#ifndef CB_BUNDLE_POINTS_PRIVATE_H
#define CB_BUNDLE_POINTS_PRIVATE_H

#include "bundle/points.h"
#include "core/arena.h"
#include <curvebody/expression.h>

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

#endif
