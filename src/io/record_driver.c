/* The file under HDF5: plain reads and writes, with four things that HDF5's own driver lacks.
 *
 * A refused write (full disk, quota, file size limit, input/output error) is the last that is tried. HDF5 does not
 * survive being refused (1.10 loops or crashes, at the latest at exit), so it does not come to know: that write and the
 * rest seem to succeed and go nowhere, which leaves the file as a killed writer would have left it. Whether all was
 * written is asked here.
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
#include "io/record_journal.h"
#include "io/record_superblock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file {
  H5FD_t hdf5; /* first: HDF5's own part */
  int fd;
  bool shut;
  int error; /* errno of the write that was refused; ECANCELED: the file was abandoned before */
  haddr_t eoa, eof; /* end of what HDF5 has claimed, end of the file */
  haddr_t limit;    /* on the size of a file: kept here, as overstepping it raises a signal */
  dev_t device;
  ino_t inode;
  cb_rescue *rescue; /* NULL: not synced */
  bool everything;   /* not metadata alone are kept in it */
  haddr_t last;      /* place of the last metadata read, and how often in a row */
  int again;
} file;

/* In SWMR mode HDF5 reads what has a wrong checksum a hundred times, and waits twice as long each time: these reads make
 * half a second. */
enum { MOST_AGAIN = 28 };

/* Of the last file that was asked about, or closed, on this thread. */
static _Thread_local int refusal;

/* cb_hdf5_fail finds this text. */
static void push(hid_t minor) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, minor, "error message = '%s'",
           strerror(errno));
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most) {
  (void)access, (void)most;
  int mode = O_CLOEXEC | (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY);
  if (flags & H5F_ACC_CREAT) mode |= O_CREAT;
  if (flags & H5F_ACC_EXCL) mode |= O_EXCL;
  struct stat info;
  struct rlimit limit;
  file *f = NULL;
  int fd = open(name, mode, 0666);
  bool taken = fd >= 0 && flags & H5F_ACC_RDWR && !cb_superblock_lock_writer(fd);
  if (taken) errno = EWOULDBLOCK;
  bool good = fd >= 0 && !taken && (!(flags & H5F_ACC_TRUNC) || ftruncate(fd, 0) == 0) && fstat(fd, &info) == 0;
  if (!good || !(f = calloc(1, sizeof *f))) {
    push(H5E_CANTOPENFILE);
    if (fd >= 0) close(fd);
    return NULL;
  }
  f->fd = fd;
  f->eof = (haddr_t)info.st_size;
  f->limit = getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ? HADDR_MAX : limit.rlim_cur;
  f->device = info.st_dev;
  f->inode = info.st_ino;
  return &f->hdf5;
}

static herr_t driver_close(H5FD_t *self) {
  file *f = (file *)self;
  if (f->rescue && !f->shut && fdatasync(f->fd) < 0) f->error = errno;
  if (close(f->fd) < 0 && !f->error) f->error = errno;
  refusal = f->error;
  free(f);
  return 0;
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
  if (f->again == MOST_AGAIN) return errno = EILSEQ, push(H5E_READERROR), -1;
  while (size) {
    ssize_t got = pread(f->fd, to, size, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return push(H5E_READERROR), -1;
    if (got == 0) {
      memset(to, 0, size);
      return 0;
    }
    to += got, at += (haddr_t)got, size -= (size_t)got;
  }
  return 0;
}

static void refuse(file *f, int error) {
  f->shut = true;
  f->error = error;
}

static herr_t driver_write(H5FD_t *self, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *buffer) {
  (void)transfer;
  file *f = (file *)self;
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
  if (!f->shut && ftruncate(f->fd, (off_t)f->eoa) < 0) refuse(f, errno);
  f->eof = f->eoa;
  return 0;
}

static herr_t driver_lock(H5FD_t *self, hbool_t writing) {
  if (cb_superblock_flock(((file *)self)->fd, writing)) return 0;
  return push(H5E_CANTLOCK), -1;
}

/* HDF5 gives the lock back when SWMR writing starts; closing the file gives ours back. */
static herr_t driver_unlock(H5FD_t *self) {
  flock(((file *)self)->fd, LOCK_SH | LOCK_NB);
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

bool cb_driver_use(hid_t access) {
  hid_t id = H5FDregister(&driver);
  bool ok = id >= 0 && H5Pset_driver(access, id, NULL) >= 0;
  if (id >= 0) H5FDunregister(id); /* it lives as long as properties and files use it */
  return ok;
}

void cb_driver_guard(hid_t id, cb_rescue *rescue, bool everything) {
  void *handle;
  if (H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) < 0) return;
  ((file *)handle)->rescue = rescue;
  ((file *)handle)->everything = everything;
}

void cb_driver_sync(hid_t id, cb_record_position at, const cb_stretch *keep, size_t n) {
  void *handle;
  if (H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) < 0) return;
  file *f = handle;
  const int error = f->shut || !f->rescue ? 0 : cb_rescue_sync(f->rescue, f->fd, at, keep, n);
  if (error) refuse(f, error);
}

bool cb_driver_refused(hid_t id) {
  void *handle;
  if (H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) < 0) return true;
  refusal = ((const file *)handle)->error;
  return ((const file *)handle)->shut;
}

void cb_driver_shut(hid_t id) {
  void *handle;
  if (H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) < 0 || ((const file *)handle)->shut) return;
  refuse(handle, ECANCELED);
}

int cb_driver_error(void) { return refusal; }
