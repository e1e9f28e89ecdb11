/* The result of a sweep as one file, over the axes of the sweep as netCDF-4 dimension scales: virtual datasets over the
 * segments (HDF5 1.10, Virtual Dataset), or one plain file.
 *
 * Members with consecutive numbers in consecutive rows make one mapping along an axis, or a few boxes of a grid. The
 * arrays of a plain file are contiguous, in the order of members; the file is filled segment by segment.
 */
#include "core/failure.h"
#include "record/arrays.h"
#include "sweep/store_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = CB_STORE_AXES + CB_STORE_RANK, BESIDE = 1 << 20 /* bytes of everything that is not an array */ };

typedef struct joining {
  hid_t file;
  const cb_segments *folder;
  const cb_store_layout *layout;
  const cb_results_scan *scan;
  bool plain;
} joining;

/* --- scales --- */

/* Writes a dimension without a variable, marked as in netCDF-4, so that characters are read as texts. */
static bool put_bare_dimension(hid_t file, const char *name, size_t count) {
  char mark[80];
  const hsize_t dims[] = {count};
  snprintf(mark, sizeof mark, "This is a netCDF dimension but not a netCDF variable. %10zu", count);
  return cb_hdf5_make_scale(cb_hdf5_put_dataset(file, name, H5T_IEEE_F32BE, 1, dims, H5T_NATIVE_FLOAT, NULL), mark,
                            NULL, NULL);
}

static const cb_store_coordinate *scale_of(const cb_store_layout *l, size_t a) {
  for (size_t c = 0; c < l->n_coordinates; c++)
    if (l->coordinates[c].axis == (int)a && !l->coordinates[c].components &&
        !strcmp(l->coordinates[c].name, l->axes[a].name))
      return &l->coordinates[c];
  return NULL;
}

static bool put_coordinate(hid_t file, const cb_store_layout *l, const cb_store_coordinate *c) {
  static const cb_hdf5_values numbered = {.integers = NULL};
  char parts[256];
  const cb_store_axis *axis = &l->axes[c->axis];
  const hsize_t dims[] = {axis->count, c->components};
  snprintf(parts, sizeof parts, "%.200s.component", c->name);
  bool good = !c->components || cb_hdf5_put_scale(file, parts, c->components, &numbered, NULL, NULL);
  const cb_hdf5_values values = {c->values, c->labels, NULL, NULL};
  const hid_t set = good ? cb_hdf5_put_values(file, c->name, c->components ? 2 : 1, dims, &values) : H5I_INVALID_HID;
  good = set >= 0 && cb_hdf5_describe(set, NULL, c->doc) && cb_hdf5_attach(file, set, axis->name, 0) &&
         (!c->components || cb_hdf5_attach(file, set, parts, 1));
  if (set >= 0) H5Dclose(set);
  return good;
}

static bool put_scales(hid_t file, const cb_store_layout *l) {
  bool good = true;
  for (size_t a = 0; a < l->n_axes && good; a++) {
    const cb_store_coordinate *c = scale_of(l, a);
    const cb_hdf5_values values = {c ? c->values : NULL, c ? c->labels : NULL, NULL, NULL};
    good = cb_hdf5_put_scale(file, l->axes[a].name, l->axes[a].count, &values, NULL, c ? c->doc : NULL);
  }
  for (size_t c = 0; c < l->n_coordinates && good; c++)
    if (scale_of(l, (size_t)l->coordinates[c].axis) != &l->coordinates[c])
      good = put_coordinate(file, l, &l->coordinates[c]);
  for (size_t d = 0; d < l->n_dimensions && good; d++) {
    const cb_dimension *dimension = &l->dimensions[d];
    const cb_hdf5_values values = {dimension->values, dimension->labels, NULL, NULL};
    good = cb_hdf5_put_scale(file, dimension->name, dimension->count, &values, NULL, dimension->doc);
  }
  return good && put_bare_dimension(file, "letter", CB_STORE_TEXT);
}

