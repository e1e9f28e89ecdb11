/* What a loss of power can take of a record, kept aside while it is written. Internal to src/io.
 *
 * HDF5 overwrites its metadata in place. Of writes that no sync separates a disk keeps any, in any order, or parts of
 * them, and a block half new and half old is lost with all that it leads to. So at each sync the pages that are being
 * overwritten are copied to a file beside the record, OUT.h5.rescue, and a page that is not among them is copied before
 * it is first overwritten. From there the record can be brought back to what it was at that sync: these pages, and the
 * length. Rows are written once: of a chunk that fills up, what was there is written over by itself, unless it is compressed
 * or cut.
 *
 * The file goes when the record is closed. Killed writers leave it; repair and resume take it away.
 *
 *   0, 2048   two heads, written in turn: "cbrescue", epoch, place, pages, length of the record, rows, events,
 *             checkpoints, start of the system (boot), digest
 *   place     so many entries, then those that came after the sync: number of the page, digest with the epoch, page
 * Numbers are of 8 bytes, little endian. What is not whole has a wrong digest and does not count.
 */
#ifndef CB_IO_RECORD_RESCUE_H
#define CB_IO_RECORD_RESCUE_H

#include <curvebody/record.h>

typedef struct cb_rescue cb_rescue;

/* A stretch of the record that is to be kept at a sync whether or not it is metadata. */
typedef struct cb_stretch {
  uint64_t at, size;
} cb_stretch;

/* For the record at `path`. Makes no file before the first sync. NULL: no memory. */
cb_rescue *cb_rescue_new(const char *path);
/* NULL is allowed. The file goes where `remove`. */
void cb_rescue_free(cb_rescue *r, bool remove);

/* Syncs the record (its descriptor, all of it written), then copies what will be overwritten. 0 or errno. Where a disk
 * is full there is no copy, and what comes is written without. */
int cb_rescue_sync(cb_rescue *r, int fd, cb_record_position at, const cb_stretch *keep, size_t n);

/* Before something else is written where something is: 0 or errno. */
int cb_rescue_before(cb_rescue *r, int fd, uint64_t at, size_t size);

/* ---- After a run that did not end */

/* Whether there is a copy beside the record, and where it stood at that sync (otherwise zeros). *restarted: the system was
 * started since, or does not say: what came after the sync may be lost in part. Fails where that could not be read. */
cb_status cb_rescue_there(const char *path, bool *there, cb_record_position *at, bool *restarted);

/* Writes into the record (its descriptor) what is beside it; *done false: there is nothing that is whole. What was
 * there before goes to *undo, for cb_rescue_undo, which frees it; NULL: no memory, and nothing was written. */
typedef struct cb_undo cb_undo;
cb_status cb_rescue_restore(const char *path, int fd, bool *done, cb_undo **undo);
cb_status cb_rescue_undo(const char *path, int fd, cb_undo *undo);
void cb_undo_free(cb_undo *undo);

/* Takes the file away that is beside a record. */
void cb_rescue_remove(const char *path);

#endif
