/* The undisturbed fluid at one place: the quantities on which the forces on a particle there depend.
 *
 *   Du/Dt = du/dt + (u . grad) u,   the acceleration of the fluid that is at the place
 *
 * u is the velocity of the fluid and t the time. The derivatives of u and of the density are exact. SI units, world
 * axes. */
#pragma once

#include <curvebody/flow.h>
#include <curvebody/medium.h>

typedef struct cb_fluid_point {
  double u[3], gradient[3][3], rate[3]; /* velocity, du_i/dx_j, du/dt */
  double acceleration[3];               /* Du/Dt */
  double density, density_gradient[3];  /* in layers the gradient is 0 */
} cb_fluid_point;

/* Finds the fluid at the place x at time t. If flow is NULL, the fluid is at rest; if medium is NULL, the density is 0.
 * Returns CB_STEP_NOT_FINITE as cb_flow_at and cb_medium_at do. It may be called from any thread and allocates nothing.
 */
cb_status cb_fluid_point_at(const cb_flow *flow, const cb_medium *medium, double t, const double x[3],
                            cb_fluid_point *out);
