/* See record_array.h.
 *
 * HDF5 goes through as many elements as the header says (H5EA_iterate), and does not come back from giving free a chunk
 * that is said to be at 0, where the file says what it is (H5MF_aggr_absorb). It makes arrays of these parameters only:
 * 4 elements in the index, then blocks of elements, in groups: group g has 2^(g/2) blocks of 16 2^((g+1)/2) elements, and
 * the index leads to the 6 blocks of the first 4 groups itself. A block of more than 1024 is in pages of so many, of
 * which those are there that its group says.
 *
 * The HDF Group, HDF5 File Format Specification 3.0, VI.B, all little endian:
 *   header   0 "EAHD", 0   6 bytes of an element   7 parameters (5)   44 elements (8)   60 index (8)   68 checksum
 *   index    0 "EAIB", 0   14 elements, blocks (8 each), groups (8 each)   checksum
 *   group    0 "EASB", 0   18 which pages are there, a bit each, if there are pages   blocks (8 each)   checksum
 *   block    0 "EADB", 0   18 elements   checksum; or 18 checksum   pages: elements   checksum
 *   element  0 address of a chunk (8)   others
 */
#include "io/record_array.h"
#include "io/record_superblock.h"

#include <stdlib.h>
#include <string.h>

enum {
  HEAD = 72,
  LARGEST = 24, /* element */
  IN_INDEX = 4,
  FEWEST = 16,
  FIRST_GROUP = 4,
  GROUPS = 29,
  PAGE = 1024,
  BEFORE_INDEX = 14,
  BEFORE = 18,
  CHECKSUM = 4
};

typedef struct walk {
  cb_source file;
  uint64_t bytes, left; /* of the file, of elements that there can still be in it */
  size_t element;
} walk;

/* What is not there HDF5 refuses itself. */
static unsigned char *read_part(const walk *w, uint64_t at, uint64_t size, const char *name) {
  const char *beyond;
  unsigned char *part = cb_source_part(w->file, w->bytes, at, size, &beyond);
  if (!part || !name || !memcmp(part, name, 5)) return part;
  return free(part), NULL;
}

static const char *look_at_elements(walk *w, const unsigned char *elements, uint64_t n) {
  if (n * w->element > w->left) return cb_fault_loop;
  w->left -= n * w->element;
  for (uint64_t i = 0; i < n; i++)
    if (!cb_little_endian(elements + i * w->element, 8)) return cb_fault_chunk;
  return NULL;
}

static const char *look_at_part(walk *w, uint64_t at, uint64_t n) {
  unsigned char *elements = read_part(w, at, n * w->element, NULL);
  const char *fault = elements ? look_at_elements(w, elements, n) : NULL;
  return free(elements), fault;
}

static uint64_t blocks_of(int group) { return (uint64_t)1 << group / 2; }

static uint64_t elements_of(int group) { return (uint64_t)FEWEST << (group + 1) / 2; }

static uint64_t pages_of(int group) { return elements_of(group) > PAGE ? elements_of(group) / PAGE : 0; }

/* there: bits of its group, of which its own begin with `first`. */
static const char *look_at_block(walk *w, uint64_t at, int group, const unsigned char *there, uint64_t first) {
  const uint64_t pages = pages_of(group);
  const char *fault = NULL;
  unsigned char *head = at == UINT64_MAX ? NULL : read_part(w, at, BEFORE, "EADB");
  if (!head) return NULL;
  free(head);
  if (!pages) return look_at_part(w, at + BEFORE, elements_of(group));
  for (uint64_t p = 0; p < pages && !fault; p++)
    if (there[(first + p) / 8] & 128 >> (first + p) % 8)
      fault = look_at_part(w, at + BEFORE + CHECKSUM + p * (PAGE * w->element + CHECKSUM), PAGE);
  return fault;
}

static const char *look_at_group(walk *w, uint64_t at, int group) {
  const uint64_t blocks = blocks_of(group), pages = pages_of(group);
  const size_t bits = blocks * ((pages + 7) / 8);
  const char *fault = NULL;
  unsigned char *part = at == UINT64_MAX ? NULL : read_part(w, at, BEFORE + bits + 8 * blocks, "EASB");
  for (uint64_t b = 0; part && b < blocks && !fault; b++)
    fault = look_at_block(w, cb_little_endian(part + BEFORE + bits + 8 * b, 8), group, part + BEFORE, b * pages);
  return free(part), fault;
}

static const char *look_at_index(walk *w, uint64_t at) {
  const size_t elements = IN_INDEX * w->element, blocks = 6, groups = GROUPS - FIRST_GROUP;
  unsigned char *part = read_part(w, at, BEFORE_INDEX + elements + 8 * (blocks + groups), "EAIB");
  const unsigned char *next = part ? part + BEFORE_INDEX + elements : NULL;
  const char *fault = part ? look_at_elements(w, part + BEFORE_INDEX, IN_INDEX) : NULL;
  for (int g = 0; g < FIRST_GROUP; g++)
    for (uint64_t b = 0; part && b < blocks_of(g) && !fault; b++, next += 8)
      fault = look_at_block(w, cb_little_endian(next, 8), g, NULL, 0);
  for (int g = FIRST_GROUP; part && g < GROUPS && !fault; g++, next += 8)
    fault = look_at_group(w, cb_little_endian(next, 8), g);
  return free(part), fault;
}

const char *cb_array_fault(cb_source s, uint64_t bytes, uint64_t header) {
  static const unsigned char parameters[5] = {32, IN_INDEX, FEWEST, 4, 10};
  const char *fault;
  unsigned char *p = cb_source_part(s, bytes, header, HEAD, &fault);
  if (!p || memcmp(p, "EAHD", 5) != 0) return free(p), fault;
  walk w = {s, bytes, bytes, p[6]};
  const bool known = w.element >= 8 && w.element <= LARGEST && !memcmp(p + 7, parameters, sizeof parameters);
  const uint64_t count = cb_little_endian(p + 44, 8), index = cb_little_endian(p + 60, 8);
  free(p);
  if (!known) return cb_fault_index;
  if (count > bytes / 8) return "has more chunks than the file has room for";
  if (index == UINT64_MAX) return NULL;
  return index > bytes || bytes - index < 16 ? cb_fault_beyond : look_at_index(&w, index);
}
