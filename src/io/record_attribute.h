/* Attributes in an object header, looked at before HDF5 believes them. Internal to src/io. */
#ifndef CB_IO_RECORD_ATTRIBUTE_H
#define CB_IO_RECORD_ATTRIBUTE_H

#include <stddef.h>

/* What is wrong with the message of an attribute; NULL: nothing. */
const char *cb_attribute_fault(const unsigned char *message, size_t size);

#endif
