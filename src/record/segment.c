/* HDF5 files in memory, and the virtual file over the segments.
 *
 * Files in memory use HDF5's core driver without a file on the disk, so that a full disk cannot cause an error in HDF5.
 * Their images are written to the disk like any other output.
 *
 * The lower bound of the format is the earliest version, because H5Fget_file_image clears the writer's flags in the
 * superblock but does not correct the checksum of superblocks of versions 2 and 3. Object headers have checksums
 * nevertheless, because the order of attributes is tracked.
 *
 * OUT.h5 during a run: every array of rows is an HDF5 virtual dataset over the arrays of the segments. Segments are
 * named relative to OUT.h5, so that OUT.h5 can be moved together with its folder. Everything else is as in a segment,
 * but /checkpoint has no state.
 *
 * /checkpoint/segments lists the sources of the file: one line per segment with its name, rows, events and SHA-256.
 */
#include "record/internal.h"

#include "core/failure.h"
#include "core/file.h"
#include "core/text.h"
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- files in memory --- */

enum { INCREMENT = 1 << 20, PART = 4 << 20 };

/* The size of blocks for small data is set to 0. HDF5 would otherwise collect small data in blocks of 2 KiB, and unused
 * parts of these blocks would stay in the file. */
hid_t cb_record_access(void) {
  const hid_t access = cb_hdf5_file_access();
  if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110) >= 0 &&
      H5Pset_small_data_block_size(access, 0) >= 0)
    return access;
  if (access >= 0) H5Pclose(access);
  return H5I_INVALID_HID;
}

static hid_t creation_properties(void) {
  const hid_t create = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
  H5Pset_attr_phase_change(create, 200, 0); /* attributes stay in the object header */
  H5Pset_obj_track_times(create, false);
  return create;
}

/* ---- The memory of a file, which the next file reuses */

static void *take_memory(size_t size, H5FD_file_image_op_t op, void *udata) {
  cb_file_memory *m = udata;
  if (op != H5FD_FILE_IMAGE_OP_FILE_OPEN || m->taken) return malloc(size);
  if (size > m->size) {
    void *more = realloc(m->bytes, size);
    if (!more) return NULL;
    m->bytes = more;
    m->size = size;
  }
  m->taken = true;
  return m->bytes;
}

static void *grow_memory(void *bytes, size_t size, H5FD_file_image_op_t op, void *udata) {
  cb_file_memory *m = udata;
  (void)op;
  if (!m->taken || bytes != m->bytes) return realloc(bytes, size);
  if (size <= m->size) return bytes;
  void *more = realloc(bytes, size);
  if (more) {
    m->bytes = more;
    m->size = size;
  }
  return more;
}

static herr_t give_memory(void *bytes, H5FD_file_image_op_t op, void *udata) {
  cb_file_memory *m = udata;
  (void)op;
  if (m->taken && bytes == m->bytes)
    m->taken = false;
  else
    free(bytes);
  return 0;
}

static void *same_memory(void *udata) { return udata; }
static herr_t keep_memory(void *udata) {
  (void)udata;
  return 0;
}

static bool set_memory(hid_t access, cb_file_memory *m) {
  H5FD_file_image_callbacks_t calls = {.image_malloc = take_memory,
                                       .image_realloc = grow_memory,
                                       .image_free = give_memory,
                                       .udata_copy = same_memory,
                                       .udata_free = keep_memory,
                                       .udata = m};
  return !m || H5Pset_file_image_callbacks(access, &calls) >= 0;
}

/* HDF5 distinguishes files in memory by their names. */
static atomic_uint memories;

static hid_t memory(const cb_image *image, cb_file_memory *m) {
  char name[32];
  snprintf(name, sizeof name, "memory-%u", atomic_fetch_add(&memories, 1));
  const hid_t access = cb_record_access(), create = access < 0 ? access : creation_properties();
  hid_t file = H5I_INVALID_HID;
  if (access >= 0 && H5Pset_fapl_core(access, INCREMENT, false) >= 0 && set_memory(access, m)) {
    if (!image)
      file = H5Fcreate(name, H5F_ACC_TRUNC, create, access);
    else if (H5Pset_file_image(access, image->bytes, image->size) >= 0)
      file = H5Fopen(name, H5F_ACC_RDWR, access);
  }
  if (create >= 0) H5Pclose(create);
  if (access >= 0) H5Pclose(access);
  return file;
}

