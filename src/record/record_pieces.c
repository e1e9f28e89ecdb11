/* The files of a record: OUT.h5, or the segments in its folder.
 *
 * If OUT.h5 is a plain file, it is the record. A folder next to it was then not yet removed after a join, or was just
 * made by a resumed run. Otherwise, also if OUT.h5 is damaged, the segments are the record, in the order of their
 * numbers. The rows of a segment count up to the first row of the next one. A segment is a complete file and is
 * replaced by a rename; a segment that was read while it grew is read again and then has more rows. If a segment has
 * disappeared, the record has been joined in the meantime, and OUT.h5 has the same rows.
 */
#include "core/failure.h"
#include "core/file.h"
#include "record/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cb_pieces_add(cb_record_pieces *p, const cb_piece *piece) {
  if (p->count == p->capacity) {
    const size_t capacity = p->capacity ? 2 * p->capacity : 16;
    cb_piece *more = realloc(p->piece, capacity * sizeof *more);
    if (!more) return false;
    p->piece = more;
    p->capacity = capacity;
  }
  p->piece[p->count++] = *piece;
  p->have = (cb_record_position){piece->first.rows + piece->have.rows, piece->first.events + piece->have.events,
                                 p->have.checkpoints};
  return true;
}

static void close_file(hid_t *file, const char *path) {
  if (*file >= 0) cb_hdf5_close_read(*file, path);
  *file = H5I_INVALID_HID;
}

void cb_pieces_close(cb_record_pieces *p) {
  close_file(&p->file, p->path);
  close_file(&p->other, p->path);
  if (p->before > 0) close_file(&p->before, p->path); /* 0: none */
  if (p->base > 0) close_file(&p->base, p->path);
  cb_segments_leave(&p->folder, false);
  free(p->piece);
  p->piece = NULL;
}

/* ---- One file */

/* Returns whether version 0.1 has left the file open. Such a file can be opened only for SWMR reading (single writer,
 * multiple readers). If it can also be opened without SWMR, *plain is the open file: the system had only refused the
 * first attempt. */
static bool is_left_by_old(const char *path, hid_t *plain) {
  const hid_t file = cb_hdf5_open(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ);
  if (file < 0) return false;
  H5Fclose(file);
  return (*plain = cb_hdf5_open(path, H5F_ACC_RDONLY)) < 0;
}

/* Opens a file. Returns CB_ERROR_INPUT if the file is not an HDF5 file, is damaged, or was left open by version 0.1. */
static cb_status open_file(const char *path, hid_t *out) {
  const char *why;
  const int fd = cb_open_regular(path, 0, &why);
  unsigned char begin[8];
  size_t got = 0;
  if (fd < 0) return cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "%s: cannot open: %s", path, why);
  const int error = cb_read_at(fd, 0, sizeof begin, begin, &got);
  close(fd);
  if (error) return cb_fail_file(path, "read", error);
  if (got < sizeof begin || memcmp(begin, "\211HDF\r\n\032\n", sizeof begin))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: this is not an HDF5 file", path);
  *out = cb_hdf5_open(path, H5F_ACC_RDONLY);
  if (*out >= 0) return CB_OK;
  const cb_status status = cb_hdf5_fail_open(path);
  if (status != CB_ERROR_INPUT) return status;
  const bool old = is_left_by_old(path, out);
  if (*out < 0 && !old) return status;
  cb_hdf5_forget();
  if (*out >= 0) return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT,
                        "%s: error: version 0.1 was interrupted while it wrote the file: repair it with that version",
                        path);
}

static cb_status take_plain(cb_record_pieces *p, hid_t file) {
  cb_piece piece = {.number = 0};
  cb_status status = cb_record_check(file, p->path, false);
  if (!status) status = cb_series_extent(file, p->path, &piece.have);
  hsize_t bytes;
  if (!status && H5Fget_filesize(file, &bytes) >= 0) piece.bytes = bytes;
  if (!status && !cb_pieces_add(p, &piece)) status = cb_fail(CB_ERROR_MEMORY, "no memory to read %s", p->path);
  p->plain = true;
  p->file = file; /* cb_pieces_close closes it */
  return status;
}

