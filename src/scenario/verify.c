/* Everything that can be told of a record from itself: what is wrong is told one by one, with its place.
 *
 *   how it was closed      segments that a run left
 *   structure              every object can be read and is one of a record; all fields have as many rows
 *   rows and events        all can be read, by their checksums; segments by the SHA-256 that the virtual file has of them;
 *                          time and step go up
 *   checkpoint             no further than the rows
 *   scenario               its digest, and that of the files that it names, if they are there
 *   states                 what rows say is measured again of the state that they have, and of the checkpoint's
 *
 * A number that was measured again agrees to 1e-9 of the largest of its row: rows have a state without its low-order
 * parts, and other instruction sets round differently.
 */
#include "scenario/private.h"
#include "scenario/verify_states.h"
#include "record/internal.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

void cb_verify_say(cb_verify *v, const char *format, ...) {
  char text[1200];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  v->report.faults++;
  if (v->tell) v->tell(v->user, text);
}

/* The text of the last failure, without the record's name before it. */
void cb_verify_say_failure(cb_verify *v) {
  const char *text = cb_error_text();
  const size_t n = strlen(v->path);
  if (!strncmp(text, v->path, n) && text[n] == ':') text += n + 1 + (text[n + 1] == ' ');
  if (!strncmp(text, "error: ", 7)) text += 7;
  cb_verify_say(v, "%s", text);
}

/* ---- Structure. Where something could not be read, or memory is short, that is told, and not what is made of it. */

typedef struct lengths {
  cb_verify *v;
  cb_record_pieces *pieces;
  cb_record_position whole;
} lengths;

static cb_status compare_length(void *context, hid_t dataset, const char *name, bool is_event) {
  const lengths *l = context;
  const uint64_t expected = is_event ? l->whole.events : l->whole.rows;
  hsize_t dims[H5S_MAX_RANK] = {0};
  hid_t space = H5Dget_space(dataset);
  H5Sget_simple_extent_dims(space, dims, NULL);
  H5Sclose(space);
  const cb_status status = cb_hdf5_unread(l->v->path, CB_OK);
  if (!status && dims[0] != expected)
    cb_verify_say(l->v, "/%s has %llu %s, others %llu", name, (unsigned long long)dims[0], is_event ? "events" : "rows",
                  (unsigned long long)expected);
  return status;
}

/* Rows that can be read of a field: of `count` values a row. */
static cb_status read_all(lengths *l, const char *name, bool is_event, size_t count) {
  const uint64_t rows = is_event ? l->whole.events : l->whole.rows, step = count < BLOCK ? BLOCK / count : 1;
  uint64_t *good = is_event ? &l->v->good.events : &l->v->good.rows;
  double *block = malloc(step * count * sizeof *block);
  if (!block) return cb_fail(CB_ERROR_MEMORY, "%s: no memory to read its rows", l->v->path);
  for (uint64_t row = 0; row < rows; row += step) {
    const uint64_t n = rows - row < step ? rows - row : step;
    const cb_status status = cb_pieces_read(l->pieces, name, is_event, count, H5T_NATIVE_DOUBLE, row, n, block);
    if (!status) continue;
    if (status == CB_ERROR_MEMORY || cb_failure_last().kind == CB_FAILURE_SYSTEM) {
      free(block);
      return status;
    }
    cb_verify_say(l->v, "/%s of %s %llu to %llu cannot be read: %s", name, is_event ? "event" : "row",
                  (unsigned long long)row, (unsigned long long)(row + n - 1), cb_error_text());
    if (row < *good) *good = row;
    break;
  }
  free(block);
  return CB_OK;
}

static cb_status read_field(void *context, hid_t dataset, const char *name, bool is_event) {
  lengths *l = context;
  hsize_t dims[H5S_MAX_RANK];
  cb_field_type type;
  const hid_t space = H5Dget_space(dataset);
  const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
  uint64_t count = 1;
  H5Sclose(space);
  for (int d = 1; d < rank; d++)
    if (!cb_times(&count, dims[d])) return CB_OK;
  return count && cb_hdf5_type_of(dataset, &type) ? read_all(l, name, is_event, count) : CB_OK;
}

static cb_status check_rows(cb_verify *v, cb_record_pieces *p) {
  lengths l = {.v = v, .pieces = p, .whole = p->have};
  cb_status status = CB_OK;
  v->report.rows = p->have.rows, v->report.events = p->have.events;
  v->good = p->have;
  if (p->plain) status = cb_series_each(p->file, v->path, compare_length, &l);
  if (!status) status = cb_series_each(p->file, v->path, read_field, &l);
  return status;
}

static cb_status check_checkpoints(cb_verify *v, cb_record_pieces *p) {
  cb_record_position newest = {0};
  hid_t file;
  cb_status status = cb_pieces_checkpoint(p, &file);
  if (!status) status = cb_checkpoint_position(file, v->path, p->have, &newest);
  if (!status && !newest.checkpoints && !v->live)
    cb_verify_say(v, "/checkpoint has none that is whole: it cannot be resumed");
  if (!status) v->report.checkpoints = newest.checkpoints;
  return status;
}

