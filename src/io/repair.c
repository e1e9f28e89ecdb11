/* The file of a writer that did not close it made a plain HDF5 file: a write that was stopped half-way is done again, the
 * marks of the writer come off, what a loss of power took is brought back to the last sync, and every field is cut to
 * the rows that all of them have and that are as they were written. Nothing else changes; a repair that is itself
 * stopped can be repeated.
 */
#include "core/failure.h"
#include "core/file.h"
#include "io/record_digest.h"
#include "io/record_driver.h"
#include "io/record_internal.h"
#include "io/record_journal.h"
#include "io/record_superblock.h"
#include "io/record_taken.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cb_status check(hid_t file, const char *path, bool whole, cb_taken *taken) {
  cb_status status = cb_record_check_mark(file, path);
  if (!status) status = cb_record_check(file, path, whole, taken);
  return cb_hdf5_unread(path, status);
}

cb_status cb_record_open_checked(const char *path, cb_taken *taken, hid_t *out) {
  hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  if (file < 0) return cb_hdf5_fail_open(path, "open");
  cb_status status = check(file, path, true, taken);
  if (status)
    cb_hdf5_close_read(file, path);
  else
    *out = file;
  return status;
}

cb_status cb_record_extent(hid_t file, const char *path, cb_record_position synced, cb_record_position *whole,
                           uint64_t *most) {
  const cb_status status = cb_series_extent(file, path, whole, most);
  return cb_hdf5_unread(path, status ? status : cb_digest_check(file, path, synced, whole));
}

cb_status cb_record_compare(hid_t file, const char *path, bool left, cb_record_position synced,
                            cb_record_position *whole, uint64_t *most) {
  static const cb_record_position start = {0};
  cb_record_position good;
  cb_status status = cb_series_extent(file, path, whole, most);
  good = *whole;
  if (!status) status = cb_digest_check(file, path, start, &good);
  if (status) return status;
  const cb_record_position sure = left ? synced : *whole;
  const bool rows = good.rows < whole->rows;
  if (good.rows < sure.rows || good.events < sure.events)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: damaged: %s %llu is not as it was written", path,
                          rows ? "row" : "event", (unsigned long long)(rows ? good.rows : good.events));
  *whole = good;
  return CB_OK;
}

/* ---- For writing */

/* What is on the disk now is what is kept. 0 or errno. */
static int guard(const char *path, cb_rescue *rescue, cb_record_position at) {
  const int fd = cb_open(path, O_RDONLY);
  if (fd < 0) return errno;
  const int error = cb_rescue_sync(rescue, fd, at, NULL, 0);
  close(fd);
  return error;
}

cb_status cb_record_open_writing(const char *path, cb_rescue *rescue, cb_record_position at, hid_t *out) {
  const int error = rescue ? guard(path, rescue, at) : 0;
  cb_status status = error ? cb_fail_file(path, "write", error) : CB_OK;
  if (!status) {
    *out = cb_hdf5_open(path, H5F_ACC_RDWR);
    if (*out < 0) status = cb_hdf5_fail_open(path, "open for writing");
  }
  if (status)
    cb_rescue_free(rescue, false);
  else if (rescue)
    cb_driver_guard(*out, rescue, true); /* what is cut is written over */
  return status;
}

/* ---- After a run that did not end */

/* A file that opens and is no record is someone else's, and is left alone. */
static cb_status check_ours(const char *path) {
  hid_t file = cb_hdf5_open_swmr(path, false);
  if (file < 0) return cb_hdf5_unread(path, CB_OK);
  cb_status status = check(file, path, false, NULL);
  cb_hdf5_close_read(file, path);
  return status;
}

static cb_status take_marks(const char *path, bool *left) {
  int shared, fd;
  bool open, torn = false;
  cb_status status = cb_superblock_lock(path, false, &shared);
  if (status) return status;
  status = cb_superblock_read(path, shared, &open);
  /* by our driver, and HDF5 may not find what marks a record */
  if (!status) status = cb_journal_pending(path, shared, &torn);
  close(shared);
  if (!status && open && !torn) status = check_ours(path); /* takes a lock of its own, so outside of ours */
  if (!status) status = cb_superblock_lock(path, true, &fd);
  if (status) return status;
  if (!(status = cb_journal_replay(path, fd))) status = cb_superblock_read(path, fd, &open);
  if (!status && open) status = cb_superblock_mend(path, fd);
  close(fd); /* our driver takes it itself */
  if (!status) *left = open;
  return status;
}

