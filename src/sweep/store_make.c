/* A new store: every dataset in its place, with missing values. */
#include "record/output.h"
#include "sweep/store_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Room on the disk is taken at once, but for words, which few members have: there the file has holes. missing NULL:
 * 0. */
static bool put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims, bool hole, hid_t memory,
                const void *missing) {
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, NULL);
  H5Pset_obj_track_times(create, false);
  H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(create, hole ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC);
  if (missing) H5Pset_fill_value(create, memory, missing);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(create);
  return set >= 0 && H5Dclose(set) >= 0;
}

static bool put_members(hid_t file, int64_t first, size_t capacity) {
  bool good = true;
  enum { PIECE = 1 << 16 };
  int64_t *number = malloc(PIECE * sizeof *number);
  const hid_t set = H5Dopen2(file, "member", H5P_DEFAULT), space = H5Dget_space(set);
  for (hsize_t at = 0; at < capacity && good && number; at += PIECE) {
    const hsize_t n = capacity - at < PIECE ? capacity - at : PIECE;
    for (hsize_t i = 0; i < n; i++) number[i] = first + (int64_t)(at + i);
    const hid_t memory = H5Screate_simple(1, &n, NULL);
    good = H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &n, NULL) >= 0 &&
           H5Dwrite(set, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, number) >= 0;
    H5Sclose(memory);
  }
  H5Sclose(space);
  H5Dclose(set);
  free(number);
  return good && number;
}

static bool build(hid_t file, const cb_store_layout *layout, size_t capacity, int64_t first) {
  static const int64_t no_member = -1;
  static const double nothing = NAN;
  hsize_t dims[1 + CB_STORE_RANK] = {capacity, CB_STORE_WORDS};
  bool good = cb_hdf5_put_text(file, "title", layout->title) && cb_hdf5_put_text(file, "sweep_digest", layout->digest);
  for (int i = 0; i < CB_STORE_OWN && good; i++) {
    const hid_t type = cb_store_own_type(i);
    const bool text = cb_store_own_is_text(i);
    good = put(file, cb_store_owns[i].name, type, text ? 2 : 1, dims, text,
               i == CB_STORE_MEMBER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE,
               i == CB_STORE_MEMBER    ? (const void *)&no_member
               : i == CB_STORE_SECONDS ? &nothing
                                       : NULL);
    H5Tclose(type);
  }
  for (size_t f = 0; f < layout->n_fields && good; f++) {
    const cb_store_field *field = &layout->fields[f];
    for (int d = 0; d < field->rank; d++) dims[d + 1] = field->shape[d];
    good = put(file, field->name, cb_hdf5_file_type(field->type), field->rank + 1, dims, false, H5T_NATIVE_DOUBLE,
               field->type == CB_FIELD_DOUBLE ? &nothing : NULL);
  }
  return good && (first < 0 || put_members(file, first, capacity));
}

static cb_status check_room(const char *path, double bytes) {
  char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
  struct statvfs disk;
  if (slash) *slash = 0;
  const bool known = folder && statvfs(slash ? folder : ".", &disk) == 0;
  free(folder);
  const double room = known ? (double)disk.f_bavail * (double)disk.f_frsize : INFINITY;
  if (bytes <= room) return CB_OK;
  return cb_fail(CB_ERROR_FILE, "%s: no room: the results take %.6g MB, and %.6g MB are free", path, bytes / 1e6,
                 room / 1e6);
}

cb_status cb_store_make(const char *path, const cb_store_layout *layout, size_t capacity, int64_t first) {
  cb_status status = check_room(path, (double)(cb_store_bytes(layout) - 2 * CB_STORE_WORDS) * (double)capacity);
  if (status) return status;
  cb_output output;
  hid_t file;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  status = cb_output_open_hdf5(path, &output, &file);
  if (!status) {
    if (!build(file, layout, capacity, first)) status = cb_hdf5_fail(path, "create");
    status = cb_output_close_hdf5(&output, file, status);
  }
  cb_hdf5_quiet_end(quiet);
  return status;
}
