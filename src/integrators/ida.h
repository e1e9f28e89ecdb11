/* Events of the integrator `ida` (integrators/ida.c): zeros of functions of the state, found within its steps. */
#ifndef CB_INTEGRATORS_IDA_H
#define CB_INTEGRATORS_IDA_H

#include <curvebody/integrator.h>

/* Fills value[n] from the time, positions x[n_particles*k] and velocities v[n_particles*k] in the state's order. */
typedef cb_status cb_root_function(double t, const double *x, const double *v, double *value, void *user);

/* From now on a step that meets a change of sign of one of the n values ends there: the state is the one at that time
 * and i->root the index of the value, the first where several vanish (-1 after steps that met none). A value that is
 * zero where a step starts is looked at again once it has left zero. n = 0: no more events. `user` is borrowed.
 * CB_ERROR_UNSUPPORTED for another method. */
cb_status cb_ida_set_roots(cb_integrator *i, int n, cb_root_function *f, void *user);

#endif
