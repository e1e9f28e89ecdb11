/* The segments of a run that was killed, or had no room to join them, made one plain file: the end that the run itself would
 * have made (join.c). A plain file is left as it is; a folder next to it has nothing that it has not, and goes.
 */
#include "core/failure.h"
#include "record/internal.h"
#include <stdlib.h>
#include <string.h>

static cb_status join(cb_record_pieces *p) {
  cb_image layout = {NULL, 0};
  cb_record_warnings warnings = {.length = 0};
  cb_record_position at = {0};
  cb_blob *state = NULL;
  hid_t file;
  size_t n_state = 0;
  int completed = 0;
  bool joined = false;
  cb_arena *arena = cb_arena_create();
  char *name = cb_segment_name(&p->folder, 0);
  cb_status status = arena && name ? cb_probe(name) : cb_fail(CB_ERROR_MEMORY, "%s: no memory", p->path);
  if (!status) status = cb_image_read(name, &layout);
  free(name);
  if (!status) status = cb_pieces_checkpoint(p, &file);
  if (!status) status = cb_checkpoint_shape(arena, file, p->path, &state, &n_state);
  if (!status) status = cb_checkpoint_position(file, p->path, p->have, &at);
  if (!status && at.checkpoints) status = cb_checkpoint_read(file, p->path, p->have, state, n_state, &at);
  if (!status) {
    cb_hdf5_get_numbers(p->file, ".", "completed", H5T_INTEGER, H5T_NATIVE_INT, 1, &completed);
    cb_warnings_read(p->file, &warnings);
    const cb_join how = {.layout = &layout,
                         .state = at.checkpoints ? state : NULL,
                         .n_state = n_state,
                         .checkpoint = at,
                         .warnings = &warnings,
                         .completed = completed,
                         .synced = true};
    status = cb_join_write(p, &how, &joined);
  }
  free(layout.bytes);
  cb_arena_free(arena);
  return status;
}

static cb_status repair(const char *path, cb_segments *folder, cb_repair_report *report) {
  cb_record_pieces p;
  cb_status status = cb_pieces_open_own(path, folder, &p);
  if (status) return status;
  *report = (cb_repair_report){p.plain, p.have.rows, p.have.events, 0};
  if (!p.plain && !(status = join(&p))) cb_probe_trust(p.folder.record);
  if (!status) cb_segments_leave(&p.folder, true);
  cb_pieces_close(&p);
  return status;
}

cb_status cb_record_repair(const char *path, cb_repair_report *report) {
  cb_segments folder;
  cb_repair_report unread;
  cb_reader *reader = NULL;
  if (!report) report = &unread;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_segments_name(path, &folder);
  if (!status && (status = cb_segments_take(&folder))) cb_segments_leave(&folder, false);
  if (!status) status = repair(path, &folder, report);
  if (!status) status = cb_reader_open(path, &reader); /* what is repaired can be read */
  cb_reader_close(reader);
  status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
