/* A record as one self-contained HTML page: an animation, the view from inside the space, plots.
 *
 * The page needs no server, no network and no other file. Positions are stored relative to frames that move with the
 * bodies, so that they keep their digits at any distance; values of series are exactly those of the record.
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
  uint64_t frames; /* number of frames; 0: all rows, at most 2000 and 16 MiB; another number may exceed these limits */
  bool watched;    /* the page reloads every second, for a record that is being written */
} cb_view_options;

/* Writes the page of a record: closed, being written, or killed. The same record gives an identical file. options may
 * be NULL. CB_ERROR_FILE (cannot be read or written), CB_ERROR_INPUT (not a record; `out` is the record itself). */
cb_status cb_view_write(const char *path, const char *out, const cb_view_options *options);

CB_API_END
#endif
