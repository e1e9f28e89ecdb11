/* See record_btree.h.
 *
 * HDF5 1.10 looks for what the tree says lies outside of the heap in a tree of such objects, also where there is none
 * (H5HF__huge_op), and for what it says lies in its own name in as many bytes as that says (H5HF__tiny_op). It believes how
 * many records there are below a node, also in a tree that has none (H5B2_index).
 *
 * The HDF Group, HDF5 File Format Specification 3.0, III.A.2 and III.G, all little endian:
 *   tree      0 "BTHD", 0   5 kind   6 bytes of a node (4)   10 of a record (2)   12 depth (2)   16 root (8)
 *             24 records in it (2)   26 in the tree (8)
 *   node      0 "BTIN" or, at depth 0, "BTLF", 0   5 kind   6 records   then, in the former, one child more than records:
 *             address (8), its records, and, above depth 1, all below it: in as many bytes as the most takes
 *   record    kind 5, links by name: hash (4), place   6, by order: order (8), place   8 and 9, attributes: place, others
 *             1, outside: address (8), length (8), others   10 and 11, chunks: address (8), others
 *   place     0 bits 4 and 5: 0 in the heap, 1 outside, 2 here
 */
#include "io/record_btree.h"
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
  cb_btree_kind kind;
  cb_heap *heap;
  uint64_t left; /* bytes that there can still be outside */
} walk;

/* By the most records that there can be in a node, and below it. */
static bool measure(walk *w, uint64_t depth) {
  uint64_t most = (w->node - BEFORE - CHECKSUM) / w->record, below = most;
  w->count = (size_t)cb_bytes_for(most);
  for (uint64_t d = 1; d <= depth; d++) {
    w->child[d] = 8 + w->count + (d > 1 ? (size_t)cb_bytes_for(below) : 0);
    if (w->node < BEFORE + CHECKSUM + w->child[d]) return false;
    most = (w->node - BEFORE - CHECKSUM - w->child[d]) / (w->record + w->child[d]);
    uint64_t all = most + 1;
    if (!cb_times(&all, below) || __builtin_add_overflow(all, most, &below)) return false;
  }
  return true;
}

static const char *look_outside(walk *w, const unsigned char *record) {
  const uint64_t length = cb_little_endian(record + 8, 8);
  const char *fault;
  if (!length || length > w->left) return cb_fault_beyond;
  w->left -= length;
  unsigned char *object = cb_source_part(w->file, w->bytes, cb_little_endian(record, 8), length, &fault);
  if (object) fault = w->heap->object_fault(object, length);
  free(object);
  return fault;
}

static const char *look_at_records(walk *w, const unsigned char *records, uint64_t count) {
  const char *fault = NULL;
  for (uint64_t i = 0; i < count && !fault; i++) {
    const unsigned char *record = records + i * w->record, *place = record + w->place;
    const unsigned kind = place[0] >> 4 & 3;
    if (w->kind == CB_BTREE_CHUNKS)
      fault = cb_little_endian(record, 8) ? NULL : cb_fault_chunk;
    else if (w->kind == CB_BTREE_OUTSIDE)
      fault = look_outside(w, record);
    else if (kind == IN_HEAP)
      fault = cb_heap_object_fault(w->heap, place);
    else if (kind != OUTSIDE || w->heap->outside == UINT64_MAX)
      fault = cb_fault_heap;
  }
  return fault;
}

/* Of so many records, and all that are in it and below it. What is no node HDF5 refuses itself. */
static const char *look_at_node(walk *w, uint64_t at, uint64_t depth, uint64_t count, uint64_t all) {
  const char *fault;
  if (!w->nodes--) return cb_fault_loop;
  unsigned char *node = cb_source_part(w->file, w->bytes, at, w->node, &fault);
  const uint64_t children = depth ? count + 1 : 0, records = BEFORE + count * w->record;
  uint64_t below = count;
  if (node && !memcmp(node, depth ? "BTIN" : "BTLF", 5)) {
    if (records + children * w->child[depth] + CHECKSUM > w->node) fault = cb_fault_index;
    if (!fault) fault = look_at_records(w, node + BEFORE, count);
    for (uint64_t i = 0; i < children && !fault; i++) {
      const unsigned char *child = node + records + i * w->child[depth], *its = child + 8 + w->count;
      const int wide = (int)(w->child[depth] - 8 - w->count); /* 0: of leaves that is all */
      const uint64_t in_child = cb_little_endian(child + 8, (int)w->count),
                     of_child = wide ? cb_little_endian(its, wide) : in_child;
      fault = look_at_node(w, cb_little_endian(child, 8), depth - 1, in_child, of_child);
      below += of_child;
    }
    if (!fault && below != all) fault = cb_fault_index;
  }
  free(node);
  return fault;
}

const char *cb_btree_fault(cb_source s, uint64_t bytes, uint64_t tree, cb_btree_kind kind, cb_heap *heap) {
  const char *fault;
  unsigned char *p = cb_source_part(s, bytes, tree, HEAD, &fault);
  if (!p || memcmp(p, "BTHD", 5) != 0) return free(p), fault;
  const bool expected = p[5] == kind || (kind == CB_BTREE_CHUNKS && p[5] == kind + 1);
  const uint64_t depth = cb_little_endian(p + 12, 2), root = cb_little_endian(p + 16, 8),
                 count = cb_little_endian(p + 24, 2), all = cb_little_endian(p + 26, 8);
  walk w = {.file = s, .bytes = bytes, .kind = kind, .heap = heap, .left = bytes};
  w.node = cb_little_endian(p + 6, 4);
  w.record = cb_little_endian(p + 10, 2);
  free(p);
  if (!expected || w.node < 128 || w.node > 1 << 16 || w.record < 8 || w.record > 64 || depth > DEEPEST)
    return cb_fault_index;
  if (root == UINT64_MAX) return count || all ? cb_fault_index : NULL;
  if (root > bytes || bytes - root < 16) return cb_fault_beyond;
  w.place = kind == CB_BTREE_LINKS ? 4 : kind == CB_BTREE_LINKS_BY_ORDER ? 8 : 0;
  const size_t least = kind == CB_BTREE_CHUNKS ? 8 : kind == CB_BTREE_OUTSIDE ? 16 : w.place + cb_heap_place(heap);
  if (w.record < least || !measure(&w, depth)) return cb_fault_index;
  w.nodes = bytes / w.node + 1;
  return look_at_node(&w, root, depth, count, all);
}
