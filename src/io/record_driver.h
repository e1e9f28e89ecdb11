/* The file under HDF5, as a record needs it. Internal to src/io. */
#ifndef CB_IO_RECORD_DRIVER_H
#define CB_IO_RECORD_DRIVER_H

#include <hdf5.h>
#include <stdbool.h>

/* Makes the access properties use this driver. */
bool cb_driver_use(hid_t access);

/* From now on nothing reaches the file. */
void cb_driver_shut(hid_t file);

/* Was a write refused? HDF5 does not know. */
bool cb_driver_refused(hid_t file);

/* errno of what was refused of the file that was last asked about, or closed, on this thread: 0 if nothing was. */
int cb_driver_error(void);

#endif
