/* Records of runs that ended or were killed: resuming, which continues a record as if it had never stopped, and repair,
 * which joins the remaining segments.
 *
 * A record is resumed at its newest checkpoint. Nothing is changed before it is certain that the run can continue. A
 * complete record gets a second name, which makes it the first segment; it keeps its own name until the virtual file
 * takes that name. Rows after the checkpoint stay in their segments but no longer count, because the next segment
 * begins before them.
 */
#include "core/failure.h"
#include "core/file.h"
#include "record/output.h"
#include "record/internal.h"
#include "record/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct match {
  const char *path;
  const cb_record_layout *layout;
  size_t found, events, expected_events;
} match;

/* Checks that a dataset that grows is a field of the layout, or of the events, with the same type and shape. */
static cb_status match_field(void *context, hid_t dataset, const char *name, bool is_event) {
  match *m = context;
  hsize_t dims[4] = {H5S_UNLIMITED};
  int rank = 0;
  cb_field_type type = CB_FIELD_DOUBLE;
  for (size_t f = 0; !is_event && !rank && f < m->layout->n_fields; f++) {
    const cb_field *field = &m->layout->fields[f];
    if (strcmp(field->name, name)) continue;
    cb_layout_shape(m->layout, field, dims + 1);
    rank = field->rank + 1;
    type = field->type;
    m->found++;
  }
  for (size_t e = 0; is_event && !rank && e < m->expected_events; e++)
    if (!strcmp(cb_record_name(cb_event_fields[e].name, m->layout->old_names), name)) {
      rank = 1;
      type = cb_event_fields[e].type;
      m->events++;
    }
  if (!rank)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: this run does not record the field %s: expected the scenario of the record",
                          m->path, name);
  if (cb_hdf5_dataset_is(dataset, cb_hdf5_file_type(type), rank, dims)) return CB_OK;
  return cb_fail_placed(
      CB_ERROR_INPUT,
      "%s: error: field %s has a type or shape that differs from this run: expected the scenario of the record",
      m->path, name);
}

static cb_status match_layout(hid_t file, const char *path, const cb_record_layout *layout) {
  match m = {.path = path, .layout = layout, .expected_events = cb_event_fields_of(layout->old_names)};
  size_t expected = 0;
  for (size_t f = 0; f < layout->n_fields; f++) expected += cb_layout_count(layout, &layout->fields[f]) > 0;
  cb_status status = cb_series_each(file, path, match_field, &m);
  if (status || (m.found == expected && m.events == m.expected_events)) return status;
  return cb_fail_placed(
      CB_ERROR_INPUT,
      "%s: error: the record has %zu fields and %zu fields of events, expected %zu and %zu as in this run", path,
      m.found, m.events, expected, m.expected_events);
}

static cb_status check_state(const cb_record_layout *layout, const cb_blob *state, size_t n_state) {
  bool same = n_state == layout->n_state;
  for (size_t b = 0; same && b < n_state; b++)
    same = !strcmp(state[b].name, layout->state[b].name) && state[b].count == layout->state[b].count &&
           state[b].type == layout->state[b].type;
  return same ? CB_OK : cb_fail(CB_ERROR_ARGUMENT, "record: expected the pieces of state of the layout");
}

/* Gives the record a second name, the name of segment 1. If the file system has no hard links, the record is
 * renamed. */
static cb_status take_as_segment(cb_record_pieces *pieces) {
  const int error = cb_segments_cut(&pieces->folder, 0);
  if (error) return cb_fail_file(pieces->path, "write", error);
  char *name = cb_segment_name(&pieces->folder, 1);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  const bool taken = link(pieces->folder.record, name) == 0 || rename(pieces->folder.record, name) == 0;
  const cb_status status = taken ? CB_OK : cb_fail_file(pieces->path, "write", errno);
  free(name);
  pieces->piece[0].number = 1;
  return status;
}

/* Keeps the pieces up to the position at which the run continues. */
static void cut(cb_record_pieces *pieces, cb_record_position at) {
  size_t count = 1;
  while (count < pieces->count && pieces->piece[count].first.rows <= at.rows &&
         pieces->piece[count].first.events <= at.events)
    count++;
  pieces->stale = count < pieces->count || pieces->lost;
  pieces->count = count;
  cb_piece *last = &pieces->piece[count - 1];
  last->have.rows = at.rows - last->first.rows;
  last->have.events = at.events - last->first.events;
  pieces->have = at;
}

static cb_status open_at(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                         cb_blob *state, size_t n_state, cb_record_position *position, cb_record_pieces *pieces,
                         cb_record **out) {
  cb_record_layout own = *layout;
  hid_t file;
  cb_arena *arena = cb_arena_create();
  if (!arena) return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  cb_status status = cb_record_has_old_names(pieces->file) ? cb_record_use_old_names(arena, &own) : CB_OK;
  if (!status) status = match_layout(pieces->file, path, &own);
  if (!status) status = cb_pieces_checkpoint(pieces, &file);
  if (!status) status = cb_checkpoint_read(file, path, pieces->have, state, n_state, position);
  if (!status) status = cb_hdf5_unread(path, status);
  const int deflate = status ? 0 : cb_layout_deflate(pieces->file);
  if (!status)
    status = cb_layout_take_origin(arena, pieces->file, pieces->path, &own); /* the origin of the first run */
  if (!status) cut(pieces, *position);
  if (!status && pieces->plain) status = take_as_segment(pieces);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  cb_record_pieces taken = *pieces;
  *pieces = (cb_record_pieces){.file = H5I_INVALID_HID, .other = H5I_INVALID_HID, .folder = {.lock = -1}};
  return cb_record_attach(&(cb_record_start){path, arena, &taken, &own, deflate, options, state, *position}, out);
}

cb_status cb_record_open_for_resume(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                                    cb_blob *state, size_t n_state, cb_record_position *position, cb_record **out) {
  cb_segments folder;
  cb_record_pieces pieces = {.file = H5I_INVALID_HID, .other = H5I_INVALID_HID, .folder = {.lock = -1}};
  cb_record_position at = {0};
  cb_status status = cb_layout_check(layout);
  if (!status) status = check_state(layout, state, n_state);
  if (status) return status;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  status = cb_segments_name(path, &folder);
  if (!status && (status = cb_segments_take(&folder))) cb_segments_leave(&folder, false);
  if (!status) status = cb_pieces_open_own(path, &folder, &pieces);
  if (!status) status = open_at(path, layout, options, state, n_state, &at, &pieces, out);
  if (!status && position) *position = at;
  cb_pieces_close(&pieces);
  if (status) status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* ---- Repair
 *
 * The segments of a run that was killed, or that had no disk space to join them, become one plain file, as at the end
 * of a run (join.c). A plain file stays unchanged; a folder next to it has no other data and is removed. */

static cb_status join_pieces(cb_record_pieces *p) {
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
  if (!p.plain && !(status = join_pieces(&p))) cb_probe_trust(p.folder.record);
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
  if (!status) status = cb_reader_open(path, &reader); /* checks that the repaired record can be read */
  cb_reader_close(reader);
  status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
