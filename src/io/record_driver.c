/* The file under HDF5: plain reads and writes, with what HDF5's own driver lacks.
 *
 * A refused write (full disk, quota, file size limit, input/output error) is the last that is tried. HDF5 does not
 * survive being refused (1.10 loops or crashes, at the latest at exit), so it does not come to know: that write and the
 * rest seem to succeed and go nowhere, which leaves the file as a killed writer would have left it. Whether all was
 * written is asked here.
 *
 * A refused read is remembered: what HDF5 then says of the file, or finds missing, is not because of the file. Of one that is
 * written nothing more is, as what HDF5 holds of it is not to be trusted. And closing fails never, as of a file that was not
 * closed HDF5 crashes at exit.
 *
 * Only regular files are opened, and only those of which HDF5 survives that (cb_header_fault_before).
 *
 * Metadata that is overwritten is whole after a kill: record_journal.c. Of raw data, what is overwritten has the same
 * bytes as before in all rows that the file has, or a checksum (record_slot.c).
 *
 * Metadata that is overwritten is kept aside for a loss of power: record_rescue.h.
 *
 * The lock of HDF5 stays when SWMR writing starts, as a shared one: readers may come, another writer or a repair may
 * not. The writer's lock is held from open to close.
 */
#include "io/record_driver.h"
#include "core/file.h"
#include "io/record_header.h"
#include "io/record_journal.h"
#include "io/record_superblock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AHEAD = 2048 };

typedef struct cb_driven {
  H5FD_t hdf5; /* first: HDF5's own part */
  int fd;
  bool writing, shut;
  int error; /* errno of the write that was refused; ECANCELED: the file was abandoned before */
  haddr_t eoa, eof; /* end of what HDF5 has claimed, end of the file */
  haddr_t limit;    /* on the size of a file: kept here, as overstepping it raises a signal */
  dev_t device;
  ino_t inode;
  cb_rescue *rescue; /* NULL: not synced */
  bool everything;   /* not metadata alone are kept in it */
  haddr_t last;      /* place of the last metadata read, and how often in a row */
  int again;
  uint64_t base;     /* what addresses count from */
  uint64_t ahead_at; /* what cb_driver_read read beyond what was asked for */
  size_t ahead;
  unsigned char ahead_bytes[AHEAD];
} file;

/* In SWMR mode HDF5 reads what has a wrong checksum a hundred times, and waits twice as long each time. To a writer, which
 * nobody writes beside, it stays wrong: these reads take a millisecond. */
enum { MOST_AGAIN = 12 };

/* Of the last file that was asked about, or closed, on this thread. */
static _Thread_local int refusal;
/* Of the first read that was refused on this thread since cb_driver_forget. */
static _Thread_local int unread;

/* cb_hdf5_fail finds this text. */
static void push(hid_t minor, const char *why) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, minor, "error message = '%s'", why);
}

static void refuse(file *f, int error) {
  f->shut = true;
  f->error = error;
}

static void refuse_read(file *f, int error) {
  if (!unread) unread = error;
  if (f->writing && !f->shut) refuse(f, error);
}

static herr_t driver_close(H5FD_t *self) {
  file *f = (file *)self;
  if (f->rescue && !f->shut) f->error = cb_sync_data(f->fd);
  const int unclosed = cb_close(f->fd);
  if (f->writing && !f->error) f->error = unclosed;
  refusal = f->error;
  free(f);
  return 0;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most) {
  (void)access, (void)most;
  struct stat info;
  struct rlimit limit;
  file *f = NULL;
  const char *why = NULL;
  const bool writing = flags & H5F_ACC_RDWR;
  const int mode = (flags & H5F_ACC_CREAT ? O_CREAT : 0) | (flags & H5F_ACC_EXCL ? O_EXCL : 0);
  const int fd = cb_open_regular(name, mode | (writing ? O_RDWR : O_RDONLY), &why);
  const bool taken = fd >= 0 && writing && !cb_superblock_lock_writer(fd);
  if (taken) why = CB_SUPERBLOCK_IN_USE;
  bool good = fd >= 0 && !taken && (!(flags & H5F_ACC_TRUNC) || !(errno = cb_set_length(fd, 0))) && fstat(fd, &info) == 0;
  if (!good || !(f = calloc(1, sizeof *f))) {
    if (!writing && !unread && errno != ENOENT && errno != EINVAL) unread = errno;
    push(H5E_CANTOPENFILE, why ? why : strerror(errno));
    if (fd >= 0) close(fd);
    return NULL;
  }
  f->fd = fd;
  f->writing = writing;
  f->eof = (haddr_t)info.st_size;
  f->limit = getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ? HADDR_MAX : limit.rlim_cur;
  f->device = info.st_dev;
  f->inode = info.st_ino;
  why = cb_header_fault_before(f, writing, &f->base);
  if (!why) return &f->hdf5;
  push(H5E_CANTOPENFILE, why);
  driver_close(&f->hdf5);
  return NULL;
}

