/* Records of runs that ended or were killed: resuming, which continues a record as if it had never stopped, and repair,
 * which joins the remaining segments.
 *
 * A record is resumed at its newest checkpoint. Nothing is changed before it is certain that the run can continue. A
 * complete record gets a second name, which makes it the first segment; it keeps its own name until the virtual file
 * takes that name. Rows after the checkpoint stay in their segments but no longer count, because the next segment
 * begins before them.
 *
 * The group /checkpoint has one dataset per piece of state, and `seal` = (checkpoints, rows, events), unsigned 64-bit
 * numbers that are zero if there is no checkpoint yet. Like rows, the datasets have checksums (fletcher32), so that no
 * run continues from a damaged state.
 *
 * Records of version 0.1 have two such groups, /checkpoint/slot0 and /checkpoint/slot1; the newer one is read.
 */
#include "record/internal.h"

#include "core/failure.h"
#include "core/file.h"
#include "record/output.h"
#include "record/record_contents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- checkpoints --- */

enum { CHECKPOINTS, ROWS, EVENTS, SEAL, OLD_SEAL };
enum { CHUNK = 1 << 17 }; /* maximum number of values in a chunk of state */

/* Creates a dataset of zeros with checksums. Returns a negative number on failure. */
static hid_t create_checked(hid_t group, const char *name, hid_t type, hsize_t count) {
  const hsize_t chunk[1] = {count < CHUNK ? count : CHUNK};
  const hid_t space = H5Screate_simple(1, &count, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(create, false);
  H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
  hid_t dataset = H5I_INVALID_HID;
  if (H5Pset_chunk(create, 1, chunk) >= 0 && H5Pset_fletcher32(create) >= 0 &&
      H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY) >= 0)
    dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  if (create >= 0) H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  return dataset;
}

bool cb_checkpoint_is_large(const cb_blob *state, size_t n_state) {
  size_t bytes = 0;
  for (size_t b = 0; b < n_state; b++) bytes += state[b].count * cb_hdf5_type_size(state[b].type);
  return bytes > CB_LARGE_BYTES;
}

/* Creates the dataset of a piece of state. data may be NULL. */
static bool create_piece(hid_t group, const cb_blob *blob, const void *data) {
  const hid_t dataset = create_checked(group, blob->name, cb_hdf5_file_type(blob->type), blob->count);
  const bool ok = dataset >= 0 && (!data || H5Dwrite(dataset, cb_hdf5_memory_type(blob->type), H5S_ALL, H5S_ALL,
                                                     H5P_DEFAULT, data) >= 0);
  return dataset >= 0 && H5Dclose(dataset) >= 0 && ok;
}

cb_status cb_checkpoint_create(hid_t file, const char *path, const cb_blob *state, size_t n_state) {
  const hid_t group = cb_hdf5_put_group(file, "checkpoint");
  hid_t dataset = H5I_INVALID_HID;
  bool ok = group >= 0;
  if (ok) dataset = create_checked(group, "seal", H5T_STD_U64LE, SEAL);
  ok = ok && dataset >= 0 && H5Dclose(dataset) >= 0;
  for (size_t b = 0; ok && b < n_state && !cb_checkpoint_is_large(state, n_state); b++)
    ok = !state[b].count || create_piece(group, &state[b], NULL);
  if (group >= 0) H5Gclose(group);
  return ok ? CB_OK : cb_hdf5_fail(path, "create the checkpoint");
}

/* Writes a piece of state. A large state has no datasets before its first checkpoint. */
static bool write_piece(hid_t group, const cb_blob *blob) {
  if (H5Lexists(group, blob->name, H5P_DEFAULT) <= 0) return create_piece(group, blob, blob->data);
  const hid_t dataset = H5Dopen2(group, blob->name, H5P_DEFAULT);
  const bool ok = dataset >= 0 &&
                  H5Dwrite(dataset, cb_hdf5_memory_type(blob->type), H5S_ALL, H5S_ALL, H5P_DEFAULT, blob->data) >= 0;
  return dataset >= 0 && H5Dclose(dataset) >= 0 && ok;
}

bool cb_checkpoint_write(hid_t file, const cb_blob *state, size_t n_state, cb_record_position at) {
  const uint64_t seal[SEAL] = {at.checkpoints, at.rows, at.events};
  const hid_t group = H5Gopen2(file, "checkpoint", H5P_DEFAULT),
              dataset = group < 0 ? group : H5Dopen2(group, "seal", H5P_DEFAULT);
  bool ok = dataset >= 0;
  for (size_t b = 0; ok && b < n_state; b++) ok = !state[b].count || write_piece(group, &state[b]);
  ok = ok && H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, seal) >= 0;
  if (dataset >= 0) H5Dclose(dataset);
  if (group >= 0) H5Gclose(group);
  return ok;
}

