/* Values of varying length: texts, and references of arrays to their dimension scales.
 *
 * They lie in global heaps, which have no checksum and which HDF5 1.10 believes: a size or an index in one that is
 * wrong takes it out of its memory, or it does not come back (H5HG_read, H5HG__cache_heap_deserialize). So they are
 * read here. HDF5 is asked before whether there is such a value and of which type: it has then checked the object
 * header, but has no function that gives the bytes which an attribute has in there.
 *
 * The HDF Group, HDF5 File Format Specification 3.0: message 12 (attribute) IV.A.2, global heaps III.E. All little
 * endian:
 *   value                 0 length in elements (4)   4 heap, 0: no elements (8)   12 index (4)
 *   heap                  0 "GCOL", version 1 (5)   8 size (8)   16 objects, each at a multiple of 8
 *   object in it          0 index, 0: the rest is free (2)   8 size (8)   16 its bytes
 *   attribute             0 version   2 sizes of name, type, space (2 each)   8 (version 3: 9) those, then the values
 */
#include "io/record_hdf5.h"
#include "io/record_header.h"
#include "io/record_superblock.h"
#include <stdlib.h>
#include <string.h>

enum { VALUE = 16, OBJECT = 16, ATTRIBUTE = 12 };

static uint64_t number(const unsigned char *bytes, int count) { return cb_little_endian(bytes, count); }

/* ---- Heaps */
/* The bytes that a value stands for, with a 0 after them; NULL unless they are in a heap, as many as it says. */
static char *fetch(cb_source s, const unsigned char value[VALUE], size_t element, size_t *bytes) {
  const uint64_t size = number(value, 4) * element, heap = number(value + 4, 8), index = number(value + 12, 4);
  unsigned char head[OBJECT];
  *bytes = size;
  if (!heap) return size ? NULL : calloc(1, 1);
  if (!cb_source_read(s, heap, head, sizeof head) || memcmp(head, "GCOL\1", 5)) return NULL;
  uint64_t at = heap, room = number(head + 8, 8), found = 0; /* room: from `at` on to the end of the heap */
  do { /* over the head of the heap or an object, then over what is in the object */
    const uint64_t step = OBJECT + (found + 7) / 8 * 8;
    if (found > room || step > room || room - step < OBJECT) return NULL;
    room -= step, at += step;
    if (!cb_source_read(s, at, head, sizeof head) || !number(head, 2)) return NULL;
    found = number(head + 8, 8);
  } while (number(head, 2) != index);
  if (found != size || size > room - OBJECT) return NULL;
  char *data = malloc(size + 1);
  if (data && cb_source_read(s, at + OBJECT, data, size)) return data[size] = 0, data;
  free(data);
  return NULL;
}

/* ---- Attributes */

typedef struct search {
  const char *name;
  size_t index; /* of the value */
  unsigned char *out;
} search;

/* Whether it is that attribute, and has such a value. */
static bool visit_message(void *context, unsigned type, unsigned flags, const unsigned char *message,
                          size_t size) {
  const search *s = context;
  (void)flags;
  if (type != ATTRIBUTE || size < 9 || message[0] < 1 || message[0] > 3) return false;
  size_t at = message[0] == 3 ? 9 : 8, length = strlen(s->name) + 1, name = at;
  for (int part = 0; part < 3; part++) {
    const size_t bytes = number(message + 2 + 2 * part, 2);
    if (part == 0 && bytes != length) return false;
    at += message[0] == 1 ? (bytes + 7) / 8 * 8 : bytes;
  }
  if (at > size || memcmp(message + name, s->name, length) || (size - at) / VALUE <= s->index) return false;
  memcpy(s->out, message + at + VALUE * s->index, VALUE);
  return true;
}

/* ---- Of HDF5's objects */

char *cb_hdf5_varying_attribute(hid_t object, const char *name, size_t index, size_t element, size_t *bytes) {
  unsigned char value[VALUE];
  search s = {name, index, value};
  const cb_source file = cb_source_of(object);
  H5O_info_t info;
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 || !cb_header_each(file, info.addr, visit_message, &s)) return NULL;
  return fetch(file, value, element, bytes);
}

char *cb_hdf5_varying_dataset(hid_t dataset, size_t index) {
  const cb_source s = cb_source_of(dataset);
  const haddr_t at = H5Dget_offset(dataset);
  unsigned char value[VALUE];
  size_t bytes;
  if (at == HADDR_UNDEF || at < s.base || H5Dget_storage_size(dataset) / VALUE <= index ||
      !cb_source_read(s, at - s.base + VALUE * index, value, VALUE))
    return NULL;
  return fetch(s, value, 1, &bytes);
}
