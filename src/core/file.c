/* Regular files: opening them, streams that write to them, reading at an offset, and reading a complete file with a
 * limit on its size. */
#include "core/file.h"
#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cb_open(const char *path, int flags) {
  int fd;
  do fd = open(path, flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  return fd;
}

int cb_open_regular(const char *path, int flags, const char **why) {
  struct stat info;
  int error = 0;
  *why = NULL;
  const int fd = cb_open(path, flags | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && errno == ENXIO) {
    *why = "not a regular file"; /* a socket, or a pipe without a reader */
    error = EINVAL;
  } else if (fd < 0 || fstat(fd, &info) < 0)
    error = errno;
  else if (S_ISDIR(info.st_mode))
    error = EISDIR;
  else if (!S_ISREG(info.st_mode)) {
    *why = "not a regular file";
    error = EINVAL;
  }
  if (!error) return fd;
  if (fd >= 0) close(fd);
  if (!*why) *why = strerror(error);
  errno = error;
  return -1;
}

cb_status cb_find_file(const char *path, const char *verb, struct stat *info, bool *there) {
  *there = stat(path, info) == 0;
  return *there || errno == ENOENT || errno == ENOTDIR ? CB_OK : cb_fail_file(path, verb, errno);
}

/* Repeats write until all bytes are written: fopencookie treats a short write as an error. */
static ssize_t put(void *cookie, const char *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = write((int)(intptr_t)cookie, bytes + done, size - done);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) done += (size_t)n;
  }
  return (ssize_t)done;
}

static int end(void *cookie) {
  errno = cb_close((int)(intptr_t)cookie);
  return errno ? EOF : 0;
}

FILE *cb_open_stream(const char *path, int flags) {
  static const cookie_io_functions_t functions = {.write = put, .close = end};
  const int fd = cb_open(path, flags | O_WRONLY);
  FILE *stream = fd < 0 ? NULL : fopencookie((void *)(intptr_t)fd, "w", functions);
  if (fd < 0 || stream) return stream;
  close(fd);
  errno = ENOMEM;
  return NULL;
}

int cb_read_at(int fd, uint64_t at, size_t size, void *bytes, size_t *got) {
  *got = 0;
  if (size > INT64_MAX || at > INT64_MAX - size) return EOVERFLOW;
  while (*got < size) {
    const ssize_t n = pread(fd, (char *)bytes + *got, size - *got, (off_t)(at + *got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return 0;
    *got += (size_t)n;
  }
  return 0;
}

/* EINTR counts as success: if a signal interrupts close, Linux has closed the file nevertheless. */
int cb_close(int fd) { return close(fd) == 0 || errno == EINTR ? 0 : errno; }

cb_status cb_fail_file(const char *path, const char *verb, int error) {
  return error == ENOMEM
             ? cb_fail(CB_ERROR_MEMORY, "%s: cannot %s: no memory", path, verb)
             : cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "%s: cannot %s: %s", path, verb, strerror(error));
}

static cb_status too_large(const char *path, const char *more_than, size_t size, size_t limit) {
  return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: a file of %s%zu bytes, expected at most %zu", path, more_than,
                        size, limit);
}

static cb_status cannot_read(const char *path, const char *why) {
  return cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "cannot read '%s': %s", path, why);
}

/* Reads into `bytes` until it has `capacity` bytes or the file ends. Returns 0 or errno. */
static int fill(int fd, char *bytes, size_t capacity, size_t *got) {
  for (*got = 0; *got < capacity;) {
    const ssize_t n = read(fd, bytes + *got, capacity - *got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    *got += (size_t)n;
  }
  return 0;
}

/* Reads a file to its end. The memory grows with the bytes that have arrived, not with the size that the system
 * reports. */
static cb_status read_all(int fd, const char *path, size_t limit, char **data, size_t *n) {
  size_t capacity = (size_t)1 << 16, length = 0, got;
  char *bytes = malloc(capacity + 1);
  for (;;) {
    if (!bytes) return cb_fail(CB_ERROR_MEMORY, "no memory for '%s' (%zu bytes)", path, capacity);
    const int error = fill(fd, bytes + length, capacity - length, &got);
    length += got;
    if (error || length > limit) {
      free(bytes);
      return error ? cannot_read(path, strerror(error)) : too_large(path, "more than ", limit, limit);
    }
    if (length < capacity) break;
    capacity *= 2;
    char *larger = realloc(bytes, capacity + 1);
    if (!larger) free(bytes);
    bytes = larger;
  }
  bytes[length] = '\0';
  *data = bytes;
  *n = length;
  return CB_OK;
}

size_t cb_text_mark(const char *text, size_t n) { return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; }

cb_status cb_read_whole_file(const char *path, size_t limit, char **data, size_t *n) {
  const char *why;
  const int fd = cb_open_regular(path, O_RDONLY, &why);
  if (fd < 0) return cannot_read(path, why);
  struct stat info;
  cb_status status;
  if (fstat(fd, &info) != 0)
    status = cannot_read(path, strerror(errno));
  else if ((uintmax_t)info.st_size > limit)
    status = too_large(path, "", (size_t)info.st_size, limit);
  else
    status = read_all(fd, path, limit, data, n);
  close(fd);
  return status;
}

cb_status cb_read_standard_input(size_t limit, char **data, size_t *n) {
  return read_all(STDIN_FILENO, "standard input", limit, data, n);
}

bool cb_beside_program(const char *relative, char *out, size_t size) {
  char program[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  if (n <= 0) return false;
  program[n] = 0;
  *strrchr(program, '/') = 0;
  const int length = snprintf(out, size, "%s/%s", program, relative);
  return length > 0 && (size_t)length < size && access(out, R_OK) == 0;
}
