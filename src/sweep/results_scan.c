/* Finds the members whose results are in the segments of a sweep and in its result file. */
#include "core/failure.h"
#include "core/file.h"
#include "record/hdf5.h"
#include "sweep/store_private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4 << 20 };

static cb_status no_memory(size_t n) { return cb_fail(CB_ERROR_MEMORY, "no memory for %zu members", n); }

static cb_status damaged(const char *path, const char *what) {
  return cb_fail_placed(CB_ERROR_INPUT,
                        "%s: error: the dataset /%s is missing or damaged: it cannot be read as a result of this sweep",
                        path, what);
}

/* --- the file that is being read --- */

/* Returns CB_OK if a segment or a result belongs to this sweep. */
static cb_status check_mark(hid_t file, const char *path, const cb_store_layout *layout) {
  char *digest = cb_hdf5_get_text_attribute(file, cb_store_mark);
  const bool good = digest && !strcmp(digest, layout->digest);
  free(digest);
  return good ? CB_OK
              : cb_fail_placed(CB_ERROR_INPUT, "%s: error: this file is a result of another sweep: expected another -o",
                               path);
}

/* Reads a complete dataset of exactly this type and shape. */
static bool read_all(hid_t file, const char *name, hid_t type, hid_t memory, int rank, const hsize_t *dims, void *out) {
  const hid_t set = cb_hdf5_find_dataset(file, name);
  const bool good = set >= 0 && cb_hdf5_dataset_is(set, type, rank, dims) &&
                    H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
  if (set >= 0) H5Dclose(set);
  return good;
}

/* Returns the number of rows of a segment; 0: the file is not a segment. */
static size_t rows_of(hid_t file) {
  const hid_t set = cb_hdf5_find_dataset(file, "member"), space = set < 0 ? set : H5Dget_space(set);
  const hssize_t n = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 ? H5Sget_simple_extent_npoints(space) : 0;
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return n > 0 && n <= CB_SEGMENT_BYTES ? (size_t)n : 0;
}

/* Reads all columns: this verifies the checksums, and shows that the segment can be read when it is joined. */
static cb_status read_columns(hid_t file, const char *path, const cb_store_layout *layout, size_t rows) {
  for (size_t c = 0; c < cb_store_columns(layout); c++) {
    const cb_store_column column = cb_store_column_of(layout, c);
    hsize_t dims[1 + CB_STORE_RANK] = {rows};
    for (int d = 0; d < column.rank; d++) dims[d + 1] = column.shape[d];
    if (column.is_text && H5Lexists(file, column.name, H5P_DEFAULT) <= 0) continue;
    void *block = malloc(rows * column.bytes + 1);
    if (!block) return no_memory(rows);
    const bool good = read_all(file, column.name, column.file_type, column.memory_type, column.rank + 1, dims, block);
    free(block);
    if (!good) return damaged(path, column.name);
  }
  return CB_OK;
}

/* --- segments --- */

cb_status cb_segment_open(const char *path, hid_t *file) {
  cb_image image;
  const cb_status status = cb_image_read(path, &image);
  if (status) return status;
  *file = cb_memory_open(&image);
  free(image.bytes);
  return *file < 0 ? cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected an HDF5 file", path) : CB_OK;
}

/* Returns the rank of a status. If several sources have a member, the status with the highest rank is used. If two
 * sources have the same status, the later source is used. */
static int rank_of(int32_t status) { return status == CB_MEMBER_DONE ? 2 : status == CB_MEMBER_FAILED; }

static void add(cb_results_scan *s, int64_t m, int32_t status, int32_t warned, double seconds, size_t row) {
  if (m < 0 || m >= s->members || rank_of(status) < rank_of(s->status[m])) return;
  if (status == CB_MEMBER_DONE && seconds > 0) s->seconds += seconds;
  s->status[m] = rank_of(status) ? (uint8_t)status : CB_MEMBER_MISSING;
  s->warned[m] = warned > 0;
  s->source[m] = (int32_t)s->count - 1;
  s->row[m] = (int32_t)row;
}

/* Reads the states from which members continue, from those rows of the segment that the scan uses. */
static bool add_states(cb_results_scan *s, hid_t file, const int64_t *member, size_t rows) {
  hsize_t dims[2] = {rows, 0};
  const hid_t set = cb_hdf5_find_dataset(file, "state"), space = set < 0 ? set : H5Dget_space(set);
  if (space >= 0 && H5Sget_simple_extent_ndims(space) == 2) H5Sget_simple_extent_dims(space, dims, NULL);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  const size_t states = dims[0] == rows && dims[1] <= CB_SEGMENT_BYTES / rows ? (size_t)dims[1] : 0;
  double *state = malloc((rows * states + 1) * sizeof *state);
  bool good =
      state && (set < 0 || (states && read_all(file, "state", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, dims, state)));
  for (size_t i = 0; i < rows && good; i++) {
    const int64_t m = member[i];
    if (m < 0 || m >= s->members || s->source[m] != (int32_t)s->count - 1 || s->row[m] != (int32_t)i) continue;
    double *own = realloc(s->known[m].state, (states + 1) * sizeof *own);
    if (!(good = own != NULL)) break;
    memcpy(own, state + i * states, states * sizeof *own);
    s->known[m] = (cb_store_row){(cb_member_status)s->status[m], own, states};
  }
  free(state);
  return good;
}

