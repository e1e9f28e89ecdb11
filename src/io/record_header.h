/* Object headers of an HDF5 file, read beside HDF5. Internal to src/io.
 *
 * For two things that HDF5 1.10 does not do: the bytes of values of varying length (record_heap.c), and a look at what
 * it believes before it does (record_structure.c). All numbers are little endian.
 *
 * The HDF Group, HDF5 File Format Specification 3.0, II.A, IV.A.1 and IV.A.2:
 *   superblock            at 0, 512, 1024, ...: 0 "\x89HDF\r\n\x1a\n"   8 version   bytes of addresses and of lengths at 13,
 *                         14 (versions 0, 1), 9, 10 (2, 3)   root's header at 64 (version 0), 68 (1), 36 (2, 3)   its own
 *                         at 20 (2, 3)
 *   header, version 2     0 "OHDR", version (5)   5 flags   .. size of the first block, which follows
 *   header, version 1     0 version   8 size of the first block (4)   16 the block
 *   continuation (16)     0 address (8)   8 size (8); of version 2: with "OCHK" before the messages, a checksum after
 */
#ifndef CB_IO_RECORD_HEADER_H
#define CB_IO_RECORD_HEADER_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

/* Products of sizes that a file tells: *product times factor; false where that is more than there are numbers for. */
static inline bool cb_times(uint64_t *product, uint64_t factor) {
  return !__builtin_mul_overflow(*product, factor, product);
}

/* How many bytes HDF5 keeps a number in that is no more than `most`. */
static inline int cb_bytes_for(uint64_t most) {
  int count = 1;
  while (count < 8 && most >> 8 * count) count++;
  return count;
}

/* What several parts may have. */
extern const char cb_fault_beyond[], cb_fault_loop[], cb_fault_index[], cb_fault_heap[],
    cb_fault_chunk[];

/* The bytes of a file; addresses count from base. */
typedef struct cb_source {
  struct cb_driven *file; /* NULL: not on our driver */
  uint64_t base;
  struct cb_taken *taken; /* is told of all parts that are looked at, if not NULL */
} cb_source;

/* Of the file of an object, or of an open file; until that is closed. */
cb_source cb_source_of(hid_t object);
bool cb_source_read(cb_source s, uint64_t at, void *to, size_t size);
/* A part of a file of so many bytes, malloc'd. NULL, with what is wrong if anything: what cannot be read counts as sound,
 * and is told when HDF5 reads it. */
unsigned char *cb_source_part(cb_source s, uint64_t bytes, uint64_t at, uint64_t size, const char **fault);
/* Where the header of its root is. */
bool cb_source_root(cb_source s, uint64_t *header);

/* Calls visit for each message of that header, with its flags, its first block as a continuation too, until it returns
 * true; false: it never did, or there is no header. */
typedef bool (*cb_message_visit)(void *context, unsigned type, unsigned flags, const unsigned char *message,
                                 size_t size);
bool cb_header_each(cb_source s, uint64_t header, cb_message_visit visit, void *context);

/* What is wrong with a continuation in a file of so many bytes, NULL: nothing. *blocks counts those of one header: not all
 * are visited of one that has a fault. */
const char *cb_header_block_fault(const unsigned char *message, size_t size, uint64_t bytes, int *blocks);

/* What is wrong with what HDF5 reads of a file while it opens it, before anything else can be looked at; NULL: nothing, or
 * what it refuses itself. Of an address without a value it would read from where it has no memory. What leads to free space
 * is read of a file that is written. */
const char *cb_header_fault_before(struct cb_driven *file, bool writing, uint64_t *base);

#endif
