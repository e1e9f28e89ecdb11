/* Reading a record: a plain file, or the segments of a run that is still running or was killed (record_pieces.c). */
#include "core/failure.h"
#include "core/file.h"
#include "record/internal.h"
#include "record/record_contents.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_LABELS = 1 << 20 };

struct cb_reader {
  char *path;
  cb_record_pieces pieces;
  cb_record_position have;
  bool completed, old_names;
  cb_reader_field *fields, *event_fields; /* event_fields: those of the state at events */
  size_t n_fields, n_event_fields;
  char **texts; /* all texts and names that were returned; freed when the reader is closed */
  size_t n_texts, texts_capacity;
  const char ***label_lists;
  size_t n_label_lists;
};

static cb_status no_memory(const cb_reader *reader) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for the content of %s", reader->path);
}

/* Gives a malloc'd text to the reader, which frees the text when the reader is closed, and sets *out to the text. If
 * `text` is NULL, *out is "", but errno ENOMEM is a failure for lack of memory. The caller sets errno to 0 before it
 * makes the text. */
static cb_status keep(cb_reader *reader, char *text, const char **out) {
  *out = "";
  if (!text) return errno == ENOMEM ? no_memory(reader) : CB_OK;
  if (reader->n_texts == reader->texts_capacity) {
    size_t capacity = reader->texts_capacity ? 2 * reader->texts_capacity : 64;
    char **texts = realloc(reader->texts, capacity * sizeof *texts);
    if (!texts) {
      free(text);
      return no_memory(reader);
    }
    reader->texts = texts;
    reader->texts_capacity = capacity;
  }
  *out = reader->texts[reader->n_texts++] = text;
  return CB_OK;
}

/* Returns whether the dataset `name` contains a member of cb_event_row, the data that every event has. */
static bool is_of_event_row(const cb_reader *reader, const char *name) {
  for (size_t e = 0; e < cb_event_fields_of(reader->old_names); e++)
    if (!strcmp(cb_record_name(cb_event_fields[e].name, reader->old_names), name)) return true;
  return false;
}

static cb_status add_field(void *self, hid_t dataset, const char *name, bool is_event) {
  cb_reader *reader = self;
  cb_reader_field field = {.count = 1};
  /* Digests, whose names contain a slash, are not fields. Members of cb_event_row are read with each event. */
  if (strchr(name, '/') || (is_event && is_of_event_row(reader, name))) return CB_OK;
  hid_t space = H5Dget_space(dataset);
  hsize_t dims[H5S_MAX_RANK];
  field.rank = H5Sget_simple_extent_dims(space, dims, NULL) - 1;
  H5Sclose(space);
  if (!cb_hdf5_type_of(dataset, &field.type))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s: expected doubles or integers", reader->path, name);
  for (int d = 0; d < field.rank; d++) {
    if (dims[d + 1] < 1 || dims[d + 1] > INT_MAX / field.count)
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s: expected 1 to %d values per row", reader->path, name,
                            INT_MAX);
    field.count *= field.shape[d] = dims[d + 1];
  }
  cb_reader_field **list = is_event ? &reader->event_fields : &reader->fields;
  size_t *n = is_event ? &reader->n_event_fields : &reader->n_fields;
  cb_reader_field *more = realloc(*list, (*n + 1) * sizeof *more);
  if (!more) return no_memory(reader);
  *list = more;
  cb_status status = CB_OK;
  errno = 0;
  for (int d = 0; d < field.rank && !status; d++)
    status = keep(reader, cb_hdf5_scale_name(dataset, field.rank + 1, d + 1), &field.dims[d]);
  if (!status) status = keep(reader, strdup(name), &field.stored);
  if (!status) status = keep(reader, cb_hdf5_get_text_attribute(dataset, "units"), &field.units);
  const char *now = reader->old_names ? cb_record_renamed(name) : NULL;
  field.name = now ? now : field.stored;
  if (!status) more[(*n)++] = field;
  return status;
}

