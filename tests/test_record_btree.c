/* labels: short
 * Groups of many links and objects of many attributes, in trees of every depth, are found sound; trees that lead out of
 * their heap, or have more than has room, are not. */
#include "hdf5_lies.h"

static void many_are_sound(void **unused) {
  (void)unused;
  static const int count[] = {1, 2, 40, 50, 700, 2000};
  for (int by_order = 0; by_order < 2; by_order++)
    for (int long_one = 0; long_one < 2; long_one++)
      for (size_t n = 0; n < sizeof count / sizeof *count; n++) {
        make(count[n], count[n], by_order, long_one);
        const char *found = fault();
        if (found) fail_msg("%d, by order %d, long %d: %s", count[n], by_order, long_one, found);
      }
}

static void check_lie(const char *name, int n, size_t place, unsigned char byte, const char *why) {
  read_all();
  const size_t at = part(name, n);
  assert_true(at > 0);
  lie(at, place, byte);
  const char *found = fault();
  if (!found || strcmp(found, why) != 0) fail_msg("%s %d, byte %zu: %s", name, n, place, found ? found : "sound");
}

static void trees_that_lead_out_of_their_heap_are_not(void **unused) {
  (void)unused;
  static const char nowhere[] = "has an index that leads out of its heap", other[] = "has an index of another kind";
  for (int kind = 1; kind < 3; kind++) { /* outside of a heap that has nothing there; in its own name */
    make(3, 0, false, false);
    check_lie("BTLF", 0, 6 + 4, (unsigned char)(kind << 4), nowhere);
    make(3, 0, true, false);
    check_lie("BTLF", 0, 6 + 11 + 4, (unsigned char)(kind << 4), nowhere);
    make(0, 3, false, false);
    check_lie("BTLF", 0, 6 + 2 * 17, (unsigned char)(kind << 4), nowhere);
    make(700, 0, false, false);
    for (int leaf = 0; leaf < 3; leaf++) {
      make(700, 0, false, false);
      check_lie("BTLF", leaf, 6 + 11 + 4, (unsigned char)(kind << 4), nowhere);
    }
  }
  make(700, 0, false, false);
  check_lie("BTHD", 0, 24, 255, other); /* more records than a node has room for */
  make(3, 0, false, false);
  check_lie("BTHD", 0, 5, 10, other); /* of chunks */
  make(3, 0, false, false);
  check_lie("BTHD", 0, 5, 8, other); /* of attributes */
  make(3, 0, false, false);
  check_lie("BTHD", 0, 10, 65, other); /* of longer records than any */
  make(3, 0, false, false);
  check_lie("BTHD", 0, 12, 9, other); /* of more depth than any */
}

static void trees_have_as_many_records_as_they_say(void **unused) {
  (void)unused;
  static const char other[] = "has an index of another kind";
  for (int many = 0; many < 3; many++)
    for (int byte = 0; byte < 3; byte++) {
      make((const int[]){3, 700, 2000}[many], 0, false, false);
      check_lie("BTHD", 0, (size_t)(byte < 2 ? 26 + byte : 33), 77, other); /* all of them */
    }
  make(3, 0, false, false);
  check_lie("BTHD", 0, 24, 2, other); /* those in the root */
  make(2000, 0, false, false);
  read_all();
  const size_t tree = part("BTHD", 0), root = (size_t)cb_little_endian(bytes + tree + 16, 8),
               child = root + 6 + 11 * (size_t)cb_little_endian(bytes + tree + 24, 2);
  assert_int_equal(bytes[tree + 12], 2); /* a child tells of all below it */
  lie(root, child - root + 9, (unsigned char)(bytes[child + 9] + 1));
  const char *below = fault();
  assert_true(below && !strcmp(below, other));
  for (int attributes = 0; attributes < 2; attributes++) { /* no root */
    make(attributes ? 0 : 3, attributes ? 3 : 0, false, false);
    read_all();
    for (size_t place = 16; place < 24; place++) lie(part("BTHD", 0), place, 255);
    const char *found = fault();
    assert_true(found && !strcmp(found, other));
    lie(part("BTHD", 0), 24, 0);
    found = fault();
    assert_true(found && !strcmp(found, other));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many_are_sound),
                                     cmocka_unit_test(trees_that_lead_out_of_their_heap_are_not),
                                     cmocka_unit_test(trees_have_as_many_records_as_they_say)};
  return cmocka_run_group_tests(tests, make_path, end);
}
