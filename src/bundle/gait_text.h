/* A gait as text and as numbers. The text is the one that scenarios use, `{fourier: {mean: .., cosine: .., sine: ..}}`.
 * Both forms read back exactly. */
#pragma once

#include "core/text.h"
#include <curvebody/gait.h>

#include <stddef.h>

/* Appends the text of the gait to out. Returns CB_ERROR_UNSUPPORTED for classes other than `fourier` and `arcs`, and
 * for reversed gaits. */
cb_status cb_gait_write(const cb_gait *g, cb_text *out);

/* --- numbers: fourier (0, harmonics, mean, cosine, sine) and arcs (arcs, degree, ends, values) --- */

/* Returns the count of numbers that represent the gait; 0 for other classes and for reversed gaits. */
size_t cb_gait_state_size(const cb_gait *g);
void cb_gait_state(const cb_gait *g, double *out);
/* Creates a gait of n shape variables from numbers. If the numbers are invalid, returns CB_OK with *out NULL. */
cb_status cb_gait_from_state(int n, size_t count, const double *state, cb_gait **out);
