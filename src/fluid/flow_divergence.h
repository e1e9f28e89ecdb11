/* The divergence of a flow, and the declarations that the files of flows share; see curvebody/flow.h. */
#pragma once

#include <curvebody/flow.h>
#include "numerics/vec3.h"

/* Returns the root mean square of the divergence, and writes the root mean square of the gradient into *size. */
double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size);
/* Returns the root mean square of the gradient over all of a grid, by differences; 0 for other flows. */
double cb_flow_slope(const cb_flow *f);

/* Makes a flow of a class with from_grid. */
cb_status cb_flow_create_grid(const cb_fluid_flow_class *class_, const cb_flow_grid *grid, cb_flow **out);

/* --- declarations that the files of flows share --- */

struct cb_flow {
  const cb_fluid_flow_class *class_;
  void *data; /* the struct of the class */
  cb_flow_facts facts;
};

/* Makes a flow whose struct is zero; the caller completes *data and *facts. */
cb_status cb_flow_new(const cb_fluid_flow_class *class_, cb_flow **out);
/* Fails for a velocity that is not finite. */
cb_status cb_flow_check_velocity(const double u[3]);
