/* See record_trees.h.
 *
 * HDF5 1.10 goes from node to node without an end where one leads to itself, and reads names wherever the nodes say that
 * they are in their heap, or beyond (H5B_find, H5HL_offset_into, H5HL__fl_deserialize, H5F__accum_read).
 *
 * The HDF Group, HDF5 File Format Specification 3.0, all little endian:
 *   tree (III.A.1)     0 "TREE"   4 kind: 0 names, 1 chunks   5 level   6 entries (2)   24 key, child (8), .. key
 *   key                of names: offset in the heap (8); of chunks: bytes (4), filters (4), offsets (8 each, rank + 1)
 *   symbols (III.B)    0 "SNOD"   6 how many (2)   8 each (40): name (8), header (8), kind (4), 4, kind 2: link (4)
 *   heap (III.D)       0 "HEAP", 0   8 bytes (8)   16 first that is free, or 1 (8)   24 where they are (8)
 *   free               0 next, or 1 (8)   8 bytes (8)
 */
#include "io/record_trees.h"
#include "io/record_superblock.h"

#include <stdlib.h>
#include <string.h>

enum { NODE = 24, SYMBOLS = 8, SYMBOL = 40, HEAP = 32, FREE = 16, NO_MORE = 1, DEEPEST = 8, SOFT_LINK = 2 };

static const uint64_t largest_heap = (uint64_t)1 << 28;

typedef struct walk {
  cb_source file;
  uint64_t bytes, nodes; /* of the file, that there can still be in it */
  int kind;
  size_t key;
  const unsigned char *names;
  uint64_t n_names;
} walk;

static const char nameless[] = "has links without a name";

static unsigned char *read_part(const walk *w, uint64_t at, uint64_t size, const char **fault) {
  return cb_source_part(w->file, w->bytes, at, size, fault);
}

static bool is_name(const walk *w, uint64_t at) { return at < w->n_names && memchr(w->names + at, 0, w->n_names - at); }

static const char *look_at_symbols(const walk *w, uint64_t at) {
  const char *fault;
  unsigned char *part = read_part(w, at, SYMBOLS, &fault);
  const uint64_t n = part ? cb_little_endian(part + 6, 2) : 0;
  if (part && memcmp(part, "SNOD", 4) != 0) fault = cb_fault_index;
  free(part);
  part = fault ? NULL : read_part(w, at + SYMBOLS, n * SYMBOL, &fault);
  for (uint64_t i = 0; i < n && part && !fault; i++) {
    const unsigned char *symbol = part + i * SYMBOL;
    if (!is_name(w, cb_little_endian(symbol, 8)) ||
        (cb_little_endian(symbol + 16, 4) == SOFT_LINK && !is_name(w, cb_little_endian(symbol + 24, 4))))
      fault = nameless;
  }
  free(part);
  return fault;
}

/* level < 0: of any. */
static const char *look_at_node(walk *w, uint64_t at, int level) {
  const char *fault;
  if (!w->nodes--) return w->nodes = 0, cb_fault_loop;
  unsigned char *head = read_part(w, at, NODE, &fault);
  if (!head) return fault;
  const bool known = !memcmp(head, "TREE", 4) && head[4] == w->kind;
  const int here = head[5];
  const uint64_t n = cb_little_endian(head + 6, 2);
  free(head);
  if (!known || here > DEEPEST) return cb_fault_index;
  if (level >= 0 && here != level) return cb_fault_loop;
  unsigned char *body = read_part(w, at + NODE, n * (w->key + 8) + w->key, &fault);
  for (uint64_t i = 0; i <= n && body && !fault; i++) {
    const unsigned char *key = body + i * (w->key + 8);
    const uint64_t child = i < n ? cb_little_endian(key + w->key, 8) : 0;
    if (w->names && !is_name(w, cb_little_endian(key, 8)))
      fault = nameless;
    else if (i < n && here)
      fault = look_at_node(w, child, here - 1);
    else if (i < n && w->names)
      fault = look_at_symbols(w, child);
    else if (i < n && !child)
      fault = cb_fault_chunk;
  }
  free(body);
  return fault;
}

static const char *look_at_free(const unsigned char *names, uint64_t size, uint64_t at) {
  for (uint64_t most = size / FREE; at != NO_MORE; most--) {
    if (at > size || size - at < FREE || !most) return "has a heap whose free parts have no end";
    at = cb_little_endian(names + at, 8);
  }
  return NULL;
}

const char *cb_names_fault(cb_source s, uint64_t bytes, uint64_t tree, uint64_t heap) {
  walk w = {.file = s, .bytes = bytes, .nodes = bytes / NODE, .kind = 0, .key = 8};
  const char *fault;
  unsigned char *head = read_part(&w, heap, HEAP, &fault);
  if (!head) return fault;
  const uint64_t size = cb_little_endian(head + 8, 8), first = cb_little_endian(head + 16, 8),
                 at = cb_little_endian(head + 24, 8);
  if (memcmp(head, "HEAP", 5) != 0 || size > largest_heap) fault = "has a heap of another kind";
  free(head);
  unsigned char *names = fault ? NULL : read_part(&w, at, size, &fault);
  if (!names) return fault;
  fault = look_at_free(names, size, first);
  w.names = names, w.n_names = size;
  if (!fault) fault = look_at_node(&w, tree, -1);
  free(names);
  return fault;
}

const char *cb_chunk_tree_fault(cb_source s, uint64_t bytes, uint64_t tree, int rank) {
  walk w = {.file = s, .bytes = bytes, .nodes = bytes / NODE, .kind = 1, .key = 8 + 8 * ((size_t)rank + 1)};
  return tree == UINT64_MAX ? NULL : look_at_node(&w, tree, -1);
}
