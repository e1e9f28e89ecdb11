/* The superblock of an HDF5 file whose writer was killed.
 *
 * Bytes of version 3 (The HDF Group, HDF5 File Format Specification 3.0, section II.A), all little endian:
 *   0 signature (8)   8 version = 3   9 size of offsets   10 size of lengths   11 consistency flags   12 base address
 *   20 superblock extension   28 end of file   36 root object header   44 checksum of bytes 0 to 43
 * Flags: bit 0 open for writing, bit 2 single-writer-multiple-reader writing. HDF5 refuses a file with a flag set.
 *
 * A writer killed in a flush has left an end of file that differs from the length of the file. If it is smaller,
 * blocks beyond it may be in use, and appending would overwrite them. If it is larger, the rest was claimed but not
 * yet written, and nothing refers to it: what refers to a block is written after it. So the end becomes the length.
 *
 * The checksum is lookup3 (Jenkins 2006, public domain, burtleburtle.net/bob/c/lookup3.c, hashlittle with seed 0).
 */
#include "core/failure.h"
#include "core/file.h"
#include "io/record_journal.h"
#include "io/record_superblock.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 8, OFFSETS = 9, LENGTHS = 10, FLAGS = 11, BASE = 12, END = 28, CHECKSUM = 44, SIZE = CB_SUPERBLOCK_BYTES };
enum { OPEN_FOR_WRITING = 1, OPEN_FOR_SWMR = 4 };

static uint32_t rotate(uint32_t x, int k) { return x << k | x >> (32 - k); }

static uint32_t word(const unsigned char *bytes) { return (uint32_t)cb_little_endian(bytes, 4); }

uint32_t cb_lookup3(const unsigned char *key, size_t length) {
  uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
  for (; length > 12; length -= 12, key += 12) {
    a += word(key), b += word(key + 4), c += word(key + 8);
    a -= c, a ^= rotate(c, 4), c += b;
    b -= a, b ^= rotate(a, 6), a += c;
    c -= b, c ^= rotate(b, 8), b += a;
    a -= c, a ^= rotate(c, 16), c += b;
    b -= a, b ^= rotate(a, 19), a += c;
    c -= b, c ^= rotate(b, 4), b += a;
  }
  unsigned char rest[12] = {0};
  memcpy(rest, key, length);
  a += word(rest), b += word(rest + 4), c += word(rest + 8);
  c ^= b, c -= rotate(b, 14);
  a ^= c, a -= rotate(c, 11);
  b ^= a, b -= rotate(a, 25);
  c ^= b, c -= rotate(b, 16);
  a ^= c, a -= rotate(c, 4);
  b ^= a, b -= rotate(a, 14);
  c ^= b, c -= rotate(b, 24);
  return c;
}

bool cb_superblock_flock(int fd, bool exclusive) {
  const struct timespec pause = {0, 10000000};
  for (int attempt = 0; attempt < 20; attempt++) {
    if (cb_lock(fd, exclusive ? LOCK_EX : LOCK_SH) != EWOULDBLOCK) return true;
    nanosleep(&pause, NULL);
  }
  errno = EWOULDBLOCK;
  return false;
}

/* A lock of the open file, not of the process, on a byte beyond what any file has: what flock turns from exclusive to
 * shared when readers may come is free for a moment in between. */
static const struct flock writer = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};

bool cb_superblock_lock_writer(int fd) {
  struct flock lock = writer;
  int set;
  do set = fcntl(fd, F_OFD_SETLK, &lock);
  while (set < 0 && errno == EINTR);
  return set == 0 || (errno != EAGAIN && errno != EACCES);
}

bool cb_superblock_has_writer(int fd) {
  struct flock lock = writer;
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

cb_status cb_superblock_in_use(const char *path) {
  return cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "%s: " CB_SUPERBLOCK_IN_USE, path);
}

cb_status cb_superblock_lock(const char *path, bool exclusive, int *fd) {
  const char *why;
  const int file = cb_open_regular(path, exclusive ? O_RDWR : O_RDONLY, &why);
  if (file < 0) return cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "%s: cannot open: %s", path, why);
  if (!cb_superblock_flock(file, exclusive) || (exclusive && !cb_superblock_lock_writer(file))) {
    close(file);
    return cb_superblock_in_use(path);
  }
  *fd = file;
  return CB_OK;
}

static cb_status read_bytes(const char *path, int fd, unsigned char bytes[SIZE]) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  size_t got;
  const int error = cb_read_at(fd, 0, SIZE, bytes, &got);
  if (error) return cb_fail_file(path, "read", error);
  if (got < SIZE || memcmp(bytes, signature, sizeof signature))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: not an HDF5 file", path);
  if (bytes[VERSION] != 3 || bytes[OFFSETS] != 8 || bytes[LENGTHS] != 8 || cb_little_endian(bytes + BASE, 8) != 0)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: an HDF5 file, but not a record of curvebody (superblock version %d)", path,
                          bytes[VERSION]);
  if (cb_lookup3(bytes, CHECKSUM) != cb_little_endian(bytes + CHECKSUM, 4))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: damaged (checksum of the superblock)", path);
  return CB_OK;
}

cb_status cb_superblock_read(const char *path, int fd, bool *left_open) {
  unsigned char bytes[SIZE];
  cb_status status = read_bytes(path, fd, bytes);
  if (status == CB_OK) *left_open = bytes[FLAGS] != 0;
  return status;
}

cb_status cb_superblock_mend(const char *path, int fd) {
  unsigned char bytes[SIZE];
  struct stat info;
  cb_status status = read_bytes(path, fd, bytes);
  if (status) return status;
  if (fstat(fd, &info) < 0) return cb_fail_file(path, "read", errno);
  cb_put_little_endian(bytes + END, 8, (uint64_t)info.st_size);
  bytes[FLAGS] &= (unsigned char)~(OPEN_FOR_WRITING | OPEN_FOR_SWMR);
  cb_put_little_endian(bytes + CHECKSUM, 4, cb_lookup3(bytes, CHECKSUM));
  const int error = cb_journal_write(fd, 0, SIZE, bytes);
  return error ? cb_fail_file(path, "write", error) : CB_OK;
}
