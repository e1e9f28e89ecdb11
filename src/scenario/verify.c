/* Checks the consistency of a record, and reports every error with its position. The last function checks whether a new
 * run may replace a record. The consistency has these parts:
 *
 *   how it was closed      segments that remain after a run
 *   structure              every object can be read and is a part of the format; all fields have equal numbers of rows
 *   rows and events        all can be read, with correct checksums; the SHA-256 of each segment is the one that the
 *                          virtual file contains; time and step increase
 *   checkpoint             not beyond the rows
 *   scenario               its digest, and the digests of its input files, if they are present
 *   states                 rows are computed again from their recorded states, and from the state of the checkpoint
 *
 * A number that is computed again must agree to 1e-9 of the largest number of its row, because rows do not contain the
 * low-order parts of the state, and other instruction sets round differently.
 */
#include "scenario/private.h"
#include "record/internal.h"
#include "run/run_shared.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <curvebody/scenario.h>

typedef struct cb_verify {
  const char *path;
  cb_verify_listener listener;
  void *user;
  bool live;               /* the record is being written */
  cb_record_position good; /* numbers of rows and of events before the first damaged one */
  cb_verify_report report;
} cb_verify;

/* Reports an error. */
static void add_fault(cb_verify *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports the text of the last failure as an error. */
static void add_failure(cb_verify *v);

/* Computes the states of rows and of the newest checkpoint again, and compares them with the rows. */
static cb_status verify_states(cb_verify *v, cb_reader *reader, cb_scenario *scenario);

enum { BLOCK = 4096 };

static void add_fault(cb_verify *v, const char *format, ...) {
  char text[1200];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  v->report.faults++;
  if (v->listener) v->listener(v->user, text);
}

/* Reports the text of the last failure as an error, without the name of the record at the beginning of this text. */
static void add_failure(cb_verify *v) {
  const char *text = cb_error_text();
  const size_t n = strlen(v->path);
  if (!strncmp(text, v->path, n) && text[n] == ':') text += n + 1 + (text[n + 1] == ' ');
  if (!strncmp(text, "error: ", 7)) text += 7;
  add_fault(v, "%s", text);
}

/* ---- Structure. If an object could not be read, or if there is no memory, only this failure is reported, and not its
 * consequences. */

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
    add_fault(l->v, "/%s has %llu %s, other fields have %llu", name, (unsigned long long)dims[0],
              is_event ? "events" : "rows", (unsigned long long)expected);
  return status;
}

/* Reads all rows of a field, or of the events; each has `count` values. The first block that cannot be read is
 * reported, and lowers v->good. A failure is returned only for lack of memory, or if the system refuses to read. */
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
    add_fault(l->v, "/%s of %s %llu to %llu cannot be read: %s", name, is_event ? "event" : "row",
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
  v->report.rows = p->have.rows;
  v->report.events = p->have.events;
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
    add_fault(v, "/checkpoint holds no complete checkpoint: the record cannot be resumed");
  if (!status) v->report.checkpoints = newest.checkpoints;
  return status;
}

static void report_segment(void *user, const char *text) { add_fault(user, "%s", text); }

