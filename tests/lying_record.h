/* A whole record, and a copy of it that HDF5's own functions make into what no record is. */
#ifndef CB_TESTS_LYING_RECORD_H
#define CB_TESTS_LYING_RECORD_H

#include "record_sample.h"

#include "io/record_superblock.h"

#include <hdf5.h>

static char *whole, *lying, *out;

static inline int lying_make(void **state) {
  const int failed = sample_make_folder(state);
  whole = sample_path("whole.h5"), lying = sample_path("lying.h5"), out = sample_path("out");
  sample_record(whole, 100, 20, true, NULL);
  return failed;
}

static inline int lying_remove(void **state) {
  free(whole), free(lying), free(out);
  return sample_remove_folder(state);
}

static inline hid_t open_copy(void) {
  sample_copy(whole, lying);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  hid_t file = H5Fopen(lying, H5F_ACC_RDWR, access);
  H5Pclose(access);
  assert_true(file >= 0);
  return file;
}

/* Closed, or as a writer leaves it that is killed. */
static inline void leave(hid_t file, bool killed) {
  if (killed) {
    assert_true(H5Fstart_swmr_write(file) >= 0 && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    sample_copy(lying, out);
  }
  assert_true(H5Fclose(file) >= 0);
  if (killed) assert_int_equal(rename(out, lying), 0);
}

/* A dataset in place of another; chunk NULL: laid out so. Nothing is written to it. */
static inline void put_dataset(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims,
                               const hsize_t *most, const hsize_t *chunk, H5D_layout_t layout) {
  H5Ldelete(file, name, H5P_DEFAULT);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, most);
  H5Pset_layout(create, layout);
  if (chunk) H5Pset_chunk(create, rank, chunk);
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(create);
}

static inline void lying_write(const unsigned char *bytes, size_t size) {
  FILE *f = fopen(lying, "wb");
  assert_int_equal(fwrite(bytes, 1, size, f), size);
  fclose(f);
}

/* A number in a part of HDF5's own that begins at `part`; its checksum, which is somewhere behind, is right again. */
static inline void lying_put(unsigned char *bytes, size_t size, size_t part, size_t place, int count, uint64_t value) {
  size_t end = place + (size_t)count;
  while (end + 4 < size && cb_lookup3(bytes + part, end - part) != cb_little_endian(bytes + end, 4)) end++;
  assert_true(end + 4 < size);
  cb_put_little_endian(bytes + place, count, value);
  cb_put_little_endian(bytes + end, 4, cb_lookup3(bytes + part, end - part));
}

static inline cb_status resume_lying(void) {
  cb_record_layout layout = sample_layout();
  sample_state state;
  cb_record *record = NULL;
  sample_set_state(&state, 0);
  cb_status status = cb_record_open_for_resume(lying, &layout, NULL, state.blobs, SAMPLE_BLOBS, NULL, &record);
  if (!status) cb_record_free(record);
  return status;
}

#endif
