/* Bundles from tables in HDF5 files (bundle/samples.h): `bundle: {name: samples, file: purcell.h5, degree: 5}`.
 *
 *   /SHAPE        [N]               one axis for each shape variable, named by it, ascending; not called `connection`
 *                                   or `metric`. Attribute `period`, a number: it is an angle or a phase
 *   /connection   [N1, .., dim, n]  A; its first n dimensions have those axes as dimension scales (netCDF-4), or the
 *                                   file's attribute `shape` lists their names, parted by spaces
 *   /metric       [N1, .., n, n]    M; absent: the identity
 *   attribute `group` of the file   the fibre, as in curvebody/lie.h: `se2`, `r1`
 * Numbers are of any type. Other datasets and attributes are left alone.
 */
#pragma once

#include "bundle/samples.h"

/* degree 3, 5 or 0 as in cb_bundle_samples. CB_ERROR_FILE if it cannot be read; CB_ERROR_INPUT `PATH: error: ...` with
 * the dataset or attribute and what was expected there. */
cb_status cb_bundle_samples_read(const char *path, int degree, cb_bundle **out);
