/* labels: medium
 * Links and attributes that are many, in heaps of every depth and outside of them, are looked at one by one: those that lie
 * are found wherever they are. */
#include "hdf5_lies.h"

static const char nowhere[] = "has an index that leads out of its heap",
                  link_fault[] = "has a link that cannot be read",
                  attribute_fault[] = "has an attribute that cannot be read";

/* The place of an object's name in the file. */
static size_t place_of(const char *name) {
  read_all();
  for (size_t at = 0; at + strlen(name) < n_bytes; at++)
    if (!memcmp(bytes + at, name, strlen(name))) return at;
  fail_msg("no %s", name);
  return 0;
}

/* The begin of the block of that name around a place. */
static size_t block_around(size_t place, const char *name) {
  while (place && memcmp(bytes + place, name, 5) != 0) place--;
  return place;
}

enum { OF_LINKS = 17, OF_ATTRIBUTES = 18 };

/* Of a heap's block: its checksum, which lies within it, is right again. */
static void lie_in_block(size_t block, size_t checksum, size_t place, unsigned char byte) {
  size_t size = 512;
  unsigned char *p = bytes + block;
  const uint64_t told = cb_little_endian(p + checksum, 4);
  memset(p + checksum, 0, 4);
  while (size <= 1 << 16 && block + size <= n_bytes && cb_lookup3(p, size) != told) size *= 2;
  assert_true(size <= 1 << 16 && block + size <= n_bytes);
  bytes[place] = byte;
  cb_put_little_endian(p + checksum, 4, cb_lookup3(p, size));
  write_bytes(bytes, n_bytes);
}

static void check(const char *what, const char *why) {
  const char *found = fault();
  if (!found || strcmp(found, why) != 0) fail_msg("%s: %s", what, found ? found : "sound");
}

static void check_link(int count, int which) {
  char name[32];
  make(count, 0, false, false);
  snprintf(name, sizeof name, "link %d", which);
  const size_t at = place_of(name);
  lie_in_block(block_around(at, "FHDB"), OF_LINKS, at - 1, 255); /* a name of 255 bytes */
  check(name, link_fault);
}

static void check_attribute(int count, int which) {
  char name[32];
  make(0, count, false, false);
  snprintf(name, sizeof name, "attribute %d", which);
  const size_t at = place_of(name);
  lie_in_block(block_around(at, "FHDB"), OF_ATTRIBUTES, at - 3, 255); /* a space of more bytes than there are */
  check(name, attribute_fault);
}

/* The heap's root holds them, or leads to what holds them, or to what leads on. */
static void objects_that_lie_are_found(void **unused) {
  (void)unused;
  static const int count[] = {1, 40, 700, 2000};
  for (size_t n = 0; n < sizeof count / sizeof *count; n++)
    for (int which = 0; which < count[n]; which += 1 + count[n] / 5) {
      check_link(count[n], which);
      check_attribute(count[n], which);
    }
  check_attribute(16000, 0);
  check_attribute(16000, 15999);
}

static void what_lies_outside_is_looked_at(void **unused) {
  (void)unused;
  make(0, 3, false, true);
  size_t at = place_of("long");
  bytes[at - 3] = 255;
  write_bytes(bytes, n_bytes);
  check("long", attribute_fault);
  static const struct {
    size_t place;
    unsigned char byte;
  } lies[] = {{6 + 5, 1}, {6 + 8 + 5, 1}}; /* 2^40 bytes further, longer */
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    make(0, 3, false, true);
    read_all();
    size_t leaf = 0;
    for (int n = 0; (leaf = part("BTLF", n)) && bytes[leaf + 5] != 1;) n++;
    assert_true(leaf > 0);
    lie(leaf, lies[i].place, lies[i].byte);
    check("place outside", "has parts beyond the end of the file");
  }
}

static void places_beyond_a_block_are_found(void **unused) {
  (void)unused;
  static const struct {
    int links;
    size_t place; /* in that of the first link */
    unsigned char byte;
  } lies[] = {{3, 1, 0} /* its head */, {3, 2, 0xff},    {3, 3, 1},      {3, 4, 0xff}, {3, 6, 2}, {40, 3, 0xff},
              {700, 4, 0xff},           {2000, 4, 0x7f}, {2000, 6, 0xff}};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    make(lies[i].links, 0, false, false);
    read_all();
    const size_t leaf = part("BTLF", 0);
    lie(leaf, 6 + 4 + lies[i].place, lies[i].byte);
    check("place", nowhere);
  }
}

/* Lengths that take three bytes do not fit into the places that links and attributes have. */
static void places_that_are_too_short_are_found(void **unused) {
  (void)unused;
  for (int links = 0; links < 2; links++) {
    make(3 * links, 3 * !links, false, false);
    read_all();
    const size_t heap = part("FRHP", 0);
    lie(heap, 11, 0); /* the largest object: 4096 */
    lie(heap, 12, 1);
    check("heap", "has a heap of another kind");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_that_lie_are_found), cmocka_unit_test(what_lies_outside_is_looked_at),
      cmocka_unit_test(places_beyond_a_block_are_found), cmocka_unit_test(places_that_are_too_short_are_found)};
  return cmocka_run_group_tests(tests, make_path, end);
}
