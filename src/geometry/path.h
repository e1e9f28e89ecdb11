/* A geodesic of a space with a hyperbolic factor in the coordinates of a chart, at any distance from the base point. */
#pragma once

#include <curvebody/space.h>
#include <stdbool.h>

typedef struct cb_path {
  cb_space space; /* the space, without the chart in which it is used */
  const cb_chart *chart;
  double start[CB_DIM_MAX];
  bool ends; /* both ends are known as points x and y of the embedding */
  double x[CB_COORD_MAX], y[CB_COORD_MAX];
  double length;      /* the length between two points; 1 if the path was given by a velocity */
  double foot, sigma; /* the distance c of the foot, and sigma of path.c, in radii of curvature */
  double normal[CB_DIM_MAX], tangent[CB_DIM_MAX];
  double rate; /* arc length in the hyperbolic factor, in radii of curvature, per unit of arc length of the space */
  /* in flat factors: the start, and the change per unit of arc length of the space */
  double shift[CB_DIM_MAX], drift[CB_DIM_MAX];
} cb_path;

/* Returns whether geodesics of this space can be computed by these functions. The space must have a hyperbolic factor,
 * where coordinates of the embedding overflow far from the base point. */
bool cb_path_knows(const cb_space *g);
/* Computes the shortest geodesic from q1 to q2, which are coordinates of a chart. Returns CB_ERROR_DOMAIN if its length
 * is not finite. */
cb_status cb_path_between(const cb_space *g, const cb_chart *chart, const double *q1, const double *q2, cb_path *out);
/* Computes the geodesic of unit speed from q in the direction of the velocity u of the coordinates. *speed is the
 * length of u; if it is 0, *out has no direction. Returns CB_ERROR_DOMAIN if it is not finite. */
cb_status cb_path_from(const cb_space *g, const cb_chart *chart, const double *q, const double *u, cb_path *out,
                       double *speed);
/* Computes the coordinates q and the velocity u = dq/ds at arc length s, and the plot coordinates plot[3] of the point.
 * The velocity is NaN if the chart is singular at the point. Returns CB_ERROR_DOMAIN if the coordinates of the point
 * overflow or have no correct digits. */
cb_status cb_path_at(const cb_path *path, double s, double *q, double *u, double *plot);
