/* The folder of an incomplete sweep: its lock, its texts, and the comparison with a sweep that was begun earlier
 * (sweep/sweep.h).
 *
 * The result of a sweep is one file. The axes of the sweep are netCDF-4 dimension scales of its datasets. A plain file
 * contains all values. A virtual file has virtual datasets (HDF5 1.10), which refer to the segments.
 *
 * A virtual dataset maps each run of members that are in consecutive rows of a segment by one box, or by a few boxes of
 * a grid. The arrays of a plain file are contiguous, in the order of members; the file is filled segment by segment.
 */
#include "sweep/sweep.h"

#include "core/failure.h"
#include "core/file.h"
#include "core/text.h"
#include "record/arrays.h"
#include "record/folder.h"
#include "record/hdf5.h"
#include "record/output.h"
#include "scenario/private.h"
#include "sweep/store_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LARGEST = 1 << 30 };

cb_status cb_folder_name(const char *out, cb_folder *folder) {
  size_t n = strlen(out);
  *folder = (cb_folder){.segments = {.lock = -1}};
  if (n > 3 && !strcmp(out + n - 3, ".h5")) n -= 3;
  while (n > 1 && out[n - 1] == '/') n--;
  if (n == 0 || n >= sizeof folder->result - 100)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "'%s' cannot be the name of a result: expected a name that is not empty and is shorter", out);
  snprintf(folder->result, sizeof folder->result, "%.*s.h5", (int)n, out);
  return cb_segments_name(folder->result, &folder->segments);
}

static void path_in(const cb_folder *folder, const char *name, char *out, size_t size) {
  snprintf(out, size, "%s/%s", folder->segments.path, name);
}

static cb_status write_text(const cb_folder *folder, const char *name, const char *text) {
  char path[4096];
  cb_output output;
  FILE *file;
  path_in(folder, name, path, sizeof path);
  const cb_status status = cb_output_open_text(path, &output, &file);
  if (status) return status;
  fputs(text, file);
  return cb_output_close_text(&output, file, CB_OK);
}

/* --- texts of the sweep --- */

static cb_status find(const char *path, bool *there) {
  struct stat info;
  return cb_find_file(path, "read", &info, there);
}

cb_status cb_folder_has_result(const cb_folder *folder, bool *there) { return find(folder->result, there); }