static cb_status add_rows(cb_results_scan *s, hid_t file, const char *path, size_t rows) {
  const hsize_t dims[] = {rows};
  int64_t *member = malloc(rows * sizeof *member);
  int32_t *status = malloc(rows * sizeof *status), *warned = malloc(rows * sizeof *warned);
  double *seconds = malloc(rows * sizeof *seconds);
  const bool there = member && status && warned && seconds;
  bool good = there && read_all(file, "member", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, dims, member) &&
              read_all(file, "status", H5T_STD_I32LE, H5T_NATIVE_INT32, 1, dims, status) &&
              read_all(file, "warned", H5T_STD_I32LE, H5T_NATIVE_INT32, 1, dims, warned) &&
              read_all(file, "seconds", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, dims, seconds);
  for (size_t i = 0; i < rows && good; i++) add(s, member[i], status[i], warned[i], seconds[i], i);
  if (s->known) good = good && add_states(s, file, member, rows);
  free(member);
  free(status);
  free(warned);
  free(seconds);
  return good ? CB_OK : there ? damaged(path, "member") : no_memory(rows);
}

static bool add_source(cb_results_scan *s, char *path, uint64_t number, size_t rows) {
  cb_store_source *more = realloc(s->sources, (s->count + 1) * sizeof *more);
  if (!more) {
    free(path);
    return false;
  }
  s->sources = more;
  s->sources[s->count++] = (cb_store_source){path, number, rows};
  return true;
}

/* Adds the rows of a segment to the scan. *other: the segment is intact, but belongs to another sweep. */
static cb_status read_segment(cb_results_scan *s, char *path, uint64_t number, bool whole, bool *other) {
  hid_t file;
  const cb_status opened = cb_segment_open(path, &file);
  *other = false;
  if (opened) return opened;
  const size_t rows = rows_of(file);
  cb_status status = rows ? check_mark(file, path, s->layout) : damaged(path, "member");
  *other = rows && status;
  if (!status && whole) status = read_columns(file, path, s->layout, rows);
  if (!status) {
    char *name = strdup(path);
    if (!name || !add_source(s, name, number, rows)) status = no_memory(rows);
  }
  if (!status) status = add_rows(s, file, path, rows);
  H5Fclose(file);
  return status;
}

/* Renames a segment that the system can read but HDF5 cannot. */
static cb_status set_aside(const char *path, cb_status status) {
  char name[4200], why[600];
  snprintf(name, sizeof name, "%s.part", path);
  snprintf(why, sizeof why, "%s", cb_error_text());
  if (rename(path, name)) return status;
  cb_warn("%s: this segment is damaged: its members are computed again (%s)", path, why);
  return CB_OK;
}

static cb_status take_segment(cb_results_scan *s, char *path, uint64_t number, bool whole) {
  const size_t before = s->count;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = whole ? cb_probe(path) : CB_OK;
  bool other = false;
  errno = 0;
  if (!status) status = read_segment(s, path, number, whole, &other);
  if (status && errno == ENOMEM) status = no_memory(1);
  const cb_status refused = cb_hdf5_unread(path, CB_OK);
  cb_hdf5_quiet_end(quiet);
  if (refused) return refused;
  const bool unread = cb_failure_last().kind == CB_FAILURE_SYSTEM;
  if (!status || !whole || other || unread || status == CB_ERROR_MEMORY || s->count > before) return status;
  return set_aside(path, status);
}

cb_status cb_results_scan_read(const cb_segments *folder, const cb_store_layout *layout, bool whole,
                               cb_results_scan *out) {
  const size_t n = (size_t)layout->members;
  uint64_t *number = NULL;
  size_t count = 0;
  cb_results_scan s = {.layout = layout,
                       .members = layout->members,
                       .status = calloc(n, 1),
                       .warned = calloc(n, 1),
                       .known = layout->goes_on ? calloc(n, sizeof *s.known) : NULL,
                       .source = malloc(n * sizeof *s.source),
                       .row = malloc(n * sizeof *s.row)};
  cb_status status = s.status && s.warned && s.source && s.row && !s.known == !layout->goes_on ? CB_OK : no_memory(n);
  for (size_t i = 0; i < n && !status; i++) s.source[i] = -1;
  if (!status) status = cb_segments_list(folder, &number, &count);
  for (size_t i = 0; i < count && !status; i++) {
    char *path = cb_segment_name(folder, number[i]);
    status = path ? take_segment(&s, path, number[i], whole) : no_memory(1);
    free(path);
  }
  free(number);
  if (status) {
    cb_results_scan_free(&s);
    return status;
  }
  *out = s;
  return CB_OK;
}

