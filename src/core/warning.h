/* What may be wrong with a number that is given all the same. The library never prints: its caller takes the texts. */
#pragma once

#include <stdbool.h>

/* Takes a line without its end. NULL: nobody wants them. */
typedef struct cb_warning_taker {
  void (*take)(void *context, const char *text);
  void *context;
  /* Of what is done otherwise than it was written; NULL as `take`. */
  void (*note)(void *note_context, const char *text);
  void *note_context;
} cb_warning_taker;

/* From then on warnings of this thread go to `taker`. Returns the one before. */
cb_warning_taker cb_warnings_to(cb_warning_taker taker);
bool cb_warnings_are_taken(void); /* of this thread */
/* A line of at most 1 kB. */
__attribute__((format(printf, 1, 2))) void cb_warn(const char *format, ...);
__attribute__((format(printf, 1, 2))) void cb_note(const char *format, ...);
