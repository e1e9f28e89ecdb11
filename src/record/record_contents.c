/* Iterates over a file of a record: its links, the datasets that grow, and old names of datasets. Checks whether the
 * file is a complete record.
 *
 * The datasets that grow (series) are the datasets at the root whose first dimension is unlimited. The series with the
 * name event or event_... grow with the events, the others with the rows.
 *
 * The last part writes and reads the attribute `warnings` (record_contents.h).
 */
#include "record/record_contents.h"

#include "core/failure.h"
#include "core/text.h"
#include "record/internal.h"

#include <hdf5_hl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Links of a group, and the name of the dimension scale of a dataset (HDF5 Dimension Scale Specification, The HDF
 * Group) */

enum { LINKS_AT_ONCE = 64 };

typedef struct links {
  char *name[LINKS_AT_ONCE];
  H5L_info_t link[LINKS_AT_ONCE];
  int count;
  bool lacking; /* there was no memory for a name */
} links;

static herr_t take_link(hid_t group, const char *name, const H5L_info_t *link, void *context) {
  links *l = context;
  (void)group;
  if (l->count == LINKS_AT_ONCE) return 1;
  if (!(l->name[l->count] = strdup(name))) {
    l->lacking = true;
    return 1;
  }
  l->link[l->count++] = *link;
  return 0;
}

/* Takes LINKS_AT_ONCE links at a time, because HDF5 blocks all other threads during an iteration. A group with many
 * links is dense, that is, HDF5 stores its links in an index, and they are taken in the order of this index. For any
 * other order H5Literate first makes a table of all links, and in a damaged file it frees entries that it has not yet
 * filled. */
cb_status cb_hdf5_each_link(hid_t group, const char *path, H5_index_t by, cb_hdf5_link_visit visit, void *context) {
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) return cb_hdf5_fail(path, "list its arrays");
  const bool as_they_lie = by == H5_INDEX_NAME || info.storage_type == H5G_STORAGE_TYPE_DENSE;
  const H5_iter_order_t order = as_they_lie ? H5_ITER_NATIVE : H5_ITER_INC;
  cb_status status = CB_OK;
  herr_t more = info.nlinks > 0;
  for (hsize_t done = 0; more && !status;) {
    links l;
    l.count = 0;
    l.lacking = false;
    hsize_t from = done;
    more = H5Literate(group, by, order, &from, take_link, &l);
    if (l.lacking)
      status = cb_fail(CB_ERROR_MEMORY, "no memory for the names of %s", path);
    else if (more < 0)
      status = cb_hdf5_fail(path, "list its arrays");
    for (int i = 0; i < l.count; free(l.name[i++]))
      if (!status) status = visit(context, group, l.name[i], &l.link[i]);
    done += (hsize_t)l.count;
  }
  return status;
}

static herr_t take_scale(hid_t dataset, unsigned d, hid_t scale, void *context) {
  char name[256] = "";
  (void)dataset;
  (void)d;
  const ssize_t length = H5DSget_scale_name(scale, name, sizeof name);
  *(char **)context = length > 0 && length < (ssize_t)sizeof name ? strdup(name) : NULL;
  return 1;
}

char *cb_hdf5_scale_name(hid_t dataset, int rank, int d) {
  char *name = NULL;
  (void)rank;
  const bool scale = H5DSis_scale(dataset) > 0;
  if (!scale && H5DSget_num_scales(dataset, (unsigned)d) > 0)
    H5DSiterate_scales(dataset, (unsigned)d, NULL, take_scale, &name);
  return name;
}

/* ---- The datasets that grow */

/* Returns whether the dataset grows, and sets *length to its length if so. */
static bool is_series(hid_t dataset, uint64_t *length) {
  hid_t space = H5Dget_space(dataset);
  hsize_t dims[H5S_MAX_RANK], maximum[H5S_MAX_RANK];
  int rank = H5Sget_simple_extent_dims(space, dims, maximum);
  H5Sclose(space);
  if (rank < 1 || rank > 4 || maximum[0] != H5S_UNLIMITED) return false;
  *length = dims[0];
  return true;
}

typedef struct series_visit {
  const char *path;
  cb_series_visit function;
  void *context;
} series_visit;

static cb_status visit_object(const series_visit *visit, hid_t object, const char *name, bool is_event) {
  if (object < 0)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s cannot be opened: the file is damaged", visit->path, name);
  uint64_t length;
  cb_status status = CB_OK;
  if (H5Iget_type(object) == H5I_DATASET && is_series(object, &length))
    status = visit->function(visit->context, object, name, is_event);
  H5Oclose(object);
  return status;
}

