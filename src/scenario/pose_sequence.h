/* Poses of a body from one HDF5 file:
 *
 *   /DATASET [pose, vertex, 3]  places in m, float or double
 *   /time    [pose]             s, ascending; used where no step is given
 *   /face    [face, 3]          integers, vertices counted from 0; with it the file is a body by itself
 * A file may hold other things too.
 */
#pragma once

#include "fluid/poses.h"

/* dataset NULL: "poses"; a path within the file, such as "stroke/x". times->time is not looked at: pose i is at
 * start + i step, or at start + /time[i] where step is 0; where `period` is 0 and the poses are at /time, a periodic
 * sequence is at its first pose again after n/(n - 1) times what it takes from first to last.
 *
 * mesh: the body whose poses these are; the number of its vertices is expected, and its faces where the file has /face.
 * mesh NULL: the file is a body by itself, *rest (the caller frees) is its first pose, mended as `how` says; it needs
 * /face. rest is not looked at where there is a mesh and may be NULL. What is joined in the body stands together in all
 * poses.
 *
 * CB_ERROR_FILE where the file cannot be read; CB_ERROR_INPUT, `FILE: error: ...`, for what it holds: the dataset with
 * the shape found and expected, the pose and vertex of a number that is not finite, the face that differs. */
cb_status cb_poses_read_sequence(const char *path, const char *dataset, const cb_surface *mesh,
                                 const cb_poses_times *times, const cb_mending *how, cb_surface **rest, cb_poses **out);
