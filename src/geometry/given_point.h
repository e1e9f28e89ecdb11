/* Points of a space, and tangent vectors, that a map of a scenario gives:
 *
 *   {chart: polar, point: [..]}    coordinates of a chart; without `chart` the coordinates in which the space is used
 *
 * Lengths are in units of the scenario. Every error has the file:line:column of its cause.
 */
#pragma once

#include <curvebody/node.h>
#include <curvebody/space.h>

/* In a space whose coordinates grow with the distance (cb_origin_grows), a place farther than this from the base point,
 * in radii, is given by an origin. */
static const double cb_place_near = 2;
/* The maximum distance of joined particles from their origin, and of places in world coordinates from the base point,
 * in radii. At this distance places are known to exp(cb_place_far) units of round-off. */
static const double cb_place_far = 20;

/* Finds the chart that the key `chart` of a map names; *chart is NULL for the embedding. If the key is absent, it is
 * the chart in which the space is used. */
cb_status cb_place_chart(const cb_node *map, const cb_space *g, const cb_chart **chart);
/* Fails for a name that is not a chart of the space. */
cb_status cb_place_unknown_chart(const cb_node *node, const cb_space *g, const char *name);
/* Reads a point {chart: .., point: [..]} as coordinates x of the embedding, relative to *origin. If origin is NULL, the
 * point is relative to the world, and a point that is too far from the base point is an error. `what` is its name in
 * messages. */
cb_status cb_place_point(const cb_node *map, const char *what, const cb_space *g, cb_origin *origin, double *x);
/* Reads a point as cb_place_point does, but x are the coordinates in which the space is used: those of cb_space.chart
 * if it is set, otherwise those of the embedding. */
cb_status cb_place_space_point(const cb_node *map, const char *what, const cb_space *g, cb_origin *origin, double *x);

/* Reads a tangent vector at the point x, which was read from the map `at`. Its components are given in the chart of
 * `at`; the result is in the coordinates in which the space is used. */
cb_status cb_place_vector(const cb_node *at, const cb_node *node, const cb_space *g, const double *x, double *vector);

/* Reads one point in coordinates of a chart (NULL: the embedding). Sets x and, unless chart is NULL, the coordinates
 * given[dim] as they are in the scenario. If coordinates of the embedding grow with the distance (cb_origin_grows),
 * *origin is the origin that moves the base point to the point. x is valid for places that are not beyond
 * cb_place_far. */
cb_status cb_place_read(const cb_node *node, const cb_space *g, const cb_chart *chart, double *x, double *given,
                        cb_origin *origin);
/* Reads a point as cb_place_read does, but from a map {chart: .., point: [..]}, and sets *chart. */
cb_status cb_place_read_map(const cb_node *map, const char *what, const cb_space *g, const cb_chart **chart, double *x,
                            double *given, cb_origin *there);
/* Returns the error for a place beyond cb_place_far. */
cb_status cb_place_too_far(const cb_node *map, const char *what, const cb_space *g, const cb_origin *there);

/* Adds the place of node in the file to the error of a library call. An error that is not caused by the scenario is
 * returned unchanged. */
cb_status cb_place_fail(const cb_node *node, cb_status status);
