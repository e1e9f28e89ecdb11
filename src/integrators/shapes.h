/* Integrators of shape variables that move by themselves (bundle/shape_motion.h): their steps, and the classes that
 * hamilton_pontryagin, gauss and radau_iia name as cb_integrator_class.other. */
#pragma once

#include "bundle/shape_motion.h"
#include "numerics/tableau.h"
#include <curvebody/integrator.h>

extern const cb_integrator_class cb_hamilton_pontryagin_of_shapes, cb_gauss_of_shapes, cb_radau_of_shapes;

/* Returns the lengths of the *count steps of order 2 that make a step of length 1 and order 4: p, p, 1 - 4p, p, p with
 * p = 1/(4 - 4^(1/3)). Source: Suzuki, Phys. Lett. A 146 (1990) 319, doi:10.1016/0375-9601(90)90962-N. */
const double *cb_composition_of_order_4(int *count);

/* Makes one step with inertia from a discrete Lagrangian; equations in integrators/shape_variational.c. The memory
 * `work` is created once (NULL: there is not enough memory) and contains the history from which the first guess of a
 * step is made. substeps: the number of steps in a composition, at most CB_SHAPE_SUBSTEPS; 1 without a composition. */
enum { CB_SHAPE_SUBSTEPS = 5 };
typedef struct cb_shape_variational cb_shape_variational;
cb_shape_variational *cb_shape_variational_create(int substeps);
void cb_shape_variational_free(cb_shape_variational *work);
void cb_shape_variational_forget(cb_shape_variational *work); /* deletes the history */
cb_status cb_shape_step_variational(const cb_shape_problem *p, cb_shape_variational *work, double h, cb_shape_state *s,
                                    int *iterations);
/* Makes one step with drag by collocation; equations in integrators/shape_collocation.c. The memory `work` is created
 * once (NULL: there is not enough memory) and contains the history from which the first guess of a step is made. */
typedef struct cb_shape_collocation cb_shape_collocation;
cb_shape_collocation *cb_shape_collocation_create(void);
void cb_shape_collocation_free(cb_shape_collocation *work);
void cb_shape_collocation_forget(cb_shape_collocation *work); /* deletes the history */
cb_status cb_shape_step_collocation(const cb_shape_problem *p, cb_shape_collocation *work, const cb_tableau *tableau,
                                    double h, cb_shape_state *s, int *iterations);