/* --- arrays --- */

/* A column of the result while it is written, with the rows of a source that are being copied or mapped. */
typedef struct column_set {
  const joining *j;
  cb_store_column column;
  int rank; /* including the axes */
  hsize_t dims[RANK];
  hid_t create, space; /* for the virtual dataset */
  hid_t set;           /* for the plain dataset */
  const cb_store_source *source;
  int64_t first; /* the member whose values are in `row` of the source */
  size_t row;
  const unsigned char *values; /* the values of all rows of the source */
} column_set;

static bool select_box(const column_set *s, hid_t space, const hsize_t *start, const hsize_t *count) {
  const size_t axes = s->j->layout->n_axes;
  hsize_t from[RANK] = {0}, size[RANK];
  memcpy(from, start, axes * sizeof *from);
  memcpy(size, count, axes * sizeof *size);
  for (int d = 0; d < s->column.rank; d++) size[axes + (size_t)d] = s->column.shape[d];
  return H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) >= 0;
}

static bool map_box(void *context, const hsize_t *start, const hsize_t *count, int64_t m, size_t n) {
  const column_set *s = context;
  char name[4200];
  const char *slash = strrchr(s->j->folder->path, '/');
  hsize_t from[1 + CB_STORE_RANK] = {s->row + (size_t)(m - s->first)}, much[1 + CB_STORE_RANK] = {n},
                   of[1 + CB_STORE_RANK] = {s->source->rows};
  for (int d = 0; d < s->column.rank; d++) of[d + 1] = much[d + 1] = s->column.shape[d];
  snprintf(name, sizeof name, "%s/%s", slash ? slash + 1 : s->j->folder->path, strrchr(s->source->path, '/') + 1);
  const hid_t space = H5Screate_simple(s->column.rank + 1, of, NULL);
  const bool good = space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, much, NULL) >= 0 &&
                    select_box(s, s->space, start, count) &&
                    cb_hdf5_set_virtual(s->create, s->space, name, s->column.name, space);
  if (space >= 0) H5Sclose(space);
  return good;
}

static bool write_box(void *context, const hsize_t *start, const hsize_t *count, int64_t m, size_t n) {
  const column_set *s = context;
  hsize_t all = n;
  for (int d = 0; d < s->column.rank; d++) all *= s->column.shape[d];
  const hid_t space = H5Dget_space(s->set), memory = H5Screate_simple(1, &all, NULL);
  const bool good = space >= 0 && memory >= 0 && select_box(s, space, start, count) &&
                    H5Dwrite(s->set, s->column.memory_type, memory, space, H5P_DEFAULT,
                             s->values + (s->row + (size_t)(m - s->first)) * s->column.bytes) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return good;
}

/* Calls visit for the boxes of every run of members that are in consecutive rows of one source. of: index of the
 * source; -1: any. */
static bool each_run(column_set *s, int32_t of, cb_store_box visit) {
  const cb_results_scan *scan = s->j->scan;
  bool good = true;
  for (int64_t m = 0, end; m < scan->members && good; m = end) {
    const int32_t source = scan->source[m];
    for (end = m + 1; end < scan->members && scan->source[end] == source &&
                      (source < 0 || scan->row[end] == scan->row[m] + (int32_t)(end - m));)
      end++;
    if (source < 0 || (of >= 0 && source != of)) continue;
    s->source = &scan->sources[source];
    s->first = m;
    s->row = (size_t)scan->row[m];
    good = cb_store_boxes(s->j->layout, m, end, visit, s);
  }
  return good;
}