hid_t cb_memory_create(void) { return memory(NULL, NULL); }
hid_t cb_memory_open(const cb_image *image) { return memory(image, NULL); }
hid_t cb_memory_open_in(cb_file_memory *m, const cb_image *image) { return memory(image, m); }

cb_status cb_memory_image(hid_t file, const char *path, cb_image *out) {
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return cb_hdf5_fail(path, "write");
  const ssize_t size = H5Fget_file_image(file, NULL, 0);
  if (size <= 0) return cb_hdf5_fail(path, "write");
  unsigned char *bytes = malloc((size_t)size);
  if (!bytes) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for its image of %zu bytes", path, (size_t)size);
  if (H5Fget_file_image(file, bytes, (size_t)size) != size) {
    free(bytes);
    return cb_hdf5_fail(path, "write");
  }
  *out = (cb_image){bytes, (size_t)size};
  return CB_OK;
}

static void image_digest(const cb_image *image, char digest[CB_SHA256]) {
  struct sha256_ctx sha;
  uint8_t bytes[SHA256_DIGEST_SIZE];
  sha256_init(&sha);
  sha256_update(&sha, image->size, image->bytes);
  sha256_digest(&sha, sizeof bytes, bytes);
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(digest + 2 * i, 3, "%02x", bytes[i]);
}

typedef struct digesting {
  const cb_image *image;
  char *digest;
} digesting;

static void *digest_image(void *job) {
  const digesting *d = job;
  image_digest(d->image, d->digest);
  return NULL;
}

/* Writes the image to the file at `path`. Returns 0 or errno. Syncing starts while later parts are written, and another
 * thread computes the digest of a large image at the same time. */
static int put(const char *path, const cb_image *image, bool synced, char digest[CB_SHA256]) {
  digesting job = {image, digest};
  pthread_t thread;
  const int fd = cb_open(path, O_WRONLY | O_TRUNC);
  if (fd < 0) return errno;
  const bool meanwhile = digest && image->size > PART && !pthread_create(&thread, NULL, digest_image, &job);
  int error = 0;
  for (size_t done = 0, n; done < image->size && !error; done += n) {
    n = image->size - done < PART ? image->size - done : PART;
    for (size_t at = 0; at < n && !error;) {
      const ssize_t put = write(fd, image->bytes + done + at, n - at);
      if (put < 0 && errno != EINTR) error = errno;
      if (put > 0) at += (size_t)put;
    }
    if (synced) sync_file_range(fd, (off_t)done, (off_t)n, SYNC_FILE_RANGE_WRITE); /* fsync reports failures */
  }
  const int closed = cb_close(fd);
  if (meanwhile) pthread_join(thread, NULL);
  if (digest && !meanwhile) image_digest(image, digest);
  return error ? error : closed;
}

cb_status cb_image_save(const cb_image *image, const char *path, bool synced, char digest[CB_SHA256]) {
  cb_output o;
  cb_status status = cb_output_begin_own(path, true, &o);
  if (status) return status;
  o.unsynced = !synced;
  const int error = put(o.part, image, synced, digest);
  if (error) status = cb_fail_file(path, "write", error);
  return cb_output_end(&o, true, status);
}

/* HDF5's core driver stores a file in one block of memory, and its handle points to the address of that block. */
cb_status cb_memory_save(hid_t file, const char *path, const char *name, bool synced, char digest[CB_SHA256],
                         uint64_t *bytes) {
  void *handle = NULL;
  const bool flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  const ssize_t size = flushed ? H5Fget_file_image(file, NULL, 0) : -1;
  if (size <= 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || !handle) return cb_hdf5_fail(path, "write");
  const cb_image image = {*(unsigned char **)handle, (size_t)size};
  if (bytes) *bytes = image.size;
  return cb_image_save(&image, name, synced, digest);
}

