/* A record opened again at its newest whole checkpoint, to be continued as if it had never stopped.
 *
 * First the file is only read: a file of another layout or without a checkpoint is refused as it is (but for the marks
 * of a killed writer, which come off). Then rows and events after the checkpoint are cut, and writing goes on in SWMR
 * mode.
 */
#include "core/failure.h"
#include "io/record_internal.h"
#include "io/record_taken.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  if (strchr(name, '/')) return CB_OK; /* digests */
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

/* The newest checkpoint, whatever rows there are. */
static cb_status find_newest(hid_t file, const char *path, uint64_t *checkpoints) {
  cb_record_position newest = {0};
  const cb_record_position all = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
  const cb_status status = cb_slot_newest(file, path, all, &newest);
  *checkpoints = newest.checkpoints;
  return status;
}

/* Reads checkpoint and extents and compares the layout; state is filled. */
static cb_status read_restart(const char *path, bool left, cb_record_position synced, const cb_record_layout *layout,
                              cb_blob *state, size_t n_state, cb_record_position *position, uint64_t *newest) {
  cb_record_position whole = {0};
  hid_t file = H5I_INVALID_HID;
  cb_taken taken = {0};
  cb_status status = cb_record_open_checked(path, &taken, &file);
  if (status) return cb_taken_free(&taken), status;
  status = match_layout(file, path, layout);
  if (!status) status = cb_record_compare(file, path, left, synced, &whole, NULL);
  if (!status) status = cb_slot_read(file, path, whole, state, n_state, position);
  if (!status) status = find_newest(file, path, newest);
  if (!status) status = cb_taken_check(&taken, file, path, *position);
  cb_taken_free(&taken);
  cb_hdf5_close_read(file, path);
  return cb_hdf5_unread(path, status); /* a checkpoint or rows that could not be read are not for that gone */
}

static cb_status mark_not_completed(hid_t file, const char *path) {
  const int no = 0;
  if (cb_hdf5_set_integers(file, ".", "completed", H5T_NATIVE_INT, 1, &no)) return CB_OK;
  return cb_hdf5_fail(path, "mark as not completed");
}

static cb_status check_state(const cb_record_layout *layout, const cb_blob *state, size_t n_state) {
  bool same = n_state == layout->n_state;
  for (size_t b = 0; same && b < n_state; b++)
    same = !strcmp(state[b].name, layout->state[b].name) && state[b].count == layout->state[b].count &&
           state[b].type == layout->state[b].type;
  return same ? CB_OK : cb_fail(CB_ERROR_ARGUMENT, "record: the state to be read is not that of the layout");
}

/* Opens the file whose marks have come off and brings it to where the run goes on. Since it was read it may have been
 * another's, who has closed it again. Takes the rescue where it fails. */
static cb_status reopen(const char *path, cb_rescue *rescue, cb_record_position position, uint64_t newest, hid_t *out) {
  hid_t file = H5I_INVALID_HID;
  uint64_t now = newest;
  cb_status status = cb_record_open_writing(path, rescue, position, &file);
  if (status) return status;
  status = find_newest(file, path, &now);
  if (!status && now != newest)
    status = cb_fail(CB_ERROR_FILE, "%s: cannot resume: another process went on with it meanwhile", path);
  if (!status) status = mark_not_completed(file, path);
  if (!status) status = cb_series_cut(file, path, position);
  if (!status) status = cb_hdf5_start_swmr(file, path);
  if (!status) return *out = file, CB_OK;
  bool abandoned;
  status = cb_hdf5_refused(file, path, status);
  cb_hdf5_close(file, NULL, &abandoned);
  cb_rescue_free(rescue, !abandoned);
  return status;
}

cb_status cb_record_open_for_resume(const char *path, const cb_record_layout *layout, const cb_record_options *options,
                                    cb_blob *state, size_t n_state, cb_record_position *position, cb_record **out) {
  cb_status status = cb_layout_check(layout);
  if (!status) status = check_state(layout, state, n_state);
  if (status) return status;
  bool left;
  hid_t file = H5I_INVALID_HID;
  cb_record_position at = {0}, synced = {0};
  uint64_t newest = 0;
  const bool syncs = !options || options->sync != CB_SYNC_NEVER;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  status = cb_record_mend(path, &left, &synced);
  if (!status) status = read_restart(path, left, synced, layout, state, n_state, &at, &newest);
  cb_rescue *rescue = !status && syncs ? cb_rescue_new(path) : NULL;
  if (!status && syncs && !rescue) status = cb_fail(CB_ERROR_MEMORY, "record: no memory");
  if (!status && !syncs) cb_rescue_remove(path);
  if (!status) status = reopen(path, rescue, at, newest, &file);
  if (!status) status = cb_record_attach(path, file, rescue, layout, options, at, out);
  if (!status && position) *position = at;
  if (status) status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
