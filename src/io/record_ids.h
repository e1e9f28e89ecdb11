/* Links and attributes that are many, in their trees. Internal to src/io. */
#ifndef CB_IO_RECORD_IDS_H
#define CB_IO_RECORD_IDS_H

#include "io/record_header.h"

/* What is wrong with the places in a heap that a tree (B-tree of version 2) of links or attributes names; NULL: nothing.
 * huge: the heap has objects that lie outside of it. */
const char *cb_ids_fault(cb_source s, uint64_t bytes, uint64_t tree, bool huge);

#endif
