/* The divergence of a flow, and the declarations that the source files flow_*.c share; see curvebody/flow.h. */
#pragma once

#include <curvebody/flow.h>
#include "numerics/vec3.h"

/* Returns the root mean square of the divergence, and writes the root mean square of the gradient into *size. */
double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size);
/* Returns the root mean square of the gradient over all of a grid, by differences; 0 for other flows. */
double cb_flow_slope(const cb_flow *f);

/* --- declarations that flow_*.c share --- */

/* u, gradient[i][j] = du_i/dx_j and du/dt at one place and time, the last two only if slopes are wanted. The caller
 * checks whether they are finite. */
typedef struct cb_flow_point {
  double u[3], gradient[3][3], rate[3];
} cb_flow_point;

/* The same data at many places, each coordinate in an array of its own. */
enum { CB_FLOW_BLOCK = 64 };
typedef struct cb_flow_block {
  double x[3][CB_FLOW_BLOCK], u[3][CB_FLOW_BLOCK];
  double gradient[3][3][CB_FLOW_BLOCK], rate[3][CB_FLOW_BLOCK];
} cb_flow_block;

struct cb_flow {
  void (*at)(const cb_flow *f, double t, const double x[3], bool slopes, cb_flow_point *p);
  /* Returns false if a value is not finite; may be NULL. */
  bool (*block)(const cb_flow *f, double t, int n, bool slopes, bool rate, cb_flow_block *b);
  void (*release)(cb_flow *f); /* frees the data that the flow owns; NULL: it owns none */
  /* even: u is the same at all places; steady: it is the same at all times; uniform: both */
  bool even, uniform, steady;
  double slope; /* root mean square of the gradient of a grid */
};

/* Returns `size` zeroed bytes for a flow; NULL with the error text set if there is no memory. */
void *cb_flow_new(size_t size);
