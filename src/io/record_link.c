/* See record_link.h.
 *
 * HDF5 1.10 does not look where a message ends, and frees what it has not yet read of a group in which one is wrong
 * (H5O__link_decode, H5G__link_release_table).
 *
 * The HDF Group, HDF5 File Format Specification 3.0, IV.A.2.g, all little endian:
 *   0 version 1   1 flags   kind if flags & 8 (1)   order if & 4 (8)   letters if & 16 (1)
 *   length of the name (1 << (flags & 3)), it, then an address (8), or length (2) and value
 */
#include "io/record_link.h"
#include "io/record_superblock.h"

const char *cb_link_fault(const unsigned char *m, size_t size) {
  const unsigned flags = size < 2 ? 0 : m[1];
  size_t at = 2;
  const unsigned kind = flags & 8 && at < size ? m[at] : 0;
  at += (flags & 8 ? 1 : 0) + (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
  const size_t width = (size_t)1 << (flags & 3);
  uint64_t rest = at + width <= size ? size - at - width : 0;
  const uint64_t name = rest ? cb_little_endian(m + at, (int)width) : 0;
  const bool named = name && name < rest && (!(flags & 16) || m[at - 1] <= 1);
  rest -= named ? name : 0;
  const unsigned char *value = m + size - rest;
  const bool wrong = size < 2 || m[0] != 1 || flags > 31 || !named || rest < 2 || (kind > 1 && kind < 64) ||
                     (kind == 0 && rest < 8) || (kind && cb_little_endian(value, 2) > rest - 2) ||
                     (kind == 1 && !cb_little_endian(value, 2));
  return wrong ? "has a link that cannot be read" : NULL;
}
