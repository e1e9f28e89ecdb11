/* What HDF5 1.10 believes, looked at before it does. Internal to src/io. */
#ifndef CB_IO_RECORD_STRUCTURE_H
#define CB_IO_RECORD_STRUCTURE_H

#include "io/record_header.h"

/* Whether the parts that an object header leads to lie within a file of so many bytes, and are such as HDF5 makes.
 * What cannot be read counts as sound: HDF5 says so itself. NULL, or what is wrong. */
const char *cb_structure_fault(cb_source s, uint64_t bytes, uint64_t header);

/* What a dataset is, or the heap of a group's links; as far as its header could be read. */
typedef struct cb_structure {
  int rank, chunk_rank;                                                /* 0: not known, not in chunks */
  uint64_t now[H5S_MAX_RANK], most[H5S_MAX_RANK], chunk[H5S_MAX_RANK]; /* extents that it has, can have */
  uint64_t element;                                                    /* bytes of a number in chunks */
  const char *elsewhere; /* why its numbers are not in the file, NULL: they are */
  H5Z_filter_t filter;   /* that it passes through and that is neither shuffle nor deflate; -1: none */
} cb_structure;
const char *cb_structure_look(cb_source s, uint64_t bytes, uint64_t header, cb_structure *out);

/* The same of the root of an open file and of all on the way to `name`, as far as hard links lead. */
const char *cb_structure_fault_at(hid_t file, const char *name);

#endif
