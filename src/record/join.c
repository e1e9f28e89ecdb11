/* One plain file of all pieces of a record. Its bytes depend on the layout, the rows, the events, the checkpoint and the
 * warnings alone: the layout's image is opened, the arrays get their lengths, and blocks of rows are written in a fixed
 * order, however the rows lay in segments.
 *
 * A small record is made in memory and written in one go, a large one by HDF5 under a name of its own, once there is room
 * for it. The memory that it takes is that of two blocks of rows.
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

enum { BLOCK_BYTES = 32 << 20, MOST_SERIES = 4096 };
static const double room_beside = 0.02; /* of the chunks' index, relative */
static const char cannot[] = "join its segments";

/* An array that grows: in the joined file, and in the piece that is being read. */
typedef struct column {
  char *name;
  hid_t to, from, type;
  bool is_event;
  int rank;
  hsize_t shape[4];
  size_t row_bytes, at; /* at: where its rows begin in the block */
} column;

typedef struct joining {
  cb_record_pieces *pieces;
  const cb_join *how;
  const char *path;
  hid_t file;
  column *column;
  size_t count;
  size_t piece; /* that the columns are open in; SIZE_MAX: none */
  unsigned char *block;
  uint64_t block_rows;
} joining;

/* ---- The columns */

static cb_status add_column(void *context, hid_t dataset, const char *name, bool is_event) {
  joining *j = context;
  if (j->count == MOST_SERIES) return cb_fail(CB_ERROR_FILE, "%s: more than %d fields", j->path, MOST_SERIES);
  cb_field_type type;
  column c = {
      .name = strdup(name), .to = H5Dopen2(j->file, name, H5P_DEFAULT), .from = H5I_INVALID_HID, .is_event = is_event};
  const hid_t space = H5Dget_space(dataset);
  c.rank = H5Sget_simple_extent_dims(space, c.shape, NULL);
  H5Sclose(space);
  if (c.name && c.to >= 0 && cb_hdf5_type_of(dataset, &type)) {
    c.type = cb_hdf5_memory_type(type);
    c.row_bytes = cb_hdf5_type_size(type);
    for (int d = 1; d < c.rank; d++) c.row_bytes *= c.shape[d];
    j->column[j->count++] = c;
    return CB_OK;
  }
  const cb_status status = c.name ? cb_hdf5_fail(j->path, "join /%s", name)
                                  : cb_fail(CB_ERROR_MEMORY, "%s: no memory to join /%s", j->path, name);
  if (c.to >= 0) H5Dclose(c.to);
  free(c.name);
  return status;
}

static void leave_piece(joining *j) {
  for (size_t c = 0; c < j->count; c++)
    if (j->column[c].from >= 0) H5Dclose(j->column[c].from), j->column[c].from = H5I_INVALID_HID;
  j->piece = SIZE_MAX;
}

/* The columns of a piece, each of the same type and shape. */
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
    c->from = H5Lexists(file, c->name, H5P_DEFAULT) > 0 ? H5Dopen2(file, c->name, H5P_DEFAULT) : H5I_INVALID_HID;
    const bool same = c->from >= 0 && cb_hdf5_dataset_is(c->from, type, c->rank, dims);
    H5Tclose(type);
    if (!same)
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: /%s is not the same in all segments", j->path, c->name);
  }
  return CB_OK;
}

/* ---- Rows */

static bool transfer(const column *c, hid_t dataset, bool writes, uint64_t first, uint64_t count, unsigned char *at) {
  hsize_t start[4] = {first}, size[4] = {count};
  for (int d = 1; d < c->rank; d++) size[d] = c->shape[d];
  const hid_t memory = H5Screate_simple(c->rank, size, NULL), space = H5Dget_space(dataset);
  const bool ok = memory >= 0 && space >= 0 &&
                  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                  (writes ? H5Dwrite(dataset, c->type, memory, space, H5P_DEFAULT, at) >= 0
                          : cb_hdf5_read(dataset, c->type, memory, space, at));
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return ok;
}

