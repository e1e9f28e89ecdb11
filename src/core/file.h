/* Opening and reading files, and what else a signal may stop, done until it is done. Internal. */
#pragma once

#include "core/errors.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* open, of a file that is not handed on to other programs. -1: errno. */
int cb_open(const char *path, int flags);

/* A file that is to be read, or changed where it lies: `flags` of open. Regular ones only: a pipe or a device without
 * end would be waited for for ever, and is not opened to the point of waiting. -1: *why says it, and so does errno where
 * it is the system's reason. */
int cb_open_regular(const char *path, int flags, const char **why);

/* What is of that name; *there: anything is. Fails where the system does not tell: "PATH: cannot VERB: ...". */
cb_status cb_find_file(const char *path, const char *verb, struct stat *info, bool *there);

/* A stream into a file, which is not sought in. NULL: errno. */
FILE *cb_open_stream(const char *path, int flags);

/* flock, which is not waited for: 0 or errno, EWOULDBLOCK where another has it. */
int cb_lock(int fd, int operation);

/* Reads `size` bytes at a place, however few come at a time. 0 or errno; *got is less where the file ends before. */
int cb_read_at(int fd, uint64_t at, size_t size, void *bytes, size_t *got);

/* fdatasync and close: 0 or errno. */
int cb_sync_data(int fd);
int cb_close(int fd);

/* cb_fail with "PATH: cannot VERB: " and the system's reason, an errno: CB_ERROR_FILE, or CB_ERROR_MEMORY. */
cb_status cb_fail_file(const char *path, const char *verb, int error);