/* ---- Segments */

static bool first_of(hid_t file, cb_record_position *first) {
  return (H5Aexists(file, "first_row") <= 0 || /* the attribute is missing in a complete record that became segment 1 */
          cb_hdf5_get_numbers(file, ".", "first_row", H5T_INTEGER, H5T_NATIVE_UINT64, 1, &first->rows)) &&
         (H5Aexists(file, "first_event") <= 0 ||
          cb_hdf5_get_numbers(file, ".", "first_event", H5T_INTEGER, H5T_NATIVE_UINT64, 1, &first->events));
}

/* Reads the position and length of a segment. *there is false if the segment does not exist. */
static cb_status look(const cb_record_pieces *p, uint64_t number, cb_piece *out, bool *there) {
  char *name = cb_segment_name(&p->folder, number);
  struct stat info;
  hid_t file = H5I_INVALID_HID;
  int version;
  *out = (cb_piece){.number = number};
  *there = false;
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory to read %s", p->path);
  cb_status status = cb_find_file(name, "read", &info, there);
  if (!status && *there) {
    out->bytes = (uint64_t)info.st_size;
    status = open_file(name, &file);
    if (!status) status = cb_record_check_mark(file, name, &version);
    if (!status && !first_of(file, &out->first))
      status =
          cb_fail_placed(CB_ERROR_INPUT, "%s: error: damaged: the attribute first_row or first_event is missing", name);
    if (!status) status = cb_series_extent(file, name, &out->have);
    if (file >= 0) cb_hdf5_close_read(file, name);
  }
  free(name);
  return status;
}

/* Returns whether `next` follows the segment `last`. If so, the rows of `last` count only up to the first row of
 * `next`. */
static bool follows(cb_piece *last, const cb_piece *next) {
  const cb_record_position first = next->first;
  if (first.rows < last->first.rows || first.events < last->first.events ||
      first.rows - last->first.rows > last->have.rows || first.events - last->first.events > last->have.events)
    return false;
  last->have.rows = first.rows - last->first.rows;
  last->have.events = first.events - last->first.events;
  return true;
}

/* Adds the segments from number 1 on, until one cannot be read or does not follow the previous one. */
static cb_status scan(cb_record_pieces *p) {
  cb_piece next, again;
  bool there = true;
  for (uint64_t number = 1; there; number++) {
    cb_status status = look(p, number, &next, &there);
    cb_piece *last = p->count ? &p->piece[p->count - 1] : NULL;
    bool good = !status && there;
    if (status == CB_ERROR_MEMORY) return status;
    if (status && !last) return status;
    if (good && last && !follows(last, &next)) { /* `last` may have grown since it was read */
      bool still;
      good = !look(p, last->number, &again, &still) && still && follows(&again, &next);
      if (good) *last = again;
    }
    if (!good) {
      p->lost += there;
      cb_hdf5_forget();
      return CB_OK;
    }
    if (!cb_pieces_add(p, &next)) return cb_fail(CB_ERROR_MEMORY, "no memory to read %s", p->path);
  }
  return CB_OK;
}

static cb_status open_segment(const cb_record_pieces *p, uint64_t number, hid_t *out) {
  char *name = cb_segment_name(&p->folder, number);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory to read %s", p->path);
  cb_status status = open_file(name, out);
  if (!status && (status = cb_record_check(*out, name, number > 0))) close_file(out, name);
  free(name);
  return status;
}

/* Switches to the plain file if the record has been joined since its segments were found. Otherwise returns the status
 * `otherwise`. */
