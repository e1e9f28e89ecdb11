/* What is known of the last failure of this thread beside its text. */
#pragma once

#include <curvebody/status.h>
#include <stdbool.h>

typedef enum cb_failure_kind {
  CB_FAILURE,            /* nothing in particular */
  CB_FAILURE_CONSTRAINT, /* of a constraint of the system */
  CB_FAILURE_OBSERVABLE, /* of one that a run has not */
  CB_FAILURE_UNKNOWN,    /* a name that is none of those known */
  CB_FAILURE_SYSTEM,     /* the system did not let a file be read or written, or another program has it */
  CB_FAILURE_CONSEQUENCE /* of another failure, that was told */
} cb_failure_kind;

typedef struct cb_failure {
  cb_failure_kind kind;
  bool placed;      /* its text begins with the file that it is in */
  const char *file; /* borrowed from the node that is at fault, as long as that lives; NULL: of no node */
  int line, column;
  bool kept; /* it is of several that were kept (core/errors.h) */
} cb_failure;

cb_failure cb_failure_last(void);
/* Whether what was read is at fault, once nothing but reading was done: not the memory, a file or the user. */
bool cb_failure_is_of_input(cb_status status);

/* What stands between a file and the text: ":line:column: error: ", or ": error: " where line is 0, of a word of the
 * command line, which has no lines. */
typedef struct cb_place_text {
  char text[64];
} cb_place_text;
cb_place_text cb_place_text_of(int line, int column);

/* cb_fail, and what is known. */
cb_status cb_fail_known(const cb_failure *known, cb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cb_status cb_fail_as(cb_failure_kind kind, cb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The text opens with a file: `file: error: ...` or `file:line:column: error: ...`. */
cb_status cb_fail_placed(cb_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with a text of any number of lines as it is: at most CB_FAILURE_ROOM - 1 bytes of it. */
enum { CB_FAILURE_ROOM = 16384 };
cb_status cb_fail_lines(const cb_failure *known, cb_status status, const char *text);
