/* HDF5 files in memory: HDF5's core driver without a file on the disk, so that a full disk cannot cause an error in
 * HDF5. Their images are written to the disk like any other output.
 *
 * The lower bound of the format is the earliest version, because H5Fget_file_image clears the writer's flags in the
 * superblock but does not correct the checksum of superblocks of versions 2 and 3. Object headers have checksums
 * nevertheless, because the order of attributes is tracked.
 */
#include "core/failure.h"
#include "core/file.h"
#include "core/text.h"
#include "record/output.h"
#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INCREMENT = 1 << 20, PART = 4 << 20 };

/* Small data do not get separate blocks of 2 KiB, because unused parts of such blocks would stay in the file. */
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

void cb_image_digest(const cb_image *image, char digest[CB_SHA256]) {
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
  cb_image_digest(d->image, d->digest);
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
  if (digest && !meanwhile) cb_image_digest(image, digest);
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
