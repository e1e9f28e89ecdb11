/* See record_attribute.h.
 *
 * HDF5 1.10 reads a name up to its end, wherever that is, and as many bytes of values as extents and type say
 * (H5O__attr_decode).
 *
 * The HDF Group, HDF5 File Format Specification 3.0, IV.A.2.m, all little endian:
 *   0 version   1 flags: 1 type, 2 space elsewhere   2 bytes of name (2), of type (2), of space (2)   version 3: letters (1)
 *   name, type, space (version 1: each up to a multiple of 8 bytes), values
 *   type      4 bytes of a value (4)
 *   space     0 version   1 rank   version 2: 3 kind (0: one value, 1: extents, 2: none)   version 1: 8, 2: 4 extents (8 each)
 */
#include "io/record_attribute.h"
#include "io/record_header.h"
#include "io/record_superblock.h"
#include "io/record_type.h"

enum { NAME = 2, TYPE = 4, SPACE = 6, HEAD = 8, ELSEWHERE = 3, NONE = 2 };

/* Bytes of all values; UINT64_MAX: more than there are numbers for, or no extents. */
static uint64_t bytes_of_values(const unsigned char *type, const unsigned char *space, size_t in_space) {
  const size_t at = space[0] == 1 ? 8 : 4, rank = space[1];
  uint64_t bytes = cb_little_endian(type + 4, 4);
  if (space[0] == 2 && space[3] == NONE) return 0;
  if (at + 8 * rank > in_space) return UINT64_MAX;
  for (size_t d = 0; d < rank; d++)
    if (!cb_times(&bytes, cb_little_endian(space + at + 8 * d, 8))) return UINT64_MAX;
  return bytes;
}

const char *cb_attribute_fault(const unsigned char *m, size_t size) {
  static const char fault[] = "has an attribute that cannot be read";
  const size_t head = size && m[0] == 3 ? HEAD + 1 : HEAD, up_to = size && m[0] == 1 ? 8 : 1;
  if (size < head || m[0] < 1 || m[0] > 3) return fault;
  if (m[0] > 1 && m[1] & ELSEWHERE) return "shares parts of its header in a way that records do not";
  const size_t in_name = cb_little_endian(m + NAME, 2), in_type = cb_little_endian(m + TYPE, 2),
               in_space = cb_little_endian(m + SPACE, 2);
  const size_t type = head + (in_name + up_to - 1) / up_to * up_to,
               space = type + (in_type + up_to - 1) / up_to * up_to,
               values = space + (in_space + up_to - 1) / up_to * up_to;
  if (!in_name || in_type < 8 || in_space < 4 || values > size || m[head + in_name - 1]) return fault;
  const char *of_type = cb_type_fault(m + type, in_type);
  if (of_type) return of_type;
  return bytes_of_values(m + type, m + space, in_space) > size - values ? fault : NULL;
}
