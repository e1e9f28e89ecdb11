/* Making a space: what init functions put into it, one file each: Killing fields (killing.c) and charts (charts.c); and
 * the chart that it is seen in. */
#pragma once

#include <curvebody/geometry.h>

/* Adds the Killing fields of a factor whose first dimension is `axis` (0: x). */
void cb_killing_build(cb_geometry *g, cb_factor f, int axis);

/* Adds the charts that every product of constant curvatures has. */
cb_status cb_charts_build(cb_geometry *g);

/* Sees it in one of its charts, before anything is made of it: a space that is in use is not changed. */
void cb_geometry_see_in(cb_geometry *g, const cb_chart *chart);
