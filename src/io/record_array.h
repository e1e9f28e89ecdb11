/* Extensible arrays: where the chunks of a dataset are that grows in one direction. Internal to src/io. */
#ifndef CB_IO_RECORD_ARRAY_H
#define CB_IO_RECORD_ARRAY_H

#include "io/record_header.h"

/* What is wrong with the one whose header is there, or with a chunk in it; NULL: nothing. */
const char *cb_array_fault(cb_source s, uint64_t bytes, uint64_t header);

#endif