/* ---- Reading */

/* Opens a dataset of a group if it has this type and number of values; otherwise returns a negative number. count =
 * H5S_UNLIMITED allows any number of values. */
static hid_t open_piece(hid_t group, const char *name, hid_t type, hsize_t count) {
  const hid_t dataset = cb_hdf5_find_dataset(group, name);
  if (dataset >= 0 && cb_hdf5_dataset_is(dataset, type, 1, &count)) return dataset;
  if (dataset >= 0) H5Dclose(dataset);
  return H5I_INVALID_HID;
}

static bool read_seal(hid_t group, hsize_t length, uint64_t seal[OLD_SEAL]) {
  const hid_t dataset = open_piece(group, "seal", H5T_STD_U64LE, length);
  const bool ok = dataset >= 0 && H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, seal) >= 0;
  if (dataset >= 0) H5Dclose(dataset);
  return ok;
}

/* Opens the group of the newest checkpoint. Checkpoints after the rows and events in `have` do not count. Returns a
 * negative number if there is no other checkpoint. */
static hid_t open_newest(hid_t file, cb_record_position have, const char **name, cb_record_position *at) {
  static const char *const groups[] = {"checkpoint", "checkpoint/slot0", "checkpoint/slot1"};
  hid_t newest = H5I_INVALID_HID;
  *at = (cb_record_position){0};
  for (int g = 0; g < 3; g++) {
    if (H5Lexists(file, "checkpoint", H5P_DEFAULT) <= 0 || (g && H5Lexists(file, groups[g], H5P_DEFAULT) <= 0))
      continue;
    const hid_t group = H5Gopen2(file, groups[g], H5P_DEFAULT);
    uint64_t seal[OLD_SEAL] = {0};
    const bool newer = group >= 0 && read_seal(group, g ? OLD_SEAL : SEAL, seal) &&
                       seal[CHECKPOINTS] > at->checkpoints && seal[ROWS] <= have.rows && seal[EVENTS] <= have.events;
    if (newer) {
      if (newest >= 0) H5Gclose(newest);
      newest = group;
      *name = groups[g];
      *at = (cb_record_position){seal[ROWS], seal[EVENTS], seal[CHECKPOINTS]};
    } else if (group >= 0) {
      H5Gclose(group);
    }
  }
  return newest;
}

cb_status cb_checkpoint_position(hid_t file, const char *path, cb_record_position have, cb_record_position *at) {
  const char *name;
  const hid_t group = open_newest(file, have, &name, at);
  if (group >= 0) H5Gclose(group);
  return cb_hdf5_unread(path, CB_OK);
}

/* Fails with CB_ERROR_INPUT for the state of another version, which has other pieces: a run could not continue from it
 * bit for bit. has: what `group` contains, for the message. */
static cb_status refuse_state(const char *path, const char *group, const char *has) {
  return cb_fail_placed(
      CB_ERROR_INPUT,
      "%s: error: this version of curvebody cannot resume the record: %s has %s: expected a record of "
      "this version, or the version that wrote it (attributes curvebody_version and git_commit)",
      path, group, has);
}

