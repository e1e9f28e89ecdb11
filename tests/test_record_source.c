/* labels: short
 * What is read beside HDF5, by the page, is what is in the file: after HDF5 wrote there, and after others did. */
#include "hdf5_lies.h"

#include "io/record_driver.h"

static void what_hdf5_writes_is_read(void **unused) {
  (void)unused;
  const double value[2] = {1, 2};
  double read = 0;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  make(3, 0, false, false);
  const hid_t file = cb_hdf5_open(path, H5F_ACC_RDWR), space = H5Screate(H5S_SCALAR),
              set = H5Dcreate2(file, "a", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cb_source s = {0};
  for (int k = 0; k < 2; k++) {
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value[k]) >= 0);
    assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    if (k == 0) s = cb_source_of(file);
    assert_true(cb_source_read(s, H5Dget_offset(set), &read, sizeof read));
    assert_memory_equal(&read, &value[k], sizeof read);
  }
  H5Sclose(space), H5Dclose(set), H5Fclose(file);
  cb_hdf5_quiet_end(quiet);
}

static void what_others_write_is_looked_at(void **unused) {
  (void)unused;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  make(3, 0, false, false);
  read_all();
  const hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY), group = H5Gopen2(file, "g", H5P_DEFAULT);
  const cb_source s = cb_source_of(file);
  H5O_info_t info;
  assert_true(H5Oget_info2(group, &info, H5O_INFO_BASIC) >= 0);
  assert_null(cb_structure_fault(s, n_bytes, info.addr));
  lie(part("BTHD", 0), 24, 255);
  assert_non_null(cb_structure_fault(s, n_bytes, info.addr));
  H5Gclose(group), H5Fclose(file);
  cb_hdf5_quiet_end(quiet);
}

static void what_is_not_in_the_file_is_not_read(void **unused) {
  (void)unused;
  unsigned char some[5000];
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  make(700, 0, false, false);
  read_all();
  const hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  const cb_source s = cb_source_of(file);
  for (size_t size = 1; size <= sizeof some; size += size < 5 ? 1 : size / 2) /* less than a page, and more */
    for (size_t at = n_bytes - 6000; at < n_bytes + 10; at += 7) {
      const bool there = at + size <= n_bytes;
      assert_int_equal(cb_source_read(s, at, some, size), there);
      if (there) assert_memory_equal(some, bytes + at, size);
    }
  H5Fclose(file);
  cb_hdf5_quiet_end(quiet);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_hdf5_writes_is_read),
                                     cmocka_unit_test(what_others_write_is_looked_at),
                                     cmocka_unit_test(what_is_not_in_the_file_is_not_read)};
  return cmocka_run_group_tests(tests, make_path, end);
}
