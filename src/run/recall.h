/* A run brought to a state that its record has, to measure it again, and warnings into a run. Internal to the library. */
#pragma once

#include <curvebody/run.h>

/* What a row has of a state, by particle and component as the record does. */
typedef struct cb_recalled {
  double time;
  int64_t step;
  const double *position, *momentum, *origin;
} cb_recalled;

/* Whether rows of such a run are enough for a state: those of particles, but for the low-order parts. */
bool cb_run_recalls(const cb_run *run);
cb_status cb_run_recall(cb_run *run, const cb_recalled *row);

/* Measures the state that the run has: fields of its layout, in that order, borrowed until the next step or call. */
cb_status cb_run_look(cb_run *run, const void *const **row);

/* One more warning, in the record too where it has begun. time nan: of the scenario, before it runs. Takes the text, made by
 * malloc (NULL: there was no memory), also on failure. */
cb_status cb_run_warn(cb_run *run, double time, char *text);
