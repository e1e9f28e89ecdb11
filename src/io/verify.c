/* Everything that can be told of a record from itself: what is wrong is told one by one, with its place.
 *
 *   how it was closed      marks of a writer, a copy for a loss of power beside it
 *   structure              every object can be read and is one of a record; all fields have as many rows
 *   rows and events        as they were written (record_digest.h); time and step go up
 *   checkpoints            whole, and no further than the rows
 *   scenario               its digest, and that of the files that it names, if they are there
 *   states                 what rows say is measured again of the state that they have, and of the checkpoints'
 *
 * A number that was measured again agrees to 1e-9 of the largest of its row: rows have a state without its low-order
 * parts, and other instruction sets round differently.
 */
#include "core/failure.h"
#include "io/record_digest.h"
#include "io/record_internal.h"
#include "io/record_superblock.h"
#include "io/scenario_private.h"
#include "io/verify_states.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- How it was closed */

static cb_status check_marks(cb_verify *v, bool *written) {
  int fd;
  bool left, kept, restarted;
  cb_record_position synced;
  cb_status status = cb_superblock_lock(v->path, false, &fd);
  if (status) return status;
  status = cb_superblock_read(v->path, fd, &left);
  *written = cb_superblock_has_writer(fd);
  close(fd);
  if (status || *written || (status = cb_rescue_there(v->path, &kept, &synced, &restarted))) return status;
  if (left || kept) cb_verify_say(v, "was not closed: `curvebody repair` or `resume` it");
  return CB_OK;
}

/* ---- Structure. Where something could not be read, or memory is short, that is told, and not what is made of it. */

typedef struct lengths {
  cb_verify *v;
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

static cb_status check_rows(cb_verify *v, hid_t file) {
  const cb_record_position start = {0};
  lengths l = {.v = v};
  cb_status status = cb_series_extent(file, v->path, &l.whole, NULL);
  if (!status && !v->live) status = cb_series_each(file, v->path, compare_length, &l);
  v->report.rows = l.whole.rows, v->report.events = l.whole.events;
  v->good = l.whole;
  if (!status) status = cb_hdf5_unread(v->path, cb_digest_check(file, v->path, start, &v->good));
  if (!status && v->good.rows < l.whole.rows)
    cb_verify_say(v, "row %llu is not as it was written", (unsigned long long)v->good.rows);
  if (!status && v->good.events < l.whole.events)
    cb_verify_say(v, "event %llu is not as it was written", (unsigned long long)v->good.events);
  v->report.digests = cb_digest_there(file);
  return status;
}

static cb_status check_checkpoints(cb_verify *v, hid_t file) {
  const cb_record_position have = {v->report.rows, v->report.events, 0};
  cb_record_position newest;
  const cb_status status = cb_hdf5_unread(v->path, cb_slot_newest(file, v->path, have, &newest));
  if (!status && !newest.checkpoints && !v->live)
    cb_verify_say(v, "/checkpoint has none that is whole: it cannot be resumed");
  if (!status) v->report.checkpoints = newest.checkpoints;
  return status;
}

static cb_status check_file(cb_verify *v) {
  hid_t file;
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  bool left = v->report.faults || v->live;
  cb_status status = CB_OK;
  if (!left) {
    status = cb_record_open_checked(v->path, NULL, &file);
  } else {
    file = cb_hdf5_open_swmr(v->path, v->live);
    status = file < 0 ? cb_hdf5_fail_open(v->path, "open") : cb_record_check_mark(file, v->path);
    if (!status) status = cb_record_check(file, v->path, !v->live, NULL);
    if (status && file >= 0) cb_hdf5_close_read(file, v->path);
  }
  if (!status) {
    status = check_rows(v, file);
    if (!status) status = check_checkpoints(v, file);
    cb_hdf5_close_read(file, v->path);
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
  cb_verify v = {.path = path, .tell = tell, .user = user};
  bool readable;
  cb_status status = check_marks(&v, &v.live);
  readable = !status;
  if (status == CB_ERROR_INPUT) status = take(&v, status, &readable);
  if (!status && readable) status = take(&v, check_file(&v), &readable);
  if (!status && readable) status = take(&v, check_content(&v), &readable);
  if (!status && report) *report = v.report;
  return status;
}
