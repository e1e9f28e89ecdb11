/* Status codes and the text of the last error.
 *
 * Every function that can fail returns a cb_status. On failure its outputs are unchanged and a text with numbers and
 * names is kept for the calling thread. Negative: the call cannot succeed. Positive: this step failed, but a smaller
 * step may succeed. The library never prints, exits or aborts.
 * For users and authors.
 */
#ifndef CURVEBODY_STATUS_H
#define CURVEBODY_STATUS_H

#include <curvebody/api.h>

CB_API_BEGIN

typedef enum cb_status {
  CB_OK = 0,

  CB_ERROR_MEMORY = -1,   /* out of memory */
  CB_ERROR_ARGUMENT = -2, /* an argument is outside its allowed range */
  /* the content of a file is wrong: the text begins with file:line:column: error: */
  CB_ERROR_INPUT = -3,
  CB_ERROR_FILE = -4,                 /* a file cannot be opened, read or written */
  CB_ERROR_DOMAIN = -5,               /* a point outside a space, a distance that is not unique */
  CB_ERROR_UNSUPPORTED = -6,          /* this combination is not supported, such as an integrator and a system */
  CB_ERROR_STEP = -7,                 /* a step failed after all its retries */
  CB_ERROR_INTERRUPTED = -8,          /* stopped by the user after a checkpoint */
  CB_ERROR_CONTACT_ACCUMULATION = -9, /* infinitely many contacts in a finite time */

  CB_STEP_NO_CONVERGENCE = 1, /* the iteration of an implicit step did not converge */
  CB_STEP_DOMAIN = 2,         /* a stage left the domain of a chart, a distance or an expression */
  CB_STEP_NOT_FINITE = 3,     /* a stage is not finite */
  CB_STEP_SINGULAR = 4        /* a Newton matrix is singular */
} cb_status;

/* Returns the name of a status, such as "no convergence"; static memory. */
const char *cb_status_name(cb_status status);

/* Returns the text of the last error of this thread, "" if there was none; valid until the thread's next failing call.
 * Several errors of a scenario are one line each, in the order of the file, at most twenty, then `and N more`. */
const char *cb_error_text(void);

/* Sets the text of this thread and returns status, so that `return cb_fail(...)` reads as one line. */
cb_status cb_fail(cb_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

CB_API_END
#endif
