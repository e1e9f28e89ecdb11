/* What the functions of curvebody/geometry.h do in a space with g->intrinsic; arguments as theirs. */
#pragma once

#include <curvebody/geometry.h>

cb_status cb_intrinsic_check(const cb_geometry *g, const double *q);
/* nan where the geodesic leaves the chart */
void cb_intrinsic_exp(const cb_geometry *g, const double *q, const double *u, double *q1, double *u1);
cb_status cb_intrinsic_log(const cb_geometry *g, const double *q, const double *y, double *u);
cb_status cb_intrinsic_transport(const cb_geometry *g, const double *q, const double *y, const double *w, double *w1);
/* of the metric of g->chart, in any space with one; not finite where that has no frame */
void cb_intrinsic_frame(const cb_geometry *g, const double *q, double *e);
void cb_intrinsic_killing_at(const cb_geometry *g, int index, const double *q, double *x);
void cb_intrinsic_killing_momentum_add(const cb_geometry *g, const double *q, const double *p, double *momentum);
void cb_intrinsic_picture(const cb_geometry *g, const double *q, const double *v, double *picture, double *velocity);
cb_status cb_intrinsic_karcher_mean(const cb_geometry *g, size_t n, const double *x, const double *weight,
                                    double *mean);
