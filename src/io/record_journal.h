/* A write that a kill can stop half-way, kept until it is done. Internal to src/io. */
#ifndef CB_IO_RECORD_JOURNAL_H
#define CB_IO_RECORD_JOURNAL_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of the bytes at that place, in as many pieces as the system takes; 0 or errno. */
int cb_journal_write(int fd, uint64_t at, size_t size, const void *bytes);

/* The same over metadata of a file of `length` bytes: whole, or done again by cb_journal_replay, if the process is
 * killed. Without room for the copy (`limit`: most bytes of a file), nothing but the write itself. */
int cb_journal_overwrite(int fd, uint64_t length, uint64_t limit, uint64_t at, size_t size, const void *bytes);

/* Whether the last write of the file is to be done again. */
cb_status cb_journal_pending(const char *path, int fd, bool *pending);

/* Does it again if so. */
cb_status cb_journal_replay(const char *path, int fd);

#endif
