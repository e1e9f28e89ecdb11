/* The file of a killed writer made a plain HDF5 file: a write that was stopped half-way is done again, the marks of the
 * writer come off, and every field is cut to the rows that all of them have. Nothing else changes; a repair that is
 * itself killed can be repeated.
 */
#include "io/record_internal.h"
#include "io/record_journal.h"
#include "io/record_superblock.h"
#include <unistd.h>

static cb_status check(hid_t file, const char *path, bool whole) {
  cb_status status = cb_record_check_mark(file, path);
  return status ? status : cb_record_check(file, path, whole);
}

cb_status cb_record_open_writing(const char *path, hid_t *out) {
  hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  if (file < 0) return cb_hdf5_fail(path, "open");
  cb_status status = check(file, path, true);
  H5Fclose(file);
  if (status) return status;
  *out = cb_hdf5_open(path, H5F_ACC_RDWR);
  return *out < 0 ? cb_hdf5_fail(path, "open for writing") : CB_OK;
}

static cb_status repair(const char *path, cb_repair_report *report) {
  hid_t file;
  cb_record_position whole = {0};
  uint64_t most = 0;
  cb_status status = cb_record_open_writing(path, &file);
  if (status) return status;
  status = cb_series_extent(file, path, &whole, &most);
  if (!status) status = cb_series_cut(file, path, whole);
  cb_status closing = cb_hdf5_close(file, status ? NULL : path, NULL);
  if (!status) status = closing;
  if (!status) *report = (cb_repair_report){false, whole.rows, whole.events, most - whole.rows};
  return status;
}

/* A file that was closed is only looked at. */
static cb_status look(const char *path, cb_repair_report *report) {
  cb_reader *reader;
  cb_status status = cb_reader_open(path, &reader);
  if (status) return status;
  cb_record_position whole = cb_reader_position(reader);
  cb_reader_close(reader);
  *report = (cb_repair_report){true, whole.rows, whole.events, 0};
  return CB_OK;
}

/* A file that opens and is no record is someone else's, and is left alone. */
static cb_status check_ours(const char *path) {
  hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ);
  if (file < 0) return CB_OK;
  cb_status status = check(file, path, false);
  H5Fclose(file);
  return status;
}

cb_status cb_record_mend(const char *path, bool *left_open) {
  int fd;
  bool open;
  cb_status status = cb_superblock_lock(path, false, &fd);
  if (status) return status;
  status = cb_superblock_read(path, fd, &open);
  const bool torn = !status && cb_journal_pending(fd); /* by our driver, and HDF5 may not find what marks a record */
  close(fd);
  if (!status && open && !torn) status = check_ours(path); /* takes a lock of its own, so outside of ours */
  if (!status) status = cb_superblock_lock(path, true, &fd);
  if (status) return status;
  if (!(status = cb_journal_replay(path, fd))) status = cb_superblock_read(path, fd, &open);
  if (!status && open) status = cb_superblock_mend(path, fd);
  close(fd); /* our driver takes it itself */
  if (!status) *left_open = open;
  return status;
}

cb_status cb_record_repair(const char *path, cb_repair_report *report) {
  cb_repair_report unread;
  bool left_open;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_record_mend(path, &left_open);
  if (!report) report = &unread;
  if (!status) status = left_open ? repair(path, report) : look(path, report);
  cb_hdf5_quiet_end(quiet);
  return status;
}