static cb_status look_around(cb_reader *reader) {
  const hid_t file = reader->pieces.file;
  reader->old_names = cb_record_has_old_names(file);
  cb_status status = cb_series_each(file, reader->path, add_field, reader);
  if (status) return status;
  if (reader->n_fields < 2 || strcmp(reader->fields[0].name, "time") || strcmp(reader->fields[1].name, "step"))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected time and step as the first two fields", reader->path);
  if (reader->fields[0].rank || reader->fields[1].rank)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected one value per row of time and step", reader->path);
  int completed = 0;
  reader->completed =
      cb_hdf5_get_numbers(file, ".", "completed", H5T_INTEGER, H5T_NATIVE_INT, 1, &completed) && completed;
  return CB_OK;
}

/* Warns about segments of a killed run, if no writer has locked the folder. */
static void report_left(const cb_reader *reader) {
  const cb_record_pieces *p = &reader->pieces;
  const cb_folder_state state = cb_record_state(reader->path);
  if (p->plain || state != CB_FOLDER_LEFT) return;
  if (*p->damage) cb_warn("%s; its segments in %s are read instead", p->damage, p->folder.path);
  if (p->lost)
    cb_warn("%s: %zu segments in %s cannot be read: rows after %llu are lost", reader->path, p->lost, p->folder.path,
            (unsigned long long)p->have.rows);
  else if (!reader->completed)
    cb_note(
        "%s: its run was killed and left its rows in %s: `curvebody resume` continues it, `curvebody repair` joins "
        "them",
        reader->path, p->folder.path);
}

cb_status cb_reader_open(const char *path, cb_reader **out) {
  cb_reader *reader = calloc(1, sizeof *reader);
  if (!reader || !(reader->path = strdup(path))) {
    free(reader);
    return cb_fail(CB_ERROR_MEMORY, "no memory to read %s", path);
  }
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  reader->pieces = (cb_record_pieces){.file = H5I_INVALID_HID, .other = H5I_INVALID_HID, .folder = {.lock = -1}};
  cb_status status = cb_pieces_open(reader->path, &reader->pieces);
  reader->have = reader->pieces.have;
  if (!status) status = look_around(reader);
  status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  if (status)
    cb_reader_close(reader);
  else {
    report_left(reader);
    *out = reader;
  }
  return status;
}

void cb_reader_close(cb_reader *reader) {
  if (!reader) return;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_pieces_close(&reader->pieces);
  cb_hdf5_quiet_end(quiet);
  for (size_t i = 0; i < reader->n_texts; i++) free(reader->texts[i]);
  for (size_t i = 0; i < reader->n_label_lists; i++) free(reader->label_lists[i]);
  free(reader->label_lists);
  free(reader->texts);
  free(reader->fields);
  free(reader->event_fields);
  free(reader->path);
  free(reader);
}

cb_record_position cb_reader_position(const cb_reader *reader) { return reader->have; }

cb_status cb_reader_rows_by_name(cb_reader *reader, uint64_t *rows) {
  cb_record_position named = {0};
  bool there;
  struct stat info;
  const char *path = reader->pieces.folder.record;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_find_file(path, "read", &info, &there);
  const hid_t file = status || !there ? H5I_INVALID_HID : cb_hdf5_open(path, H5F_ACC_RDONLY);
  if (!status && there) status = file < 0 ? cb_hdf5_fail(path, "open") : cb_series_extent(file, path, &named);
  if (file >= 0) cb_hdf5_close_read(file, path);
  status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  *rows = named.rows < reader->have.rows ? named.rows : reader->have.rows;
  return status;
}

bool cb_reader_completed(const cb_reader *reader) { return reader->completed; }

size_t cb_reader_fields(const cb_reader *reader, const cb_reader_field **fields) {
  *fields = reader->fields;
  return reader->n_fields;
}

size_t cb_reader_event_fields(const cb_reader *reader, const cb_reader_field **fields) {
  *fields = reader->event_fields;
  return reader->n_event_fields;
}

/* Fails for an object that exists but is not a text or is damaged, or for lack of memory. */
static cb_status no_text(const cb_reader *reader, const char *kind, const char *name) {
  if (errno == ENOMEM) return no_memory(reader);
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s %s: expected a text", reader->path, kind, name);
}

