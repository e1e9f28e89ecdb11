/* See record_fractal.h.
 *
 * HDF5 1.10 believes what an index says of a place in a heap, and reads links and attributes to where they say that they
 * end (H5O__link_decode, H5O__attr_decode), within the heap's block and beyond.
 *
 * The HDF Group, HDF5 File Format Specification 3.0, III.G, all little endian:
 *   heap      0 "FRHP", 0   5 bytes of an id (2)   7 of filters (2)   9 flags: 2 blocks have checksums
 *             10 largest object (4)   22 tree of those outside (8)   110 width (2)   112 first block (8)
 *             120 largest block (8)   128 bits of an offset (2)   132 root (8)   140 rows (2), 0: the root holds objects
 *   leads on  0 "FHIB", 0   5 heap (8)   13 where it begins, in bytes that hold an offset   addresses (8 each), width a row
 *   holds     0 "FHDB", 0   5 heap (8)   13 where it begins   then, if so, a checksum (4), taken with itself 0
 *   rows      of blocks of the sizes first, first, 2 first, 4 first ..; those beyond the largest lead on, with as many rows
 *             as cover their size
 *   place     0 kind   1 offset, as above   length, in as many bytes as the largest object takes, or the largest block
 */
#include "io/record_fractal.h"
#include "io/record_superblock.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 146, WIDTH = 4, LARGEST = 1 << 16, BEFORE = 13, CHECKSUM = 4, DEEPEST = 8 };

static int log_2(uint64_t power) { return 63 - __builtin_clzll(power); }

const char *cb_heap_open(cb_source s, uint64_t bytes, uint64_t at,
                         const char *(*object_fault)(const unsigned char *, size_t), cb_heap *out) {
  const char *fault = NULL;
  *out = (cb_heap){.file = s,
                   .bytes = bytes,
                   .left = bytes,
                   .object_fault = object_fault,
                   .outside = UINT64_MAX,
                   .root = UINT64_MAX};
  unsigned char *p = at == UINT64_MAX ? NULL : cb_source_part(s, bytes, at, HEAD, &fault);
  if (!p || memcmp(p, "FRHP", 5) != 0) return free(p), fault;
  const uint64_t of_id = cb_little_endian(p + 5, 2), largest = cb_little_endian(p + 10, 4),
                 bits = cb_little_endian(p + 128, 2);
  out->first = cb_little_endian(p + 112, 8);
  out->rows = cb_little_endian(p + 140, 2);
  out->offset = (int)bits / 8;
  out->length = cb_bytes_for(largest);
  const bool known = of_id >= cb_heap_place(out) && of_id <= 8 && !cb_little_endian(p + 7, 2) && largest <= LARGEST &&
                     cb_little_endian(p + 110, 2) == WIDTH && (out->first == 512 || out->first == 1024) &&
                     cb_little_endian(p + 120, 8) == LARGEST && (bits == 32 || bits == 40) && out->rows <= 29;
  out->root = cb_little_endian(p + 132, 8);
  out->outside = cb_little_endian(p + 22, 8);
  out->checked = p[9] & 2;
  free(p);
  if (!known) return "has a heap of another kind";
  out->known = true;
  out->direct = (size_t)(log_2(LARGEST) - log_2(out->first)) + 2;
  return out->root != UINT64_MAX && (out->root > bytes || bytes - out->root < 16) ? cb_fault_beyond : NULL;
}

void cb_heap_close(cb_heap *h) {
  for (size_t i = 0; i < h->blocks; i++) free(h->block[i].data);
  free(h->block);
}

size_t cb_heap_place(const cb_heap *h) { return 1 + (size_t)h->offset + (size_t)h->length; }

/* How many blocks that were read begin at that offset or before. */
static size_t count_before(const cb_heap *h, uint64_t offset) {
  size_t low = 0, high = h->blocks;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (h->block[middle].begin <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* A block that begins there in the heap, and in the file; NULL: with what is wrong, if anything. */
static const cb_heap_block *read_block(cb_heap *h, uint64_t at, uint64_t begin, uint64_t size, const char **fault) {
  const size_t head = BEFORE + (size_t)h->offset, place = count_before(h, begin);
  if (size > h->left) return *fault = cb_fault_loop, NULL;
  if (h->blocks == h->room) {
    const size_t room = 2 * h->room + 8;
    cb_heap_block *more = realloc(h->block, room * sizeof *more);
    if (!more) return NULL;
    h->block = more, h->room = room;
  }
  unsigned char *p = cb_source_part(h->file, h->bytes, at, size, fault);
  if (!p) return NULL;
  cb_heap_block *block = h->block + place;
  memmove(block + 1, block, (h->blocks++ - place) * sizeof *block);
  *block = (cb_heap_block){p, begin, size, !memcmp(p, "FHDB", 5)};
  h->left -= size;
  const uint64_t checksum = cb_little_endian(p + head, CHECKSUM);
  if (h->checked) memset(p + head, 0, CHECKSUM);
  block->sound &= !h->checked || cb_lookup3(p, size) == checksum;
  return block;
}

/* The block with that offset, from the root on; as read_block. */
static const cb_heap_block *find_block(cb_heap *h, uint64_t offset, const char **fault) {
  uint64_t at = h->root, begin = 0, rows = h->rows;
  if (!rows && offset < h->first) return read_block(h, at, 0, h->first, fault);
  for (int depth = 0; depth < DEEPEST; depth++) {
    const uint64_t within = offset - begin, units = within / (WIDTH * h->first);
    const uint64_t row = units ? (uint64_t)log_2(units) + 1 : 0, size = h->first << (row > 1 ? row - 1 : 0);
    const uint64_t of_row = row ? (WIDTH * h->first) << (row - 1) : 0, column = (within - of_row) / size;
    if (row >= rows) return *fault = cb_fault_heap, NULL;
    const uint64_t entry = BEFORE + (uint64_t)h->offset + 8 * (row * WIDTH + column);
    unsigned char *p = cb_source_part(h->file, h->bytes, at, entry + 8, fault);
    const bool sound = p && !memcmp(p, "FHIB", 5);
    const uint64_t next = sound ? cb_little_endian(p + entry, 8) : 0;
    free(p);
    if (!sound) return NULL;
    at = next, begin += of_row + column * size;
    if (row < h->direct) return read_block(h, at, begin, size, fault);
    rows = (uint64_t)(log_2(size) - log_2(WIDTH * h->first)) + 1;
  }
  return *fault = cb_fault_loop, NULL;
}

const char *cb_heap_object_fault(cb_heap *h, const unsigned char *place) {
  const uint64_t offset = cb_little_endian(place + 1, h->offset),
                 length = cb_little_endian(place + 1 + h->offset, h->length);
  const size_t head = BEFORE + (size_t)h->offset + (h->checked ? CHECKSUM : 0);
  if (!h->known) return NULL;
  if (h->root == UINT64_MAX) return cb_fault_heap;
  const char *fault = NULL;
  const size_t before = count_before(h, offset);
  const cb_heap_block *block = before ? h->block + before - 1 : NULL;
  if (!block || offset - block->begin >= block->size) block = find_block(h, offset, &fault);
  if (!block || !block->sound) return fault;
  const uint64_t within = offset - block->begin;
  if (within < head || length > block->size - within) return cb_fault_heap;
  return h->object_fault(block->data + within, length);
}
