/* Files of the format of before HDF5 1.8, and headers of either, of which one number is wrong: refused by what is wrong,
 * where HDF5 would go round for ever, or read what is not its own. And chunks that hold fewer bytes than they say. */
#include "hdf5_file.h"

#include "io/record_superblock.h"

#include <zlib.h>

enum { ROWS = 300, MOST = 1 << 20 };
static unsigned char file_bytes[MOST];
static size_t file_size;

static cb_status read_x(void) {
  cb_hdf5_array x;
  const cb_status status = read_row("group/x", &x);
  if (status) return status;
  for (size_t i = 0; i < x.count; i++) assert_true(x.value[i] == (double)i);
  free(x.value);
  return CB_OK;
}

static void read_file(void) {
  FILE *f = fopen(path, "rb");
  file_size = fread(file_bytes, 1, MOST, f);
  fclose(f);
}

/* group/x in chunks of one number, so that their tree has two levels, and a soft link to it. */
static void make(int deflate, bool checksum, hsize_t chunk) {
  double value[ROWS];
  const hid_t file = create(), group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, (const hsize_t[]){ROWS}, NULL);
  for (int i = 0; i < ROWS; i++) value[i] = i;
  H5Pset_chunk(how, 1, &chunk);
  if (deflate) H5Pset_shuffle(how), H5Pset_deflate(how, (unsigned)deflate);
  if (checksum) H5Pset_fletcher32(how);
  const hid_t x = H5Dcreate2(group, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  assert_true(H5Dwrite(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
  const hid_t few = H5Screate_simple(1, (const hsize_t[]){3}, NULL),
              note = H5Acreate2(x, "note", H5T_STD_I64LE, few, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(note, H5T_NATIVE_INT64, (const int64_t[]){1, 2, 3}) >= 0);
  H5Aclose(note), H5Sclose(few);
  assert_true(H5Lcreate_soft("x", group, "y", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  H5Dclose(x), H5Sclose(space), H5Pclose(how), H5Gclose(group), H5Fclose(file);
  read_file();
}

/* Where the n'th part of that name begins. */
static size_t find(const char *name, int n) {
  for (size_t at = 0; at + 8 < file_size; at++)
    if (!memcmp(file_bytes + at, name, 4) && n-- == 0) return at;
  fail_msg("no %s", name);
  return 0;
}

/* A node of a tree of that kind and level. */
static size_t find_node(int kind, int level) {
  for (size_t at = 0; at + 8 < file_size; at++)
    if (!memcmp(file_bytes + at, "TREE", 4) && file_bytes[at + 4] == kind && file_bytes[at + 5] == level) return at;
  fail_msg("no node");
  return 0;
}

static void put_number(size_t at, int count, uint64_t number) { cb_put_little_endian(file_bytes + at, count, number); }

static uint64_t get_number(size_t at, int count) { return cb_little_endian(file_bytes + at, count); }

static void check_refused(const char *why) {
  write_bytes(file_bytes, file_size);
  check_error(read_x(), CB_ERROR_INPUT, error_of_file("damaged: dataset 'group/x' %s", why));
}

/* The message that a group begins with: where its tree and its heap lie. */
static size_t find_names_message(void) {
  const size_t heap = find("HEAP", 1);
  for (size_t at = 0; at + 16 < file_size; at++)
    if (get_number(at + 8, 8) == heap && get_number(at, 8) < file_size && get_number(at, 8) > 0) return at;
  fail_msg("no message");
  return 0;
}

static void what_is_whole_is_read(void **unused) {
  (void)unused;
  for (int deflate = 0; deflate < 2; deflate++)
    for (int checksum = 0; checksum < 2; checksum++)
      for (hsize_t chunk = 1; chunk <= ROWS; chunk = chunk * 7 + 3) {
        make(deflate, checksum, chunk);
        check_ok(read_x());
      }
}

/* Of the newer format, whose last chunk may be kept as it is. */
static void chunks_at_the_edge_may_be_plain(void **unused) {
  (void)unused;
  double value[ROWS];
  for (int i = 0; i < ROWS; i++) value[i] = i;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_CREATE),
              space = H5Screate_simple(1, (const hsize_t[]){ROWS}, NULL);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_chunk(how, 1, (const hsize_t[]){70}), H5Pset_deflate(how, 1);
  assert_true(H5Pset_chunk_opts(how, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access),
              group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              x = H5Dcreate2(group, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  assert_true(H5Dwrite(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
  H5Dclose(x), H5Gclose(group), H5Fclose(file), H5Sclose(space), H5Pclose(how), H5Pclose(access);
  check_ok(read_x());
}

static void a_group_without_a_tree_or_a_heap_is_refused(void **unused) {
  (void)unused;
  for (size_t which = 0; which < 2; which++) {
    make(0, false, 1);
    put_number(find_names_message() + 8 * which, 8, UINT64_MAX);
    check_refused("has parts beyond the end of the file");
  }
}

static void a_tree_that_leads_to_itself_is_refused(void **unused) {
  (void)unused;
  make(0, false, 1);
  const size_t chunks = find_node(1, 1);
  put_number(chunks + 24 + 24, 8, chunks);
  check_refused("has an index that leads to itself");
  make(0, false, 1);
  const size_t leaf = find_node(1, 0);
  file_bytes[leaf + 5] = 1;
  check_refused("has an index that leads to itself");
  make(0, false, 1);
  const size_t names = (size_t)get_number(find_names_message(), 8);
  file_bytes[names + 5] = 1;
  put_number(names + 24 + 8, 8, names);
  check_refused("has an index that leads to itself");
}

static void a_name_beyond_its_heap_is_refused(void **unused) {
  (void)unused;
  for (int link = 0; link < 2; link++) {
    make(0, false, 1);
    const size_t symbols = find("SNOD", 1);
    for (size_t i = 0; i < 2; i++) {
      const size_t entry = symbols + 8 + 40 * i;
      if (link && get_number(entry + 16, 4) == 2) put_number(entry + 24, 4, 1 << 20);
      if (!link) put_number(entry, 8, (uint64_t)1 << 40);
    }
    check_refused("has links without a name");
  }
  make(0, false, 1); /* not ended within it */
  const size_t heap = find("HEAP", 1);
  memset(file_bytes + get_number(heap + 24, 8), 'a', get_number(heap + 8, 8));
  put_number(heap + 16, 8, 1);
  check_refused("has links without a name");
}

static void a_heap_whose_free_parts_go_round_is_refused(void **unused) {
  (void)unused;
  make(0, false, 1);
  const size_t heap = find("HEAP", 1);
  put_number(heap + 16, 8, 16);
  put_number(get_number(heap + 24, 8) + 16, 8, 16);
  check_refused("has a heap whose free parts have no end");
}

static void an_attribute_that_says_more_than_it_has_is_refused(void **unused) {
  (void)unused;
  for (int which = 0; which < 3; which++) {
    make(0, false, 1);
    const size_t name = find("note", 0), space = name + 8 + 16;
    if (which == 0) file_bytes[name + 4] = 'x'; /* not ended */
    if (which == 1) put_number(name - 6, 2, 600);
    if (which == 2) assert_int_equal(get_number(space + 8, 8), 3), put_number(space + 8, 8, 4);
    check_refused("has an attribute that cannot be read");
  }
}

/* Where the n'th message of that kind begins, of a header of the older format; its own head is before it. */
static size_t find_message(int kind, int n, size_t *size) {
  for (size_t at = 8; at + 8 < file_size; at++) {
    *size = (size_t)get_number(at - 6, 2);
    if (get_number(at - 8, 2) == (uint64_t)kind && *size && *size < 64 && *size % 8 == 0 &&
        get_number(at - 3, 3) == 0 && file_bytes[at - 4] < 2 && n-- == 0)
      return at;
  }
  fail_msg("no message");
  return 0;
}

static void layouts_that_are_too_short_are_refused(void **unused) {
  (void)unused;
  size_t size;
  for (int version = 1; version <= 4; version++) {
    make(0, false, 1);
    size_t at = 0;
    for (int n = 0; !at; n++) { /* version 3, in chunks */
      const size_t found = find_message(8, n, &size);
      if (file_bytes[found] == 3 && file_bytes[found + 1] == 2) at = found;
    }
    file_bytes[at] = (unsigned char)version;
    if (version < 3) file_bytes[at + 1] = 9, file_bytes[at + 2] = 2; /* of nine extents */
    if (version == 3) file_bytes[at + 2] = 9;
    if (version == 4) file_bytes[at + 3] = 9, file_bytes[at + 4] = 8;
    check_refused("has a message that is too short");
  }
}

static void two_messages_of_a_kind_are_refused(void **unused) {
  (void)unused;
  size_t size;
  make(0, false, 1);
  for (int n = 0;; n++) {
    const size_t fill = find_message(5, n, &size);
    if (file_bytes[fill] != 2) continue; /* its version */
    put_number(fill - 8, 2, 1);
    break;
  }
  check_refused("has two messages of a kind");
}

/* The message of its extents: those that it has, then those that it can have. */
static void extents_beyond_the_most_or_the_message_are_refused(void **unused) {
  (void)unused;
  make(0, false, 1);
  for (size_t at = 0; at + 24 < file_size; at++)
    if (file_bytes[at] == 1 && file_bytes[at + 1] == 1 && get_number(at + 8, 8) == ROWS &&
        get_number(at + 16, 8) == ROWS) {
      put_number(at + 8, 8, ROWS + 1);
      check_refused("has extents that are more than the most that it says");
      put_number(at + 8, 8, ROWS);
      file_bytes[at + 1] = 9;
      check_refused("has a message that is too short");
      return;
    }
  fail_msg("no extents");
}

/* Of the newer format; the root has attributes, for which its header goes on elsewhere. */
static void make_new(void) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access),
              group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(group, "x", H5T_IEEE_F64LE, 1, (const hsize_t[]){ROWS}, H5T_NATIVE_DOUBLE, (const double[ROWS]){0});
  const hid_t few = H5Screate_simple(1, (const hsize_t[]){30}, NULL);
  for (int i = 0; i < 4; i++) {
    const char name[] = {(char)('a' + i), 0};
    H5Aclose(H5Acreate2(file, name, H5T_STD_I64LE, few, H5P_DEFAULT, H5P_DEFAULT));
  }
  H5Sclose(few), H5Gclose(group), H5Fclose(file), H5Pclose(access);
  read_file();
}

/* The message of a dataset's fill value, in a header of the newer format: two bytes that say that there is a value. */
static void a_fill_value_that_is_cut_off_is_refused(void **unused) {
  (void)unused;
  make_new();
  const size_t header = find("OHDR", 2);
  size_t at = header;
  while (memcmp(file_bytes + at, "\5\2\0", 3) != 0) at++; /* the message: kind, length */
  while (file_bytes[at + 4] != 3) at++;
  size_t end = header + 12; /* of the header: its checksum is behind it */
  while (cb_lookup3(file_bytes + header, end - header) != get_number(end, 4)) end++;
  file_bytes[at + 5] |= 32;
  put_number(end, 4, cb_lookup3(file_bytes + header, end - header));
  check_refused("has a message that is too short");
}

/* Which HDF5 takes for 4 GiB: 2^32 - 1 bytes, -1 in the versions before. */
static void a_fill_value_of_four_gigabytes_is_refused(void **unused) {
  (void)unused;
  make_new();
  const size_t header = find("OHDR", 2);
  size_t at = header;
  while (memcmp(file_bytes + at, "\5\2\0", 3) != 0) at++; /* as above; what lies behind becomes its length and value */
  size_t end = header + 12;
  while (cb_lookup3(file_bytes + header, end - header) != get_number(end, 4)) end++;
  file_bytes[at + 1] = 22;
  file_bytes[at + 5] |= 32;
  put_number(at + 6, 4, UINT32_MAX);
  put_number(end, 4, cb_lookup3(file_bytes + header, end - header));
  check_refused("has a value for what was not written that is longer than its message");
}

/* Of the root, which HDF5 reads before anything else; HDF5 takes the checksum from before its first byte. */
static void a_part_of_a_header_without_its_checksum_is_refused(void **unused) {
  (void)unused;
  char reason[300];
  snprintf(reason, sizeof reason, "%s: cannot read: has a header of which a part is too short", path);
  for (uint64_t size = 0; size < 8; size++) {
    make_new();
    const size_t header = find("OHDR", 0), part = find("OCHK", 0);
    size_t at = header;
    while (get_number(at, 8) != part) at++;
    size_t end = at + 16;
    while (cb_lookup3(file_bytes + header, end - header) != get_number(end, 4)) end++;
    put_number(at + 8, 8, size);
    put_number(end, 4, cb_lookup3(file_bytes + header, end - header));
    write_bytes(file_bytes, file_size);
    check_error_begins(read_x(), CB_ERROR_FILE, reason);
  }
}

/* Of the dataset itself, one that lies in a header of its own, and that of an attribute. */
static void a_type_whose_bits_lie_outside_of_it_is_refused(void **unused) {
  (void)unused;
  for (int shared = 0; shared < 2; shared++) {
    const hid_t file = create(), group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                type = H5Tcopy(H5T_IEEE_F64LE), space = H5Screate_simple(1, (const hsize_t[]){ROWS}, NULL);
    double value[ROWS];
    for (int i = 0; i < ROWS; i++) value[i] = i;
    if (shared) assert_true(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    const hid_t x = H5Dcreate2(group, "x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(x), H5Sclose(space), H5Tclose(type), H5Gclose(group), H5Fclose(file);
    check_ok(read_x());
    read_file();
    size_t at = 0; /* class and version, size; bits 0 to 63 */
    while (get_number(at, 1) != 0x11 || get_number(at + 4, 4) != 8 || get_number(at + 8, 4) != 64 << 16) at++;
    put_number(at + 8, 2, 1);
    check_refused("has a type that cannot be read");
  }
  make(0, false, 1);
  size_t at = 0;
  while (get_number(at, 1) != 0x10 || get_number(at + 4, 4) != 8 || get_number(at + 8, 4) != 64 << 16) at++;
  put_number(at + 8, 2, 1);
  check_refused("has a type that cannot be read");
}

/* The first bytes of chunk 0, 0 and 1, or some more: as they are, or as a stream of zlib's that makes so many. */
static void put_chunk(bool compressed, uint32_t left_out, size_t size) {
  unsigned char plain[64] = {0}, stream[200];
  memcpy(plain, (const double[]){0, 1}, 2 * sizeof(double));
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), x = H5Dopen2(file, "group/x", H5P_DEFAULT);
  uLongf made = sizeof stream;
  if (compressed) assert_int_equal(compress(stream, &made, plain, size), Z_OK);
  assert_true(H5Dwrite_chunk(x, H5P_DEFAULT, left_out, (const hsize_t[]){0}, compressed ? made : size,
                             compressed ? stream : plain) >= 0);
  H5Dclose(x), H5Fclose(file);
}

static void a_chunk_of_fewer_bytes_than_it_says_is_refused(void **unused) {
  (void)unused;
  char reason[300];
  snprintf(reason, sizeof reason, "%s: cannot read 'group/x': a chunk is not as long as its extents say", path);
  for (size_t size = 0; size <= 17; size++) {
    make(1, false, 2);
    put_chunk(true, 1, size); /* without the shuffle */
    if (size == 16)
      check_ok(read_x());
    else
      check_error_begins(read_x(), CB_ERROR_FILE, reason);
  }
  make(1, false, 2);
  put_chunk(false, 3, 10); /* both filters left out */
  check_error_begins(read_x(), CB_ERROR_FILE, reason);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_whole_is_read),
      cmocka_unit_test(chunks_at_the_edge_may_be_plain),
      cmocka_unit_test(a_group_without_a_tree_or_a_heap_is_refused),
      cmocka_unit_test(a_tree_that_leads_to_itself_is_refused),
      cmocka_unit_test(a_name_beyond_its_heap_is_refused),
      cmocka_unit_test(a_heap_whose_free_parts_go_round_is_refused),
      cmocka_unit_test(an_attribute_that_says_more_than_it_has_is_refused),
      cmocka_unit_test(layouts_that_are_too_short_are_refused),
      cmocka_unit_test(two_messages_of_a_kind_are_refused),
      cmocka_unit_test(extents_beyond_the_most_or_the_message_are_refused),
      cmocka_unit_test(a_fill_value_that_is_cut_off_is_refused),
      cmocka_unit_test(a_fill_value_of_four_gigabytes_is_refused),
      cmocka_unit_test(a_part_of_a_header_without_its_checksum_is_refused),
      cmocka_unit_test(a_type_whose_bits_lie_outside_of_it_is_refused),
      cmocka_unit_test(a_chunk_of_fewer_bytes_than_it_says_is_refused),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