cb_status cb_reader_scenario(cb_reader *reader, const char *name, const char **text) {
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  hid_t group = H5Gopen2(reader->pieces.file, "scenario", H5P_DEFAULT);
  char *found = group < 0 ? NULL : cb_hdf5_get_text_dataset(group, name);
  bool there = group >= 0 && H5Lexists(group, name, H5P_DEFAULT) > 0;
  cb_status status = there && !found ? no_text(reader, "scenario", name) : CB_OK;
  if (group >= 0) H5Gclose(group);
  status = cb_hdf5_unread(reader->path, status);
  cb_hdf5_quiet_end(quiet);
  if (status) {
    free(found);
    return status;
  }
  return keep(reader, found, text);
}

cb_status cb_reader_attribute(cb_reader *reader, const char *name, const char **text) {
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  char *found = cb_hdf5_get_text_attribute(reader->pieces.file, name);
  bool there = H5Aexists(reader->pieces.file, name) > 0;
  const cb_status status = cb_hdf5_unread(reader->path, there && !found ? no_text(reader, "attribute", name) : CB_OK);
  cb_hdf5_quiet_end(quiet);
  if (status) {
    free(found);
    return status;
  }
  return keep(reader, found, text);
}

cb_status cb_reader_checkpoint(cb_reader *reader, cb_blob *state, size_t n_state, cb_record_position *position) {
  cb_record_position at;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  hid_t file;
  cb_status status = cb_pieces_checkpoint(&reader->pieces, &file);
  if (!status) status = cb_checkpoint_read(file, reader->path, reader->have, state, n_state, &at);
  status = cb_hdf5_unread(reader->path, status);
  cb_hdf5_quiet_end(quiet);
  if (!status && position) *position = at;
  return status;
}

