/* labels: medium
 * Chunks are looked at wherever HDF5 keeps where they are: in arrays up to blocks in pages, in trees new and old. One that
 * is said to be at 0, where the file says what it is, is found. */
#include "hdf5_lies.h"

static const char at_begin[] = "has chunks where none can be";

enum { MANY = 140000 }; /* some blocks of the array are in pages */

typedef struct shape {
  int rank; /* grows in so many directions */
  bool old; /* of the format of HDF5 1.6 */
  bool packed;
} shape;

/* Of n chunks in a row; only the last is there if `sparse`. */
static void make_chunks(shape s, hsize_t n, bool sparse) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t dims[] = {n, 1}, most[] = {H5S_UNLIMITED, H5S_UNLIMITED}, one[] = {1, 1}, last[] = {n - 1, 0};
  const double value = 1;
  if (!s.old) H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_chunk(how, s.rank, one);
  if (s.packed) H5Pset_deflate(how, 1);
  H5Pset_alloc_time(how, sparse ? H5D_ALLOC_TIME_INCR : H5D_ALLOC_TIME_EARLY);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), space = H5Screate_simple(s.rank, dims, most),
              set = H5Dcreate2(file, "g", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  assert_true(set >= 0);
  if (sparse) assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, 0, last, sizeof value, &value) >= 0);
  H5Dclose(set), H5Sclose(space), H5Fclose(file), H5Pclose(how), H5Pclose(access);
}

static uint64_t address_of(hsize_t n) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "g", H5P_DEFAULT),
              space = H5Dget_space(set);
  hsize_t at[2], size;
  haddr_t address;
  unsigned mask;
  assert_true(H5Dget_chunk_info(set, space, n, at, &mask, &address, &size) >= 0);
  H5Sclose(space), H5Dclose(set), H5Fclose(file);
  return address;
}

/* Where the file has that number next. */
static size_t next_place(size_t from, uint64_t value) {
  while (from + 8 <= n_bytes && cb_little_endian(bytes + from, 8) != value) from++;
  return from;
}

static const char *fault_with(size_t place, uint64_t value) {
  cb_put_little_endian(bytes + place, 8, value);
  write_bytes(bytes, n_bytes);
  return fault();
}

/* The n'th chunk is said to be at 0, and farther than half of its address has room for. Its address may be a number of
 * something else too. */
static void check_chunk(shape s, hsize_t n, hsize_t all) {
  const uint64_t address = address_of(n);
  const char *found = NULL;
  for (size_t place = 8; !found; place++) {
    place = next_place(place, address);
    if (place + 8 > n_bytes)
      fail_msg("chunk %d of %d, rank %d, old %d, packed %d: sound", (int)n, (int)all, s.rank, s.old, s.packed);
    found = fault_with(place, 0);
    if (found && strcmp(found, at_begin) != 0) found = NULL;
    if (found) assert_null(fault_with(place, (uint64_t)1 << 32));
    fault_with(place, address);
  }
}

static void chunks_at_the_begin_are_found(void **unused) {
  (void)unused;
  static const shape shapes[] = {{1, false, false}, {1, false, true}, {2, false, false},
                                 {2, false, true},  {1, true, false}, {1, true, true}};
  static const hsize_t count[] = {1, 4, 5, 20, 21, 244, 245, 3000};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
      make_chunks(shapes[k], count[i], false);
      read_all();
      assert_null(fault());
      check_chunk(shapes[k], 0, count[i]);
      check_chunk(shapes[k], count[i] / 2, count[i]);
      check_chunk(shapes[k], count[i] - 1, count[i]);
    }
}

static void chunks_in_pages_are_found(void **unused) {
  (void)unused;
  const shape s = {1, false, false};
  make_chunks(s, MANY, false);
  read_all();
  assert_null(fault());
  for (hsize_t n = MANY - 9000; n < MANY; n += 1000) check_chunk(s, n, MANY);
  check_chunk(s, MANY - 1, MANY);
}

/* The file has no room for as many as there would be with the others. */
static void make_last(void) {
  make_chunks((shape){1, false, false}, MANY, true);
  read_all();
  const size_t header = part("EAHD", 0);
  for (size_t i = 0; i < 8; i++) lie(header, 44 + i, 0);
}

