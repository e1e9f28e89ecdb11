/* Short geodesics of a chart as minima of the discrete energy: the quick way to distances of points near each other. */
#ifndef CB_GEOMETRY_ENERGY_H
#define CB_GEOMETRY_ENERGY_H

#include <curvebody/geometry.h>

/* Length of the geodesic from q to q + move along the chart, with its derivatives in both ends as in cb_chart.distance,
 * and its velocity at q (gradient, hessian and u may be NULL). It has no conjugate point; whether another geodesic is
 * shorter is not asked. CB_ERROR_DOMAIN where none is found near the chart's straight line, or none that is resolved to
 * rounding: then the geodesic must be integrated. */
cb_status cb_energy_geodesic(const cb_geometry *g, const double *q, const double *move, double *length,
                             double *gradient, double *hessian, double *u);

/* The velocity at q, to a few digits, of a geodesic from q to q + move that the curve q + s move + 4 s (1 - s) bulge is
 * deformed to, as a start for Newton's method. CB_ERROR_DOMAIN where the curve or its deformation leaves the chart. */
cb_status cb_energy_start(const cb_geometry *g, const double *q, const double *move, const double *bulge, double *u);

/* Distance as in cb_chart.distance, where the geodesic to the nearest image of y by the periods of the coordinates is
 * found so and none to another image is as short. CB_ERROR_DOMAIN otherwise: the thorough search has to answer. */
cb_status cb_energy_distance(const cb_geometry *g, const double *q, const double *y, double *d, double *gradient,
                             double *hessian);

#endif
