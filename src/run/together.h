/* Runs that go together: those of equal systems are stepped in the lanes of a vector (integrators/lanes.h), each with
 * the bytes that it has alone. */
#pragma once

#include "core/failure.h"
#include <curvebody/run.h>

typedef struct cb_together cb_together; /* memory that is kept from one call to the next */
cb_status cb_together_create(cb_together **out);
void cb_together_free(cb_together *t);

/* How many runs such as this one are worth putting together: 1 where lanes do not serve it. */
size_t cb_together_width(const cb_run *run);

/* One of several runs: ended as cb_run_go ends it, status with what was told of the failure. */
typedef struct cb_together_run {
  cb_run *run;
  cb_sink *sink;
  cb_status status;
  char text[600];
} cb_together_run;

/* Does for each of run[n], n <= 8, what cb_run_go does. */
void cb_together_go(cb_together *t, cb_together_run *run, size_t n, const volatile sig_atomic_t *stop);
