/* How far a flow is from one without divergence; see curvebody/flow.h. */
#ifndef CB_FLUID_FLOW_H
#define CB_FLUID_FLOW_H

#include <curvebody/flow.h>

/* The root mean square of the divergence, and in *size of the gradient. */
double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size);
/* The root mean square of the gradient all over a grid, by differences; 0 for other flows. */
double cb_flow_slope(const cb_flow *f);

#endif
