/* Joins all pieces of a record to one plain file. Its contents depend only on the layout, the rows, the events, the
 * checkpoint and the warnings, not on the distribution of the rows over segments. The image of the layout is opened,
 * the arrays get their lengths, and the chunks are written in a fixed order. A chunk is written when its last row has
 * been read.
 *
 * A chunk that exists in a segment with the same rows is copied unchanged, compressed and with its checksum
 * (fletcher32). Therefore a later reader finds damage in the chunk as it would in the segment. Other chunks, where a
 * run was resumed or a segment was cut, are read row by row and written.
 *
 * A small record is made in memory and written at once. HDF5 writes a large one under a temporary name after disk space
 * has been reserved. Joining needs memory for one chunk per array.
 */
#include "core/failure.h"
#include "core/file.h"
#include "record/output.h"
#include "record/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MAX_SERIES = 4096 };
static const double index_share = 0.02; /* size of the index of chunks divided by the size of the rows */
static const char cannot[] = "join its segments";

/* An array with one entry per row or event. `to` is the array in the joined file, `from` the array in the piece that is
 * being read. */
typedef struct column {
  char *name;
  hid_t to, from, type;
  bool is_event, alike; /* alike: the array has the same chunks and filters in both files */
  int rank;
  hsize_t shape[4], chunk[4];
  size_t bytes;        /* size of a chunk in memory */
  unsigned char *rows; /* rows of the current chunk; NULL: no chunk has been read row by row */
  hid_t scratch;       /* a dataset of one chunk in memory, which compresses such chunks; 0: none */
} column;

typedef struct joining {
  cb_record_pieces *pieces;
  const cb_join *how;
  const char *path;
  hid_t file;
  column *column;
  size_t count;
  size_t piece;          /* the piece in which the columns are open; SIZE_MAX: none */
  unsigned char *stored; /* a chunk as it is stored in a file */
  size_t capacity;
  hid_t memory; /* the file in memory that contains the datasets `scratch` of all columns; 0: not made yet */
} joining;

/* ---- The columns */

/* Finds the shape and the chunks of a column. A chunk must consist of complete rows, or of a part of one row
 * (choose_chunk in record_layout.c). */
static bool describe(column *c) {
  cb_field_type type;
  const hid_t create = H5Dget_create_plist(c->to), space = H5Dget_space(c->to);
  c->rank = H5Sget_simple_extent_ndims(space);
  bool ok = c->rank >= 1 && c->rank <= 4 && H5Sget_simple_extent_dims(space, c->shape, NULL) >= 0 &&
            H5Pget_layout(create) == H5D_CHUNKED && H5Pget_chunk(create, 4, c->chunk) == c->rank &&
            cb_hdf5_type_of(c->to, &type);
  if (ok) {
    c->type = cb_hdf5_memory_type(type);
    c->bytes = cb_hdf5_type_size(type);
    for (int d = 0; d < c->rank; d++) c->bytes *= c->chunk[d];
    for (int d = 1; d < c->rank; d++) ok &= c->chunk[0] == 1 || c->chunk[d] == c->shape[d];
  }
  H5Pclose(create);
  H5Sclose(space);
  return ok;
}

static cb_status add_column(void *context, hid_t dataset, const char *name, bool is_event) {
  joining *j = context;
  if (j->count == MAX_SERIES)
    return cb_fail(CB_ERROR_FILE, "%s: too many fields: expected at most %d", j->path, MAX_SERIES);
  column *c = &j->column[j->count++];
  (void)dataset;
  *c = (column){
      .name = strdup(name), .to = H5Dopen2(j->file, name, H5P_DEFAULT), .from = H5I_INVALID_HID, .is_event = is_event};
  if (!c->name) return cb_fail(CB_ERROR_MEMORY, "%s: no memory to join /%s", j->path, name);
  return c->to >= 0 && describe(c) ? CB_OK : cb_hdf5_fail(j->path, "join /%s", name);
}

static void leave_piece(joining *j) {
  for (size_t c = 0; c < j->count; c++)
    if (j->column[c].from >= 0) {
      H5Dclose(j->column[c].from);
      j->column[c].from = H5I_INVALID_HID;
    }
  j->piece = SIZE_MAX;
}

/* Returns whether both datasets have the same filters and chunks. H5Pequal of HDF5 1.10 does not compare the sizes of
 * chunks. */
static bool is_filed_alike(const column *c) {
  hsize_t chunk[4] = {0};
  const hid_t from = H5Dget_create_plist(c->from), to = H5Dget_create_plist(c->to);
  bool same = H5Pequal(from, to) > 0 && H5Pget_chunk(from, 4, chunk) == c->rank;
  for (int d = 0; d < c->rank; d++) same &= chunk[d] == c->chunk[d];
  H5Pclose(from);
  H5Pclose(to);
  return same;
}

