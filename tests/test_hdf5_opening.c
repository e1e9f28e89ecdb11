/* What HDF5 reads of a file while it opens it, before anything else of it can be looked at: refused where it leads to no
 * place, for which HDF5 reads from where it has no memory. */
#include "hdf5_file.h"

#include "io/record_superblock.h"

enum { MOST = 1 << 17, SUPERBLOCK = 44 };
static unsigned char bytes[MOST];
static size_t n_bytes;

static cb_status read_x(void) {
  cb_hdf5_array x;
  const cb_status status = read_row("x", &x);
  if (!status) assert_true(x.value[1] == 2.5), free(x.value);
  return status;
}

/* x, and so much beside it in the root that its header goes on elsewhere. */
static void make_with(int notes, hid_t how, hid_t access) {
  char name[16];
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, how, access), one = H5Screate(H5S_SCALAR);
  put(file, "x", H5T_IEEE_F64LE, 1, (const hsize_t[]){2}, H5T_NATIVE_DOUBLE, (const double[]){1, 2.5});
  for (int i = 0; i < notes; i++) {
    snprintf(name, sizeof name, "note %d", i);
    H5Aclose(H5Acreate2(file, name, H5T_STD_I64LE, one, H5P_DEFAULT, H5P_DEFAULT));
  }
  H5Sclose(one), H5Fclose(file);
  FILE *f = fopen(path, "rb");
  n_bytes = fread(bytes, 1, MOST, f);
  fclose(f);
}

static void make(hid_t how, hid_t access) { make_with(6, how, access); }

/* With a header of the superblock's own, for a tree of other widths than usual. */
static void make_new(void) {
  const hid_t how = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_sym_k(how, 20, 5);
  make(how, access);
  H5Pclose(how), H5Pclose(access);
}

static uint64_t get(size_t at) { return cb_little_endian(bytes + at, 8); }
static void set(size_t at, uint64_t value) { cb_put_little_endian(bytes + at, 8, value); }

static void check_refused(const char *why) {
  char expected[300];
  snprintf(expected, sizeof expected, "%s: cannot read: %s", path, why);
  write_bytes(bytes, n_bytes);
  check_error(read_x(), CB_ERROR_FILE, expected);
}

/* The first message of that type in a block of messages. */
static size_t message_of(size_t first, size_t end, int type, bool old) {
  for (size_t at = first; at + 8 <= end;) {
    const size_t head = old ? 8 : 4, size = (size_t)cb_little_endian(bytes + at + (old ? 2 : 1), 2);
    if (bytes[at] == type) return at;
    at += head + size;
  }
  fail_msg("no message %d", type);
  return 0;
}

static const uint64_t nowhere[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 96, INT64_MAX, MOST};
enum { NOWHERE = sizeof nowhere / sizeof *nowhere };

static void what_is_whole_is_read(void **unused) {
  (void)unused;
  const hid_t how = H5Pcreate(H5P_FILE_CREATE);
  make_new();
  check_ok(read_x());
  make_with(1500, H5P_DEFAULT, H5P_DEFAULT);
  check_ok(read_x());
  for (hsize_t begin = 0; begin <= 2048; begin = begin ? 2 * begin : 512) { /* bytes of someone else's before it */
    H5Pset_userblock(how, begin);
    make(how, H5P_DEFAULT);
    check_ok(read_x());
  }
  H5Pclose(how);
}

/* Addresses count from the superblock. */
static void an_old_root_that_leads_nowhere_is_refused(void **unused) {
  (void)unused;
  const hid_t how = H5Pcreate(H5P_FILE_CREATE);
  for (size_t begin = 0; begin <= 2048; begin = begin ? 2 * begin : 512)
    for (int i = 0; i < NOWHERE; i++) {
      H5Pset_userblock(how, begin);
      make(how, H5P_DEFAULT);
      const size_t root = begin + (size_t)get(begin + 64), first = root + 16;
      set(begin + 64, nowhere[i]);
      check_refused("has parts beyond the end of the file");
      make(how, H5P_DEFAULT);
      const size_t on = message_of(first, first + (size_t)cb_little_endian(bytes + root + 8, 4), 16, true) + 8;
      set(on, nowhere[i]);
      check_refused("has a header beyond the end of the file");
      make(how, H5P_DEFAULT);
      set(on + 8, nowhere[i]);
      check_refused("has a header beyond the end of the file");
    }
  H5Pclose(how);
}

static void mend(size_t at, size_t size) { cb_put_little_endian(bytes + at + size, 4, cb_lookup3(bytes + at, size)); }

