/* A record opened again at its newest checkpoint, to be continued as if it had never stopped.
 *
 * Nothing is changed until it is known that the run can go on. A complete record becomes the first segment, under a second
 * name, and keeps its own until the virtual file takes it. Rows after the checkpoint stay in their segments and do not count
 * any more: the next segment begins before them.
 */
#include "core/failure.h"
#include "core/file.h"
#include "record/output.h"
#include "record/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct match {
  const char *path;
  const cb_record_layout *layout;
  size_t found, events;
} match;

/* Every series of the file is a field of the layout or of events, of its type and shape. */
static cb_status match_field(void *context, hid_t dataset, const char *name, bool is_event) {
  match *m = context;
  hsize_t dims[4] = {H5S_UNLIMITED};
  int rank = 0;
  cb_field_type type = CB_FIELD_DOUBLE;
  for (size_t f = 0; !is_event && !rank && f < m->layout->n_fields; f++) {
    const cb_field *field = &m->layout->fields[f];
    if (strcmp(field->name, name)) continue;
    cb_layout_shape(m->layout, field, dims + 1);
    rank = field->rank + 1, type = field->type, m->found++;
  }
  for (size_t e = 0; is_event && !rank && e < CB_EVENT_FIELDS; e++)
    if (!strcmp(cb_event_fields[e].name, name)) rank = 1, type = cb_event_fields[e].type, m->events++;
  if (!rank) return cb_fail_placed(CB_ERROR_INPUT, "%s: error: field %s is not recorded by this run", m->path, name);
  if (cb_hdf5_dataset_is(dataset, cb_hdf5_file_type(type), rank, dims)) return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: field %s has another type or shape than in this run", m->path,
                        name);
}

static cb_status match_layout(hid_t file, const char *path, const cb_record_layout *layout) {
  match m = {.path = path, .layout = layout};
  size_t expected = 0;
  for (size_t f = 0; f < layout->n_fields; f++) expected += cb_layout_count(layout, &layout->fields[f]) > 0;
  cb_status status = cb_series_each(file, path, match_field, &m);
  if (status || (m.found == expected && m.events == CB_EVENT_FIELDS)) return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %zu fields and %zu of events in it, this run records %zu and %d",
                        path, m.found, m.events, expected, CB_EVENT_FIELDS);
}

static cb_status check_state(const cb_record_layout *layout, const cb_blob *state, size_t n_state) {
  bool same = n_state == layout->n_state;
  for (size_t b = 0; same && b < n_state; b++)
    same = !strcmp(state[b].name, layout->state[b].name) && state[b].count == layout->state[b].count &&
           state[b].type == layout->state[b].type;
  return same ? CB_OK : cb_fail(CB_ERROR_ARGUMENT, "record: the state to be read is not that of the layout");
}

/* The record under the name of a segment; where the file system has no second names, it moves there. */
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

/* Pieces up to where the run goes on. */
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
  cb_status status = match_layout(pieces->file, path, layout);
  if (!status) status = cb_pieces_checkpoint(pieces, &file);
  if (!status) status = cb_checkpoint_read(file, path, pieces->have, state, n_state, position);
  if (!status) status = cb_hdf5_unread(path, status);
  const int deflate = status ? 0 : cb_layout_deflate(pieces->file);
  if (!status)
    status = cb_layout_take_origin(arena, pieces->file, pieces->path, &own); /* this run does not change it */
  if (!status) cut(pieces, *position);
  if (!status && pieces->plain) status = take_as_segment(pieces);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  cb_record_pieces taken = *pieces;
  *pieces = (cb_record_pieces){.file = H5I_INVALID_HID, .other = H5I_INVALID_HID, .folder = {.lock = -1}};
  return cb_record_attach(path, arena, &taken, &own, deflate, options, state, *position, out);
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
