/* A particle of a state at its place, and the size of a constraint, as the measures of a state have them. */
#pragma once

#include <curvebody/system.h>

/* Embedding coordinates of a particle and its momentum as a vector divided by the mass, local to its origin. */
cb_status cb_state_local(const cb_system *s, const cb_state *state, int place, double *x, double *v);
/* Sum over particles of |p| and the largest |X_i| there, which bounds what each momentum may come to. */
cb_status cb_state_killing_size(const cb_system *s, const cb_state *state, double *size);
/* The length, area or volume that a row keeps at time t, the unit in which its residual is judged; 1 for rows of
 * others. */
double cb_system_constraint_size(const cb_system *s, int row, double t);