void cb_results_scan_free(cb_results_scan *s) {
  for (size_t i = 0; i < s->count; i++) free(s->sources[i].path);
  for (int64_t m = 0; s->known && m < s->members; m++) free(s->known[m].state);
  free(s->known);
  free(s->sources);
  free(s->status);
  free(s->warned);
  free(s->source);
  free(s->row);
  *s = (cb_results_scan){0};
}

/* --- a result --- */

static hid_t open_column(hid_t file, const cb_store_layout *l, const cb_store_column *c) {
  hsize_t dims[H5S_MAX_RANK];
  const int axes = (int)l->n_axes;
  for (int a = 0; a < axes; a++) dims[a] = l->axes[a].count;
  for (int d = 0; d < c->rank; d++) dims[axes + d] = c->shape[d];
  const hid_t set = cb_hdf5_find_dataset(file, c->name);
  if (set < 0 || cb_hdf5_dataset_is(set, c->file_type, axes + c->rank, dims)) return set;
  H5Dclose(set);
  return H5I_INVALID_HID;
}

/* The memory `out` into which boxes of a column of a result are read; its first value belongs to member `first`. */
typedef struct boxes {
  hid_t set;
  const cb_store_layout *layout;
  const cb_store_column *column;
  int64_t first;
  unsigned char *out;
} boxes;

static bool read_box(void *context, const hsize_t *start, const hsize_t *count, int64_t m, size_t n) {
  const boxes *b = context;
  hsize_t from[H5S_MAX_RANK] = {0}, size[H5S_MAX_RANK], all = n;
  const int axes = (int)b->layout->n_axes;
  memcpy(from, start, (size_t)axes * sizeof *from);
  memcpy(size, count, (size_t)axes * sizeof *size);
  for (int d = 0; d < b->column->rank; d++) all *= size[axes + d] = b->column->shape[d];
  const hid_t space = H5Dget_space(b->set), memory = H5Screate_simple(1, &all, NULL);
  const bool good = space >= 0 && memory >= 0 &&
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
                    H5Dread(b->set, b->column->memory_type, memory, space, H5P_DEFAULT,
                            b->out + (size_t)(m - b->first) * b->column->bytes) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return good;
}

/* Reads a column for the members [m, m + n) of a result. */
static bool read_members(hid_t file, const cb_store_layout *l, size_t c, int64_t m, size_t n, void *out) {
  const cb_store_column column = cb_store_column_of(l, c);
  boxes b = {open_column(file, l, &column), l, &column, m, out};
  const bool good = b.set >= 0 && cb_store_boxes(l, m, m + (int64_t)n, read_box, &b);
  if (b.set >= 0) H5Dclose(b.set);
  return good;
}

static cb_status add_members(cb_results_scan *s, hid_t file, const char *path) {
  const size_t n = (size_t)s->members;
  int32_t *status = malloc(n * sizeof *status), *warned = malloc(n * sizeof *warned);
  const bool there = status && warned;
  const bool good = there && read_members(file, s->layout, CB_STORE_STATUS, 0, n, status) &&
                    read_members(file, s->layout, CB_STORE_WARNED, 0, n, warned);
  for (size_t m = 0; m < n && good; m++)
    if (s->status[m] == CB_MEMBER_MISSING && rank_of(status[m])) add(s, (int64_t)m, status[m], warned[m], 0, m);
  free(status);
  free(warned);
  return good ? CB_OK : there ? damaged(path, "status") : no_memory(n);
}

/* Returns whether a result is a virtual file, whose datasets refer to the segments and contain no values themselves. */
static bool is_virtual(hid_t file) {
  const hid_t set = cb_hdf5_find_dataset(file, "status"), create = set < 0 ? set : H5Dget_create_plist(set);
  const bool virtual = create >= 0 && H5Pget_layout(create) == H5D_VIRTUAL;
  if (create >= 0) H5Pclose(create);
  if (set >= 0) H5Dclose(set);
  return virtual;
}

