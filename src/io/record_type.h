/* Types in an object header, looked at before HDF5 believes them. Internal to src/io. */
#ifndef CB_IO_RECORD_TYPE_H
#define CB_IO_RECORD_TYPE_H

#include <stddef.h>

/* What is wrong with the message of a type; NULL: nothing. What is left over behind it does not matter. */
const char *cb_type_fault(const unsigned char *message, size_t size);

#endif