/* Rows first .. end - 1, or events, of the pieces into the block. */
static cb_status read_block(joining *j, bool events, uint64_t first, uint64_t end) {
  for (size_t i = 0; i < j->pieces->count; i++) {
    const cb_piece *piece = &j->pieces->piece[i];
    const uint64_t begin = events ? piece->first.events : piece->first.rows,
                   last = begin + (events ? piece->have.events : piece->have.rows),
                   from = first > begin ? first : begin, to = end < last ? end : last;
    if (from >= to) continue;
    const cb_status status = enter_piece(j, i);
    if (status) return status;
    for (size_t n = 0; n < j->count; n++) {
      const column *c = &j->column[n];
      if (c->is_event == events &&
          !transfer(c, c->from, false, from - begin, to - from, j->block + c->at + (from - first) * c->row_bytes))
        return cb_hdf5_fail(j->path, "read /%s to join it", c->name);
    }
  }
  return CB_OK;
}

static cb_status write_blocks(joining *j, bool events) {
  const uint64_t rows = events ? j->pieces->have.events : j->pieces->have.rows;
  for (uint64_t first = 0; first < rows; first += j->block_rows) {
    const uint64_t end = rows - first < j->block_rows ? rows : first + j->block_rows;
    const cb_status status = read_block(j, events, first, end);
    if (status) return status;
    for (size_t n = 0; n < j->count; n++) {
      const column *c = &j->column[n];
      if (c->is_event == events && !transfer(c, c->to, true, first, end - first, j->block + c->at))
        return cb_hdf5_fail(j->path, cannot);
    }
  }
  return CB_OK;
}

static cb_status make_block(joining *j) {
  size_t row[2] = {0};
  for (size_t n = 0; n < j->count; n++) row[j->column[n].is_event] += j->column[n].row_bytes;
  const size_t bytes = row[0] > row[1] ? row[0] : row[1];
  j->block_rows = CB_CHUNK_ROWS;
  while (j->block_rows > 1 && j->block_rows * bytes > BLOCK_BYTES) j->block_rows /= 2;
  while (bytes && j->block_rows * bytes <= BLOCK_BYTES / 4) j->block_rows *= 2; /* few calls of HDF5 for short rows */
  size_t at[2] = {0};
  for (size_t n = 0; n < j->count; n++) {
    column *c = &j->column[n];
    c->at = at[c->is_event];
    at[c->is_event] += c->row_bytes * j->block_rows;
  }
  j->block = malloc(j->block_rows * bytes + 1);
  return j->block ? CB_OK : cb_fail(CB_ERROR_MEMORY, "%s: no memory to join %zu bytes a row", j->path, bytes);
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
  j->column = calloc(MOST_SERIES, sizeof *j->column);
  if (!j->column) return cb_fail(CB_ERROR_MEMORY, "%s: no memory to join it", j->path);
  cb_status status = cb_series_each(j->file, j->path, add_column, j);
  if (!status) status = make_block(j);
  if (!status) status = set_lengths(j);
  if (!status) status = write_blocks(j, false);
  if (!status) status = write_blocks(j, true);
  leave_piece(j);
  for (size_t n = 0; n < j->count; n++) {
    if (H5Dclose(j->column[n].to) < 0 && !status) status = cb_hdf5_fail(j->path, cannot);
    free(j->column[n].name);
  }
  free(j->column);
  free(j->block);
  if (status) return status;
  if (how->warnings) how->warnings->written = 0;
  const bool ok = (!how->state || cb_checkpoint_write(j->file, how->state, how->n_state, how->checkpoint)) &&
                  (!how->warnings || cb_warnings_write(j->file, how->warnings, how->warnings->length)) &&
                  cb_hdf5_set_integers(j->file, ".", "completed", H5T_NATIVE_INT, 1, &completed);
  return ok ? CB_OK : cb_hdf5_fail(j->path, cannot);
}

/* Writes the image and asks for the room of the rest: 0, or errno, ENOSPC where there is none. */
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
  if (error == EOPNOTSUPP || error == ENOSYS || error == EINTR) /* it is not reserved, but looked for */
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
  const int error = begin_part(o.part, w->start, w->room);
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

/* ---- Its size */

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

/* What all segments take, which are as compressed as the joined file: it is hardly larger. */
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
                       (row[0] * (double)pieces->have.rows + row[1] * (double)pieces->have.events) * (1 + room_beside),
               room = fmin(bytes, bytes_of_segments(pieces));
  if (how->most_bytes > 0 && room > how->most_bytes) return CB_OK;
  const cb_whole whole = {j.path, pieces->folder.record, how->layout, bytes, room, how->synced, fill, &j};
  status = cb_whole_write(&whole);
  *joined = !status;
  return status;
}
