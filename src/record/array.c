/* Datasets of numbers. See hdf5_array.h. */
#include "core/failure.h"
#include "core/file.h"
#include "record/array.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = INT_MAX / 3, SPARSEST = 4096 }; /* along one dimension; numbers for one that was written */

cb_status cb_hdf5_source_open(const char *path, cb_hdf5_source *out) {
  const char *why;
  const int fd = cb_open_regular(path, 0, &why); /* HDF5 would wait for a pipe */
  if (fd < 0) return cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "%s: cannot read: %s", path, why);
  close(fd);
  cb_hdf5_source s = {path, H5I_INVALID_HID, cb_hdf5_quiet_begin()};
  s.file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  if (s.file < 0) {
    const cb_status status = cb_hdf5_fail(path, "read");
    cb_hdf5_quiet_end(s.quiet);
    return status;
  }
  *out = s;
  return CB_OK;
}

cb_status cb_hdf5_source_close(cb_hdf5_source *s, cb_status status) {
  cb_hdf5_close_read(s->file, s->path);
  status = cb_hdf5_unread(s->path, status);
  cb_hdf5_quiet_end(s->quiet);
  return status;
}

static void put_shape(int rank, const hsize_t *dims, char *text, size_t size) {
  int n = snprintf(text, size, "[");
  for (int i = 0; i < rank && n < (int)size - 28; i++)
    n += snprintf(text + n, size - (size_t)n, "%s%llu", i ? ", " : "", (unsigned long long)dims[i]);
  snprintf(text + n, size - (size_t)n, "]");
}

/* How many of count numbers the file has: what was never written is not a reason to take memory for it. */
static size_t count_written(hid_t dataset, hid_t create, int rank, size_t count) {
  hsize_t chunk[H5S_MAX_RANK], chunks = 0;
  if (!H5Dget_storage_size(dataset)) return 0;
  if (H5Pget_layout(create) != H5D_CHUNKED) return count;
  const hid_t space = H5Dget_space(dataset);
  if (H5Pget_chunk(create, rank, chunk) != rank || H5Dget_num_chunks(dataset, space, &chunks) < 0) chunks = 0;
  H5Sclose(space);
  for (int i = 0; i < rank && chunks; i++) chunks *= chunk[i];
  return chunks;
}

/* Once each: what deflate packs twice may be a million times as long. */
const char *cb_hdf5_foreign_filter(hid_t create) {
  const int count = H5Pget_nfilters(create);
  unsigned met = 0, flags, config;
  for (int i = 0; i < count; i++) {
    size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
    if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_FLETCHER32)
      return "passes through a filter other than shuffle, deflate and fletcher32";
    if (met & 1u << filter) return "passes through the same filter twice";
    met |= 1u << filter;
  }
  return NULL;
}

/* Type and shape of a dataset. */
static cb_status check(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected, hid_t dataset,
                       hid_t create, cb_hdf5_array *out) {
  const char *elsewhere = cb_hdf5_elsewhere(create);
  if (elsewhere)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' %s, expected numbers of its own", s->path, name,
                          elsewhere);
  const char *filter = cb_hdf5_foreign_filter(create);
  if (filter) return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' %s", s->path, name, filter);
  hsize_t dims[H5S_MAX_RANK] = {0};
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const H5T_class_t class = H5Tget_class(type);
  out->single = class == H5T_FLOAT && H5Tget_size(type) < sizeof(double);
  out->rank = H5Sget_simple_extent_dims(space, dims, NULL);
  const bool sound = (class != H5T_FLOAT && class != H5T_INTEGER) || cb_hdf5_is_number(type);
  H5Sclose(space);
  H5Tclose(type);
  put_shape(out->rank, dims, out->shape, sizeof out->shape);
  if (expected->class == H5T_NO_CLASS ? class != H5T_FLOAT && class != H5T_INTEGER : class != expected->class)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' is not of %s, expected %s", s->path, name,
                          expected->class == H5T_FLOAT     ? "floating-point numbers"
                          : expected->class == H5T_INTEGER ? "integers"
                                                           : "numbers",
                          expected->words);
  if (!sound)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' has numbers of a kind that cannot be read", s->path,
                          name);
  if (out->rank < expected->least || out->rank > expected->most ||
      (expected->last && dims[out->rank - 1] != expected->last))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' has the shape %s, expected %s", s->path, name,
                          out->shape, expected->words);
  out->count = 1;
  for (int i = 0; i < out->rank; i++) {
    if (dims[i] < 1 || dims[i] > MOST)
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' has the shape %s, expected from 1 to %d each",
                            s->path, name, out->shape, MOST);
    out->dims[i] = (int)dims[i];
    out->count = out->count > SIZE_MAX / 16 / dims[i] ? SIZE_MAX / 16 : out->count * dims[i];
  }
  const size_t written = count_written(dataset, create, out->rank, out->count);
  if (!written)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' of shape %s holds no numbers", s->path, name,
                          out->shape);
  if (out->count / SPARSEST > written)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' of shape %s holds %zu numbers only", s->path, name,
                          out->shape, written);
  return CB_OK;
}

static cb_status read_open(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected, hid_t dataset,
                           cb_hdf5_array *out) {
  cb_hdf5_array a;
  const hid_t create = H5Dget_create_plist(dataset);
  if (create < 0) return cb_hdf5_fail(s->path, "read '%s'", name);
  const cb_status status = check(s, name, expected, dataset, create, &a);
  H5Pclose(create);
  if (status) return status;
  a.value = malloc(a.count * sizeof *a.value);
  if (!a.value) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for the %zu numbers of '%s'", s->path, a.count, name);
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.value) < 0) {
    free(a.value);
    return cb_hdf5_fail(s->path, "read '%s'", name);
  }
  *out = a;
  return CB_OK;
}

/* Called where a path leads to another file, which is not opened. */
static herr_t refuse_link(const char *file, const char *group, const char *other, const char *object, unsigned *flags,
                          hid_t access, void *met) {
  (void)file, (void)group, (void)other, (void)object, (void)flags, (void)access;
  *(bool *)met = true;
  return -1;
}

static cb_status read_named(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected,
                            cb_hdf5_array *out) {
  bool met = false;
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_elink_cb(access, refuse_link, &met);
  const bool there = H5Lexists(s->file, name, access) > 0;
  const hid_t dataset = there ? H5Dopen2(s->file, name, access) : H5I_INVALID_HID;
  H5Pclose(access);
  if (met)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: '%s' is a link to another file, expected %s here", s->path, name,
                          expected->words);
  if (!there)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: no dataset '%s', expected %s", s->path, name, expected->words);
  if (dataset < 0) return cb_hdf5_fail(s->path, "read '%s'", name);
  const cb_status status = read_open(s, name, expected, dataset, out);
  H5Dclose(dataset);
  return status;
}

cb_status cb_hdf5_read_array(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected,
                             cb_hdf5_array *out) {
  return cb_hdf5_unread(s->path, read_named(s, name, expected, out)); /* one that is read is read whole */
}
