/* Steps several runs at once: runs of equal systems occupy the lanes of one vector (integrators/lanes.h). Each run
 * writes exactly the same record as when it runs on its own. */
#pragma once

#include "core/failure.h"
#include <curvebody/run.h>

typedef struct cb_batch cb_batch; /* the lanes, whose memory is kept from one call of cb_batch_run to the next */
cb_status cb_batch_create(cb_batch **out);
void cb_batch_free(cb_batch *t);

/* The number of runs equal to this one that should be stepped at once; 1 if lanes cannot step this run. */
size_t cb_batch_width(const cb_run *run);

/* One run of a batch. status is the result that cb_run_go would return, and text is the message of a failure. */
typedef struct cb_batch_member {
  cb_run *run;
  cb_sink *sink;
  cb_status status;
  char text[600];
} cb_batch_member;

/* Does for each of run[n], n <= 8, the same as cb_run_go for one run. */
void cb_batch_run(cb_batch *t, cb_batch_member *run, size_t n, const volatile sig_atomic_t *stop);