/* Reads a text from /sweep of the result; *text is unchanged if there is no text of that name. */
static cb_status read_result(const cb_folder *folder, const char *name, char **text) {
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(folder->result, H5F_ACC_RDONLY);
  const hid_t group =
      file >= 0 && H5Lexists(file, "sweep", H5P_DEFAULT) > 0 ? H5Gopen2(file, "sweep", H5P_DEFAULT) : -1;
  if (group >= 0 && H5Lexists(group, name, H5P_DEFAULT) > 0) *text = cb_hdf5_get_text_dataset(group, name);
  if (group >= 0) H5Gclose(group);
  if (file >= 0) cb_hdf5_close_read(file, folder->result);
  const cb_status status = cb_hdf5_unread(folder->result, CB_OK);
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* Reads a text of the sweep from its folder or, if the folder does not exist, from its result. *text is NULL if the
 * sweep was not begun. Fails with CB_ERROR_FILE if another file or folder has that name. */
static cb_status read_text(const cb_folder *folder, const char *name, const char *in_result, char **text) {
  char path[4096];
  bool there, result;
  size_t n;
  *text = NULL;
  path_in(folder, name, path, sizeof path);
  cb_status status = find(path, &there);
  if (status) return status;
  if (there) return cb_read_whole_file(path, LARGEST, text, &n);
  if ((status = cb_segments_look(&folder->segments, &there))) return status;
  if (there && cb_segments_state(&folder->segments) == CB_FOLDER_HELD)
    return cb_segments_in_use(&folder->segments, folder->result);
  if (there)
    return cb_fail(CB_ERROR_FILE, "%s: this is the folder of a run, not of a sweep: expected another -o",
                   folder->segments.path);
  status = find(folder->result, &result);
  if (status || !result) return status;
  status = read_result(folder, in_result, text);
  if (status || *text) return status;
  return cb_fail(CB_ERROR_FILE,
                 "%s: this file exists and is not the result of a sweep that can continue: expected another -o",
                 folder->result);
}

/* --- the result of the check of members --- */

static cb_status digest_of(const char *path, char out[CB_SCENARIO_DIGEST]) {
  char *data;
  size_t n;
  const cb_status status = cb_read_whole_file(path, LARGEST, &data, &n);
  if (status) return status;
  cb_scenario_sha256(data, n, out);
  free(data);
  return CB_OK;
}

/* Sets s->digest: the digest of the sweep and of the lines in `text`. */
static cb_status end(cb_sweep *s, cb_text *text) {
  cb_text all = {0};
  cb_text_puts(&all, s->plan->resolved);
  if (text->data) cb_text_puts(&all, text->data);
  const cb_status status = all.failed || text->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a digest") : CB_OK;
  if (!status) cb_scenario_sha256(all.data, all.length, s->digest);
  cb_text_free(&all);
  return status;
}

/* Reads the results of cb_sweep_check, rows_max and the list of files, from `data`, which is changed; sets s->digest.
 * Fails with CB_ERROR_INPUT if the text is damaged, or if the contents of a file have changed. */
static cb_status take_checked(const cb_folder *folder, char *data, cb_sweep *s) {
  char hex[CB_SCENARIO_DIGEST];
  long long rows;
  const char *path = folder->result;
  cb_status status = CB_OK;
  int used = 0;
  cb_text files = {0};
  if (sscanf(data, "rows %lld\n%n", &rows, &used) < 1 || !used || rows < 1)
    status = cb_fail(CB_ERROR_INPUT, "%s: error: the list of checked files is damaged: expected another -o", path);
  else
    s->rows_max = rows;
  for (char *line = data + used, *next; !status && *line; line = next) {
    next = strchr(line, '\n');
    if (!next || strncmp(line, "file ", 5) || next - line < 5 + CB_SCENARIO_DIGEST) {
      status = cb_fail(CB_ERROR_INPUT, "%s: error: the list of checked files is damaged: expected another -o", path);
      break;
    }
    *next++ = 0;
    const char *name = line + 5 + CB_SCENARIO_DIGEST;
    status = digest_of(name, hex);
    if (!status && strncmp(hex, line + 5, CB_SCENARIO_DIGEST - 1))
      status = cb_fail(CB_ERROR_INPUT,
                       "%s: error: this sweep was begun with other contents of %s: expected the same contents as then, "
                       "or another -o",
                       folder->result, name);
    cb_text_puts(&files, line);
  }
  if (!status) status = end(s, &files);
  cb_text_free(&files);
  return status;
}

/* Reads the text `checked`, and stores it in the sweep's layout, because the result contains it. */
static cb_status keep_checked(const cb_folder *folder, const char *text, cb_sweep *s) {
  char *changed = strdup(text);
  s->layout.checked = cb_arena_strdup(s->arena, text);
  const cb_status status = changed && s->layout.checked ? take_checked(folder, changed, s)
                                                        : cb_fail(CB_ERROR_MEMORY, "no memory for a list");
  free(changed);
  return status;
}

static cb_status write_checked(const cb_folder *folder, cb_sweep *s) {
  char line[160], hex[CB_SCENARIO_DIGEST];
  cb_text text = {0};
  cb_status status = CB_OK;
  snprintf(line, sizeof line, "rows %lld\n", (long long)s->rows_max);
  cb_text_puts(&text, line);
  for (size_t i = 0; i < s->files && !status; i++) {
    status = digest_of(s->file[i], hex);
    if (status) break;
    cb_text_puts(&text, "file ");
    cb_text_puts(&text, hex);
    cb_text_puts(&text, " ");
    cb_text_puts(&text, s->file[i]);
    cb_text_puts(&text, "\n");
  }
  if (!status)
    status = text.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a list") : write_text(folder, "checked", text.data);
  if (!status) status = keep_checked(folder, text.data, s);
  cb_text_free(&text);
  return status;
}

/* Returns CB_OK if no other sweep was begun in this folder. *begun: whether a sweep was begun. */
static cb_status compare(const cb_folder *folder, const cb_sweep *s, bool *begun) {
  char *was, what[1024];
  cb_status status = read_text(folder, cb_segments_of_sweep, "resolved", &was);
  *begun = was != NULL;
  if (status || !was) return status;
  status = cb_sweep_changed(folder->result, was, s->plan->resolved);
  free(was);
  if (status != CB_ERROR_INPUT) return status;
  snprintf(what, sizeof what, "%s", cb_error_text());
  return cb_fail(CB_ERROR_INPUT, "%s: error: another sweep was begun here: %s; expected the same sweep, or another -o",
                 folder->result, what);
}

static cb_status check(const cb_folder *folder, cb_sweep *s) {
  char *text;
  cb_status status = read_text(folder, "checked", "checked", &text);
  if (status) return status;
  status = text ? keep_checked(folder, text, s) : write_checked(folder, s);
  free(text);
  return status;
}

cb_status cb_folder_open(cb_folder *folder, cb_sweep *s, int shard, int threads, const volatile sig_atomic_t *stop) {
  bool begun;
  cb_status status = compare(folder, s, &begun);
  if (!status && !begun) status = cb_sweep_check(s, 0, s->plan->members, threads, stop);
  if (!status) status = shard ? cb_segments_take_part(&folder->segments, shard) : cb_segments_take(&folder->segments);
  if (!status) status = compare(folder, s, &begun); /* another shard may have begun the sweep in the meantime */
  if (!status) status = check(folder, s);
  if (!status) status = write_text(folder, cb_segments_of_sweep, s->plan->resolved);
  if (!status) cb_sweep_layout_rows(s);
  return status;
}

cb_status cb_folder_check_disk(const cb_folder *folder, double bytes) {
  struct statvfs disk;
  const bool known = statvfs(folder->segments.path, &disk) == 0;
  const double available = known ? (double)disk.f_bavail * (double)disk.f_frsize : INFINITY;
  if (bytes <= available) return CB_OK;
  return cb_fail(CB_ERROR_FILE, "%s: the disk has too little space: expected %.6g MB for the results, found %.6g MB",
                 folder->result, bytes / 1e6, available / 1e6);
}

void cb_folder_close(cb_folder *folder, bool complete) { cb_segments_leave(&folder->segments, complete); }

/* --- the result as one file --- */

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

/* A column of the result while it is written. The rows of one source at a time are copied to a plain dataset, or mapped
 * to a virtual dataset. */
typedef struct column_set {
  const joining *j;
  cb_store_column column;
  int rank; /* rank of the dataset: the number of axes plus the rank of a member's value */
  hsize_t dims[RANK];
  hid_t create, space; /* properties and dataspace of the dataset */
  hid_t set;           /* the dataset */
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

/* Calls visit for the boxes of every sequence of members that are in consecutive rows of one source. of: index of the
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

/* A plain file contains every number, also the numbers of missing members. Texts, which few members have, are not
 * allocated before they are written. */
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

/* Estimates the size in bytes of the result file, which is made in memory. A virtual file contains only its scales. */
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
  if (status && j.plain) { /* the values stay in the segments, and the result becomes a virtual file */
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
