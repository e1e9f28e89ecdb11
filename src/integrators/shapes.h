/* Integrators of shape variables that move by themselves: the classes that hamilton_pontryagin, gauss and radau_iia
 * name as `other`, and the composition of order 4. */
#pragma once

#include <curvebody/integrator.h>

extern const cb_integrator_class cb_hamilton_pontryagin_of_shapes, cb_gauss_of_shapes, cb_radau_of_shapes;

/* Returns the lengths of the *count steps of order 2 that make a step of length 1 and order 4: p, p, 1 - 4p, p, p with p
 * = 1/(4 - 4^(1/3)). Source: Suzuki, Phys. Lett. A 146 (1990) 319, doi:10.1016/0375-9601(90)90962-N. */
const double *cb_composition_of_order_4(int *count);
