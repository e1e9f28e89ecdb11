/* Inputs that are read from HDF5 files: bundles from tables, flows on a grid, and sequences of poses.
 *
 * --- bundles from tables (bundle/samples.h): `bundle: {name: samples, file: purcell.h5, degree: 5}` ---
 *
 * There are n shape variables, with N1, N2, .. values on their axes, and the Lie algebra of the group has dim axes.
 *
 *   /SHAPE        [N]               one ascending axis per shape variable, with its name, which may not be `connection`
 *                                   or `metric`. A numeric attribute `period` makes it an angle or a phase
 *   /connection   [N1, .., dim, n]  the connection A; its first n dimensions have those axes as dimension scales
 *                                   (netCDF-4), or the file's attribute `shape` lists their names, separated by
 *                                   spaces
 *   /metric       [N1, .., n, n]    the metric M; if absent, the identity
 *   attribute `group` of the file   the fibre, as in curvebody/lie.h: `se2`, `r1`
 * Numbers may have any type. Other datasets and attributes are ignored.
 */
#pragma once

#include "bundle/samples.h"
#include "fluid/fluid_shared.h"
#include "fluid/poses_private.h"

/* Makes the bundle of the table in the file `path`. degree: 3, 5 or 0 as in cb_bundle_samples. Fails with CB_ERROR_FILE
 * if the file cannot be read, and with CB_ERROR_INPUT if its content is wrong. The message `PATH: error: ...` then
 * names the dataset or attribute and the expected content. */
cb_status cb_bundle_samples_read(const char *path, int degree, cb_bundle **out);

/* --- the flow of a fluid on a grid ---
 *
 *   /velocity   [x, y, z, 3] or [time, x, y, z, 3], m/s, numbers of any type
 *   /x /y /z    the coordinates of the points, m, and /time their times, s: evenly spaced, ascending. A dimension with
 *               only one point needs no coordinates: the flow does not depend on it
 *   attribute `periodic` of /velocity: 3 integers (x, y, z) or 4 (and time); if an integer is not 0, the flow repeats
 *               one spacing after the last point. Otherwise the values at the border continue beyond it
 */

/* Makes a flow of a class that has the function from_grid. Fails with CB_ERROR_FILE if the file cannot be read, and
 * with CB_ERROR_INPUT if its content is wrong. The message `PATH: error: ...` then names the dataset and the expected
 * content. It counts the values of /x from 1, and gives the indices of a value of /velocity. */
cb_status cb_flow_read_grid(const cb_fluid_flow_class *class_, const char *path, cb_flow **out);

/* --- poses of a body from one HDF5 file ---
 *
 *   /DATASET [pose, vertex, 3]  coordinates in m, float or double
 *   /time    [pose]             s, ascending; used if no step is given
 *   /face    [face, 3]          integers, vertices counted from 0; with it the file is a complete body
 * A file may also contain other objects.
 */

/* dataset NULL: "poses"; otherwise a path in the file, such as "stroke/x". times->time is not used: pose i is at start
 * + i step, or at start + /time[i] if step is 0. If `period` is 0 and /time gives the times, a periodic sequence of n
 * poses returns to its first pose after n/(n - 1) times the duration from the first pose to the last.
 *
 * mesh: the body of these poses. The file must have the same number of vertices, and the same faces if it has /face.
 * mesh NULL: the file is a complete body and needs /face; *rest (the caller frees it) is its first pose, mended
 * according to `how`. With a mesh, rest is not used and may be NULL. Vertices that are joined in the body must coincide
 * in all poses.
 *
 * CB_ERROR_FILE: the file cannot be read. CB_ERROR_INPUT, `FILE: error: ...`: its content is wrong; the message reports
 * the dataset with its shape and the expected shape, the pose and vertex of a number that is not finite, or the face
 * that differs.
 */
cb_status cb_poses_read_sequence(const char *path, const char *dataset, const cb_surface *mesh,
                                 const cb_poses_times *times, const cb_mending *how, cb_surface **rest, cb_poses **out);
