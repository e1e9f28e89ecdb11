/* Object headers, block by block. See record_header.h. */
#include "io/record_header.h"
#include "io/record_driver.h"
#include "io/record_superblock.h"
#include "io/record_taken.h"
#include <stdlib.h>
#include <string.h>

enum { PREFIX = 34, MOST_BLOCKS = 256, LARGEST_BLOCK = 1 << 24, SHARED_TABLE = 15, CONTINUATION = 16, CACHE_IMAGE = 24 };

cb_source cb_source_of(hid_t object) {
  hid_t file = H5Iget_file_id(object);
  cb_source s = {.file = cb_driver_of(file)};
  if (s.file) s.base = cb_driver_base(s.file), cb_driver_look_again(s.file);
  H5Fclose(file); /* the object holds it */
  return s;
}

bool cb_source_read(cb_source s, uint64_t at, void *to, size_t size) {
  return s.file && at <= INT64_MAX - s.base && cb_driver_read(s.file, s.base + at, to, size);
}

const char cb_fault_beyond[] = "has parts beyond the end of the file",
           cb_fault_loop[] = "has an index that leads to itself", cb_fault_index[] = "has an index of another kind",
           cb_fault_heap[] = "has an index that leads out of its heap", cb_fault_chunk[] = "has chunks where none can be";

unsigned char *cb_source_part(cb_source s, uint64_t bytes, uint64_t at, uint64_t size, const char **fault) {
  *fault = at > bytes || size > bytes - at ? cb_fault_beyond : NULL;
  unsigned char *part = *fault ? NULL : malloc(size + 1);
  if (part && cb_source_read(s, at, part, size)) return cb_taken_add(s.taken, at, size, false), part;
  free(part);
  return NULL;
}

/* Its version, and where headers are; none: UINT64_MAX. */
typedef struct superblock {
  unsigned char version;
  uint64_t root, own;
} superblock;

static bool read_superblock(cb_source s, superblock *out) {
  static const uint64_t place[] = {64, 68, 36, 36};
  unsigned char address[8];
  out->own = UINT64_MAX;
  if (!cb_source_read(s, 8, &out->version, 1) || out->version > 3) return false;
  if (out->version > 1) {
    if (!cb_source_read(s, 20, address, sizeof address)) return false;
    out->own = cb_little_endian(address, 8);
  }
  if (!cb_source_read(s, place[out->version], address, sizeof address)) return false;
  return out->root = cb_little_endian(address, 8), true;
}

bool cb_source_root(cb_source s, uint64_t *header) {
  superblock b;
  return read_superblock(s, &b) && (*header = b.root, true);
}

typedef struct header {
  cb_source file;
  bool old, ordered; /* of version 1; messages have a number of their own */
  int blocks;
  struct {
    uint64_t at, size;
  } block[MOST_BLOCKS];
} header;

static void add_block(header *h, uint64_t at, uint64_t size) {
  if (h->blocks == MOST_BLOCKS || size > LARGEST_BLOCK) return;
  h->block[h->blocks].at = at;
  h->block[h->blocks++].size = size;
}

static void put_first(header *h, uint64_t at, uint64_t size, unsigned char first[16]) {
  cb_put_little_endian(first, 8, at);
  cb_put_little_endian(first + 8, 8, size);
  add_block(h, at, size);
}

static bool find_first_block(header *h, uint64_t at, unsigned char first[16]) {
  unsigned char head[PREFIX];
  if (!cb_source_read(h->file, at, head, sizeof head)) return false;
  h->old = head[0] == 1;
  if (h->old) return put_first(h, at + 16, cb_little_endian(head + 8, 4), first), true;
  if (memcmp(head, "OHDR\2", 5)) return false;
  const int flags = head[5], place = 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0), width = 1 << (flags & 3);
  h->ordered = flags & 4;
  put_first(h, at + (uint64_t)(place + width), cb_little_endian(head + place, width), first);
  return true;
}