static cb_status take_joined(cb_record_pieces *p, cb_status otherwise) {
  hid_t file;
  if (p->plain || open_file(p->folder.record, &file)) return otherwise;
  cb_record_pieces now = {.path = p->path, .folder = p->folder, .file = H5I_INVALID_HID, .other = H5I_INVALID_HID};
  cb_status status = cb_virtual_is(file) ? otherwise : take_plain(&now, file);
  if (!status && (now.have.rows < p->have.rows || now.have.events < p->have.events)) status = otherwise;
  if (status) {
    H5Fclose(file);
    free(now.piece);
    return status;
  }
  cb_hdf5_forget();
  now.before = p->file;
  close_file(&p->other, p->path);
  if (p->base > 0) close_file(&p->base, p->path);
  free(p->piece);
  const cb_record_position had = p->have;
  *p = now;
  p->have = p->piece[0].have = had;
  return CB_OK;
}

static cb_status take_segments(cb_record_pieces *p) {
  cb_status status = scan(p);
  if (status) return status;
  if (!p->count)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: there is no segment in %s that can be read", p->path,
                          p->folder.path);
  status = open_segment(p, p->piece[p->count - 1].number, &p->file);
  return status ? take_joined(p, status) : CB_OK;
}

static bool has_segment(const cb_record_pieces *p) {
  char *name = cb_segment_name(&p->folder, 1);
  const bool has = name && access(name, F_OK) == 0;
  free(name);
  return has;
}

bool cb_record_is_plain(const char *path) {
  hid_t file = H5I_INVALID_HID;
  struct stat info;
  if (stat(path, &info) < 0) return false;
  const cb_status status = open_file(path, &file);
  const bool plain = !status && !cb_virtual_is(file);
  close_file(&file, path);
  cb_hdf5_forget();
  return plain;
}

cb_status cb_pieces_open(const char *path, cb_record_pieces *out) {
  cb_segments folder;
  const cb_status status = cb_segments_name(path, &folder);
  return status ? status : cb_pieces_open_own(path, &folder, out);
}

cb_status cb_pieces_open_own(const char *path, cb_segments *folder, cb_record_pieces *out) {
  cb_record_pieces p = {.path = path, .folder = *folder, .file = H5I_INVALID_HID, .other = H5I_INVALID_HID};
  cb_status status = CB_OK;
  *folder = (cb_segments){.lock = -1};
  if (p.folder.lock >= 0) cb_segments_tidy(&p.folder);
  struct stat info;
  bool there;
  hid_t file = H5I_INVALID_HID;
  status = cb_find_file(p.folder.record, "open", &info, &there);
  if (!status && !there && !has_segment(&p)) status = cb_fail_file(path, "open", ENOENT);
  if (!status && there) status = open_file(path, &file);
  if (status == CB_ERROR_INPUT && has_segment(&p)) {
    snprintf(p.damage, sizeof p.damage, "%s", cb_error_text());
    cb_hdf5_forget();
    status = CB_OK;
  }
  if (!status && file >= 0 && !cb_virtual_is(file)) {
    status = take_plain(&p, file);
  } else if (!status) {
    close_file(&file, path);
    status = take_segments(&p);
  }
  if (status) {
    status = cb_hdf5_unread(path, status);
    cb_pieces_close(&p);
  } else {
    *out = p;
  }
  return status;
}

/* ---- Reading */

cb_status cb_pieces_file(cb_record_pieces *p, size_t i, hid_t *file) {
  if (i + 1 == p->count) {
    *file = p->file;
    return CB_OK;
  }
  if (p->other >= 0 && p->open == i) {
    *file = p->other;
    return CB_OK;
  }
  close_file(&p->other, p->path);
  const cb_status status = open_segment(p, p->piece[i].number, &p->other);
  p->open = i;
  *file = p->other;
  return status;
}

static bool is_virtual(hid_t dataset) {
  const hid_t create = H5Dget_create_plist(dataset);
  const bool is = create >= 0 && H5Pget_layout(create) == H5D_VIRTUAL;
  if (create >= 0) H5Pclose(create);
  return is;
}