cb_status cb_results_scan_add_result(cb_results_scan *s, const char *path) {
  bool missing = false;
  for (int64_t m = 0; m < s->members; m++) missing = missing || s->status[m] == CB_MEMBER_MISSING;
  if (!missing) return CB_OK;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  char *name = strdup(path);
  cb_status status = file < 0 ? cb_hdf5_fail_open(path) : check_mark(file, path, s->layout);
  const bool plain = !status && !is_virtual(file);
  if (file < 0 && status == CB_ERROR_INPUT && s->count) {
    cb_warn("%s; its segments are read instead", cb_error_text());
    cb_hdf5_forget();
    status = CB_OK;
  }
  if (plain && name && add_source(s, name, 0, (size_t)s->members)) {
    name = NULL;
    status = add_members(s, file, path);
  } else if (plain) {
    name = NULL;
    status = no_memory(1);
  }
  if (plain && s->count == 1) s->seconds = NAN;
  free(name);
  if (file >= 0) cb_hdf5_close_read(file, path);
  status = cb_hdf5_unread(path, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* --- text --- */

static char *read_text(const cb_results_scan *s, int64_t member, size_t c) {
  if (s->source[member] < 0) return NULL;
  const cb_store_source *from = &s->sources[s->source[member]];
  const cb_store_axis rows = {"row", from->rows};
  cb_store_layout flat = *s->layout;
  if (from->number) {
    flat.axes = &rows;
    flat.n_axes = 1;
  }
  char *text = calloc(CB_STORE_TEXT + 1, 1);
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  hid_t file = H5I_INVALID_HID;
  if (text && from->number)
    cb_segment_open(from->path, &file);
  else if (text)
    file = cb_hdf5_open(from->path, H5F_ACC_RDONLY);
  const bool good = file >= 0 && read_members(file, &flat, c, s->row[member], 1, text);
  if (file >= 0) cb_hdf5_close_read(file, from->path);
  cb_hdf5_quiet_end(quiet);
  if (!good) free(text);
  return good ? text : NULL;
}

char *cb_results_scan_failure(const cb_results_scan *s, int64_t member) {
  return read_text(s, member, CB_STORE_FAILURE);
}
char *cb_results_scan_warning(const cb_results_scan *s, int64_t member) {
  return read_text(s, member, CB_STORE_WARNING);
}

/* --- from a result into segments --- */

/* Reads the columns of the members [m, m + n), one after another, into `block`. */
static cb_status read_block(hid_t file, const cb_store_layout *l, int64_t m, size_t n, unsigned char *block) {
  for (size_t c = 0, at = 0; c < cb_store_columns(l); c++) {
    if (!read_members(file, l, c, m, n, block + at)) return cb_hdf5_fail("a result", "read");
    at += n * cb_store_column_of(l, c).bytes;
  }
  return CB_OK;
}

static cb_status put_member(const cb_store_layout *l, const unsigned char *block, int64_t m, size_t i, size_t n,
                            cb_store *store) {
  const size_t own = sizeof(int32_t) * 2 + CB_STORE_TEXT * 2;
  cb_member_result r = {.member = m, .values = malloc(cb_store_bytes(l) - own + 1)};
  void *const to[CB_STORE_OWN] = {&r.status, r.failure, &r.warned, r.warning};
  if (!r.values) return no_memory(1);
  for (size_t c = 0, at = 0, value = 0; c < cb_store_columns(l); c++) {
    const size_t bytes = cb_store_column_of(l, c).bytes;
    memcpy(c < CB_STORE_OWN ? to[c] : r.values + value, block + at + i * bytes, bytes);
    at += n * bytes;
    if (c >= CB_STORE_OWN) value += bytes;
  }
  return cb_store_put(store, &r);
}

static bool is_result(const cb_results_scan *s, int64_t m) {
  return s->source[m] >= 0 && !s->sources[s->source[m]].number;
}

static cb_status import(const cb_results_scan *s, hid_t file, cb_store *store) {
  const size_t bytes = cb_store_bytes(s->layout), maximum = bytes < BLOCK_BYTES ? BLOCK_BYTES / bytes : 1;
  unsigned char *block = malloc(maximum * bytes);
  cb_status status = block ? CB_OK : no_memory(maximum);
  for (int64_t m = 0, end; m < s->members && !status; m = end) {
    for (end = m; end < s->members && end < m + (int64_t)maximum && is_result(s, end);) end++;
    const size_t n = (size_t)(end - m);
    if (n) status = read_block(file, s->layout, m, n, block);
    for (size_t i = 0; i < n && !status; i++) status = put_member(s->layout, block, m + (int64_t)i, i, n, store);
    if (!n) end++;
  }
  free(block);
  return status;
}

cb_status cb_results_scan_import(const cb_results_scan *s, cb_store *store) {
  const cb_store_source *from = s->count ? &s->sources[s->count - 1] : NULL;
  if (!from || from->number) return CB_OK;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(from->path, H5F_ACC_RDONLY);
  cb_status status = file < 0 ? cb_hdf5_fail(from->path, "read") : import(s, file, store);
  if (file >= 0) cb_hdf5_close_read(file, from->path);
  status = cb_hdf5_unread(from->path, status);
  cb_hdf5_quiet_end(quiet);
  return status ? status : cb_store_save(store);
}
