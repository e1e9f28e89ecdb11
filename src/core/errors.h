/* Failures that are kept while reading goes on, to be told together.
 *
 *   cb_errors errors = cb_errors_begin();
 *   cb_errors_add(&errors, node, read_one(..));
 *   cb_errors_add(&errors, node, read_other(..));
 *   return cb_errors_end(&errors);
 *
 * Between begin and end another thread's failures do not count, and what is kept within is added by the one around it.
 * They are told in the order of their places, each once and on a line of its own, at most CB_ERRORS_TOLD of them.
 * Consequences (CB_FAILURE_CONSEQUENCE) fail and are not told. Lack of memory is told alone.
 */
#pragma once

#include "core/failure.h"
#include <curvebody/node.h>
#include <stddef.h>

enum { CB_ERRORS_TOLD = 20 };

typedef struct cb_errors {
  size_t first;     /* of those kept since it began */
  cb_status status; /* of the first that was added, CB_OK if there was none */
} cb_errors;

cb_errors cb_errors_begin(void);
/* Keeps the last failure unless status is CB_OK; returns status. where: stands for its place if it has none in the file
 * that where is in; NULL: none does. */
cb_status cb_errors_add(cb_errors *errors, const cb_node *where, cb_status status);
/* The status of the first, in order of places, with the text of all. */
cb_status cb_errors_end(cb_errors *errors);

/* Fails as a consequence of what was told. */
cb_status cb_fail_consequence(void);
