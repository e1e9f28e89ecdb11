/* Opening and reading files. Calls that a signal interrupts are repeated. Internal. */
#pragma once

#include "core/failure.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* Calls open with `flags` and O_CLOEXEC. Returns -1 and sets errno on failure. */
int cb_open(const char *path, int flags);

/* Opens a regular file with the `flags` of open. For any other file it fails without blocking, because reading a pipe
 * or a device may never end. Returns -1 on failure: *why is the reason as a text, and errno is set. */
int cb_open_regular(const char *path, int flags, const char **why);

/* Calls stat for a path. Sets *there to whether the path exists, and fills *info if it does. If stat fails for another
 * reason than a missing file, this function fails with "PATH: cannot VERB: ...". */
cb_status cb_find_file(const char *path, const char *verb, struct stat *info, bool *there);

/* Opens a file with `flags` and O_WRONLY, as a stream that cannot seek. Returns NULL and sets errno on failure. */
FILE *cb_open_stream(const char *path, int flags);

/* Reads `size` bytes at offset `at`. Returns 0 or errno; *got is smaller than size if the file ends earlier. */
int cb_read_at(int fd, uint64_t at, size_t size, void *bytes, size_t *got);

/* Closes the file. Returns 0 or the errno of close. */
int cb_close(int fd);

/* Writes the path of a file, given relative to the folder of the running program. Returns whether it can be read. */
bool cb_beside_program(const char *relative, char *out, size_t size);

/* Fails with "PATH: cannot VERB: " and the text of `error`, an errno. Returns CB_ERROR_FILE, or CB_ERROR_MEMORY for
 * ENOMEM. */
cb_status cb_fail_file(const char *path, const char *verb, int error);