/* Opens the columns in a piece and checks that each has the same type and shape. */
static cb_status enter_piece(joining *j, size_t piece) {
  hid_t file;
  if (j->piece == piece) return CB_OK;
  leave_piece(j);
  const cb_status status = cb_pieces_file(j->pieces, piece, &file);
  if (status) return status;
  j->piece = piece;
  for (size_t i = 0; i < j->count; i++) {
    column *c = &j->column[i];
    hsize_t dims[4] = {H5S_UNLIMITED};
    for (int d = 1; d < c->rank; d++) dims[d] = c->shape[d];
    const hid_t type = H5Dget_type(c->to);
    c->from = cb_hdf5_find_dataset(file, c->name);
    const bool same = c->from >= 0 && cb_hdf5_dataset_is(c->from, type, c->rank, dims);
    H5Tclose(type);
    if (!same)
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: /%s is not the same in all segments", j->path, c->name);
    c->alike = is_filed_alike(c);
  }
  return CB_OK;
}

/* ---- Chunks */

/* Moves `at` to the next chunk of the same rows; false if there is no such chunk. */
static bool next_chunk(const column *c, hsize_t *at) {
  for (int d = c->rank - 1; d > 0; d--) {
    if ((at[d] += c->chunk[d]) < c->shape[d]) return true;
    at[d] = 0;
  }
  return false;
}

/* Copies a stored chunk from `from` in a dataset to `to` in the joined file. */
static bool copy_chunk(joining *j, const column *c, hid_t dataset, const hsize_t *from, const hsize_t *to) {
  hsize_t bytes;
  uint32_t left_out;
  return H5Dget_chunk_storage_size(dataset, from, &bytes) >= 0 && bytes && bytes <= j->capacity &&
         H5Dread_chunk(dataset, H5P_DEFAULT, from, &left_out, j->stored) >= 0 &&
         H5Dwrite_chunk(c->to, H5P_DEFAULT, left_out, to, bytes, j->stored) >= 0;
}

/* Reads `count` rows of the piece from the place `from` of its dataset, and stores them in the chunk that begins at
 * `at`, from row `row` of the chunk on. */
static bool read_rows(const column *c, const hsize_t *from, uint64_t count, uint64_t row, const hsize_t *at) {
  hsize_t start[4] = {row}, size[4] = {count};
  for (int d = 1; d < c->rank; d++) size[d] = c->shape[d] - at[d] < c->chunk[d] ? c->shape[d] - at[d] : c->chunk[d];
  const hid_t memory = H5Screate_simple(c->rank, c->chunk, NULL), space = H5Dget_space(c->from);
  const bool ok = H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                  H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
                  H5Dread(c->from, c->type, memory, space, H5P_DEFAULT, c->rows) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  return ok;
}

static bool make_scratch(joining *j, column *c) {
  if (!c->rows && !(c->rows = calloc(1, c->bytes))) return false;
  if (c->scratch > 0) return true;
  if (j->memory <= 0 && (j->memory = cb_memory_create()) < 0) return false;
  const hid_t create = H5Dget_create_plist(c->to), type = H5Dget_type(c->to),
              space = H5Screate_simple(c->rank, c->chunk, NULL);
  c->scratch = H5Dcreate_anon(j->memory, type, space, create, H5P_DEFAULT);
  H5Sclose(space);
  H5Tclose(type);
  H5Pclose(create);
  return c->scratch > 0;
}

/* Writes a chunk that was read row by row. It is stored in the scratch dataset and copied from there like other chunks,
 * so that it gets the same position and the same bytes. */
static bool write_rows(joining *j, const column *c, const hsize_t *at) {
  static const hsize_t zero[4] = {0};
  const bool ok = H5Dwrite(c->scratch, c->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->rows) >= 0 &&
                  copy_chunk(j, c, c->scratch, zero, at);
  memset(c->rows, 0, c->bytes);
  return ok;
}

/* Passes rows `from` .. `to` - 1 of the record from the piece, which begins at row `begin`, to the joined file. The
 * rows belong to the chunks that begin at row `first`. done: with these rows the chunks are complete, and are
 * written. */
