/* Running what a scenario describes, with progress and interruption: shared by `run` and `resume`. */
#ifndef CB_CLI_GO_H
#define CB_CLI_GO_H

#include "cli/cli.h"
#include <curvebody/record.h>
#include <curvebody/scenario.h>

typedef struct cb_go_options {
  bool quiet, json, resumes; /* resumes: the event that has stopped the run is told in any case */
  const char *output;
} cb_go_options;

/* Runs to the end into the record, closes it, and reports; unless status, of what came before, is a failure to report.
 * Frees scenario and record. Returns an exit code. */
int cb_go(cb_status status, cb_scenario *scenario, cb_record *record, const cb_go_options *options);

/* Files that the scenario names are not in the record, their digest is: CB_ERROR_INPUT where a body has changed
 * since. */
cb_status cb_check_inputs(cb_reader *reader, const char *path, cb_scenario *scenario);

#endif
