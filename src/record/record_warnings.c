/* The warnings of a record: its attribute `warnings` (record_warnings.h). */
#include "record/record_warnings.h"

#include "core/warning.h"
#include "core/text.h"
#include "record/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "warnings", before[] = "at time ", more[] = "...\n";

static hid_t type_of(void) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, CB_RECORD_WARNINGS);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

bool cb_warnings_make(hid_t file) {
  static const char nothing[CB_RECORD_WARNINGS];
  const hid_t type = type_of(), space = H5Screate(H5S_SCALAR),
              attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = attribute >= 0 && H5Awrite(attribute, type, nothing) >= 0;
  if (attribute >= 0) good = H5Aclose(attribute) >= 0 && good;
  H5Sclose(space);
  H5Tclose(type);
  return good;
}

/* Opens the attribute if it has exactly this type; negative otherwise. */
static hid_t open_own(hid_t file, hid_t type) {
  const hid_t attribute = cb_hdf5_attribute(file, ".", name, H5T_STRING, 1);
  if (attribute < 0) return attribute;
  const hid_t found = H5Aget_type(attribute);
  const bool same = H5Tequal(found, type) > 0;
  H5Tclose(found);
  if (same) return attribute;
  H5Aclose(attribute);
  return H5I_INVALID_HID;
}

bool cb_warnings_read(hid_t file, cb_record_warnings *out) {
  const hid_t type = type_of(), attribute = open_own(file, type);
  const bool good = attribute >= 0 && H5Aread(attribute, type, out->text) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Tclose(type);
  out->text[good ? sizeof out->text - 1 : 0] = 0;
  out->length = out->written = strlen(out->text);
  memset(out->text + out->length, 0, sizeof out->text - out->length);
  return good;
}

bool cb_warnings_write(hid_t file, cb_record_warnings *w, size_t length) {
  char text[CB_RECORD_WARNINGS] = "";
  if (w->written == length) return true;
  memcpy(text, w->text, length);
  const hid_t type = type_of(), attribute = open_own(file, type);
  bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
  if (attribute >= 0) good = H5Aclose(attribute) >= 0 && good;
  H5Tclose(type);
  if (good) w->written = length;
  return good;
}

/* Returns the length of a line with its newline, which the last line of a foreign file may not have. */
static size_t line_length(const char *line) {
  const size_t length = strcspn(line, "\n");
  return length + (line[length] == '\n');
}

static bool has(const cb_record_warnings *w, const char *line, size_t length) {
  for (const char *at = w->text; *at; at += line_length(at))
    if (!strncmp(at, line, length)) return true;
  return false;
}

void cb_warnings_add(cb_record_warnings *w, double time, const char *text) {
  char line[1200], when[32];
  int n = 0;
  cb_export_number(when, time);
  if (!isnan(time)) n = snprintf(line, sizeof line, "%s%s, ", before, when);
  n += snprintf(line + n, sizeof line - (size_t)n - 1, "%s", text);
  if ((size_t)n > sizeof line - 2) n = sizeof line - 2;
  for (int i = 0; i < n; i++)
    if (line[i] == '\n') line[i] = ' ';
  line[n++] = '\n';
  const size_t length = (size_t)n, capacity = sizeof w->text - sizeof more - w->length;
  if (has(w, line, length) || has(w, more, sizeof more - 1)) return;
  const bool fits = length < capacity;
  /* The writer reads only up to `sealed`, so text may be added after that at any time. */
  memcpy(w->text + w->length, fits ? line : more, fits ? length : sizeof more - 1);
  w->length += fits ? length : sizeof more - 1;
}

static bool time_of(const char *line, double *time, const char **text) {
  char *end;
  if (strncmp(line, before, sizeof before - 1)) return false;
  *time = strtod(line + sizeof before - 1, &end);
  if (strncmp(end, ", ", 2)) return false;
  *text = end + 2;
  return true;
}

void cb_warnings_cut(cb_record_warnings *w, double time) {
  size_t kept = 0;
  for (size_t at = 0; at < w->length;) {
    const size_t length = line_length(w->text + at);
    const char *text;
    double own = 0;
    const bool is_more = !strncmp(w->text + at, more, sizeof more - 1),
               is_cut = is_more ? kept < at : time_of(w->text + at, &own, &text) && own > time;
    if (!is_cut) {
      memmove(w->text + kept, w->text + at, length);
      kept += length;
    }
    at += length;
  }
  memset(w->text + kept, 0, sizeof w->text - kept);
  if (kept != w->length) w->written = SIZE_MAX;
  w->length = w->sealed = kept;
}

static void log_warning(void *context, const char *text) {
  cb_warning_log *log = context;
  const size_t length = log->list.length;
  cb_warnings_add(&log->list, NAN, text);
  const bool is_new = log->list.length > length || has(&log->list, more, sizeof more - 1);
  if (is_new && log->before.take) log->before.take(log->before.context, text);
}

void cb_warning_log_begin(cb_warning_log *log) {
  *log = (cb_warning_log){.list = {.length = 0}, .before = cb_warnings_to((cb_warning_taker){.take = NULL})};
  cb_warnings_to((cb_warning_taker){log_warning, log, log->before.note, log->before.note_context});
}

void cb_warning_log_end(cb_warning_log *log) { cb_warnings_to(log->before); }

void cb_warnings_repeat(const char *lines, int maximum, bool all) {
  for (const char *at = lines; *at; at += line_length(at)) {
    const char *text;
    double time;
    const bool timed = time_of(at, &time, &text), is_more = !strncmp(at, more, sizeof more - 1);
    if (is_more || (timed ? maximum-- <= 0 : !all)) continue;
    cb_warn("%.*s", (int)strcspn(at, "\n"), at);
  }
}

void cb_record_repeat_warnings(const cb_record *record, int maximum) {
  cb_warnings_repeat(record->warnings.text, maximum, false);
}
