/* Trees of HDF5 1.8 and later (B-trees of version 2): of links and attributes that are many, of what lies outside of a heap,
 * of chunks. Internal to src/io. */
#ifndef CB_IO_RECORD_BTREE_H
#define CB_IO_RECORD_BTREE_H

#include "io/record_fractal.h"

typedef enum cb_btree_kind { /* as in the file */
  CB_BTREE_OUTSIDE = 1,
  CB_BTREE_LINKS = 5,
  CB_BTREE_LINKS_BY_ORDER = 6,
  CB_BTREE_ATTRIBUTES = 8,
  CB_BTREE_ATTRIBUTES_BY_ORDER = 9,
  CB_BTREE_CHUNKS = 10, /* 11: that are filtered */
} cb_btree_kind;

/* What is wrong with one that is to be of that kind, and with the objects that it leads to; NULL: nothing. heap: where those
 * are; NULL of chunks. */
const char *cb_btree_fault(cb_source s, uint64_t bytes, uint64_t tree, cb_btree_kind kind, cb_heap *heap);

#endif