static void tell_segment(void *user, const char *text) { cb_verify_say(user, "%s", text); }

static cb_status check_file(cb_verify *v) {
  cb_record_pieces p;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_pieces_open(v->path, &p);
  if (!status) {
    int completed = 0;
    cb_hdf5_get_numbers(p.file, ".", "completed", H5T_INTEGER, H5T_NATIVE_INT, 1, &completed);
    if (!p.plain && !v->live && !completed) cb_verify_say(v, "was not closed: `curvebody repair` or `resume` it");
    if (*p.damage) cb_verify_say(v, "cannot be opened by its name: its segments in %s are read", p.folder.path);
    if (p.lost && !v->live) cb_verify_say(v, "%zu segments in %s cannot be read", p.lost, p.folder.path);
    v->report.digests = !p.plain;
    status = check_rows(v, &p);
    if (!status && !p.plain && !v->live) status = cb_virtual_check(&p, tell_segment, v);
    if (!status) status = check_checkpoints(v, &p);
    cb_pieces_close(&p);
  }
  status = cb_hdf5_unread(v->path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* ---- Time and step */

static cb_status check_order(cb_verify *v, cb_reader *reader) {
  static const char *const names[] = {"time", "step"};
  double block[BLOCK];
  cb_status status = CB_OK;
  for (size_t f = 0; f < 2 && !status; f++) {
    double last = -INFINITY;
    bool said = false;
    for (uint64_t row = 0; row < v->good.rows && !status && !said; row += BLOCK) {
      const uint64_t n = v->good.rows - row < BLOCK ? v->good.rows - row : BLOCK;
      status = cb_reader_rows(reader, f, row, n, block);
      for (uint64_t i = 0; i < n && !status && !said; i++) {
        said = !isfinite(block[i]) || !(block[i] > last);
        if (said)
          cb_verify_say(v, "/%s of row %llu is %.17g, after %.17g", names[f], (unsigned long long)(row + i), block[i],
                        last);
        last = block[i];
      }
    }
  }
  return status;
}

/* ---- The scenario */

static cb_status check_scenario(cb_verify *v, cb_reader *reader) {
  char digest[CB_SCENARIO_DIGEST];
  const char *source, *then, *resolved, *inputs;
  cb_scenario *scenario = NULL;
  cb_status status = cb_reader_scenario(reader, "source", &source);
  if (!status) status = cb_reader_attribute(reader, "scenario_sha256", &then);
  if (!status) status = cb_reader_scenario(reader, "resolved", &resolved);
  if (!status) status = cb_reader_attribute(reader, "inputs_sha256", &inputs);
  if (status) return status;
  cb_scenario_sha256(source, strlen(source), digest);
  if (strcmp(then, digest)) cb_verify_say(v, "/scenario/source is not the text of which scenario_sha256 is the digest");
  status = cb_scenario_open_text(v->path, resolved, NULL, 0, &scenario);
  if (status == CB_ERROR_MEMORY || status == CB_ERROR_FILE) return status;
  if (status) {
    cb_verify_say(v, "/scenario/resolved cannot be opened: %s", cb_error_text());
    return CB_OK;
  }
  const bool changed = *inputs && strcmp(inputs, cb_scenario_inputs(scenario));
  if (changed) cb_verify_say(v, "a file that its scenario names (mesh, poses or grid) has changed since");
  status = changed ? CB_OK : cb_verify_states(v, reader, scenario);
  cb_scenario_free(scenario);
  return status;
}

static cb_status check_content(cb_verify *v) {
  cb_reader *reader;
  cb_status status = cb_reader_open(v->path, &reader);
  if (status) return status;
  v->report.completed = cb_reader_completed(reader);
  status = check_order(v, reader);
  if (!status) status = check_scenario(v, reader);
  cb_reader_close(reader);
  return status;
}

/* The file could be opened and begins as one of HDF5 does: what HDF5 cannot read of it is a fault of it, but for what the
 * system does not let it read. */
static cb_status take(cb_verify *v, cb_status status, bool *readable) {
  *readable = !status;
  const bool refused = status == CB_ERROR_FILE && cb_failure_last().kind == CB_FAILURE_SYSTEM;
  if (refused || (status != CB_ERROR_INPUT && status != CB_ERROR_FILE)) return status;
  cb_verify_say_failure(v);
  return CB_OK;
}

cb_status cb_record_verify(const char *path, cb_verify_tell tell, void *user, cb_verify_report *report) {
  cb_verify v = {.path = path, .tell = tell, .user = user, .live = cb_record_state(path) == CB_FOLDER_HELD};
  bool readable;
  cb_status status = cb_probe(path);
  if (status) return status;
  status = take(&v, check_file(&v), &readable);
  if (!status && readable) status = take(&v, check_content(&v), &readable);
  if (!status && report) *report = v.report;
  return status;
}
