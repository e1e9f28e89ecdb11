/* Output of a command besides its results: warnings, which no option disables, and notes. */
#pragma once

#include <curvebody/fluid_model.h>
#include <curvebody/scenario.h>

/* From this call on, work that needs much time or memory is announced on stderr before it begins, under `name`, which
 * is borrowed. */
void cli_announce_large_work(const char *name);
/* From this call on, warnings of this thread, and notes if requested, are printed on stderr, one per line
 * (core/warning.h). */
void cli_print_warnings(bool notes);
enum { CLI_WARNINGS_PRINTED = 10 }; /* maximum number of printed warnings that have a time */
/* Prints the warnings of a run from number `first` on. Returns the number of all warnings of the run so far. output:
 * the record, which contains all of them. */
size_t cli_print_run_warnings(const cb_run *run, size_t first, const char *output);
/* Prints the keys that were dropped because --set changed their class, one per line on stderr. */
void cli_note_left_out(const cb_scenario *scenario);
/* Prints the names of constraints that were dropped as redundant. */
void cli_note_dropped(const cb_scenario *scenario);
/* Prints one line on stdout: the text `before`, then the fluid model of an added mass, its error and its method. shape:
 * refined faces follow the exact shape; otherwise they are in the planes of the given faces. */
void cli_print_solution(const char *before, const char *model, bool shape, const cb_added_mass *added);