/* Reads a column of a segment. *there: whether the segment has this column; only a column of texts may be missing. */
static bool read_source(const column_set *s, const cb_store_source *from, unsigned char *values, bool *there) {
  hsize_t dims[1 + CB_STORE_RANK] = {from->rows};
  for (int d = 0; d < s->column.rank; d++) dims[d + 1] = s->column.shape[d];
  hid_t file = H5I_INVALID_HID;
  if (cb_segment_open(from->path, &file)) cb_hdf5_give_reason(cb_error_text());
  *there = file >= 0 && H5Lexists(file, s->column.name, H5P_DEFAULT) > 0;
  const hid_t set = *there ? H5Dopen2(file, s->column.name, H5P_DEFAULT) : H5I_INVALID_HID;
  const bool good = set >= 0 ? cb_hdf5_dataset_is(set, s->column.file_type, s->column.rank + 1, dims) &&
                                   H5Dread(set, s->column.memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0
                             : file >= 0 && !*there && s->column.is_text;
  if (set >= 0) H5Dclose(set);
  if (file >= 0) H5Fclose(file);
  return good;
}

static bool fill_plain(column_set *s) {
  const cb_results_scan *scan = s->j->scan;
  size_t maximum = 0;
  for (size_t i = 0; i < scan->count; i++)
    if (scan->sources[i].number && scan->sources[i].rows > maximum) maximum = scan->sources[i].rows;
  unsigned char *values = malloc(maximum * s->column.bytes + 1);
  bool good = values != NULL;
  if (!good) cb_hdf5_give_reason("no memory for a segment");
  for (size_t i = 0; i < scan->count && good; i++) {
    bool there;
    if (!scan->sources[i].number) continue; /* this source is the result that is being replaced */
    good = read_source(s, &scan->sources[i], values, &there);
    s->values = values;
    if (good && there) good = each_run(s, (int32_t)i, write_box);
  }
  free(values);
  return good;
}

/* Attaches the scales, and writes the units and the description; for `status` also the meanings of its values. */
static bool finish_set(const column_set *s, hid_t set) {
  const cb_store_layout *l = s->j->layout;
  bool good = cb_hdf5_describe(set, s->column.units, s->column.doc);
  for (size_t a = 0; a < l->n_axes && good; a++) good = cb_hdf5_attach(s->j->file, set, l->axes[a].name, (unsigned)a);
  for (int d = 0; d < s->column.rank && good; d++)
    good = cb_hdf5_attach(s->j->file, set, s->column.dims[d], (unsigned)l->n_axes + (unsigned)d);
  if (good && !strcmp(s->column.name, "status")) {
    static const int values[] = {CB_MEMBER_MISSING, CB_MEMBER_DONE, CB_MEMBER_FAILED};
    good = cb_hdf5_put_integers(set, "flag_values", values, 3) &&
           cb_hdf5_put_text(set, "flag_meanings", "missing done failed");
  }
  return good;
}

/* A plain file contains every number, also those of missing members. Texts, which few members have, are not allocated
 * before they are written. */
static void layout_plain(const column_set *s) {
  H5Pset_layout(s->create, H5D_CONTIGUOUS);
  if (s->column.is_text) return;
  H5Pset_alloc_time(s->create, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(s->create, H5D_FILL_TIME_NEVER);
}

static bool put_column(const joining *j, size_t c) {
  static const double nothing = NAN;
  const cb_store_layout *l = j->layout;
  column_set s = {.j = j, .column = cb_store_column_of(l, c)};
  s.rank = (int)l->n_axes + s.column.rank;
  for (size_t a = 0; a < l->n_axes; a++) s.dims[a] = l->axes[a].count;
  for (int d = 0; d < s.column.rank; d++) s.dims[l->n_axes + (size_t)d] = s.column.shape[d];
  s.create = H5Pcreate(H5P_DATASET_CREATE);
  s.space = H5Screate_simple(s.rank, s.dims, NULL);
  H5Pset_obj_track_times(s.create, false);
  H5Pset_attr_phase_change(s.create, 64, 0);
  if (s.column.is_real) H5Pset_fill_value(s.create, H5T_NATIVE_DOUBLE, &nothing);
  bool good = s.create >= 0 && s.space >= 0;
  if (j->plain) {
    layout_plain(&s);
  } else {
    good = good && each_run(&s, -1, map_box);
    H5Sselect_all(s.space);
    if (good && H5Pget_layout(s.create) != H5D_VIRTUAL)
      H5Pset_layout(s.create, H5D_CONTIGUOUS); /* the dataset has no contents yet */
  }
  s.set = good ? H5Dcreate2(j->file, s.column.name, s.column.file_type, s.space, H5P_DEFAULT, s.create, H5P_DEFAULT)
               : H5I_INVALID_HID;
  good = s.set >= 0 && finish_set(&s, s.set) && (!j->plain || fill_plain(&s));
  if (s.set >= 0) H5Dclose(s.set);
  H5Sclose(s.space);
  H5Pclose(s.create);
  return good;
}

/* --- the file --- */

static bool put_texts(hid_t file, const cb_store_layout *l) {
  const char *const name[] = {"resolved", "checked"}, *const text[] = {l->sweep, l->checked ? l->checked : ""};
  const hid_t group = cb_hdf5_put_group(file, "sweep"), type = cb_hdf5_text_type();
  bool good = group >= 0;
  for (int i = 0; i < 2 && good; i++) {
    const hid_t set = cb_hdf5_put_dataset(group, name[i], type, 0, NULL, type, &text[i]);
    good = set >= 0 && H5Dclose(set) >= 0;
  }
  H5Tclose(type);
  if (group >= 0) H5Gclose(group);
  return good;
}

static cb_status fill(void *context, hid_t file) {
  joining *j = context;
  const cb_store_layout *l = j->layout;
  j->file = file;
  bool good = cb_hdf5_put_text(file, "Conventions", "CF-1.10") && cb_hdf5_put_text(file, "title", l->title) &&
              cb_hdf5_put_text(file, cb_store_mark, l->digest) && put_texts(file, l) && put_scales(file, l);
  for (size_t c = 0; c < cb_store_columns(l) && good; c++) good = put_column(j, c);
  return good ? CB_OK : cb_hdf5_fail(j->folder->record, "write");
}

/* Estimates the size of the file in bytes, whose contents are made in memory. A virtual file contains only its
 * scales. */
static double bytes_of(const joining *j) {
  const cb_store_layout *l = j->layout;
  double bytes = BESIDE;
  for (size_t a = 0; a < l->n_axes; a++) bytes += 8 * (double)l->axes[a].count;
  for (size_t c = 0; c < l->n_coordinates; c++)
    bytes += 8 * (double)l->axes[l->coordinates[c].axis].count * (double)(l->coordinates[c].components + 1);
  return bytes + (j->plain ? (double)l->members * (double)cb_store_result_bytes(l) : 0);
}

static cb_status write_result(joining *j) {
  cb_image start = {NULL, 0};
  const char *path = j->folder->record;
  const hid_t file = cb_memory_create();
  cb_status status = file < 0 ? cb_hdf5_fail(path, "create") : cb_memory_image(file, path, &start);
  if (file >= 0) H5Fclose(file);
  const double bytes = bytes_of(j);
  const cb_whole whole = {path, path, &start, bytes, bytes, true, fill, j};
  if (!status) status = cb_whole_write(&whole);
  free(start.bytes);
  return status;
}

cb_status cb_result_write(const cb_segments *folder, const cb_results_scan *scan, bool plain, bool *joined) {
  joining j = {.folder = folder, .layout = scan->layout, .scan = scan, .plain = plain};
  for (int64_t m = 0; m < scan->members; m++) j.plain = j.plain && scan->status[m] != CB_MEMBER_MISSING;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = write_result(&j);
  *joined = j.plain && !status;
  if (status && j.plain) { /* the result stays in segments */
    const cb_failure failure = cb_failure_last();
    char text[CB_FAILURE_CAPACITY];
    snprintf(text, sizeof text, "%s", cb_error_text());
    cb_hdf5_forget();
    j.plain = false;
    const cb_status shown = write_result(&j);
    if (!shown) cb_fail_lines(&failure, status, text);
    if (shown) status = shown;
  }
  status = cb_hdf5_unread(folder->record, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}
