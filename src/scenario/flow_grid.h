/* The flow of a fluid on a grid, from an HDF5 file.
 *
 *   /velocity   [x, y, z, 3] or [time, x, y, z, 3], m/s, of any type of numbers
 *   /x /y /z    the places of the points, m, and /time their times, s: evenly spaced, ascending. Not needed where
 *               there is one point only: the flow does not depend on that coordinate
 *   attribute `periodic` of /velocity: 3 integers (x, y, z) or 4 (and time); where it is not 0 the flow begins again
 *               one spacing after the last point. Without it held beyond the border
 */
#pragma once

#include "fluid/flow.h"

/* CB_ERROR_FILE if it cannot be read; CB_ERROR_INPUT `PATH: error: ...` with the dataset and what was expected there
 * (values of /x counted from 1; those of /velocity by their indices, as said). */
cb_status cb_flow_read_grid(const char *path, cb_flow **out);
