/* Linux copies what is written into a file page by page, and stops between two pages if the process is killed
 * (mm/filemap.c, generic_perform_write). A block of HDF5's metadata that spans pages would be left half new, half old,
 * with a checksum that is neither's, and with it everything below the block would be lost.
 *
 * So the bytes of such a write go behind the end of the file first, and a trailer behind them; once they are in their
 * place too, both are cut off. A file that ends with a trailer is one whose last write may be half done, and is done
 * again, as often as it takes.
 *
 * Trailer, 32 bytes, all little endian:
 *   0 "cbwrite\n"   8 place   16 number of bytes   24 checksum of the bytes   28 checksum of bytes 0 to 27
 */
#include "io/record_journal.h"
#include "core/failure.h"
#include "core/file.h"
#include "io/record_superblock.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE = 8, COUNT = 16, SUM = 24, CHECKSUM = 28, TRAILER = 32, PAGE = 4096 /* the smallest of Linux */ };

static const char mark[8] = {'c', 'b', 'w', 'r', 'i', 't', 'e', '\n'};

int cb_journal_write(int fd, uint64_t at, size_t size, const void *bytes) {
  for (const char *from = bytes; size;) {
    const ssize_t put = pwrite(fd, from, size, (off_t)at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    from += put, at += (uint64_t)put, size -= (size_t)put;
  }
  return 0;
}

/* 0, or the errno of what went wrong. */
static int put_copy(int fd, uint64_t end, uint64_t at, size_t size, const void *bytes) {
  unsigned char trailer[TRAILER];
  memcpy(trailer, mark, sizeof mark);
  cb_put_little_endian(trailer + PLACE, 8, at);
  cb_put_little_endian(trailer + COUNT, 8, size);
  cb_put_little_endian(trailer + SUM, 4, cb_lookup3(bytes, size));
  cb_put_little_endian(trailer + CHECKSUM, 4, cb_lookup3(trailer, CHECKSUM));
  const int error = cb_journal_write(fd, end, size, bytes);
  return error ? error : cb_journal_write(fd, end + size, TRAILER, trailer);
}

int cb_journal_overwrite(int fd, uint64_t length, uint64_t limit, uint64_t at, size_t size, const void *bytes) {
  const bool whole = !size || at >= length || at / PAGE == (at + size - 1) / PAGE;
  const uint64_t end = at + size > length ? at + size : length;
  if (whole || end > limit || limit - end < size + TRAILER) return cb_journal_write(fd, at, size, bytes);
  const int lost = put_copy(fd, end, at, size, bytes);
  const int uncut = lost ? cb_set_length(fd, length) : 0;
  if (uncut) return uncut;
  if (lost && lost != ENOSPC && lost != EDQUOT && lost != EFBIG) return lost;
  const int error = cb_journal_write(fd, at, size, bytes); /* which needs no room */
  return error || lost ? error : cb_set_length(fd, end);
}

typedef struct pending {
  uint64_t at, end;
  size_t size;
  unsigned char *bytes; /* malloc'd; NULL: there is none */
} pending;

static cb_status find(const char *path, int fd, pending *out) {
  struct stat info;
  unsigned char trailer[TRAILER];
  size_t got;
  *out = (pending){0};
  if (fstat(fd, &info) < 0) return cb_fail_file(path, "read", errno);
  if (info.st_size < TRAILER) return CB_OK;
  const uint64_t last = (uint64_t)info.st_size - TRAILER;
  int error = cb_read_at(fd, last, TRAILER, trailer, &got);
  if (error) return cb_fail_file(path, "read", error);
  if (got < TRAILER || memcmp(trailer, mark, sizeof mark) ||
      cb_lookup3(trailer, CHECKSUM) != cb_little_endian(trailer + CHECKSUM, 4))
    return CB_OK;
  const uint64_t at = cb_little_endian(trailer + PLACE, 8), size = cb_little_endian(trailer + COUNT, 8);
  if (!size || size > last || size > INT_MAX || at > last - size || size > last - size - at) return CB_OK;
  pending p = {.at = at, .end = last - size, .size = (size_t)size, .bytes = malloc(size)};
  if (!p.bytes) return cb_fail(CB_ERROR_MEMORY, "no memory for the last write of a killed run");
  error = cb_read_at(fd, p.end, p.size, p.bytes, &got);
  if (!error && got == p.size && cb_lookup3(p.bytes, p.size) == cb_little_endian(trailer + SUM, 4))
    *out = p;
  else
    free(p.bytes);
  return error ? cb_fail_file(path, "read", error) : CB_OK;
}

cb_status cb_journal_pending(const char *path, int fd, bool *there) {
  pending p;
  const cb_status status = find(path, fd, &p);
  *there = p.bytes;
  free(p.bytes);
  return status;
}

cb_status cb_journal_replay(const char *path, int fd) {
  pending p;
  const cb_status status = find(path, fd, &p);
  if (!p.bytes) return status;
  int error = cb_journal_write(fd, p.at, p.size, p.bytes);
  free(p.bytes);
  if (!error) error = cb_set_length(fd, p.end);
  return error ? cb_fail_file(path, "write", error) : CB_OK;
}
