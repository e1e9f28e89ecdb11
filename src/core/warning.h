/* Warnings say what may be wrong with a result that is returned nevertheless. The library never prints: the caller sets
 * a function that takes the texts. */
#pragma once

#include <stdbool.h>

/* The functions that take the texts of one thread. A text is one line without a line break. A member that is NULL drops
 * its texts. */
typedef struct cb_warning_taker {
  void (*take)(void *context, const char *text); /* warnings */
  void *context;
  void (*note)(void *note_context, const char *text); /* notes, for example that a value differs from the input */
  void *note_context;
} cb_warning_taker;

/* Sends the warnings of this thread to `taker` from now on. Returns the previous taker. */
cb_warning_taker cb_warnings_to(cb_warning_taker taker);
bool cb_warnings_are_taken(void); /* whether this thread has a taker of warnings */
/* The text is one line of at most 1 kB. */
__attribute__((format(printf, 1, 2))) void cb_warn(const char *format, ...);
__attribute__((format(printf, 1, 2))) void cb_note(const char *format, ...);
