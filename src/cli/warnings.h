/* What a command prints besides its answer: warnings, which no option takes away, and notes. */
#pragma once

#include <curvebody/fluid_model.h>
#include <curvebody/scenario.h>

/* From then on what takes long or much memory is told on stderr before it does, as of `name`, which is borrowed. */
void cb_say_beforehand(const char *name);
/* From then on warnings of this thread, and notes where they are wanted, are lines on stderr (core/warning.h). */
void cb_print_warnings(bool notes);
enum { CB_WARNINGS_PRINTED = 10 }; /* that have a time */
/* Those of a run from `first` on; how many there are by now. output: the record, which has more of them. */
size_t cb_print_run_warnings(const cb_run *run, size_t first, const char *output);
/* Keys that --set took away with the class they are of, one line each on stderr. */
void cb_note_left_out(const cb_scenario *scenario);
/* Names the constraints that were dropped as implied by the others. */
void cb_note_dropped(const cb_scenario *scenario);
/* How its added mass was found by a fluid model of that name, and how well, in one line on stdout. shape: finer faces
 * were those of a shape that the code makes, not the same flat ones. */
void cb_print_solution(const char *before, const char *model, bool shape, const cb_added_mass *added);
