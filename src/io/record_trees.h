/* Trees of before HDF5 1.8: of names and of chunks. Internal to src/io.
 *
 * What record_structure.h says, of files of the older format, which readers of poses, grids and samples meet. */
#ifndef CB_IO_RECORD_TREES_H
#define CB_IO_RECORD_TREES_H

#include "io/record_header.h"

/* What is wrong with the links of a group, whose names are in the heap; NULL: nothing. */
const char *cb_names_fault(cb_source s, uint64_t bytes, uint64_t tree, uint64_t heap);

/* Of the chunks of a dataset of that rank. */
const char *cb_chunk_tree_fault(cb_source s, uint64_t bytes, uint64_t tree, int rank);

#endif