/* Whether the file has all that it had at the last sync. The chunk that was being filled then is compared too. */
static cb_status check_sound(const char *path, cb_record_position synced) {
  const cb_record_position from = {synced.rows - synced.rows % CB_CHUNK_ROWS,
                                   synced.events - synced.events % CB_CHUNK_ROWS, 0};
  cb_record_position whole, checkpoint = {0};
  hid_t file = H5I_INVALID_HID;
  cb_status status = cb_record_open_checked(path, NULL, &file);
  if (status) return status;
  status = cb_record_extent(file, path, from, &whole, NULL);
  if (!status && synced.checkpoints) status = cb_slot_newest(file, path, whole, &checkpoint);
  cb_hdf5_close_read(file, path);
  status = cb_hdf5_unread(path, status); /* what could not be read is not for that to be brought back */
  if (status ||
      (whole.rows >= synced.rows && whole.events >= synced.events && checkpoint.checkpoints >= synced.checkpoints))
    return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: damaged: rows or checkpoints are not as they were written", path);
}

/* Brings the record back to what is kept beside it; where it is not sound then either, what was there stays. */
static cb_status bring_back(const char *path, cb_record_position synced, bool *done) {
  int fd;
  bool left;
  cb_undo *undo;
  cb_status status = cb_superblock_lock(path, true, &fd);
  if (status) return status;
  status = cb_rescue_restore(path, fd, done, &undo);
  close(fd);
  if (status || !*done) return status;
  status = take_marks(path, &left);
  if (!status) status = check_sound(path, synced);
  *done = !status;
  if (*done) return cb_undo_free(undo), CB_OK;
  fd = cb_open(path, O_RDWR);
  if (fd >= 0)
    cb_rescue_undo(path, fd, undo), close(fd);
  else
    cb_undo_free(undo);
  return status == CB_ERROR_INPUT ? CB_OK : status;
}

/* What is beside it may be of another file of that name: then this one speaks for itself. */
static cb_status recover(const char *path, cb_record_position *synced) {
  static const cb_record_position start = {0};
  bool done, left;
  cb_status status = bring_back(path, *synced, &done);
  if (status || done) return status;
  *synced = start;
  status = take_marks(path, &left);
  return status ? status : check_sound(path, start);
}

/* What could not be read is no reason to take the record back to its last sync. */
cb_status cb_record_mend(const char *path, bool *left, cb_record_position *synced) {
  bool there, restarted;
  cb_status status = take_marks(path, left);
  if (status && (status != CB_ERROR_INPUT || cb_driver_unread())) return status;
  const cb_status found = cb_rescue_there(path, &there, synced, &restarted);
  if (found || !there) return found ? found : status;
  const bool sound = !status && !restarted && !(status = check_sound(path, *synced));
  if (!sound && status != CB_ERROR_MEMORY && !cb_driver_unread()) status = recover(path, synced);
  if (!status) *left = true;
  return status;
}

static cb_status repair(const char *path, cb_record_position synced, cb_repair_report *report) {
  hid_t file = H5I_INVALID_HID;
  cb_record_position whole = {0};
  uint64_t most = 0;
  cb_taken taken = {0};
  cb_status status = cb_record_open_checked(path, &taken, &file);
  if (status) return cb_taken_free(&taken), status;
  status = cb_record_compare(file, path, true, synced, &whole, &most);
  if (!status) status = cb_taken_check(&taken, file, path, whole);
  status = cb_hdf5_unread(path, status);
  cb_taken_free(&taken);
  cb_hdf5_close_read(file, path); /* rows that could not be read are not for that to be cut off */
  cb_rescue *rescue = status ? NULL : cb_rescue_new(path);
  if (!status && !rescue) status = cb_fail(CB_ERROR_MEMORY, "%s: no memory to repair it", path);
  if (!status) status = cb_record_open_writing(path, rescue, whole, &file);
  if (status) return status;
  status = cb_hdf5_refused(file, path, cb_series_cut(file, path, whole));
  cb_status closing = cb_hdf5_close(file, status ? NULL : path, NULL);
  if (!status) status = closing;
  cb_rescue_free(rescue, !status);
  if (!status) *report = (cb_repair_report){false, whole.rows, whole.events, most - whole.rows};
  return status;
}

/* A file that was closed is only looked at. */
static cb_status look(const char *path, cb_repair_report *report) {
  cb_record_position whole = {0};
  hid_t file = H5I_INVALID_HID;
  cb_status status = cb_record_open_checked(path, NULL, &file);
  if (status) return status;
  status = cb_record_compare(file, path, false, whole, &whole, NULL);
  cb_hdf5_close_read(file, path);
  if (status) return status;
  *report = (cb_repair_report){true, whole.rows, whole.events, 0};
  return CB_OK;
}

/* What is repaired can be read, whatever its rows are. */
cb_status cb_record_repair(const char *path, cb_repair_report *report) {
  cb_repair_report unread;
  cb_reader *reader = NULL;
  bool left;
  cb_record_position synced = {0};
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_record_mend(path, &left, &synced);
  if (!report) report = &unread;
  if (!status) status = cb_reader_open(path, &reader);
  cb_reader_close(reader);
  if (!status) status = left ? repair(path, synced, report) : look(path, report);
  if (status) status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
