/* The first 48 bytes of a record, read and mended without HDF5. Internal to src/io. */
#ifndef CB_IO_RECORD_SUPERBLOCK_H
#define CB_IO_RECORD_SUPERBLOCK_H

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t cb_little_endian(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

static inline void cb_put_little_endian(unsigned char *bytes, int count, uint64_t value) {
  for (int i = 0; i < count; i++) bytes[i] = (unsigned char)(value >> 8 * i);
}

/* The checksum of HDF5's metadata; at least one byte. */
uint32_t cb_lookup3(const unsigned char *key, size_t length);

/* Opens the file and takes its lock: exclusive (and open for writing) to change a file that no one has open, shared
 * to read it. The writer of a record holds a shared one, and the writer's. Fails with CB_ERROR_FILE; the caller closes
 * *fd, which gives it back. */
cb_status cb_superblock_lock(const char *path, bool exclusive, int *fd);

enum { CB_SUPERBLOCK_BYTES = 48 }; /* of a superblock of version 3 */

/* What is said where another has a lock, and the failure that says it. */
#define CB_SUPERBLOCK_IN_USE "in use: another program has it open, or a run is writing it"
cb_status cb_superblock_in_use(const char *path);

/* flock of a descriptor, tried for a fifth of a second if another has it: readers of a live file take it for a
 * moment. A file system without locks counts as locked, as in HDF5 itself. */
bool cb_superblock_flock(int fd, bool exclusive);

/* The lock that only one writer of a file has, from its first byte to its last: readers, and HDF5, know nothing of it.
 * False if another has it. Closing the descriptor gives it back. */
bool cb_superblock_lock_writer(int fd);

/* Whether another has it. */
bool cb_superblock_has_writer(int fd);

/* Whether the file has a superblock of HDF5 1.10 (version 3) with the right checksum, and whether its writer left
 * it open. Fails with CB_ERROR_FILE or CB_ERROR_INPUT. */
cb_status cb_superblock_read(const char *path, int fd, bool *left_open);

/* Takes the marks of a writer off the superblock and makes it agree with the length of the file. */
cb_status cb_superblock_mend(const char *path, int fd);

#endif