static cb_status open_dataset(hid_t file, const char *path, const char *name, hid_t *out) {
  *out = H5Dopen2(file, name, H5P_DEFAULT);
  return *out >= 0 ? CB_OK : cb_hdf5_fail(path, "read %s", name);
}

/* A virtual dataset is not read, because its source file has not been checked. The dataset in segment 0 is opened
 * instead. */
cb_status cb_pieces_constant(cb_record_pieces *p, const char *name, hid_t *out) {
  cb_status status = open_dataset(p->file, p->path, name, out);
  if (status || !is_virtual(*out)) return status;
  H5Dclose(*out);
  *out = H5I_INVALID_HID;
  if (p->base <= 0 && (status = open_segment(p, 0, &p->base))) {
    p->base = 0;
    status = take_joined(p, status);
  }
  return status ? status : open_dataset(p->base > 0 ? p->base : p->file, p->path, name, out);
}

cb_status cb_pieces_checkpoint(cb_record_pieces *p, hid_t *file) {
  cb_record_position at = {0};
  cb_status status = CB_OK;
  for (size_t i = p->count; i-- > 0 && !status && !at.checkpoints;) {
    status = cb_pieces_file(p, i, file);
    if (!status) status = cb_checkpoint_position(*file, p->path, p->have, &at);
  }
  if (!status && !at.checkpoints) *file = p->file;
  return status;
}

/* Reads `count` rows of `width` values each from a dataset of a file, from row `first` on. Returns CB_ERROR_INPUT if
 * its rows have another number of values. */
static cb_status read_series(hid_t file, const char *path, const char *name, size_t width, hid_t memory_type,
                             uint64_t first, uint64_t count, void *out) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0) return cb_hdf5_fail(path, "open %s", name);
  hid_t space = H5Dget_space(dataset);
  hsize_t start[H5S_MAX_RANK] = {first}, size[H5S_MAX_RANK] = {0};
  int rank = H5Sget_simple_extent_dims(space, size, NULL);
  bool ok = size[0] >= first + count;
  uint64_t values = 1;
  for (int d = 1; d < rank; d++)
    if (!cb_times(&values, size[d])) values = SIZE_MAX;
  if (values != width) {
    H5Sclose(space);
    H5Dclose(dataset);
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s has %zu values per row, expected %zu", path, name,
                          (size_t)values, width);
  }
  size[0] = count;
  hid_t memory = H5Screate_simple(rank, size, NULL);
  ok = ok && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
       H5Dread(dataset, memory_type, memory, space, H5P_DEFAULT, out) >= 0;
  cb_status status = ok ? CB_OK
                        : cb_hdf5_fail(path, "read rows %llu to %llu of %s", (unsigned long long)first,
                                       (unsigned long long)(first + count), name);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(dataset);
  return status;
}

/* Returns the index of the piece that contains row, or event, `at`. */
static size_t find_piece(const cb_record_pieces *p, bool is_event, uint64_t at) {
  size_t low = 0, high = p->count;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if ((is_event ? p->piece[middle].first.events : p->piece[middle].first.rows) <= at)
      low = middle;
    else
      high = middle;
  }
  return low;
}

cb_status cb_pieces_read(cb_record_pieces *p, const char *name, bool is_event, size_t width, hid_t memory_type,
                         uint64_t first, uint64_t count, void *out) {
  const size_t row_bytes = width * H5Tget_size(memory_type);
  char *to = out;
  while (count) {
    const size_t i = find_piece(p, is_event, first);
    const uint64_t from = is_event ? p->piece[i].first.events : p->piece[i].first.rows,
                   end = from + (is_event ? p->piece[i].have.events : p->piece[i].have.rows);
    const uint64_t n = count < end - first ? count : end - first;
    hid_t file;
    cb_status status = cb_pieces_file(p, i, &file);
    if (status && !(status = take_joined(p, status))) continue;
    if (!status) status = read_series(file, p->path, name, width, memory_type, first - from, n, to);
    if (status) return status;
    to += n * row_bytes;
    first += n;
    count -= n;
  }
  return CB_OK;
}
