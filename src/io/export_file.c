/* A text file that gets its name when it is whole. */
#include "io/export_file.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cb_status cb_export_open(cb_export_file *file, const char *path) {
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
    return cb_fail(CB_ERROR_FILE, "%s: cannot write: not a regular file", path);
  size_t length = strlen(path) + 6;
  char *part = malloc(length);
  if (!part) return cb_fail(CB_ERROR_MEMORY, "no memory to write %s", path);
  snprintf(part, length, "%s.part", path);
  FILE *stream = fopen(part, "w");
  if (!stream) {
    free(part);
    return cb_fail(CB_ERROR_FILE, "%s: cannot write: %s", path, strerror(errno));
  }
  *file = (cb_export_file){path, part, stream};
  return CB_OK;
}

cb_status cb_export_close(cb_export_file *file, cb_status status) {
  /* A write that was refused before has left its reason in errno, and what is still held is refused for the same. */
  bool written = fflush(file->stream) == 0 && !ferror(file->stream);
  int reason = errno;
  if (fclose(file->stream) != 0 && written) {
    written = false;
    reason = errno;
  }
  if (written && !status && rename(file->part, file->path) < 0) {
    written = false;
    reason = errno;
  }
  if (!status && !written) status = cb_fail(CB_ERROR_FILE, "%s: cannot write: %s", file->path, strerror(reason));
  if (status) unlink(file->part);
  free(file->part);
  return status;
}

void cb_export_number(char text[32], double value) {
  if (isnan(value)) {
    strcpy(text, "nan");
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value);
    if (digits == 17 || strtod(text, NULL) == value) return;
  }
}
