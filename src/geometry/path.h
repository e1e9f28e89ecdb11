/* A geodesic of a space with a hyperbolic factor in the coordinates of a chart, at any distance from the base point. */
#pragma once

#include <curvebody/geometry.h>
#include <stdbool.h>

typedef struct cb_path {
  cb_geometry space; /* the space, without a chart that it is used in */
  const cb_chart *chart;
  double start[CB_DIM_MAX];
  bool ends; /* are the ends known in the embedding, x and y? */
  double x[CB_COORD_MAX], y[CB_COORD_MAX];
  double length;      /* between two points; 1 where it starts with a velocity */
  double foot, sigma; /* path.c, in radii of curvature */
  double normal[CB_DIM_MAX], tangent[CB_DIM_MAX];
  double rate;                                 /* radii of curvature of the hyperbolic factor per unit of arc length */
  double shift[CB_DIM_MAX], drift[CB_DIM_MAX]; /* in flat factors */
} cb_path;

/* Is this a space with a hyperbolic factor, whose points far out have no numbers in the embedding? */
bool cb_path_knows(const cb_geometry *g);
/* The shortest geodesic from q1 to q2, coordinates of a chart. */
cb_status cb_path_between(const cb_geometry *g, const cb_chart *chart, const double *q1, const double *q2,
                          cb_path *out);
/* The geodesic from q with the velocity u of the coordinates, of unit speed; *speed is the length of u. */
cb_status cb_path_from(const cb_geometry *g, const cb_chart *chart, const double *q, const double *u, cb_path *out,
                       double *speed);
/* Coordinates and velocity dq/ds at arc length s, and the picture of the point. The velocity is nan where the chart is
 * singular. CB_ERROR_DOMAIN where the point has no coordinates in the range of numbers. */
cb_status cb_path_at(const cb_path *path, double s, double *q, double *u, double *picture);
