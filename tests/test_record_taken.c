/* labels: medium
 *
 * Records that say of numbers that they are where other parts of the file are: who would write there, repair and resume,
 * refuses them and leaves them as they are. */
#include "lying_record.h"

#include "check_error.h"

static unsigned char *bytes;
static size_t size;

static int remove_all(void **state) {
  free(bytes);
  return lying_remove(state);
}

/* As a writer leaves it that is killed. */
static void make_killed(void) {
  leave(open_copy(), true);
  free(bytes);
  bytes = (unsigned char *)sample_read(lying, &size);
}

static void check_refused(void) {
  lying_write(bytes, size);
  assert_int_equal(cb_record_repair(lying, NULL), CB_ERROR_INPUT);
  if (!strstr(cb_error_text(), " damaged: it has numbers where other parts of it are")) fail_msg("%s", cb_error_text());
  lying_write(bytes, size);
  assert_int_equal(resume_lying(), CB_ERROR_INPUT);
  size_t after;
  char *left = sample_read(lying, &after);
  assert_int_equal(after, size);
  assert_memory_equal(left + CB_SUPERBLOCK_BYTES, bytes + CB_SUPERBLOCK_BYTES, size - CB_SUPERBLOCK_BYTES);
  free(left);
}

/* The index of the n'th array of chunks; 0: there is none. */
static size_t find_index(int n) {
  for (size_t at = 0; at + 400 < size; at++)
    if (!memcmp(bytes + at, "EAIB", 5) && n-- == 0) return at;
  return 0;
}

static void chunks_lie_by_themselves(void **unused) {
  (void)unused;
  enum { FIRST = 14 }; /* element of an index */
  int arrays = 0;
  for (make_killed(); find_index(arrays); arrays++)
    for (int k = 0; k < 4; k++, make_killed()) {
      const size_t index = find_index(arrays);
      const uint64_t root = cb_little_endian(bytes + 36, 8),
                     other = cb_little_endian(bytes + find_index(arrays ? 0 : 1) + FIRST, 8);
      const uint64_t address[] = {8, root, index, other};
      lying_put(bytes, size, index, index + FIRST, 8, address[k]);
      check_refused();
    }
  assert_true(arrays > 3);
}

static uint64_t offset_of(const char *name) {
  const hid_t file = H5Fopen(whole, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, name, H5P_DEFAULT);
  const uint64_t offset = H5Dget_offset(set);
  H5Dclose(set), H5Fclose(file);
  return offset;
}

/* Where the layout message of a contiguous dataset (version 3 or 4, class 1) has this address. */
static size_t layout_of(uint64_t own) {
  size_t place = 10;
  while (place + 8 < size && (cb_little_endian(bytes + place, 8) != own || bytes[place - 1] != 1 ||
                              bytes[place - 2] < 3 || bytes[place - 2] > 4))
    place++;
  return place;
}

static void checkpoints_lie_by_themselves(void **unused) {
  (void)unused;
  static const char *const names[] = {"checkpoint/slot1/state", "checkpoint/slot1/seal"};
  const uint64_t other = offset_of("checkpoint/slot0/state");
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 4; k++) {
      const uint64_t own = offset_of(names[n]);
      make_killed();
      size_t place = layout_of(own), header;
      for (header = place; header && memcmp(bytes + header, "OHDR", 4) != 0; header--)
        ;
      assert_true(header);
      const uint64_t address[] = {8, header, other, other + 8};
      lying_put(bytes, size, header, place, 8, address[k]);
      check_refused();
    }
}

/* Layouts of before HDF5 1.6.3 do not tell how many bytes there are. */
static void old_layouts_lie_by_themselves(void **unused) {
  (void)unused;
  const uint64_t own = offset_of("checkpoint/slot1/state");
  for (int k = 0; k < 2; k++) {
    make_killed();
    size_t place = layout_of(own), header;
    for (header = place; header && memcmp(bytes + header, "OHDR", 4) != 0; header--)
      ;
    const size_t message = place - 2, next = message + 18; /* version, class, address, bytes; type, size, flags */
    const uint64_t address[] = {8, header};
    lying_put(bytes, size, header, message - 3, 2, 18 + 4 + cb_little_endian(bytes + next + 1, 2)); /* takes the next */
    lying_put(bytes, size, header, message, 8, 1 | 2 << 8 | 1 << 16); /* version, rank, class */
    lying_put(bytes, size, header, message + 8, 8, address[k]);
    lying_put(bytes, size, header, message + 16, 8, SAMPLE_STATE | (uint64_t)8 << 32);
    check_refused();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_lie_by_themselves),
                                     cmocka_unit_test(checkpoints_lie_by_themselves),
                                     cmocka_unit_test(old_layouts_lie_by_themselves)};
  return cmocka_run_group_tests(tests, lying_make, remove_all);
}
