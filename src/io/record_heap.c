/* Values of varying length: texts, and references of arrays to their dimension scales.
 *
 * They lie in global heaps, which have no checksum and which HDF5 1.10 believes: a size or an index in one that is
 * wrong takes it out of its memory, or it does not come back (H5HG_read, H5HG__cache_heap_deserialize). So they are
 * read here. HDF5 is asked before whether there is such a value and of which type: it has then checked the object
 * header, but has no function that gives the bytes which an attribute has in there.
 *
 * The HDF Group, HDF5 File Format Specification 3.0: object headers IV.A.1, their messages 12 (attribute) and 16
 * (continuation) IV.A.2, global heaps III.E. All little endian:
 *   value                 0 length in elements (4)   4 heap, 0: no elements (8)   12 index (4)
 *   heap                  0 "GCOL", version 1 (5)   8 size (8)   16 objects, each at a multiple of 8
 *   object in it          0 index, 0: the rest is free (2)   8 size (8)   16 its bytes
 *   header, version 2     0 "OHDR", version (5)   5 flags   .. size of the first block, which follows
 *   header, version 1     0 version   8 size of the first block (4)   16 the block
 *   continuation          0 address (8)   8 size (8); of version 2: with "OCHK" before the messages, a checksum after
 *   attribute             0 version   2 sizes of name, type, space (2 each)   8 (version 3: 9) those, then the values
 */
#include "io/record_driver.h"
#include "io/record_hdf5.h"
#include "io/record_superblock.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUE = 16, OBJECT = 16, PREFIX = 34, MOST_BLOCKS = 256, LARGEST_BLOCK = 1 << 24 };
enum { ATTRIBUTE = 12, CONTINUATION = 16 };

static uint64_t number(const unsigned char *bytes, int count) { return cb_little_endian(bytes, count); }

/* The bytes of a file; addresses count from base. */
typedef struct source {
  hid_t file; /* open in HDF5; invalid: of other addresses than above */
  uint64_t base;
} source;

static source source_of(hid_t object) {
  hid_t file = H5Iget_file_id(object), create = H5Fget_create_plist(file);
  source s = {.file = H5I_INVALID_HID};
  hsize_t base = 0;
  size_t offset = 0, length = 0;
  if (H5Pget_userblock(create, &base) >= 0 && H5Pget_sizes(create, &offset, &length) >= 0 && offset == 8 && length == 8)
    s = (source){file, base};
  H5Pclose(create);
  H5Fclose(file); /* the object holds it */
  return s;
}

static bool read_at(source s, uint64_t at, void *to, size_t size) {
  return s.file >= 0 && at <= INT64_MAX - s.base && cb_driver_read(s.file, s.base + at, to, size);
}

/* ---- Heaps */

/* The bytes that a value stands for, with a 0 after them; NULL unless they are in a heap, as many as it says. */
static char *fetch(source s, const unsigned char value[VALUE], size_t element, size_t *bytes) {
  const uint64_t size = number(value, 4) * element, heap = number(value + 4, 8), index = number(value + 12, 4);
  unsigned char head[OBJECT];
  *bytes = size;
  if (!heap) return size ? NULL : calloc(1, 1);
  if (!read_at(s, heap, head, sizeof head) || memcmp(head, "GCOL\1", 5)) return NULL;
  uint64_t at = heap, room = number(head + 8, 8), found = 0; /* room: from `at` on to the end of the heap */
  do { /* over the head of the heap or an object, then over what is in the object */
    const uint64_t step = OBJECT + (found + 7) / 8 * 8;
    if (found > room || step > room || room - step < OBJECT) return NULL;
    room -= step, at += step;
    if (!read_at(s, at, head, sizeof head) || !number(head, 2)) return NULL;
    found = number(head + 8, 8);
  } while (number(head, 2) != index);
  if (found != size || size > room - OBJECT) return NULL;
  char *data = malloc(size + 1);
  if (data && read_at(s, at + OBJECT, data, size)) return data[size] = 0, data;
  free(data);
  return NULL;
}

/* ---- Object headers */

