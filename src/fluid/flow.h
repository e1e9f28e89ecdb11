/* How far a flow is from one without divergence; see curvebody/flow.h. */
#pragma once

#include <curvebody/flow.h>
#include "numerics/vec3.h"

/* The root mean square of the divergence, and in *size of the gradient. */
double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size);
/* The root mean square of the gradient all over a grid, by differences; 0 for other flows. */
double cb_flow_slope(const cb_flow *f);

/* --- what the files of flows share --- */

/* u, gradient[i][j] = du_i/dx_j and du/dt at one place and time, the last two where slopes are wanted. Whether
 * they are finite is for the caller to see. */
typedef struct cb_flow_point {
  double u[3], gradient[3][3], rate[3];
} cb_flow_point;

/* The same at many places, each coordinate by itself. */
enum { CB_FLOW_BLOCK = 64 };
typedef struct cb_flow_block {
  double x[3][CB_FLOW_BLOCK], u[3][CB_FLOW_BLOCK];
  double gradient[3][3][CB_FLOW_BLOCK], rate[3][CB_FLOW_BLOCK];
} cb_flow_block;

struct cb_flow {
  void (*at)(const cb_flow *f, double t, const double x[3], bool slopes, cb_flow_point *p);
  bool (*block)(const cb_flow *f, double t, int n, bool slopes, bool rate, cb_flow_block *b); /* finite? or NULL */
  void (*release)(cb_flow *f); /* what the flow owns besides itself; NULL: nothing */
  bool even, uniform, steady;
  double slope; /* of a grid */
};

/* size bytes of a kind of flow, zeroed, NULL where there is no memory (with the error text set). */
void *cb_flow_new(size_t size);