static cb_status read_piece(hid_t group, const char *path, const char *in, const cb_blob *blob, void *data) {
  char has[96];
  snprintf(has, sizeof has, "no `%.40s`", blob->name);
  if (H5Lexists(group, blob->name, H5P_DEFAULT) <= 0) return refuse_state(path, in, has);
  const hid_t dataset = open_piece(group, blob->name, cb_hdf5_file_type(blob->type), blob->count);
  if (dataset < 0)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s/%s has a wrong type or length, expected %zu values", path, in,
                          blob->name, blob->count);
  const bool ok = H5Dread(dataset, cb_hdf5_memory_type(blob->type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  H5Dclose(dataset);
  return ok ? CB_OK : cb_hdf5_fail(path, "read %s/%s", in, blob->name);
}

/* Counts the pieces of state in the group: all links except `seal` and the names in `others`. */
static hsize_t count_pieces(hid_t group) {
  H5G_info_t info = {.nlinks = 1};
  H5Gget_info(group, &info);
  hsize_t count = info.nlinks - 1;
  for (int i = 0; i < 3; i++) { /* datasets of /checkpoint that are not pieces of state */
    static const char *const others[] = {"segments", "row_digest", "event_digest"};
    if (H5Lexists(group, others[i], H5P_DEFAULT) > 0) count--;
  }
  return count;
}

static cb_status read_state(hid_t group, const char *path, const char *in, cb_blob *state, size_t n_state) {
  hsize_t expected = 0;
  cb_status status = CB_OK;
  for (size_t b = 0; !status && b < n_state; b++) {
    if (!state[b].count || (state[b].may_lack && H5Lexists(group, state[b].name, H5P_DEFAULT) <= 0)) continue;
    expected++;
    status = read_piece(group, path, in, &state[b], state[b].data);
  }
  const hsize_t found = count_pieces(group);
  if (status || found == expected) return status;
  char has[96];
  snprintf(has, sizeof has, "%llu pieces of state instead of %llu", (unsigned long long)found,
           (unsigned long long)expected);
  return refuse_state(path, in, has);
}

cb_status cb_checkpoint_read(hid_t file, const char *path, cb_record_position have, cb_blob *state, size_t n_state,
                             cb_record_position *position) {
  const char *name = "";
  cb_record_position at;
  const hid_t group = open_newest(file, have, &name, &at);
  if (group < 0) {
    const cb_status status = cb_hdf5_unread(path, CB_OK);
    return status ? status
                  : cb_fail_placed(CB_ERROR_INPUT, "%s: error: it has no complete checkpoint; run its scenario again",
                                   path);
  }
  const cb_status status = read_state(group, path, name, state, n_state);
  H5Gclose(group);
  if (!status) *position = at;
  return status;
}

/* ---- The state in a file, for repair */

typedef struct shape {
  cb_arena *arena;
  const char *path;
  cb_blob *state;
  size_t count, capacity;
} shape;

static cb_status add_piece(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  shape *s = context;
  cb_blob *blob = &s->state[s->count];
  if (link->type != H5L_TYPE_HARD || !strcmp(name, "seal") || s->count == s->capacity) return CB_OK;
  const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT), space = dataset < 0 ? dataset : H5Dget_space(dataset);
  const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  const bool ours = count > 0 && cb_hdf5_type_of(dataset, &blob->type);
  if (ours) {
    blob->name = cb_arena_strdup(s->arena, name);
    blob->count = (size_t)count;
    blob->data = cb_arena_alloc(s->arena, blob->count, cb_hdf5_type_size(blob->type));
    s->count++;
  }
  if (space >= 0) H5Sclose(space);
  if (dataset >= 0) H5Dclose(dataset);
  return CB_OK;
}

/* Lists the names, types and counts of the state in a file, and allocates its data. Used by repair. */
static cb_status checkpoint_shape(cb_arena *arena, hid_t file, const char *path, cb_blob **state, size_t *n_state) {
  H5G_info_t info = {.nlinks = 0};
  const hid_t group = H5Gopen2(file, "checkpoint", H5P_DEFAULT);
  if (group < 0 || H5Gget_info(group, &info) < 0) return cb_hdf5_fail(path, "read the checkpoint");
  shape s = {arena, path, cb_arena_alloc(arena, info.nlinks + 1, sizeof(cb_blob)), 0, info.nlinks};
  cb_status status = s.state ? cb_hdf5_each_link(group, path, H5_INDEX_CRT_ORDER, add_piece, &s) : CB_OK;
  H5Gclose(group);
  if (!status && cb_arena_lost(arena)) status = cb_fail(CB_ERROR_MEMORY, "%s: no memory for its checkpoint", path);
  if (!status) {
    *state = s.state;
    *n_state = s.count;
  }
  return status;
}

/* --- resuming and repair --- */

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
  const cb_field *fields = is_event ? m->layout->event_fields : m->layout->fields;
  const size_t n = is_event ? m->layout->n_event_fields : m->layout->n_fields;
  for (size_t f = 0; !rank && f < n; f++) {
    if (strcmp(fields[f].name, name)) continue;
    cb_layout_shape(m->layout, &fields[f], dims + 1);
    rank = fields[f].rank + 1;
    type = fields[f].type;
    ++*(is_event ? &m->events : &m->found);
  }
  for (size_t e = 0; is_event && !rank && e < cb_event_fields_of(m->layout->old_names); e++)
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
  m.expected_events += layout->n_event_fields;
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

/* Removes the pieces after the position `at`, at which the run continues, from the list. */
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
  size_t known = 0; /* a record of an older version does not have the last fields of the state at events */
  while (known < own.n_event_fields && H5Lexists(pieces->file, own.event_fields[known].name, H5P_DEFAULT) > 0) known++;
  own.n_event_fields = known;
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
  if (!status) status = checkpoint_shape(arena, file, p->path, &state, &n_state);
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
