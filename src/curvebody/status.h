/* Status codes and the text of the last error.
 *
 * Every function that can fail returns a cb_status. On failure it leaves its outputs unchanged, unless its comment says
 * otherwise, and keeps a text with numbers and names for the calling thread. A negative status means that the call
 * cannot succeed. A positive status means that this time step failed, but that a shorter step may succeed. The library
 * never prints, exits or aborts.
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
  /* the content of a file or text is wrong; for a file, the error text begins with file:line:column: error: */
  CB_ERROR_INPUT = -3,
  CB_ERROR_FILE = -4,                 /* a file cannot be opened, read or written */
  CB_ERROR_DOMAIN = -5,               /* a result does not exist or is not unique; example: a point outside a space */
  CB_ERROR_UNSUPPORTED = -6,          /* a combination is not supported; example: of an integrator and a system */
  CB_ERROR_STEP = -7,                 /* a step failed after all its retries */
  CB_ERROR_INTERRUPTED = -8,          /* the user has stopped the run */
  CB_ERROR_CONTACT_ACCUMULATION = -9, /* infinitely many contacts in a finite time */

  CB_STEP_NO_CONVERGENCE = 1, /* the iteration of an implicit step did not converge */
  CB_STEP_DOMAIN = 2,         /* a point of the step is outside the domain of a chart, a distance or an expression */
  CB_STEP_NOT_FINITE = 3,     /* a number that was computed in the step is infinite or nan */
  CB_STEP_SINGULAR = 4        /* a Newton matrix is singular */
} cb_status;

/* Returns the name of a status, such as "no convergence"; static memory. */
const char *cb_status_name(cb_status status);

/* Returns the text of the last error of this thread; "" if there was none. The text is valid until the next call that
 * fails in this thread. Several errors of a scenario are one line each, in the order of the file. At most twenty are
 * given, followed by `and N more`. */
const char *cb_error_text(void);

/* Sets the error text of this thread, formatted as by printf, and returns status. */
cb_status cb_fail(cb_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

CB_API_END
#endif
