/* What init functions put into a space, one file each: Killing fields (killing.c) and charts (charts.c). */
#ifndef CB_GEOMETRY_BUILD_H
#define CB_GEOMETRY_BUILD_H

#include <curvebody/geometry.h>

/* Adds the Killing fields of a factor whose first dimension is `axis` (0: x). */
void cb_killing_build(cb_geometry *g, cb_factor f, int axis);

/* Adds the charts that every product of constant curvatures has. */
cb_status cb_charts_build(cb_geometry *g);

#endif