static cb_status pass_rows(joining *j, column *c, uint64_t begin, uint64_t first, uint64_t from, uint64_t to,
                           bool done) {
  const bool whole = c->alike && from == first && to - from == c->chunk[0] && (first - begin) % c->chunk[0] == 0;
  hsize_t at[4] = {first};
  if (!whole && !make_scratch(j, c)) return cb_hdf5_fail(j->path, cannot);
  do {
    const hsize_t source[4] = {from - begin, at[1], at[2], at[3]};
    if (whole && copy_chunk(j, c, c->from, source, at)) continue;
    if (!make_scratch(j, c) || !read_rows(c, source, to - from, from - first, at))
      return cb_hdf5_fail(j->path, "read /%s to join it", c->name);
    if (done && !write_rows(j, c, at)) return cb_hdf5_fail(j->path, cannot);
  } while (next_chunk(c, at));
  return CB_OK;
}

/* Passes the rows, or events, of a piece to the joined file in steps. A step ends at a multiple of `step`, which
 * divides the number of rows of every chunk, or at the end of the piece. */
static cb_status pass_piece(joining *j, const cb_piece *piece, bool events, uint64_t step) {
  const uint64_t begin = events ? piece->first.events : piece->first.rows,
                 end = begin + (events ? piece->have.events : piece->have.rows),
                 all = events ? j->pieces->have.events : j->pieces->have.rows;
  for (uint64_t row = begin, next; row < end; row = next) {
    next = row - row % step + step < end ? row - row % step + step : end;
    for (size_t n = 0; n < j->count; n++) {
      column *c = &j->column[n];
      const uint64_t first = row - row % c->chunk[0], from = first > begin ? first : begin;
      const bool done = next == first + c->chunk[0] || next == all;
      if (c->is_event != events || (!done && next < end)) continue;
      const cb_status status = pass_rows(j, c, begin, first, from, next, done);
      if (status) return status;
    }
  }
  return CB_OK;
}

static cb_status write_chunks(joining *j, bool events) {
  uint64_t step = CB_CHUNK_ROWS;
  for (size_t n = 0; n < j->count; n++) {
    const column *c = &j->column[n];
    if (c->is_event == events && c->chunk[0] < step) step = c->chunk[0];
    if (c->bytes > j->capacity) j->capacity = c->bytes;
  }
  if (!j->stored && !(j->stored = malloc(j->capacity += j->capacity / 64 + 4096))) /* filters may enlarge a chunk */
    return cb_fail(CB_ERROR_MEMORY, "%s: no memory to join it", j->path);
  cb_status status = CB_OK;
  for (size_t i = 0; i < j->pieces->count && !status; i++) {
    const cb_record_position have = j->pieces->piece[i].have;
    if (!(events ? have.events : have.rows)) continue;
    status = enter_piece(j, i);
    if (!status) status = pass_piece(j, &j->pieces->piece[i], events, step);
    if (!status && j->how->synced) cb_hdf5_begin_sync(j->file);
  }
  return status;
}

static cb_status set_lengths(const joining *j) {
  for (size_t n = 0; n < j->count; n++) {
    const column *c = &j->column[n];
    hsize_t dims[4] = {c->is_event ? j->pieces->have.events : j->pieces->have.rows};
    for (int d = 1; d < c->rank; d++) dims[d] = c->shape[d];
    if (H5Dset_extent(c->to, dims) < 0) return cb_hdf5_fail(j->path, cannot);
  }
  return CB_OK;
}

/* ---- The file */

static cb_status fill(void *context, hid_t file) {
  joining *j = context;
  const cb_join *how = j->how;
  j->file = file;
  const int completed = how->completed;
  j->column = calloc(MAX_SERIES, sizeof *j->column);
  if (!j->column) return cb_fail(CB_ERROR_MEMORY, "%s: no memory to join it", j->path);
  cb_status status = cb_series_each(j->file, j->path, add_column, j);
  if (!status) status = set_lengths(j);
  if (!status) status = write_chunks(j, false);
  if (!status) status = write_chunks(j, true);
  leave_piece(j);
  for (size_t n = 0; n < j->count; n++) {
    if (j->column[n].to >= 0 && H5Dclose(j->column[n].to) < 0 && !status) status = cb_hdf5_fail(j->path, cannot);
    free(j->column[n].name);
    free(j->column[n].rows);
    if (j->column[n].scratch > 0) H5Dclose(j->column[n].scratch);
  }
  free(j->column);
  if (j->memory > 0) H5Fclose(j->memory);
  free(j->stored);
  if (status) return status;
  if (how->warnings) how->warnings->written = 0;
  const bool ok = (!how->state || cb_checkpoint_write(j->file, how->state, how->n_state, how->checkpoint)) &&
                  (!how->warnings || cb_warnings_write(j->file, how->warnings, how->warnings->length)) &&
                  cb_hdf5_set_integers(j->file, ".", "completed", H5T_NATIVE_INT, 1, &completed);
  return ok ? CB_OK : cb_hdf5_fail(j->path, cannot);
}