typedef struct search {
  source file;
  const char *name;
  size_t index; /* of the value */
  bool old, ordered; /* of version 1; messages have a number of their own */
  int blocks;
  struct {
    uint64_t at, size;
  } block[MOST_BLOCKS];
} search;

static void add_block(search *s, uint64_t at, uint64_t size) {
  if (s->blocks == MOST_BLOCKS || size > LARGEST_BLOCK) return;
  s->block[s->blocks].at = at;
  s->block[s->blocks++].size = size;
}

static bool find_first_block(search *s, uint64_t header) {
  unsigned char head[PREFIX];
  if (!read_at(s->file, header, head, sizeof head)) return false;
  s->old = head[0] == 1;
  if (s->old) return add_block(s, header + 16, number(head + 8, 4)), true;
  if (memcmp(head, "OHDR\2", 5)) return false;
  const int flags = head[5], at = 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0), width = 1 << (flags & 3);
  s->ordered = flags & 4;
  add_block(s, header + (uint64_t)(at + width), number(head + at, width));
  return true;
}

/* The value in the message of an attribute; NULL: it is another, or has no such value. */
static const unsigned char *in_attribute(const search *s, const unsigned char *message, size_t size) {
  if (size < 9 || message[0] < 1 || message[0] > 3) return NULL;
  size_t at = message[0] == 3 ? 9 : 8, length = strlen(s->name) + 1, name = at;
  for (int part = 0; part < 3; part++) {
    const size_t bytes = number(message + 2 + 2 * part, 2);
    if (part == 0 && bytes != length) return NULL;
    at += message[0] == 1 ? (bytes + 7) / 8 * 8 : bytes;
  }
  if (at > size || memcmp(message + name, s->name, length) || (size - at) / VALUE <= s->index) return NULL;
  return message + at + VALUE * s->index;
}

/* The value in a block of messages. Blocks that it goes on in are added. */
static const unsigned char *in_block(search *s, const unsigned char *bytes, size_t size) {
  const size_t head = s->old ? 8 : s->ordered ? 6 : 4;
  for (size_t at = 0; size - at >= head;) {
    const unsigned char *message = bytes + at;
    const uint64_t type = number(message, s->old ? 2 : 1), length = number(message + (s->old ? 2 : 1), 2);
    at += head;
    if (length > size - at) return NULL;
    const unsigned char *value = type == ATTRIBUTE ? in_attribute(s, bytes + at, length) : NULL;
    if (value) return value;
    if (type == CONTINUATION && length >= 16) add_block(s, number(bytes + at, 8), number(bytes + at + 8, 8));
    at += length;
  }
  return NULL;
}

static bool find_value(search *s, uint64_t header, unsigned char out[VALUE]) {
  if (!find_first_block(s, header)) return false;
  for (int b = 0; b < s->blocks; b++) {
    const size_t size = s->block[b].size, around = b && !s->old ? 4 : 0; /* "OCHK" */
    if (size < 2 * around) continue;
    unsigned char *bytes = malloc(size + 1);
    const unsigned char *value = NULL;
    if (bytes && read_at(s->file, s->block[b].at, bytes, size)) value = in_block(s, bytes + around, size - 2 * around);
    if (value) memcpy(out, value, VALUE);
    free(bytes);
    if (value) return true;
  }
  return false;
}

/* ---- Of HDF5's objects */

char *cb_hdf5_varying_attribute(hid_t object, const char *name, size_t index, size_t element, size_t *bytes) {
  search s = {.file = source_of(object), .name = name, .index = index};
  H5O_info_t info;
  unsigned char value[VALUE];
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 || !find_value(&s, info.addr, value)) return NULL;
  return fetch(s.file, value, element, bytes);
}

char *cb_hdf5_varying_dataset(hid_t dataset, size_t index) {
  const source s = source_of(dataset);
  const haddr_t at = H5Dget_offset(dataset);
  unsigned char value[VALUE];
  size_t bytes;
  if (at == HADDR_UNDEF || at < s.base || H5Dget_storage_size(dataset) / VALUE <= index ||
      !read_at(s, at - s.base + VALUE * index, value, VALUE))
    return NULL;
  return fetch(s, value, 1, &bytes);
}
