/* The last failure of this thread, and collecting several failures into one report. */
#pragma once

#include <curvebody/status.h>
#include <curvebody/node.h>

#include <stdbool.h>
#include <stddef.h>

typedef enum cb_failure_kind {
  CB_FAILURE,            /* no particular kind */
  CB_FAILURE_CONSTRAINT, /* a constraint of the system is the cause */
  CB_FAILURE_OBSERVABLE, /* the run does not have this observable */
  CB_FAILURE_COUPLING,   /* the coupling of bodies in one fluid is the cause */
  CB_FAILURE_UNKNOWN,    /* the input has a name that is not known */
  CB_FAILURE_SYSTEM,     /* the system refused to read or write a file, or another program has locked it */
  CB_FAILURE_CONSEQUENCE /* the failure follows from another one that has been reported */
} cb_failure_kind;

typedef struct cb_failure {
  cb_failure_kind kind;
  bool placed;      /* the text begins with a file name */
  const char *file; /* file of the node that caused it, valid as long as the node; NULL: no node */
  int line, column;
  bool kept; /* this failure is the report of a scope (cb_errors, below) */
} cb_failure;

cb_failure cb_failure_last(void);
/* Returns whether wrong input caused the failure of an operation that only reads input. False for a lack of memory, a
 * file that cannot be read, and an interruption by the user. */
bool cb_failure_is_of_input(cb_status status);

/* The text between a file name and a message: ":line:column: error: ", or ": error: " if line is 0. Line 0 stands for
 * an argument of the command line, which has no lines. */
typedef struct cb_place_text {
  char text[64];
} cb_place_text;
cb_place_text cb_place_text_of(int line, int column);

/* The text by which a message refers to item i of a list: the name of the item in quotes, or i + 1 if `name` is
 * NULL. */
typedef struct cb_name_text {
  char text[80];
} cb_name_text;
cb_name_text cb_name_text_of(const char *name, int i);

/* Set the last failure as cb_fail does, and return `status`. cb_fail_known also copies the members of `known`, and
 * cb_fail_as sets the kind. The text is cut after 2047 bytes. */
cb_status cb_fail_known(const cb_failure *known, cb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cb_status cb_fail_as(cb_failure_kind kind, cb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Does the same as cb_fail, for a text that begins with a place, as in `file: error: ...` or
 * `file:line:column: error: ...`. */
cb_status cb_fail_placed(cb_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does the same as cb_fail_known for a text without formatting, which may have several lines. Only the first
 * CB_FAILURE_CAPACITY - 1 bytes of the text are kept. */
enum { CB_FAILURE_CAPACITY = 16384 };
cb_status cb_fail_lines(const cb_failure *known, cb_status status, const char *text);

/* A scope collects failures while reading continues, so that they are reported together.
 *
 *   cb_errors errors = cb_errors_begin();
 *   cb_errors_add(&errors, node, read_one(..));
 *   cb_errors_add(&errors, node, read_other(..));
 *   return cb_errors_end(&errors);
 *
 * Scopes can be nested: the outer scope takes over the report of the inner one. Each thread has its own scopes. The
 * report has one line per failure, in the order of their places, without repetitions. After CB_ERRORS_MAX lines, a last
 * line says how many failures are left out. A consequence (CB_FAILURE_CONSEQUENCE) makes the scope fail but is not
 * reported. A lack of memory is reported without other failures. Open scopes of a thread keep at most 256 failures. */
enum { CB_ERRORS_MAX = 20 };

typedef struct cb_errors {
  size_t first;     /* index of the first failure that this scope may keep */
  cb_status status; /* CB_ERROR_MEMORY if memory ran out, else the status of the first failure; CB_OK: no failure */
} cb_errors;

cb_errors cb_errors_begin(void);
/* Keeps the last failure unless status is CB_OK; returns status. A failure that has no place in the file of `where`
 * gets the place of `where`, which may be NULL. */
cb_status cb_errors_add(cb_errors *errors, const cb_node *where, cb_status status);
/* Ends the scope: the last failure becomes the report. Returns CB_OK if there was no failure, CB_ERROR_MEMORY if memory
 * ran out, and otherwise the status of the failure whose place is first. If there are only consequences, this is the
 * status of the first of them. */
cb_status cb_errors_end(cb_errors *errors);

/* Fails as a consequence of a failure that has been reported. */
cb_status cb_fail_consequence(void);

/* Warnings say what may be wrong with a result that is returned nevertheless. The library never prints: the caller sets
 * a function that takes the texts. */

/* The functions that receive the warnings and the notes of one thread. Each text is one line without a line break. If a
 * function is NULL, its texts are discarded. */
typedef struct cb_warning_taker {
  void (*take)(void *context, const char *text); /* receives a warning */
  void *context;
  void (*note)(void *note_context, const char *text); /* receives a note, such as that a value differs from the input */
  void *note_context;
} cb_warning_taker;

/* Sends the warnings of this thread to `taker` from now on. Returns the previous taker. */
cb_warning_taker cb_warnings_to(cb_warning_taker taker);
bool cb_warnings_are_taken(void); /* whether this thread has a taker of warnings */
/* These functions send a warning or a note to the taker of this thread. The text is one line of at most 1 kB. */
__attribute__((format(printf, 1, 2))) void cb_warn(const char *format, ...);
__attribute__((format(printf, 1, 2))) void cb_note(const char *format, ...);
