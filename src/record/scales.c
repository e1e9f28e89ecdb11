/* Arrays on named dimensions. See scales.h. */
#include "record/scales.h"

#include "record/internal.h"

#include <hdf5_hl.h>
#include <stdlib.h>

/* A virtual dataset that is the one of the same path in the base. */
static hid_t put_based(hid_t file, const char *base, const char *path, hid_t type, int rank, const hsize_t *dims) {
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, NULL);
  hid_t set = H5I_INVALID_HID;
  H5Pset_obj_track_times(create, false);
  H5Pset_attr_phase_change(create, 64, 0);
  H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
  if (cb_hdf5_set_virtual(create, space, base, path, space))
    set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(create);
  return set;
}

static hid_t put(hid_t file, const char *base, const char *path, hid_t type, int rank, const hsize_t *dims,
                 hid_t memory_type, const void *data) {
  size_t bytes = H5Tget_size(type);
  for (int d = 0; d < rank; d++) bytes *= dims[d];
  return base && bytes > CB_LARGE_BYTES ? put_based(file, base, path, type, rank, dims)
                                        : cb_hdf5_put_dataset(file, path, type, rank, dims, memory_type, data);
}

hid_t cb_hdf5_put_values(hid_t file, const char *path, int rank, const hsize_t *dims, const cb_hdf5_values *v) {
  if (v->words) {
    const hid_t type = cb_hdf5_text_type(), set = put(file, v->base, path, type, rank, dims, type, v->words);
    H5Tclose(type);
    return set;
  }
  if (v->numbers) return put(file, v->base, path, H5T_IEEE_F64LE, rank, dims, H5T_NATIVE_DOUBLE, v->numbers);
  if (v->integers) return put(file, v->base, path, H5T_STD_I64LE, rank, dims, H5T_NATIVE_INT64, v->integers);
  hsize_t count = 1;
  for (int d = 0; d < rank; d++) count *= dims[d];
  int64_t *index = malloc((count ? count : 1) * sizeof *index);
  if (!index) return H5I_INVALID_HID;
  for (hsize_t i = 0; i < count; i++) index[i] = (int64_t)i;
  const hid_t set = put(file, v->base, path, H5T_STD_I64LE, rank, dims, H5T_NATIVE_INT64, index);
  free(index);
  return set;
}

bool cb_hdf5_describe(hid_t set, const char *units, const char *doc) {
  return (!units || cb_hdf5_put_text(set, "units", units)) && (!doc || cb_hdf5_put_text(set, "long_name", doc));
}

bool cb_hdf5_make_scale(hid_t set, const char *name, const char *units, const char *doc) {
  const bool good = set >= 0 && H5DSset_scale(set, name) >= 0 && cb_hdf5_describe(set, units, doc);
  if (set >= 0) H5Dclose(set);
  return good;
}

bool cb_hdf5_put_scale(hid_t file, const char *name, size_t count, const cb_hdf5_values *values, const char *units,
                       const char *doc) {
  return cb_hdf5_make_scale(cb_hdf5_put_values(file, name, 1, &(hsize_t){count}, values), name, units, doc);
}

bool cb_hdf5_attach(hid_t file, hid_t set, const char *dimension, unsigned index) {
  const hid_t scale = H5Dopen2(file, dimension, H5P_DEFAULT);
  const bool good = scale >= 0 && H5DSattach_scale(set, scale, index) >= 0;
  if (scale >= 0) H5Dclose(scale);
  return good;
}
