/* The divergence of a flow, and the declarations that the files of flows share; see curvebody/flow.h. */
#pragma once

#include <curvebody/flow.h>
#include "numerics/vec3.h"

/* Returns the root mean square of the divergence over n places, where gradient[p][i][j] = du_i/dx_j. *size becomes the
 * root mean square of the norm of the gradient (the root of the sum of its nine squares). */
double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size);
/* Returns the root mean square of the norm of the gradient of a flow on a grid, from differences of neighbours. For a
 * sum of flows it is the root of the sum of the squares of its terms; for other flows it is 0. */
double cb_flow_slope(const cb_flow *f);

/* Makes a flow of a class that has from_grid. */
cb_status cb_flow_create_grid(const cb_fluid_flow_class *class_, const cb_flow_grid *grid, cb_flow **out);

/* --- declarations that the files of flows share --- */

struct cb_flow {
  const cb_fluid_flow_class *class_;
  void *data; /* the struct of the class */
  cb_flow_facts facts;
};

/* Makes a flow whose struct is zero; the caller then completes data and facts of **out. */
cb_status cb_flow_new(const cb_fluid_flow_class *class_, cb_flow **out);
/* Returns CB_ERROR_ARGUMENT for a velocity that is not finite. */
cb_status cb_flow_check_velocity(const double u[3]);