static void a_header_of_the_superblock_that_leads_nowhere_is_refused(void **unused) {
  (void)unused;
  for (int i = 0; i < NOWHERE; i++) {
    make_new();
    assert_in_range(get(20), 1, n_bytes);
    const bool none = nowhere[i] == UINT64_MAX; /* of its own: there is none, which it may say */
    set(20, nowhere[i]);
    mend(0, SUPERBLOCK);
    write_bytes(bytes, n_bytes);
    if (none)
      check_ok(read_x());
    else
      check_refused("has parts beyond the end of the file");
    make_new();
    set(36, nowhere[i]);
    mend(0, SUPERBLOCK);
    check_refused("has parts beyond the end of the file");
  }
}

static size_t end_of_first_block(void) {
  const size_t root = (size_t)get(64);
  return root + 16 + (size_t)cb_little_endian(bytes + root + 8, 4);
}

/* It may lead to lists of free space, which HDF5 reads of a file that is written alone. */
static void a_header_of_the_superblock_is_not_written(void **unused) {
  (void)unused;
  char expected[300];
  make_new();
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  assert_true(cb_hdf5_open(path, H5F_ACC_RDWR) < 0);
  snprintf(expected, sizeof expected, "%s: cannot open: has a header of its own, which records do not have", path);
  check_error(cb_hdf5_fail(path, "open"), CB_ERROR_FILE, expected);
  cb_hdf5_quiet_end(quiet);
}

/* Blocks that lead to one another and back to the first would be read for ever, and no header needs so many. */
static void a_root_that_goes_on_and_on_is_refused(void **unused) {
  (void)unused;
  enum { BLOCK = 24, MANY = 256 };
  for (int loop = 0; loop < 2; loop++) {
    make(H5P_DEFAULT, H5P_DEFAULT);
    const size_t blocks = loop ? 3 : MANY, begin = (n_bytes + 7) / 8 * 8;
    size_t on = message_of((size_t)get(64) + 16, end_of_first_block(), 16, true);
    memset(bytes + n_bytes, 0, MOST - n_bytes);
    for (size_t b = 0; b <= blocks; on = begin + BLOCK * b++) {
      bytes[on] = b < blocks || loop ? 16 : 0, bytes[on + 2] = 16;
      set(on + 8, begin + BLOCK * (b % blocks));
      set(on + 16, BLOCK);
    }
    n_bytes = begin + BLOCK * blocks;
    check_refused("has a header of too many or too long parts");
  }
}

static void a_message_that_leads_on_with_too_few_bytes_is_refused(void **unused) {
  (void)unused;
  for (int size = 0; size < 16; size += 8) {
    make(H5P_DEFAULT, H5P_DEFAULT);
    bytes[message_of((size_t)get(64) + 16, end_of_first_block(), 16, true) + 2] = (unsigned char)size;
    check_refused("has a message that is too short");
  }
}

/* Which HDF5 takes for what it has read, or asked for, whatever they say. */
static void an_image_of_a_cache_or_a_table_is_refused(void **unused) {
  (void)unused;
  make_new();
  const size_t own = (size_t)get(20);
  assert_memory_equal(bytes + own, "OHDR\2", 5);
  const size_t place = 6 + (bytes[own + 5] & 32 ? 16 : 0) + (bytes[own + 5] & 16 ? 4 : 0),
               width = (size_t)1 << (bytes[own + 5] & 3), first = own + place + width,
               size = (size_t)cb_little_endian(bytes + own + place, (int)width);
  const size_t message = message_of(first, first + size, 19, false);
  bytes[message] = 24;
  mend(own, first + size - own);
  check_refused("has an image of a cache, which is not read");
  bytes[message] = 15;
  mend(own, first + size - own);
  check_refused("has a table of what headers share, which is not read");
}

static void addresses_of_another_width_are_refused(void **unused) {
  (void)unused;
  static const size_t width[][2] = {{4, 4}, {4, 8}, {8, 4}};
  for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
    const hid_t how = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_sizes(how, width[i][0], width[i][1]);
    make(how, H5P_DEFAULT);
    H5Pclose(how);
    check_refused("has addresses or lengths of other than 8 bytes");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_whole_is_read),
      cmocka_unit_test(an_old_root_that_leads_nowhere_is_refused),
      cmocka_unit_test(a_header_of_the_superblock_that_leads_nowhere_is_refused),
      cmocka_unit_test(a_header_of_the_superblock_is_not_written),
      cmocka_unit_test(a_root_that_goes_on_and_on_is_refused),
      cmocka_unit_test(a_message_that_leads_on_with_too_few_bytes_is_refused),
      cmocka_unit_test(an_image_of_a_cache_or_a_table_is_refused),
      cmocka_unit_test(addresses_of_another_width_are_refused),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