/* Of 20 chunks in a row or in rows of 4, which an array of as many says where they are, and an array of fewer does not. */
static void fixed_arrays_have_all_chunks(void **unused) {
  (void)unused;
  const hsize_t now[] = {2, 4}, most[2][2] = {{20}, {5, 4}}, one[] = {1, 1};
  for (int rank = 1; rank <= 2; rank++) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_chunk(how, rank, one);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), space = H5Screate_simple(rank, now, most[rank - 1]),
                set = H5Dcreate2(file, "g", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    const double value[8] = {1};
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(set), H5Sclose(space), H5Fclose(file), H5Pclose(how), H5Pclose(access);
    read_all();
    assert_null(fault());
    lie(part("FAHD", 0), 8, 19);
    assert_string_equal(fault(), "has more chunks than its index");
  }
}

/* What lies there is not of the array. */
static void pages_that_are_not_there_are_not_looked_at(void **unused) {
  (void)unused;
  make_last();
  const size_t block = part("EADB", 0), page = 1024 * 8 + 4;
  assert_true(block > 0);
  memset(bytes + block + 22 + page, 0, page); /* the last chunk is in the first */
  write_bytes(bytes, n_bytes);
  assert_null(fault());
  const size_t group = part("EASB", 0);
  memset(bytes + group + 18, 255, 64);
  write_bytes(bytes, n_bytes);
  assert_string_equal(fault(), at_begin);
}

/* Every block of a group is the same, and all its pages are there: more elements than the file has room for. */
static void blocks_that_are_one_are_found(void **unused) {
  (void)unused;
  enum { BLOCKS = 64, BITS = BLOCKS };
  make_last();
  const size_t group = part("EASB", 0), block = part("EADB", 0);
  assert_true(group && block);
  memset(bytes + block + 22, 255, 2 * (1024 * 8 + 4));
  memset(bytes + group + 18, 255, BITS);
  for (size_t b = 0; b < BLOCKS; b++) cb_put_little_endian(bytes + group + 18 + BITS + 8 * b, 8, block);
  write_bytes(bytes, n_bytes);
  assert_string_equal(fault(), "has an index that leads to itself");
}

static void headers_that_lie_are_found(void **unused) {
  (void)unused;
  static const struct {
    size_t place;
    unsigned char byte;
    const char *why;
  } lies[] = {{6, 7, "has an index of another kind"},
              {6, 25, "has an index of another kind"},
              {7, 31, "has an index of another kind"},
              {11, 9, "has an index of another kind"},
              {49, 1, "has more chunks than the file has room for"},
              {66, 1, "has parts beyond the end of the file"}};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    make_chunks((shape){1, false, false}, 30, false);
    read_all();
    lie(part("EAHD", 0), lies[i].place, lies[i].byte);
    assert_string_equal(fault(), lies[i].why);
  }
}

static void the_only_chunk_is_looked_at(void **unused) {
  (void)unused;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t dims[] = {7};
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_chunk(how, 1, dims), H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), space = H5Screate_simple(1, dims, NULL);
  H5Dclose(H5Dcreate2(file, "g", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT));
  H5Sclose(space), H5Fclose(file), H5Pclose(how), H5Pclose(access);
  read_all();
  assert_null(fault());
  const size_t header = part("OHDR\2", 1), place = next_place(header, address_of(0));
  for (size_t i = 0; i < 8; i++) lie(header, place - header + i, 0);
  assert_string_equal(fault(), at_begin);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_at_the_begin_are_found),
                                     cmocka_unit_test(fixed_arrays_have_all_chunks),
                                     cmocka_unit_test(chunks_in_pages_are_found),
                                     cmocka_unit_test(pages_that_are_not_there_are_not_looked_at),
                                     cmocka_unit_test(blocks_that_are_one_are_found),
                                     cmocka_unit_test(headers_that_lie_are_found),
                                     cmocka_unit_test(the_only_chunk_is_looked_at)};
  return cmocka_run_group_tests(tests, make_path, end);
}
