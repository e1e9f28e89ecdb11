/* The file under HDF5, as a record needs it. Internal to src/io. */
#ifndef CB_IO_RECORD_DRIVER_H
#define CB_IO_RECORD_DRIVER_H

#include <hdf5.h>
#include <stdbool.h>

/* Makes the access properties use this driver. */
bool cb_driver_use(hid_t access);

/* From now on nothing reaches the file. */
void cb_driver_shut(hid_t file);

/* Was a write refused, whatever HDF5 made of it? */
bool cb_driver_refused(hid_t file);

#endif