cb_status cb_image_read(const char *path, cb_image *out) {
  char *data;
  size_t size;
  const cb_status status = cb_read_whole_file(path, (size_t)1 << 32, &data, &size);
  if (!status) *out = (cb_image){(unsigned char *)data, size};
  return status;
}

/* --- the virtual file --- */

static const char list[] = "segments";
enum { LINE = 160 };

bool cb_virtual_is(hid_t file) {
  return H5Lexists(file, "checkpoint", H5P_DEFAULT) > 0 && H5Lexists(file, "checkpoint/segments", H5P_DEFAULT) > 0;
}

/* Makes the name by which the virtual file refers to a segment: FOLDER/NUMBER.h5. */
static void source_name(const cb_record_pieces *over, uint64_t number, char *out, size_t size) {
  const char *slash = strrchr(over->folder.path, '/');
  snprintf(out, size, "%s/%06llu.h5", slash ? slash + 1 : over->folder.path, (unsigned long long)number);
}

static bool map_piece(hid_t create, hid_t whole, const cb_record_pieces *over, const cb_piece *piece, const char *name,
                      bool is_event, int rank, const hsize_t *dims) {
  const uint64_t rows = is_event ? piece->have.events : piece->have.rows;
  hsize_t start[4] = {is_event ? piece->first.events : piece->first.rows}, size[4] = {rows},
          maximum[4] = {H5S_UNLIMITED};
  const hsize_t begin[4] = {0};
  char file[4200];
  if (!rows) return true;
  for (int d = 1; d < rank; d++) size[d] = maximum[d] = dims[d];
  source_name(over, piece->number, file, sizeof file);
  const hid_t source = H5Screate_simple(rank, size, maximum);
  /* Exactly these rows are selected: the segment may have more rows that do not count or were written later. */
  const bool ok = source >= 0 && H5Sselect_hyperslab(source, H5S_SELECT_SET, begin, NULL, size, NULL) >= 0 &&
                  H5Sselect_hyperslab(whole, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                  cb_hdf5_set_virtual(create, whole, file, name, source);
  if (source >= 0) H5Sclose(source);
  return ok;
}

hid_t cb_virtual_properties(const cb_record_pieces *over, const char *name, bool is_event, hid_t type, int rank,
                            hsize_t *dims) {
  static const double nothing = NAN;
  hsize_t maximum[4] = {H5S_UNLIMITED};
  dims[0] = is_event ? over->have.events : over->have.rows;
  for (int d = 1; d < rank; d++) maximum[d] = dims[d];
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE), whole = H5Screate_simple(rank, dims, maximum);
  bool ok = create >= 0 && whole >= 0;
  if (ok && H5Tget_class(type) == H5T_FLOAT) ok = H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &nothing) >= 0;
  for (size_t i = 0; ok && i < over->count; i++)
    ok = map_piece(create, whole, over, &over->piece[i], name, is_event, rank, dims);
  if (whole >= 0) H5Sclose(whole);
  if (ok) return create;
  if (create >= 0) H5Pclose(create);
  return H5I_INVALID_HID;
}

/* Writes the list of segments: one text of fixed length per segment, or a single empty text if there is no segment. */
static bool put_list(hid_t file, const cb_record_pieces *over) {
  const hsize_t dims[1] = {over->count ? over->count : 1};
  char *lines = calloc(dims[0], LINE);
  const hid_t group = H5Gopen2(file, "checkpoint", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, LINE);
  for (size_t i = 0; lines && i < over->count; i++)
    snprintf(lines + i * LINE, LINE, "%06llu.h5 %llu %llu %s", (unsigned long long)over->piece[i].number,
             (unsigned long long)over->piece[i].have.rows, (unsigned long long)over->piece[i].have.events,
             over->piece[i].digest);
  const hid_t dataset = lines ? cb_hdf5_put_dataset(group, list, type, 1, dims, type, lines) : H5I_INVALID_HID;
  H5Tclose(type);
  if (group >= 0) H5Gclose(group);
  free(lines);
  return dataset >= 0 && H5Dclose(dataset) >= 0;
}