static cb_status read_values(cb_reader *reader, const cb_reader_field *field, bool is_event, uint64_t first,
                             uint64_t count, double *out) {
  const uint64_t have = is_event ? reader->have.events : reader->have.rows;
  if (!field || first > have || count > have - first)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: the record has no such %s", reader->path, is_event ? "events" : "rows");
  if (!count) return CB_OK;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status =
      cb_pieces_read(&reader->pieces, field->stored, is_event, field->count, H5T_NATIVE_DOUBLE, first, count, out);
  status = cb_hdf5_unread(reader->path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

cb_status cb_reader_rows(cb_reader *reader, size_t f, uint64_t first, uint64_t count, double *out) {
  return read_values(reader, f < reader->n_fields ? &reader->fields[f] : NULL, false, first, count, out);
}

cb_status cb_reader_event_values(cb_reader *reader, size_t f, uint64_t first, uint64_t count, double *out) {
  return read_values(reader, f < reader->n_event_fields ? &reader->event_fields[f] : NULL, true, first, count, out);
}

/* In a record with old names, -2 - k in the field of the second particle means number k of the walls, of the watched
 * events or of the warnings. */
static void separate_wall(cb_event_row *row) {
  row->wall = row->other < -1 ? -2 - row->other : -1;
  if (row->other < -1) row->other = -1;
}

cb_status cb_reader_events(cb_reader *reader, uint64_t first, uint64_t count, cb_event_row *out) {
  if (first > reader->have.events || count > reader->have.events - first)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: the record has no such events", reader->path);
  if (!count) return CB_OK;
  double *column = malloc(count * sizeof *column);
  if (!column) return cb_fail(CB_ERROR_MEMORY, "no memory for the events of %s", reader->path);
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = CB_OK;
  for (size_t e = 1; !status && e < cb_event_fields_of(reader->old_names); e++) {
    const cb_event_field *field = &cb_event_fields[e];
    const char *name = cb_record_name(field->name, reader->old_names);
    size_t bytes = cb_hdf5_type_size(field->type);
    status = cb_pieces_read(&reader->pieces, name, true, 1, cb_hdf5_memory_type(field->type), first, count, column);
    for (uint64_t i = 0; !status && i < count; i++)
      memcpy((char *)&out[i] + field->offset, (char *)column + i * bytes, bytes);
  }
  for (uint64_t i = 0; i < count; i++) out[i].state = NULL;
  for (uint64_t i = 0; !status && reader->old_names && i < count; i++) separate_wall(&out[i]);
  status = cb_hdf5_unread(reader->path, status);
  cb_hdf5_quiet_end(quiet);
  free(column);
  return status;
}

/* Returns whether the object `name` and every group on its path exist. */
static bool leads_to(hid_t file, const char *name) {
  char part[200];
  for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
    size_t length = (size_t)(slash - name);
    if (length >= sizeof part) return false;
    memcpy(part, name, length);
    part[length] = 0;
    if (H5Lexists(file, part, H5P_DEFAULT) <= 0) return false;
  }
  return H5Lexists(file, name, H5P_DEFAULT) > 0;
}

cb_status cb_reader_count(cb_reader *reader, const char *name, size_t *count) {
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = CB_OK;
  hssize_t found = 0;
  if (leads_to(reader->pieces.file, name)) {
    hid_t dataset;
    status = cb_pieces_constant(&reader->pieces, name, &dataset);
    hid_t space = status ? H5I_INVALID_HID : H5Dget_space(dataset);
    if (!status) found = H5Sget_simple_extent_npoints(space);
    if (found < 0) status = cb_hdf5_fail(reader->path, "read %s", name);
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
  }
  status = cb_hdf5_unread(reader->path, status);
  cb_hdf5_quiet_end(quiet);
  if (!status) *count = (size_t)found;
  return status;
}

cb_status cb_reader_constant(cb_reader *reader, const char *name, size_t n, double *out) {
  size_t count;
  cb_status status = cb_reader_count(reader, name, &count);
  if (status) return status;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_field_type type;
  hid_t dataset = H5I_INVALID_HID;
  if (count == n && n) status = cb_pieces_constant(&reader->pieces, name, &dataset);
  if (!status && (count != n || (n && !cb_hdf5_type_of(dataset, &type))))
    status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected %zu numbers in %s", reader->path, n, name);
  else if (!status && n && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
    status = cb_hdf5_fail(reader->path, "read %s", name);
  if (dataset >= 0) H5Dclose(dataset);
  status = cb_hdf5_unread(reader->path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* Reads the texts of a dataset, which the reader owns. *out is unchanged if the dataset has no texts. */
static cb_status read_labels(cb_reader *reader, hid_t dataset, const char *const **out) {
  size_t n;
  if (!cb_hdf5_is_text(dataset, &n) || !n || n > MAX_LABELS) return CB_OK;
  const char ***lists = realloc(reader->label_lists, (reader->n_label_lists + 1) * sizeof *lists);
  if (!lists) return no_memory(reader);
  reader->label_lists = lists;
  const char **labels = lists[reader->n_label_lists] = malloc(n * sizeof *labels);
  if (!labels) return no_memory(reader);
  reader->n_label_lists++;
  char **texts = calloc(n, sizeof *texts);
  if (!texts) return no_memory(reader);
  errno = 0;
  cb_hdf5_texts_of_dataset(dataset, n, texts);
  cb_status status = CB_OK;
  for (size_t i = 0; i < n; i++) {
    if (status)
      free(texts[i]);
    else
      status = keep(reader, texts[i], &labels[i]);
  }
  free(texts);
  if (!status) *out = labels;
  return status;
}

cb_status cb_reader_labels(cb_reader *reader, const char *dimension, const char *const **labels) {
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = CB_OK;
  *labels = NULL;
  if (*dimension && H5Lexists(reader->pieces.file, dimension, H5P_DEFAULT) > 0) {
    hid_t dataset;
    status = cb_pieces_constant(&reader->pieces, dimension, &dataset);
    if (!status) status = read_labels(reader, dataset, labels);
    if (dataset >= 0) H5Dclose(dataset);
  }
  status = cb_hdf5_unread(reader->path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
