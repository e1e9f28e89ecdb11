/* Writes HDF5 files directly with the HDF5 library, as other programs do. */
#pragma once

#include "check.h"
#include "record/arrays.h"

#include <hdf5.h>
#include <unistd.h>

static char path[] = "/tmp/curvebody-test-XXXXXX", text[600];

static inline int make_path(void **unused) {
  int file = mkstemp(path);
  return file < 0 || close(file);
}
static inline int remove_path(void **unused) { return unlink(path); }

static inline hid_t create(void) { return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

/* Creates a dataset. If `data` is NULL, no numbers are written to it. */
static inline void put(hid_t file, const char *name, hid_t stored, int rank, const hsize_t *dims, hid_t type,
                       const void *data) {
  hid_t space = H5Screate_simple(rank, dims, NULL),
        dataset = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(dataset >= 0);
  if (data) assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
}

/* Returns the message `PATH: error: ...` with the path of the file, in static memory. */
__attribute__((format(printf, 1, 2))) static inline const char *error_of_file(const char *format, ...) {
  va_list more;
  const int n = snprintf(text, sizeof text, "%s: error: ", path);
  va_start(more, format);
  vsnprintf(text + n, sizeof text - (size_t)n, format, more);
  va_end(more);
  return text;
}

/* Reads a row of numbers as the reader of scenarios does. The caller frees x->value. */
static inline cb_status read_row(const char *name, cb_hdf5_array *x) {
  cb_hdf5_source source;
  const cb_hdf5_expected expected = {H5T_FLOAT, 1, 1, 0, "[row]"};
  const cb_status status = cb_hdf5_source_open(path, &source);
  return status ? status : cb_hdf5_source_close(&source, cb_hdf5_read_array(&source, name, &expected, x));
}

/* Replaces the content of the file by n bytes. */
static inline void write_bytes(const void *bytes, size_t n) {
  FILE *file = fopen(path, "wb");
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

/* Truncates the file to 0, stride, 2 stride, ... bytes. Each time `read` must fail with CB_ERROR_FILE and name the
 * file. */
static inline void check_cut(size_t stride, cb_status (*read)(void)) {
  static unsigned char bytes[1 << 16];
  FILE *file = fopen(path, "rb");
  const size_t n = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_in_range(n, 1000, sizeof bytes - 1);
  snprintf(text, sizeof text, "%s: cannot read", path);
  for (size_t cut = 0; cut < n; cut += stride) {
    write_bytes(bytes, cut);
    check_error_begins(read(), CB_ERROR_FILE, text);
  }
}