static int driver_compare(const H5FD_t *self, const H5FD_t *other) {
  const file *a = (const file *)self, *b = (const file *)other;
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  return a->inode == b->inode ? 0 : a->inode < b->inode ? -1 : 1;
}

static herr_t driver_query(const H5FD_t *self, unsigned long *flags) {
  (void)self;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *self, H5FD_mem_t type) { return (void)type, ((const file *)self)->eoa; }
static haddr_t driver_get_eof(const H5FD_t *self, H5FD_mem_t type) { return (void)type, ((const file *)self)->eof; }
static herr_t driver_set_eoa(H5FD_t *self, H5FD_mem_t type, haddr_t eoa) {
  return (void)type, ((file *)self)->eoa = eoa, 0;
}

static herr_t driver_handle(H5FD_t *self, hid_t access, void **handle) {
  (void)access;
  *handle = self;
  return 0;
}

/* Beyond the end of the file there are zeros. */
static herr_t driver_read(H5FD_t *self, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *buffer) {
  (void)transfer;
  file *f = (file *)self;
  char *to = buffer;
  f->again = type != H5FD_MEM_DRAW && at == f->last ? f->again + 1 : 0;
  f->last = at;
  if (f->writing && f->again == MOST_AGAIN) return push(H5E_READERROR, strerror(EILSEQ)), -1;
  size_t got;
  const int error = cb_read_at(f->fd, at, size, to, &got);
  if (error) return refuse_read(f, error), push(H5E_READERROR, strerror(error)), -1;
  memset(to + got, 0, size - got);
  return 0;
}

static herr_t driver_write(H5FD_t *self, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *buffer) {
  (void)transfer;
  file *f = (file *)self;
  cb_driver_look_again(f);
  if (!f->shut && at + size > f->limit) refuse(f, EFBIG);
  if (!f->shut && f->rescue && (f->everything || type != H5FD_MEM_DRAW)) {
    const int error = cb_rescue_before(f->rescue, f->fd, at, size);
    if (error) refuse(f, error);
  }
  if (!f->shut) {
    const int error = type == H5FD_MEM_DRAW ? cb_journal_write(f->fd, at, size, buffer)
                                            : cb_journal_overwrite(f->fd, f->eof, f->limit, at, size, buffer);
    if (error) refuse(f, error);
  }
  if (at + size > f->eof) f->eof = at + size;
  return 0;
}

/* The file gets the length that HDF5 has claimed. */
static herr_t driver_truncate(H5FD_t *self, hid_t transfer, hbool_t closing) {
  (void)transfer, (void)closing;
  file *f = (file *)self;
  if (f->eoa == f->eof) return 0;
  if (!f->shut && f->eoa > f->limit) refuse(f, EFBIG);
  const int error = f->shut ? 0 : cb_set_length(f->fd, f->eoa);
  if (error) refuse(f, error);
  f->eof = f->eoa;
  return 0;
}

static herr_t driver_lock(H5FD_t *self, hbool_t writing) {
  if (cb_superblock_flock(((file *)self)->fd, writing)) return 0;
  return push(H5E_CANTLOCK, CB_SUPERBLOCK_IN_USE), -1;
}

/* HDF5 gives the lock back when SWMR writing starts; closing the file gives ours back. Readers of a live file give theirs
 * back at once. */
static herr_t driver_unlock(H5FD_t *self) {
  const file *f = (const file *)self;
  flock(f->fd, (f->writing ? LOCK_SH : LOCK_UN) | LOCK_NB);
  return 0;
}

