/* The file under HDF5, as a record needs it. Internal to src/io. */
#ifndef CB_IO_RECORD_DRIVER_H
#define CB_IO_RECORD_DRIVER_H

#include "io/record_rescue.h"
#include <hdf5.h>
#include <stdbool.h>

/* Makes the access properties use this driver. */
bool cb_driver_use(hid_t access);

/* From now on nothing reaches the file. */
void cb_driver_shut(hid_t file);

/* From now on the file is synced when it is closed, and its metadata, or everything, are kept in `rescue` before they are
 * written over: borrowed until then. */
void cb_driver_guard(hid_t file, cb_rescue *rescue, bool everything);

/* Syncs a guarded file, all of it written by HDF5: record_rescue.h. What is refused is as of a write. */
void cb_driver_sync(hid_t file, cb_record_position at, const cb_stretch *keep, size_t n);

/* Was a write refused, or a read of a file that is written? HDF5 does not know, or makes its own of it. */
bool cb_driver_refused(hid_t file);

/* errno of what was refused of the file that was last asked about, or closed, on this thread: 0 if nothing was. */
int cb_driver_error(void);

/* Reads from the file under HDF5, all of it; false where the file ends before, is not on this driver, or refuses. */
bool cb_driver_read(hid_t file, uint64_t at, void *to, size_t size);
/* How long it is, whatever it says of itself; false: not on this driver. */
bool cb_driver_length(hid_t file, uint64_t *bytes);
/* Whether another has it open for writing. */
bool cb_driver_written(hid_t file);
/* What its addresses count from; false: not on this driver, or they or lengths have other than 8 bytes. */
bool cb_driver_addresses(hid_t file, uint64_t *base);

/* errno of the first read, or opening, that the system refused on this thread since the latter was called; 0: none. */
int cb_driver_unread(void);
void cb_driver_forget(void);

#endif
