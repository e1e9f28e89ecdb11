/* A particle of a state at its place, as the measures of a state have it. */
#ifndef CB_DYNAMICS_MEASURE_H
#define CB_DYNAMICS_MEASURE_H

#include <curvebody/system.h>

/* Embedding coordinates of a particle and its momentum as a vector divided by the mass, local to its origin. */
cb_status cb_state_local(const cb_system *s, const cb_state *state, int place, double *x, double *v);

#endif