/* Visits the target of a link of the root. Soft links are aliases and are skipped. */
static cb_status visit_link(void *context, hid_t file, const char *name, const H5L_info_t *link) {
  if (link->type != H5L_TYPE_HARD) return CB_OK;
  const bool is_event = !strcmp(name, "event") || !strncmp(name, "event_", 6);
  return visit_object(context, H5Oopen(file, name, H5P_DEFAULT), name, is_event);
}

cb_status cb_series_each(hid_t file, const char *path, cb_series_visit function, void *context) {
  series_visit visit = {path, function, context};
  return cb_hdf5_each_link(file, path, H5_INDEX_CRT_ORDER, visit_link, &visit);
}

typedef struct extent {
  cb_record_position whole;
  bool rows, events;
} extent;

static cb_status shorten(void *context, hid_t dataset, const char *name, bool is_event) {
  extent *e = context;
  uint64_t length = 0, *whole = is_event ? &e->whole.events : &e->whole.rows;
  bool *seen = is_event ? &e->events : &e->rows;
  (void)name;
  is_series(dataset, &length);
  if (!*seen || length < *whole) *whole = length;
  *seen = true;
  return CB_OK;
}

cb_status cb_series_extent(hid_t file, const char *path, cb_record_position *whole) {
  extent e = {.rows = false};
  const cb_status status = cb_series_each(file, path, shorten, &e);
  whole->rows = e.whole.rows;
  whole->events = e.whole.events;
  return status;
}

/* ---- Datasets that had another name in records of older versions
 *
 * A reader gives the present names. A record that is resumed keeps its old names, so that all its segments have the
 * same names. The old /event_j was -2 - k if the second partner of an event was not a particle but number k of the
 * walls, of the watched events or of the warnings; there was no /event_wall. */

static const struct {
  const char *old, *now;
} renamed[] = {{"x", "plot_position"},
               {"v", "plot_velocity"},
               {"event_i", "event_particle"},
               {"event_j", "event_other"},
               {"breathing", "removed_normal_velocity"}};
enum { RENAMED = sizeof renamed / sizeof *renamed };

const char *cb_record_renamed(const char *old) {
  for (size_t i = 0; i < RENAMED; i++)
    if (!strcmp(renamed[i].old, old)) return renamed[i].now;
  return NULL;
}

bool cb_record_has_old_names(hid_t file) { return H5Lexists(file, "event_i", H5P_DEFAULT) > 0; }

const char *cb_record_name(const char *name, bool old) {
  for (size_t i = 0; old && i < RENAMED; i++)
    if (!strcmp(renamed[i].now, name)) return renamed[i].old;
  return name;
}

cb_status cb_record_use_old_names(cb_arena *arena, cb_record_layout *layout) {
  cb_field *field = cb_arena_alloc(arena, layout->n_fields, sizeof *field);
  if (!field) return cb_fail(CB_ERROR_MEMORY, "record: no memory");
  for (size_t f = 0; f < layout->n_fields; f++) {
    field[f] = layout->fields[f];
    field[f].name = cb_record_name(field[f].name, true);
  }
  layout->fields = field;
  layout->old_names = true;
  return CB_OK;
}

/* ---- The check whether a file is a complete record
 *
 * Everything that can be reached from the root is checked when a file is opened, by the public interface of HDF5. Links
 * to other files, user-defined links, and soft links in place of a part of the layout are rejected. Other soft links
 * are aliases and are not followed. Datasets are rejected if their numbers are in other files (external storage, or
 * virtual datasets that this project does not write), if they have a filter other than shuffle, deflate and fletcher32,
 * for which HDF5 would load a plugin, or if they have chunks of more than 64 MiB. Too many or too deeply nested objects
 * are also rejected. */

enum { MAX_OBJECTS = 20000, DEEPEST = 8, LARGEST_CHUNK = 64 << 20 };

typedef struct walk {
  const char *path;
  const char *in; /* path of the current group from the root */
  int depth, objects;
  bool based; /* the file is a segment: its large constants may be virtual datasets over segment 0 */
} walk;

static cb_status refuse(const walk *w, const char *name, const char *why) {
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: /%s %s", w->path, name, why);
}

static cb_status check_filters(const walk *w, const char *name, hid_t create) {
  const int filters = H5Pget_nfilters(create);
  char why[100];
  for (int f = 0; f < filters; f++) {
    unsigned flags;
    size_t none = 0;
    const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)f, &flags, &none, NULL, 0, NULL, NULL);
    if (filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_FLETCHER32) continue;
    snprintf(why, sizeof why, "has filter %d, expected only shuffle, deflate and fletcher32", (int)filter);
    return refuse(w, name, why);
  }
  return CB_OK;
}

