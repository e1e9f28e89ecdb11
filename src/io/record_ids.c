/* See record_ids.h.
 *
 * HDF5 1.10 looks for what the tree says lies outside of the heap in a tree of such objects, also where there is none
 * (H5HF__huge_op), and for what it says lies in its own name in as many bytes as that says (H5HF__tiny_op).
 *
 * The HDF Group, HDF5 File Format Specification 3.0, III.A.2 and III.G, all little endian:
 *   tree      0 "BTHD", 0   5 kind   6 bytes of a node (4)   10 of a record (2)   12 depth (2)   16 root (8)
 *             24 records in it (2)
 *   node      0 "BTIN" or, at depth 0, "BTLF", 0   5 kind   6 records   then, in the former, one child more than records:
 *             address (8), its records, and, above depth 1, all below it: in as many bytes as the most takes
 *   record    kind 5, links by name: hash (4), place   6, by order: order (8), place   8 and 9, attributes: place, others
 *   place     0 bits 4 and 5: 0 in the heap, 1 outside, 2 here
 */
#include "io/record_ids.h"
#include "io/record_superblock.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 38, BEFORE = 6, CHECKSUM = 4, DEEPEST = 8, IN_HEAP = 0, OUTSIDE = 1 };

typedef struct walk {
  cb_source file;
  uint64_t bytes, nodes;     /* of the file, that there can still be in it */
  uint64_t node, record;     /* bytes of one */
  size_t place;              /* in a record */
  size_t child[DEEPEST + 1]; /* bytes of what leads to a child, by the depth of the node */
  size_t count;              /* bytes of its number of records */
  bool huge;
} walk;

static const char beyond[] = "has parts beyond the end of the file", loop[] = "has an index that leads to itself",
                  other[] = "has an index of another kind", nowhere[] = "has an index that leads out of its heap";

static size_t bytes_of(uint64_t number) {
  size_t count = 1;
  while (count < 8 && number >> 8 * count) count++;
  return count;
}

/* By the most records that there can be in a node, and below it. */
static bool measure(walk *w, uint64_t depth) {
  uint64_t most = (w->node - BEFORE - CHECKSUM) / w->record, below = most;
  w->count = bytes_of(most);
  for (uint64_t d = 1; d <= depth; d++) {
    w->child[d] = 8 + w->count + (d > 1 ? bytes_of(below) : 0);
    if (w->node < BEFORE + CHECKSUM + w->child[d]) return false;
    most = (w->node - BEFORE - CHECKSUM - w->child[d]) / (w->record + w->child[d]);
    uint64_t all = most + 1;
    if (!cb_times(&all, below) || __builtin_add_overflow(all, most, &below)) return false;
  }
  return true;
}

static const char *look_at_records(const walk *w, const unsigned char *records, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    const unsigned kind = records[i * w->record + w->place] >> 4 & 3;
    if (kind != IN_HEAP && !(kind == OUTSIDE && w->huge)) return nowhere;
  }
  return NULL;
}

/* What cannot be read, or is no node, HDF5 refuses itself. */
static const char *look_at_node(walk *w, uint64_t at, uint64_t depth, uint64_t count) {
  if (at > w->bytes || w->node > w->bytes - at) return beyond;
  if (!w->nodes--) return loop;
  unsigned char *node = malloc(w->node);
  const char *fault = NULL;
  const uint64_t children = depth ? count + 1 : 0;
  if (node && cb_source_read(w->file, at, node, w->node) && !memcmp(node, depth ? "BTIN" : "BTLF", 5)) {
    const uint64_t records = BEFORE + count * w->record;
    if (records + children * w->child[depth] + CHECKSUM > w->node) fault = other;
    if (!fault) fault = look_at_records(w, node + BEFORE, count);
    for (uint64_t i = 0; i < children && !fault; i++) {
      const unsigned char *child = node + records + i * w->child[depth];
      fault = look_at_node(w, cb_little_endian(child, 8), depth - 1, cb_little_endian(child + 8, (int)w->count));
    }
  }
  free(node);
  return fault;
}

const char *cb_ids_fault(cb_source s, uint64_t bytes, uint64_t tree, bool huge) {
  enum { BY_NAME = 5, BY_ORDER = 6, NAMES = 8, ORDERS = 9 };
  unsigned char p[HEAD];
  if (!cb_source_read(s, tree, p, sizeof p) || memcmp(p, "BTHD", 5) != 0) return NULL;
  const int kind = p[5];
  const uint64_t depth = cb_little_endian(p + 12, 2), root = cb_little_endian(p + 16, 8);
  walk w = {.file = s,
            .bytes = bytes,
            .node = cb_little_endian(p + 6, 4),
            .record = cb_little_endian(p + 10, 2),
            .place = kind == BY_NAME    ? 4
                     : kind == BY_ORDER ? 8
                                        : 0,
            .huge = huge};
  if (kind != BY_NAME && kind != BY_ORDER && kind != NAMES && kind != ORDERS) return other;
  if (w.node < 128 || w.record < w.place + 8 - (kind <= BY_ORDER) || depth > DEEPEST || !measure(&w, depth))
    return other;
  w.nodes = bytes / w.node + 1;
  return root == UINT64_MAX ? NULL : look_at_node(&w, root, depth, cb_little_endian(p + 24, 2));
}
