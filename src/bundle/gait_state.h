/* A gait as numbers, from which it comes back to the last bit: fourier (0, harmonics, mean, cosine, sine) and arcs
 * (arcs, degree, ends, values). */
#pragma once

#include <curvebody/gait.h>
#include <stddef.h>

/* How many numbers; 0 for other kinds, and what is made of gaits. */
size_t cb_gait_state_size(const cb_gait *g);
void cb_gait_state(const cb_gait *g, double *out);
/* Of numbers that may be any: *out is NULL where they are no such gait of n shape variables. */
cb_status cb_gait_from_state(int n, size_t count, const double *state, cb_gait **out);