static cb_status check_chunk(const walk *w, const char *name, hid_t dataset, hid_t create) {
  hsize_t chunk[H5S_MAX_RANK];
  const int rank = H5Pget_layout(create) == H5D_CHUNKED ? H5Pget_chunk(create, H5S_MAX_RANK, chunk) : 0;
  const hid_t type = H5Dget_type(dataset);
  uint64_t bytes = H5Tget_size(type);
  H5Tclose(type);
  bool small = true;
  for (int d = 0; d < rank; d++) small = small && cb_times(&bytes, chunk[d]) && bytes <= LARGEST_CHUNK;
  return small ? CB_OK : refuse(w, name, "has chunks of more than 64 MiB, expected smaller ones");
}

static bool is_based(hid_t create) {
  char name[32] = "";
  size_t count = 0;
  return H5Pget_layout(create) == H5D_VIRTUAL && H5Pget_virtual_count(create, &count) >= 0 && count == 1 &&
         H5Pget_virtual_filename(create, 0, name, sizeof name) > 0 && !strcmp(name, cb_segment_base);
}

static cb_status check_dataset(const walk *w, const char *name, hid_t dataset) {
  const hid_t create = H5Dget_create_plist(dataset);
  const char *elsewhere = w->based && create >= 0 && is_based(create) ? NULL : cb_hdf5_elsewhere(create);
  cb_status status = elsewhere ? refuse(w, name, elsewhere) : check_filters(w, name, create);
  if (!status) status = check_chunk(w, name, dataset, create);
  if (create >= 0) H5Pclose(create);
  return status;
}

static cb_status check_link(void *context, hid_t group, const char *name, const H5L_info_t *link);

static cb_status check_group(walk *w, const char *name, hid_t group) {
  if (w->depth >= DEEPEST) return refuse(w, name, "is nested too deeply, expected a record");
  walk below = {w->path, name, w->depth + 1, w->objects, w->based};
  const cb_status status = cb_hdf5_each_link(group, w->path, H5_INDEX_NAME, check_link, &below);
  w->objects = below.objects;
  return status;
}

static cb_status check_object(walk *w, hid_t group, const char *link, const char *name) {
  if (++w->objects > MAX_OBJECTS)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected a record with at most %d objects", w->path, MAX_OBJECTS);
  const hid_t object = H5Oopen(group, link, H5P_DEFAULT);
  if (object < 0) return cb_hdf5_fail(w->path, "read /%s", name);
  const H5I_type_t type = H5Iget_type(object);
  cb_status status = CB_OK;
  if (type == H5I_DATASET) status = check_dataset(w, name, object);
  if (type == H5I_GROUP) status = check_group(w, name, object);
  H5Oclose(object);
  return status;
}

static cb_status check_link(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  walk *w = context;
  char whole[1024];
  if (snprintf(whole, sizeof whole, "%s%s%s", w->in, *w->in ? "/" : "", name) >= (int)sizeof whole)
    return refuse(w, w->in, "has names that are too long, expected a record");
  if (link->type == H5L_TYPE_HARD) return check_object(w, group, name, whole);
  if (link->type == H5L_TYPE_EXTERNAL) return refuse(w, whole, "is a link to another file, expected the object itself");
  if (link->type != H5L_TYPE_SOFT) return refuse(w, whole, "is a user-defined link, expected the object itself");
  return cb_layout_takes(whole) ? refuse(w, whole, "is a soft link, expected the object itself") : CB_OK;
}

cb_status cb_record_check_mark(hid_t file, const char *path, int *version) {
  if (H5Aexists(file, "curvebody_record") <= 0)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: this HDF5 file is not a record of curvebody", path);
  *version = 0;
  if (cb_hdf5_get_numbers(file, ".", "curvebody_record", H5T_INTEGER, H5T_NATIVE_INT, 1, version) &&
      (*version == CB_RECORD_VERSION || *version == CB_RECORD_OLD))
    return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: the record has version %d, expected %d", path, *version,
                        CB_RECORD_VERSION);
}

cb_status cb_record_check(hid_t file, const char *path, bool based) {
  walk w = {path, "", 0, 0, based};
  int version;
  const cb_status status = cb_record_check_mark(file, path, &version);
  return status ? status : cb_hdf5_each_link(file, path, H5_INDEX_NAME, check_link, &w);
}

/* --- warnings --- */

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

/* Opens the attribute. Returns a negative number if it does not have exactly this type. */
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

/* Returns the length of a line with its newline. The last line may have no newline if another program wrote the
 * file. */
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