static cb_status check_file(cb_verify *v) {
  cb_record_pieces p;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_pieces_open(v->path, &p);
  if (!status) {
    int completed = 0;
    cb_hdf5_get_numbers(p.file, ".", "completed", H5T_INTEGER, H5T_NATIVE_INT, 1, &completed);
    if (!p.plain && !v->live && !completed)
      add_fault(v, "was not closed: use `curvebody repair` or `curvebody resume`");
    if (*p.damage) add_fault(v, "cannot be opened by its name: its segments in %s are read instead", p.folder.path);
    if (p.lost && !v->live) add_fault(v, "%zu segments in %s cannot be read", p.lost, p.folder.path);
    v->report.digests = !p.plain;
    status = check_rows(v, &p);
    if (!status && !p.plain && !v->live) status = cb_virtual_check(&p, report_segment, v);
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
    bool reported = false;
    for (uint64_t row = 0; row < v->good.rows && !status && !reported; row += BLOCK) {
      const uint64_t n = v->good.rows - row < BLOCK ? v->good.rows - row : BLOCK;
      status = cb_reader_rows(reader, f, row, n, block);
      for (uint64_t i = 0; i < n && !status && !reported; i++) {
        reported = !isfinite(block[i]) || !(block[i] > last);
        if (reported)
          add_fault(v, "/%s of row %llu is %.17g, not larger than %.17g in the row before", names[f],
                    (unsigned long long)(row + i), block[i], last);
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
  if (strcmp(then, digest)) add_fault(v, "scenario_sha256 is not the digest of /scenario/source");
  status = cb_scenario_open_record(v->path, resolved, NULL, 0, &scenario);
  if (status == CB_ERROR_MEMORY || status == CB_ERROR_FILE) return status;
  if (status) {
    add_fault(v, "/scenario/resolved cannot be opened: %s", cb_error_text());
    return CB_OK;
  }
  const bool changed = *inputs && strcmp(inputs, cb_scenario_inputs(scenario));
  if (changed) add_fault(v, "an input file of its scenario (mesh, poses or grid) has changed since the run");
  status = changed ? CB_OK : verify_states(v, reader, scenario);
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

/* Takes the status of a check of the file. If the file has wrong content, this is reported as an error of the file. If
 * the system has refused to read it, the status is returned. *readable becomes whether the check could be made. */
static cb_status take(cb_verify *v, cb_status status, bool *readable) {
  *readable = !status;
  const bool refused = status == CB_ERROR_FILE && cb_failure_last().kind == CB_FAILURE_SYSTEM;
  if (refused || (status != CB_ERROR_INPUT && status != CB_ERROR_FILE)) return status;
  add_failure(v);
  return CB_OK;
}

cb_status cb_record_verify(const char *path, cb_verify_listener listener, void *user, cb_verify_report *report) {
  cb_verify v = {.path = path, .listener = listener, .user = user, .live = cb_record_state(path) == CB_FOLDER_HELD};
  bool readable;
  cb_status status = cb_probe(path);
  if (status) return status;
  status = take(&v, check_file(&v), &readable);
  if (!status && readable) status = take(&v, check_content(&v), &readable);
  if (!status && report) *report = v.report;
  return status;
}

/* ---- States. Evenly chosen rows are computed again from their recorded states, and one row from the state of the
 * newest checkpoint. Only fields that depend on nothing else than the state are compared. */

enum { MAX_ROWS = 2000, MAX_NUMBERS = 1 << 26 };
static const double tolerance = 1e-9; /* relative to the largest number of the row */

enum { PARTS_MAX = 8 };

typedef struct states {
  cb_verify *v;
  cb_reader *reader;
  cb_run *run;
  const cb_record_layout *layout;
  const cb_reader_field *field;
  size_t fields, numbers; /* numbers: the largest number of values per row of a field */
  double *row;
  int part[PARTS_MAX]; /* [parts]: the fields that determine the state; parts is 0 if one of them is not recorded */
  size_t parts;
} states;

static int find(const states *s, const char *name) {
  for (size_t f = 0; f < s->fields; f++)
    if (!strcmp(s->field[f].name, name)) return (int)f;
  return -1;
}

static double again(const cb_field *field, const void *value, size_t i) {
  return field->type == CB_FIELD_DOUBLE  ? ((const double *)value)[i]
         : field->type == CB_FIELD_INT64 ? (double)((const int64_t *)value)[i]
                                         : ((const int32_t *)value)[i];
}

/* Returns the largest computed number in the fields that are compared. */
static double largest(const states *s, const void *const *row) {
  double maximum = 0;
  for (size_t f = 0; f < s->layout->n_fields; f++) {
    const int at = find(s, s->layout->fields[f].name);
    for (size_t i = 0; at >= 0 && cb_run_is_measured(s->run, s->field[at].name) && i < s->field[at].count; i++) {
      const double value = fabs(again(&s->layout->fields[f], row[f], i));
      if (value > maximum && isfinite(value)) maximum = value;
    }
  }
  return maximum;
}

/* Compares the present state of the run with row `number`, and reports the first number that differs in each field. of:
 * the name of the state in the message. */
static cb_status compare(states *s, uint64_t number, const char *of) {
  const void *const *row;
  cb_status status = cb_run_evaluate(s->run, &row);
  const double scale = status ? 0 : largest(s, row);
  for (size_t f = 0; f < s->layout->n_fields && !status; f++) {
    const int at = find(s, s->layout->fields[f].name);
    if (at < 0 || !cb_run_is_measured(s->run, s->field[at].name)) continue;
    status = cb_reader_rows(s->reader, (size_t)at, number, 1, s->row);
    for (size_t i = 0; i < s->field[at].count && !status; i++) {
      const double value = again(&s->layout->fields[f], row[f], i);
      if (fabs(value - s->row[i]) <= tolerance * scale || (isnan(value) && isnan(s->row[i])) || value == s->row[i])
        continue;
      add_fault(s->v, "/%s of row %llu is %.17g, but %s gives %.17g", s->field[at].name, (unsigned long long)number,
                s->row[i], of, value);
      break;
    }
  }
  s->v->report.states += !status;
  return status;
}

/* ---- Rows that determine the state */

static cb_status restore_row(states *s, double *state, uint64_t number) {
  const double *part[PARTS_MAX];
  double time, step;
  cb_status status = cb_reader_rows(s->reader, 0, number, 1, &time);
  if (!status) status = cb_reader_rows(s->reader, 1, number, 1, &step);
  for (size_t i = 0; i < s->parts && !status; i++) {
    status = cb_reader_rows(s->reader, (size_t)s->part[i], number, 1, state);
    part[i] = state;
    state += s->field[s->part[i]].count;
  }
  if (status) return status;
  status = cb_run_restore_row(s->run, &(cb_row_state){time, (int64_t)step, part});
  return status ? status : compare(s, number, "its state");
}

static void find_parts(states *s) {
  const char *const *name = cb_run_state_fields(s->run);
  for (s->parts = 0; name && name[s->parts] && s->parts < PARTS_MAX; s->parts++)
    if ((s->part[s->parts] = find(s, name[s->parts])) < 0) break;
  if (name && name[s->parts]) s->parts = 0;
}

static cb_status compare_rows(states *s) {
  size_t count = 0;
  find_parts(s);
  for (size_t i = 0; i < s->parts; i++) count += s->field[s->part[i]].count;
  if (!s->parts) return CB_OK;
  double *state = malloc(count * sizeof *state);
  if (!state) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for a state", s->v->path);
  uint64_t rows = s->v->good.rows, maximum = MAX_NUMBERS / count + 1;
  if (maximum > MAX_ROWS) maximum = MAX_ROWS;
  if (maximum > rows) maximum = rows;
  cb_status status = CB_OK;
  const size_t before = s->v->report.faults;
  for (uint64_t i = 0; i < maximum && !status && s->v->report.faults < before + 3; i++)
    status = restore_row(s, state, maximum > 1 ? i * (rows - 1) / (maximum - 1) : 0);
  free(state);
  return status;
}

/* ---- The newest checkpoint, which is compared with the last row before it if both have the same step */

static cb_status compare_checkpoint(states *s) {
  cb_record_position at;
  size_t n;
  double step;
  cb_blob *blob = cb_run_state(s->run, &n);
  cb_status status = s->v->report.checkpoints ? cb_reader_checkpoint(s->reader, blob, n, &at) : CB_ERROR_INPUT;
  /* there is no checkpoint to compare; if this is an error, it was reported before */
  if (status == CB_ERROR_INPUT) return CB_OK;
  if (!status) status = cb_run_restore(s->run);
  const uint64_t row = !status && at.rows ? at.rows - 1 : 0;
  if (status || row >= s->v->good.rows) return status;
  status = cb_reader_rows(s->reader, 1, row, 1, &step);
  if (status || (int64_t)step != cb_run_steps(s->run)) return status;
  return compare(s, row, "the newest checkpoint");
}

/* Checks that the scenario has the same layout as the record. */
static bool fits(const states *s) {
  for (size_t f = 0; f < s->layout->n_fields; f++) {
    const cb_field *field = &s->layout->fields[f];
    const int at = find(s, field->name);
    size_t count = 1;
    for (int d = 0; d < field->rank; d++)
      for (size_t i = 0; i < s->layout->n_dimensions; i++)
        if (!strcmp(s->layout->dimensions[i].name, field->dims[d])) count *= s->layout->dimensions[i].count;
    if (count && (at < 0 || s->field[at].count != count)) return false;
  }
  return true;
}

static cb_status verify_states(cb_verify *v, cb_reader *reader, cb_scenario *scenario) {
  states s = {.v = v, .reader = reader, .run = cb_scenario_run(scenario), .layout = cb_scenario_layout(scenario)};
  s.fields = cb_reader_fields(reader, &s.field);
  if (!fits(&s)) {
    add_fault(v, "has fields that differ from a run of its scenario");
    return CB_OK;
  }
  for (size_t f = 0; f < s.fields; f++)
    if (s.field[f].count > s.numbers) s.numbers = s.field[f].count;
  s.row = malloc(s.numbers * sizeof *s.row);
  cb_status status = s.row ? compare_rows(&s) : cb_fail(CB_ERROR_MEMORY, "%s: no memory for a row", v->path);
  if (!status) status = compare_checkpoint(&s);
  free(s.row);
  if (status != CB_ERROR_MEMORY && status != CB_ERROR_FILE && status) {
    add_failure(v);
    status = CB_OK;
  }
  return status;
}

/* --- a record that a new run would replace --- */

cb_status cb_scenario_check_replaced(const cb_scenario *scenario, const char *path) {
  const cb_run *run = scenario->run;
  cb_reader *reader = NULL;
  double last = 0;
  if (cb_record_state(path) != CB_FOLDER_NONE || cb_reader_open(path, &reader)) return CB_OK;
  const uint64_t rows = cb_reader_position(reader).rows, new_rows = (uint64_t)cb_run_rows(run);
  const bool completed = cb_reader_completed(reader);
  const cb_status status = rows ? cb_reader_rows(reader, 0, rows - 1, 1, &last) : CB_OK;
  cb_reader_close(reader);
  if (status || rows < 2) return CB_OK;
  if (!completed)
    return cb_fail(CB_ERROR_FILE,
                   "%s: cannot write: its run is unfinished, at time %.15g: expected `curvebody resume`, or `run "
                   "--force` to replace it",
                   path, last);
  if (last > cb_run_end(run) + 0.5 * cb_run_step(run))
    return cb_fail(CB_ERROR_FILE,
                   "%s: cannot write: the record ends at time %.15g, after the end %.15g of this run: expected another "
                   "output, or `run --force` to replace it",
                   path, last, cb_run_end(run));
  if (rows > new_rows)
    return cb_fail(CB_ERROR_FILE,
                   "%s: cannot write: the record has %llu rows, this run would have %llu: expected another output, or "
                   "`run --force` to replace it",
                   path, (unsigned long long)rows, (unsigned long long)new_rows);
  return CB_OK;
}
