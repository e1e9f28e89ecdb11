/* A gait as a scenario has it, `{fourier: {mean: .., cosine: .., sine: ..}}`, in digits that read back the same. */
#pragma once

#include "core/text.h"
#include <curvebody/gait.h>

/* Appends it. CB_ERROR_UNSUPPORTED for kinds other than `fourier` and `arcs`, and what is made of gaits. */
cb_status cb_gait_write(const cb_gait *g, cb_text *out);

/* For kinds: "[1, 2]" of n numbers, and "[[1, 2], [3, 4]]" of rows of n. */
void cb_gait_write_numbers(cb_text *out, int n, const double *x);
void cb_gait_write_rows(cb_text *out, int rows, int n, const double *x);
