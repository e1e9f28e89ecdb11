/* What HDF5 1.10 believes, looked at before it does. Internal to src/io. */
#ifndef CB_IO_RECORD_STRUCTURE_H
#define CB_IO_RECORD_STRUCTURE_H

#include "io/record_header.h"

/* Whether the parts that an object header leads to lie within a file of so many bytes, and are such as HDF5 makes.
 * What cannot be read counts as sound: HDF5 says so itself. NULL, or what is wrong. */
const char *cb_structure_fault(cb_source s, uint64_t bytes, uint64_t header);

/* The same of the root of an open file and of all on the way to `name`, as far as hard links lead. */
const char *cb_structure_fault_at(hid_t file, const char *name);

#endif
