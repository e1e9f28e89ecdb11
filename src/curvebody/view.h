/* Writes a record as one HTML page, with an animation, a view from inside the space, and plots. Results of sweeps, maps
 * of curvature and families of gaits become pages with maps and curves.
 *
 * The page needs no server, no network and no other file. Positions are stored relative to frames that move with the
 * bodies, so that they keep their digits at any distance. The plots show exactly the values of the record.
 * For users.
 */
#ifndef CURVEBODY_VIEW_H
#define CURVEBODY_VIEW_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CB_API_BEGIN

/* Members that are 0 mean the defaults. */
typedef struct cb_view_options {
  /* number of frames of the animation, spread evenly over the rows. 0: as many rows as possible, with at most 2000
   * frames and a page of about 16 MiB. A number > 0 may exceed these limits. */
  uint64_t frames;
  bool watched; /* true: the page reloads every second, for a record that is being written */
} cb_view_options;

/* Reads the record or the result `path`, and writes the page `out`. The record may be closed, be written at the same
 * time, or have been left by a killed run. The same record gives an identical page. options may be NULL. CB_ERROR_FILE
 * if a file cannot be read or written; CB_ERROR_INPUT if `path` is neither of them, or if `out` is the record itself;
 * CB_ERROR_MEMORY. */
cb_status cb_view_write(const char *path, const char *out, const cb_view_options *options);

CB_API_END
#endif
