/* Elements of constraints in spaces that are known by the metric of one chart. */
#ifndef CB_DYNAMICS_CONSTRAINT_METRIC_H
#define CB_DYNAMICS_CONSTRAINT_METRIC_H

#include "dynamics/constraint_private.h"

/* The angle at x[1] between the geodesics to x[0] and x[2]. */
cb_status cb_angle_by_metric(const cb_geometry *g, const double *const *x, int order, cb_element *out);
/* A blade at x[0] along the geodesic to x[1], in a space of dimension 2. */
cb_status cb_blade_by_metric(const cb_geometry *g, const double *const *x, int order, cb_element *out);

#endif
