/* Digests of rows: what a row has to be, so that repair, readers and `verify` know one that a power cut took or that was
 * changed. Internal to src/io.
 *
 * /checkpoint/row_digest[T] and /checkpoint/event_digest[E], unsigned 64-bit, are series like those of the root. A
 * digest is of the number of the row and of the bytes of all its fields in the order of the file, as they are before
 * any compression. It is no signature: who changes a row on purpose can change its digest.
 *
 * Every word passes through a bijection of the 64-bit state (xor, odd multiple, shift-xor), so that a difference in one
 * word is never lost; the multiplier is 2^64 over the golden ratio.
 */
#ifndef CB_IO_RECORD_DIGEST_H
#define CB_IO_RECORD_DIGEST_H

#include <curvebody/record.h>
#include <hdf5.h>
#include <string.h>

extern const char *const cb_digest_names[2]; /* of rows, of events: paths from the root */

static inline uint64_t cb_digest_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

/* Of nothing yet but a number. */
static inline uint64_t cb_digest_begin(uint64_t number) {
  return cb_digest_word(UINT64_C(0x6375727665626f64), number); /* not 0 for zeros */
}

/* With so many bytes, and their number. */
static inline uint64_t cb_digest_bytes(uint64_t hash, const void *bytes, size_t count) {
  const unsigned char *from = bytes;
  uint64_t word;
  hash = cb_digest_word(hash, count);
  for (; count >= 8; count -= 8, from += 8) {
    memcpy(&word, from, 8);
    hash = cb_digest_word(hash, word);
  }
  if (!count) return hash;
  word = 0;
  memcpy(&word, from, count);
  return cb_digest_word(hash, word);
}

/* The digest of a text as an attribute of its dataset: texts lie in heaps, which have no checksum. */
bool cb_digest_put_text(hid_t dataset, const char *text);
/* False: it has one, of another text. */
bool cb_digest_is_of(hid_t dataset, const char *text);

/* Whether the file has digests: older records have none. */
bool cb_digest_there(hid_t file);

/* Compares rows and events from `from` up to *whole; *whole becomes what is before the first that is not as it was
 * written, or cannot be read. Nothing is compared where there are no digests. Fails for want of memory only, or if the
 * file has no series. */
cb_status cb_digest_check(hid_t file, const char *path, cb_record_position from, cb_record_position *whole);

#endif
