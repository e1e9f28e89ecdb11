/* Arrays on named dimensions, as netCDF-4 has them: every file that is written here has these. Internal.
 *
 * A dimension is a dataset that is made a dimension scale (HDF5 Dimension Scale Specification), and every array is
 * attached to those that it is on. All of them give false, or a negative identifier, with HDF5's error stack set.
 */
#pragma once

#include "record/hdf5.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbers, words, integers, or (none of them) 0 .. count - 1; row-major. */
typedef struct cb_hdf5_values {
  const double *numbers;
  const char *const *words;
  const int64_t *integers;
  const char
      *base; /* the file that has large ones under the same path, of which these are a virtual dataset; or NULL */
} cb_hdf5_values;
hid_t cb_hdf5_put_values(hid_t file, const char *path, int rank, const hsize_t *dims, const cb_hdf5_values *values);

/* The attributes units and long_name; either may be NULL. */
bool cb_hdf5_describe(hid_t set, const char *units, const char *doc);

/* Makes a scale of the dataset, which is closed. */
bool cb_hdf5_make_scale(hid_t set, const char *name, const char *units, const char *doc);
bool cb_hdf5_put_scale(hid_t file, const char *name, size_t count, const cb_hdf5_values *values, const char *units,
                       const char *doc);

/* The set's dimension of that index is the one of that name. */
bool cb_hdf5_attach(hid_t file, hid_t set, const char *dimension, unsigned index);
