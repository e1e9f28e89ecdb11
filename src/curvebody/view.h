/* A record as one page that holds everything: a picture that moves, the view from inside the space, plots.
 *
 * The page needs no server, no network and no other file. Positions go in relative to frames that are carried along
 * with the bodies, so that they keep their digits at any distance; values of series are the record's, exactly.
 * For users.
 */
#ifndef CURVEBODY_VIEW_H
#define CURVEBODY_VIEW_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CB_API_BEGIN

/* Zeros are the defaults. */
typedef struct cb_view_options {
  uint64_t frames; /* pictures; 0: all rows, at most 2000, and no more than fit into 16 MB. Given, they may be more. */
  bool watched;    /* the page loads itself again each second: the record is being written */
} cb_view_options;

/* Writes the page of a record: closed, being written, or killed. The same record gives the same bytes. options may be
 * NULL. CB_ERROR_FILE (cannot be read or written), CB_ERROR_INPUT (no record; `out` is the record itself). */
cb_status cb_view_write(const char *path, const char *out, const cb_view_options *options);

CB_API_END
#endif
