/* What fuzz targets of HDF5 files share: a folder in memory, files that are made in it once, and one of them changed as
 * the input says (hdf5_edits.h). */
#ifndef CB_TESTS_HDF5_TARGET_H
#define CB_TESTS_HDF5_TARGET_H

#include "hdf5_edits.h"

#include "record/hdf5.h"
#include <curvebody/status.h>
#include <hdf5.h>
#include <stdarg.h>
#include <stdbool.h>
#include <unistd.h>

/* HDF5 leaks what it had read of a file that it then refuses, and asks for as much memory as a file says. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

static char target_folder[64], target_path[100];
static edited_file target_file[8];
static int target_files;

static inline void demand(bool truth) {
  if (!truth) abort();
}

static inline void target_remove(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", target_folder);
  if (system(command)) _exit(2);
  for (int i = 0; i < target_files; i++) edited_free(&target_file[i]);
}

static inline void target_begin(void) {
  cb_hdf5_rests_at_exit();
  snprintf(target_folder, sizeof target_folder, "%s/curvebody-fuzz-XXXXXX",
           access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
  if (!mkdtemp(target_folder)) exit(2);
  snprintf(target_path, sizeof target_path, "%s/r.h5", target_folder);
  atexit(target_remove);
}

/* A file of those that inputs change. */
static inline void target_add(const char *path) { target_file[target_files++] = edited_read(path); }

/* A file of its own each time: HDF5 may keep what it refused open, and locked. */
static inline void target_put(const char *to, const unsigned char *bytes, size_t size) {
  unlink(to);
  FILE *f = fopen(to, "wb");
  if (!f || fwrite(bytes, 1, size, f) != size) exit(2);
  fclose(f);
}

/* File `which` as the input says, at `to`. */
static inline void target_change(int which, const uint8_t *data, size_t size, const char *to) {
  unsigned char *bytes = malloc(target_file[which].size + MOST_ADDED);
  if (!bytes) exit(2);
  target_put(to, bytes, edited_make(&target_file[which], data, size, bytes));
  free(bytes);
}

/* An error has a text, and is of the input. */
static inline void check_status(cb_status status) {
  demand(status == CB_OK || (status < 0 && *cb_error_text()));
  demand(status == CB_OK || status == CB_ERROR_INPUT || status == CB_ERROR_FILE || status == CB_ERROR_MEMORY ||
         status == CB_ERROR_ARGUMENT);
}

/* A file that was not changed is read. */
static inline void check_unchanged(cb_status status, size_t size) {
  if (size < 1 + EDIT && status) fprintf(stderr, "refused, as it was made: %s\n", cb_error_text()), abort();
  check_status(status);
}

/* ---- Making files */

/* New or old: of the format of HDF5 1.10, with a header of the superblock's own, or of 1.6. */
static inline hid_t target_create(bool old) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_FILE_CREATE);
  if (!old) {
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_sym_k(how, 20, 5);
    H5Pset_file_space_strategy(how, H5F_FSPACE_STRATEGY_FSM_AGGR, true, 1);
  }
  const hid_t file = H5Fcreate(target_path, H5F_ACC_TRUNC, how, access);
  H5Pclose(access), H5Pclose(how);
  if (file < 0) exit(2);
  return file;
}

/* count numbers, in chunks of one row if `chunk`, compressed then too. */
static inline void target_numbers(hid_t file, const char *name, hid_t stored, int rank, const hsize_t *dims, bool chunk,
                                  const double *values) {
  hsize_t one[H5S_MAX_RANK];
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, NULL);
  for (int d = 0; d < rank; d++) one[d] = d ? dims[d] : 1;
  if (chunk) H5Pset_chunk(create, rank, one), H5Pset_deflate(create, 1);
  const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, create, H5P_DEFAULT);
  if (set < 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) exit(2);
  H5Dclose(set), H5Sclose(space), H5Pclose(create);
}

static inline void target_attribute(hid_t file, const char *of, const char *name, hid_t type, hsize_t count,
                                    const void *values) {
  const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL),
              attribute = H5Acreate_by_name(file, of, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0 || H5Awrite(attribute, type, values) < 0) exit(2);
  H5Aclose(attribute), H5Sclose(space);
}

static inline void target_text(hid_t file, const char *name, const char *text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  target_attribute(file, ".", name, type, 1, &text);
  H5Tclose(type);
}

#endif
