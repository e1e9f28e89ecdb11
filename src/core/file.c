/* Reading a whole file with a bound on its size. */
#define _POSIX_C_SOURCE 200809L
#include "core/failure.h"
#include "core/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static cb_status too_large(const char *path, const char *more_than, size_t size, size_t limit) {
  return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: a file of %s%zu bytes, expected at most %zu", path, more_than,
                        size, limit);
}

static cb_status cannot_read(const char *path, int error) {
  return cb_fail(CB_ERROR_FILE, "cannot read '%s': %s", path, strerror(error));
}

/* Reads to the end of file into memory that grows with what has come, never with what was promised. */
static cb_status read_stream(FILE *file, const char *path, size_t limit, char **data, size_t *n) {
  size_t room = (size_t)1 << 16, length = 0;
  char *bytes = malloc(room + 1);
  for (;;) {
    if (!bytes) return cb_fail(CB_ERROR_MEMORY, "no memory for '%s' (%zu bytes)", path, room);
    size_t got = fread(bytes + length, 1, room - length, file);
    length += got;
    if (length > limit) {
      free(bytes);
      return too_large(path, "more than ", limit, limit);
    }
    if (length < room) break;
    room *= 2;
    char *larger = realloc(bytes, room + 1);
    if (!larger) free(bytes);
    bytes = larger;
  }
  if (ferror(file)) {
    int error = errno;
    free(bytes);
    return cannot_read(path, error);
  }
  bytes[length] = '\0';
  *data = bytes;
  *n = length;
  return CB_OK;
}

cb_status cb_read_whole_file(const char *path, size_t limit, char **data, size_t *n) {
  FILE *file = fopen(path, "rbe");
  if (!file) return cannot_read(path, errno);

  struct stat info;
  cb_status status;
  if (fstat(fileno(file), &info) != 0) status = cannot_read(path, errno);
  else if (S_ISDIR(info.st_mode)) status = cannot_read(path, EISDIR);
  else if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > limit)
    status = too_large(path, "", (size_t)info.st_size, limit);
  else status = read_stream(file, path, limit, data, n);
  fclose(file);
  return status;
}
