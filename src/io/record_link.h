/* Links, looked at before HDF5 believes them. Internal to src/io. */
#ifndef CB_IO_RECORD_LINK_H
#define CB_IO_RECORD_LINK_H

#include <stddef.h>

/* What is wrong with the message of a link; NULL: nothing. */
const char *cb_link_fault(const unsigned char *message, size_t size);

#endif
