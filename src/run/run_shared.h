/* The functions of a run that other layers need besides curvebody/run.h: they tell which fields depend on the state,
 * add a warning, and step several equal runs at once. Internal to the library. */
#pragma once

#include "core/failure.h"
#include <curvebody/motion.h>

/* Returns whether the field depends only on the state. */
bool cb_run_is_measured(const cb_run *run, const char *field);

/* Returns the functions of the run's class of motion, such as that of particles or of bodies in a fluid. */
const cb_motion *cb_run_motion(const cb_run *run);

/* --- warnings (run_loop.c) --- */

/* Adds a warning, and passes it to the function of cb_run_on_warning. time nan: a warning of the scenario, given before
 * the run. text is from malloc, and this function takes ownership of it, also on failure; if it is NULL, the function
 * fails with CB_ERROR_MEMORY. */
cb_status cb_run_warn(cb_run *run, double time, char *text);

/* --- batches: runs of equal systems occupy the lanes of one vector (batch.c, integrators/lanes.h); each run writes
 * exactly the same record as when it runs on its own --- */

typedef struct cb_batch cb_batch; /* the lanes, whose memory is kept from one call of cb_batch_run to the next */
cb_status cb_batch_create(cb_batch **out);
void cb_batch_free(cb_batch *t);

/* Returns how many runs equal to this one should be stepped at once; 1 if lanes cannot step this run. */
size_t cb_batch_width(const cb_run *run);

/* One run of a batch. status is the status that cb_run_go would return, and text is the message of a failure. */
typedef struct cb_batch_member {
  cb_run *run;
  cb_sink *sink;
  cb_status status;
  char text[CB_RUN_TEXT];
  int64_t limit; /* the number of steps at which the run pauses; cb_batch_run sets it to the maximum */
} cb_batch_member;

/* Does for each of run[n], n <= 8, the same as cb_run_go for one run. */
void cb_batch_run(cb_batch *t, cb_batch_member *run, size_t n, const volatile sig_atomic_t *stop);
