/* The file under HDF5, as a record needs it. Internal to src/io. */
#ifndef CB_IO_RECORD_DRIVER_H
#define CB_IO_RECORD_DRIVER_H

#include "io/record_rescue.h"
#include <hdf5.h>
#include <stdbool.h>

/* A file that it has open. */
typedef struct cb_driven cb_driven;

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

/* The file under HDF5, until it is closed; NULL: it is not on this driver. */
cb_driven *cb_driver_of(hid_t file);
/* Reads from it, all of it; false where the file ends before, or the system refuses. Small parts by the page: what others
 * write meanwhile is seen after cb_driver_look_again. */
bool cb_driver_read(cb_driven *file, uint64_t at, void *to, size_t size);
void cb_driver_look_again(cb_driven *file);
/* How long it is, whatever it says of itself. */
uint64_t cb_driver_length(const cb_driven *file);
/* What its addresses count from. */
uint64_t cb_driver_base(const cb_driven *file);
/* Whether another has it open for writing. */
bool cb_driver_written(const cb_driven *file);

/* errno of the first read, or opening, that the system refused on this thread since the latter was called; 0: none. */
int cb_driver_unread(void);
void cb_driver_forget(void);

#endif