static const H5FD_class_t driver = {
  .name = "curvebody",
  .maxaddr = ((haddr_t)1 << 63) - 1,
  .fc_degree = H5F_CLOSE_WEAK,
  .open = driver_open,
  .close = driver_close,
  .cmp = driver_compare,
  .query = driver_query,
  .get_eoa = driver_get_eoa,
  .set_eoa = driver_set_eoa,
  .get_eof = driver_get_eof,
  .get_handle = driver_handle,
  .read = driver_read,
  .write = driver_write,
  .truncate = driver_truncate,
  .lock = driver_lock,
  .unlock = driver_unlock,
  .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* Registered once: files of ours are known by it. */
static _Atomic hid_t registered = H5I_INVALID_HID;

static bool is_registered(hid_t id) { return id >= 0 && H5Iget_type(id) == H5I_VFL; }

bool cb_driver_use(hid_t access) {
  hid_t id = atomic_load(&registered);
  if (!is_registered(id)) {
    const hid_t made = H5FDregister(&driver);
    if (atomic_compare_exchange_strong(&registered, &id, made)) id = made;
    else H5FDunregister(made); /* another thread was first */
  }
  return id >= 0 && H5Pset_driver(access, id, NULL) >= 0;
}

/* Of a file that is open on our driver; NULL. HDF5 tells a file's driver by a copy of all its properties, which takes longer
 * than a read; the handles of other drivers lie in what is larger than an hid_t. */
cb_driven *cb_driver_of(hid_t id) {
  void *handle = NULL;
  if (H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) < 0 || !handle) return NULL;
  hid_t of;
  memcpy(&of, handle, sizeof of);
  return of == atomic_load(&registered) ? handle : NULL;
}

static bool read_here(cb_driven *f, uint64_t at, void *to, size_t size, size_t *got) {
  *got = 0;
  const int error = cb_read_at(f->fd, at, size, to, got);
  if (error && error != EOVERFLOW) refuse_read(f, error);
  return !error;
}

static bool is_ahead(const cb_driven *f, uint64_t at, size_t size) {
  return at >= f->ahead_at && at - f->ahead_at <= f->ahead && size <= f->ahead - (size_t)(at - f->ahead_at);
}

bool cb_driver_read(cb_driven *f, uint64_t at, void *to, size_t size) {
  size_t got;
  if (size > AHEAD) return read_here(f, at, to, size, &got) && got == size;
  if (!is_ahead(f, at, size)) {
    cb_driver_look_again(f);
    if (!read_here(f, at, f->ahead_bytes, AHEAD, &got)) return false;
    f->ahead_at = at, f->ahead = got;
  }
  if (!is_ahead(f, at, size)) return false;
  memcpy(to, f->ahead_bytes + (at - f->ahead_at), size);
  return true;
}

void cb_driver_look_again(cb_driven *f) { f->ahead = 0; }

uint64_t cb_driver_length(const cb_driven *f) { return f->eof; }
uint64_t cb_driver_base(const cb_driven *f) { return f->base; }
bool cb_driver_written(const cb_driven *f) { return cb_superblock_has_writer(f->fd); }

int cb_driver_unread(void) { return unread; }
void cb_driver_forget(void) { unread = 0; }

void cb_driver_guard(hid_t id, cb_rescue *rescue, bool everything) {
  file *f = cb_driver_of(id);
  if (!f) return;
  f->rescue = rescue;
  f->everything = everything;
}

void cb_driver_sync(hid_t id, cb_record_position at, const cb_stretch *keep, size_t n) {
  file *f = cb_driver_of(id);
  if (!f) return;
  const int error = f->shut || !f->rescue ? 0 : cb_rescue_sync(f->rescue, f->fd, at, keep, n);
  if (error) refuse(f, error);
}

bool cb_driver_refused(hid_t id) {
  const file *f = cb_driver_of(id);
  if (f) refusal = f->error;
  return !f || f->shut;
}

void cb_driver_shut(hid_t id) {
  file *f = cb_driver_of(id);
  if (f && !f->shut) refuse(f, ECANCELED);
}

int cb_driver_error(void) { return refusal; }