/* The messages in a block. Blocks that the header goes on in are added. */
static bool visit_block(header *h, const unsigned char *bytes, size_t size, cb_message_visit visit, void *context) {
  const size_t head = h->old ? 8 : h->ordered ? 6 : 4;
  for (size_t at = 0; size - at >= head;) {
    const unsigned char *message = bytes + at;
    const unsigned type = (unsigned)cb_little_endian(message, h->old ? 2 : 1);
    const size_t length = (size_t)cb_little_endian(message + (h->old ? 2 : 1), 2);
    const unsigned flags = message[h->old ? 4 : 3];
    at += head;
    if (length > size - at) return false;
    if (visit(context, type, flags, bytes + at, length)) return true;
    if (type == CONTINUATION && length >= 16)
      add_block(h, cb_little_endian(bytes + at, 8), cb_little_endian(bytes + at + 8, 8));
    at += length;
  }
  return false;
}

const char *cb_header_block_fault(const unsigned char *m, size_t size, uint64_t bytes, int *blocks) {
  if (size < 16) return "has a message that is too short";
  const uint64_t at = cb_little_endian(m, 8), length = cb_little_endian(m + 8, 8);
  if (at > bytes || length > bytes - at) return "has a header beyond the end of the file";
  if (length < 8) return "has a header of which a part is too short"; /* for its checksum */
  return ++*blocks > MOST_BLOCKS || length > LARGEST_BLOCK ? "has a header of too many or too long parts" : NULL;
}

bool cb_header_each(cb_source s, uint64_t at, cb_message_visit visit, void *context) {
  header h = {.file = s};
  unsigned char first[16];
  if (!find_first_block(&h, at, first)) return false;
  if (visit(context, CONTINUATION, 0, first, sizeof first)) return true;
  for (int b = 0; b < h.blocks; b++) {
    const size_t size = h.block[b].size, around = b && !h.old ? 4 : 0; /* "OCHK" */
    if (size < 2 * around) continue;
    unsigned char *bytes = malloc(size + 1);
    cb_taken_add(s.taken, h.block[b].at, size, false);
    const bool found = bytes && cb_source_read(s, h.block[b].at, bytes, size) &&
                       visit_block(&h, bytes + around, size - 2 * around, visit, context);
    free(bytes);
    if (found) return true;
  }
  return false;
}

/* ---- Before HDF5 */

static bool find_superblock(cb_driven *file, uint64_t *base) {
  unsigned char name[8];
  for (*base = 0; cb_driver_read(file, *base, name, sizeof name); *base = *base ? 2 * *base : 512)
    if (!memcmp(name, "\x89HDF\r\n\x1a\n", sizeof name)) return true;
  return *base = 0, false;
}

typedef struct look {
  uint64_t bytes;
  int blocks;
  const char *fault;
} look;

static bool visit_before(void *context, unsigned type, unsigned flags, const unsigned char *m, size_t size) {
  look *l = context;
  (void)flags;
  if (type == CACHE_IMAGE) l->fault = "has an image of a cache, which is not read";
  if (type == SHARED_TABLE) l->fault = "has a table of what headers share, which is not read";
  if (type == CONTINUATION) l->fault = cb_header_block_fault(m, size, l->bytes, &l->blocks);
  return l->fault;
}

const char *cb_header_fault_before(cb_driven *file, bool writing, uint64_t *base) {
  if (!find_superblock(file, base)) return NULL;
  const cb_source s = {.file = file, .base = *base};
  look l = {.bytes = cb_driver_length(file)};
  superblock b;
  unsigned char width[2];
  if (!read_superblock(s, &b) || !cb_source_read(s, b.version < 2 ? 13 : 9, width, sizeof width)) return NULL;
  if (width[0] != 8 || width[1] != 8) return "has addresses or lengths of other than 8 bytes";
  if (b.root > l.bytes || (b.own != UINT64_MAX && b.own > l.bytes)) return cb_fault_beyond;
  if (writing && b.own != UINT64_MAX) return "has a header of its own, which records do not have";
  cb_header_each(s, b.root, visit_before, &l);
  if (!l.fault && b.own != UINT64_MAX) cb_header_each(s, b.own, visit_before, &l);
  return l.fault;
}
