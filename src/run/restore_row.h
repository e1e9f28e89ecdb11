/* Restores a run to a state of its record, to measure that state again; and adds warnings to a run. Internal to the
 * library. */
#pragma once

#include <curvebody/run.h>

/* The part of a state that a row records, by particle and component in the order of the record. */
typedef struct cb_row_state {
  double time;
  int64_t step;
  const double *position, *momentum, *origin;
} cb_row_state;

/* Whether a row of this run determines its state. A row of particles determines it except for the low-order parts of
 * its numbers. */
bool cb_run_can_restore_row(const cb_run *run);
cb_status cb_run_restore_row(cb_run *run, const cb_row_state *row);

/* Measures the present state: the fields of the run's layout, in that order, borrowed until the next step or call. */
cb_status cb_run_evaluate(cb_run *run, const void *const **row);

/* Adds a warning, also to the record if it was begun. time nan: a warning of the scenario, before it runs. Takes
 * ownership of the text, which is from malloc (NULL: there was no memory), also on failure. */
cb_status cb_run_warn(cb_run *run, double time, char *text);