/* Writes the image and reserves `bytes` of disk space for the complete file. Returns 0 or errno; ENOSPC if there is not
 * enough space. */
static int begin_part(const char *part, const cb_image *layout, double bytes) {
  const int fd = cb_open(part, O_RDWR | O_TRUNC);
  struct statvfs disk;
  int error = 0;
  if (fd < 0) return errno;
  for (size_t done = 0; done < layout->size && !error;) {
    const ssize_t n = pwrite(fd, layout->bytes + done, layout->size - done, (off_t)done);
    if (n < 0 && errno != EINTR) error = errno;
    if (n > 0) done += (size_t)n;
  }
  if (!error && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) < 0) error = errno;
  if (error == EOPNOTSUPP || error == ENOSYS ||
      error == EINTR) /* the file system cannot reserve space, so only the free space is checked */
    error = fstatvfs(fd, &disk) == 0 && (double)disk.f_bavail * (double)disk.f_frsize < bytes ? ENOSPC : 0;
  const int closed = cb_close(fd);
  return error ? error : closed;
}

static hid_t open_part(const char *part) {
  const hid_t access = cb_record_access();
  if (access < 0) return access;
  hid_t file;
  do file = H5Fopen(part, H5F_ACC_RDWR, access);
  while (file < 0 && cb_hdf5_interrupted());
  H5Pclose(access);
  return file;
}

static cb_status write_in_memory(const cb_whole *w) {
  const hid_t file = cb_memory_open(w->start);
  if (file < 0) return cb_hdf5_fail(w->path, cannot);
  cb_status status = w->fill(w->context, file);
  if (!status) status = cb_memory_save(file, w->path, w->record, w->synced, NULL, NULL);
  H5Fclose(file);
  return status;
}

static cb_status write_on_disk(const cb_whole *w) {
  cb_output o;
  hid_t file;
  cb_status status = cb_output_begin_own(w->record, true, &o);
  if (status) return status;
  o.unsynced = !w->synced;
  const int error = begin_part(o.part, w->start, w->capacity);
  if (error) status = cb_fail_file(w->path, cannot, error);
  if (!status && (file = open_part(o.part)) < 0) status = cb_hdf5_fail(w->path, cannot);
  if (!status) {
    status = w->fill(w->context, file);
    if (status)
      cb_hdf5_abandon(file);
    else
      status = cb_hdf5_close(file, w->path);
  }
  return cb_output_end(&o, true, status);
}

cb_status cb_whole_write(const cb_whole *w) {
  return w->bytes > CB_SEGMENT_BYTES ? write_on_disk(w) : write_in_memory(w);
}

/* ---- The size of the joined file */

static cb_status count_bytes(void *context, hid_t dataset, const char *name, bool is_event) {
  double *bytes = context;
  hsize_t dims[H5S_MAX_RANK];
  const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
  double row = (double)H5Tget_size(type);
  (void)name;
  for (int d = 1; d < rank; d++) row *= (double)dims[d];
  bytes[is_event] += row;
  H5Tclose(type);
  H5Sclose(space);
  return CB_OK;
}

/* Returns the size of all segments in bytes. They are compressed like the joined file, whose size is nearly the
 * same. */
static double bytes_of_segments(const cb_record_pieces *pieces) {
  double bytes = 0;
  hsize_t last = 0;
  for (size_t i = 0; i + 1 < pieces->count; i++) bytes += (double)pieces->piece[i].bytes;
  if (H5Fget_filesize(pieces->file, &last) < 0) cb_hdf5_forget();
  return bytes + (double)last;
}

cb_status cb_join_write(cb_record_pieces *pieces, const cb_join *how, bool *joined) {
  joining j = {.pieces = pieces, .how = how, .path = pieces->path, .piece = SIZE_MAX};
  double row[2] = {0};
  *joined = false;
  cb_status status = cb_series_each(pieces->file, j.path, count_bytes, row);
  if (status) return status;
  const double bytes = (double)how->layout->size +
                       (row[0] * (double)pieces->have.rows + row[1] * (double)pieces->have.events) * (1 + index_share),
               capacity = fmin(bytes, bytes_of_segments(pieces));
  if (how->maximum_bytes > 0 && capacity > how->maximum_bytes) return CB_OK;
  const cb_whole whole = {j.path, pieces->folder.record, how->layout, bytes, capacity, how->synced, fill, &j};
  status = cb_whole_write(&whole);
  *joined = !status;
  return status;
}