static cb_status build(hid_t file, const cb_record_pieces *over, const cb_virtual *v) {
  static const cb_filing few = {0, CB_CHUNK_ROWS}; /* used for arrays that have no rows yet */
  const int completed = v->completed;
  char base[4200];
  source_name(over, 0, base, sizeof base);
  const cb_status status = cb_layout_build(file, over->path, v->layout, &few, over, base);
  if (status) return status;
  if (v->warnings) v->warnings->written = 0;
  const bool ok = put_list(file, over) && (!v->warnings || cb_warnings_write(file, v->warnings, v->warnings_length)) &&
                  cb_hdf5_set_integers(file, ".", "completed", H5T_NATIVE_INT, 1, &completed);
  return ok ? CB_OK : cb_hdf5_fail(over->path, "write");
}

cb_status cb_virtual_write(const cb_record_pieces *over, const cb_virtual *v) {
  const hid_t file = cb_memory_create();
  if (file < 0) return cb_hdf5_fail(over->path, "create");
  cb_status status = build(file, over, v);
  if (!status) status = cb_memory_save(file, over->path, over->folder.record, v->synced, NULL, NULL);
  H5Fclose(file);
  return status;
}

/* ---- Comparing the segments with the list */

static char *read_list(hid_t file, size_t *count) {
  const hid_t dataset = H5Dopen2(file, "checkpoint/segments", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1),
              space = dataset < 0 ? dataset : H5Dget_space(dataset);
  const hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  char *lines = NULL;
  H5Tset_size(type, LINE);
  const hid_t stored = dataset < 0 ? dataset : H5Dget_type(dataset);
  if (n > 0 && n < 1 << 24 && H5Tequal(stored, type) > 0 && (lines = calloc((size_t)n, LINE)) &&
      H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, lines) < 0) {
    free(lines);
    lines = NULL;
  }
  *count = lines ? (size_t)n : 0;
  if (stored >= 0) H5Tclose(stored);
  if (space >= 0) H5Sclose(space);
  if (dataset >= 0) H5Dclose(dataset);
  H5Tclose(type);
  return lines;
}

static cb_status check_segment(const cb_record_pieces *pieces, const char *line, bool last, cb_verify_listener listener,
                               void *user) {
  unsigned long long number, rows, events;
  char expected[CB_SHA256 + 1] = "", found[CB_SHA256], text[200];
  if (sscanf(line, "%llu.h5 %llu %llu %65s", &number, &rows, &events, expected) != 4) return CB_OK;
  char *name = cb_segment_name(&pieces->folder, number);
  cb_image image = {0};
  cb_status status = name ? cb_image_read(name, &image) : cb_fail(CB_ERROR_MEMORY, "%s: no memory", pieces->path);
  free(name);
  if (status) return status;
  image_digest(&image, found);
  free(image.bytes);
  snprintf(text, sizeof text, "segment %06llu.h5 has changed since it was written: its SHA-256 is different", number);
  /* The last segment may already be newer than the virtual file. */
  if (strcmp(found, expected) && !last) listener(user, text);
  return CB_OK;
}

cb_status cb_virtual_check(const cb_record_pieces *pieces, cb_verify_listener listener, void *user) {
  size_t count = 0;
  const hid_t file = cb_hdf5_open(pieces->folder.record, H5F_ACC_RDONLY);
  if (file < 0) { /* the virtual file has not been made yet */
    cb_hdf5_forget();
    return CB_OK;
  }
  char *lines = cb_virtual_is(file) ? read_list(file, &count) : NULL;
  cb_hdf5_close_read(file, pieces->path);
  cb_status status = CB_OK;
  for (size_t i = 0; i < count && !status; i++) {
    lines[(i + 1) * LINE - 1] = 0;
    if (lines[i * LINE]) status = check_segment(pieces, lines + i * LINE, i + 1 == count, listener, user);
  }
  free(lines);
  return status;
}
