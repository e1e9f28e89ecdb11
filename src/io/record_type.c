/* See record_type.h.
 *
 * HDF5 1.10 reads a type without looking where its message ends, takes ranks for no more than there is room for
 * (H5O__dtype_decode_helper), and moves bits and members by what the type says of their places (H5T__conv_*).
 *
 * The HDF Group, HDF5 File Format Specification 3.0, IV.A.2.d, all little endian:
 *   0 class in the low 4 bits, version above   1 flags (3)   4 bytes of a value (4)   8 by class:
 *   number (0), bits (4)  0 first bit (2)   2 bits (2)
 *   float (1)             the same   4 place and count of bits of the exponent, of the mantissa (1 each)   8 bias (4)
 *                         flags: 8 to 15 the place of the sign
 *   time (2)              0 bits (2)
 *   opaque (5)            as many letters as the low 8 flags say
 *   compound (6)          as many members as the low 16 flags say: name   offset (4; version 3: as many bytes as the size
 *                         of all needs)   version 1: rank (1), 11 others, extents (4 each, four)   its type
 *   enumeration (8)       a type of numbers, names as many as the low 16 flags say, then their values
 *   varying length (9)    a type
 *   array (10)            0 rank (1)   before version 3: 3 others   extents (4 each), before version 3 as many others
 *                         a type
 *   name                  letters and a 0, before version 3 up to a multiple of 8
 * A reference (7) and a text (3) have no more.
 */
#include "io/record_type.h"
#include "io/record_header.h"
#include "io/record_superblock.h"
#include <string.h>

enum { MOST_DEPTH = 16, MOST_RANK = 32, MOST_RANK_OF_MEMBER = 4, HEAD = 8, MEMBER = 32 };
enum { NUMBER, FLOAT, TIME, TEXT, BITS, OPAQUE, COMPOUND, REFERENCE, ENUMERATION, VARYING, ARRAY };

/* What is still to be read of a message. */
typedef struct rest {
  const unsigned char *at;
  size_t size;
} rest;

/* The next bytes; NULL: there are not so many. */
static const unsigned char *take(rest *r, uint64_t bytes) {
  const unsigned char *at = r->at;
  if (bytes > r->size) return NULL;
  r->at += bytes;
  r->size -= bytes;
  return at;
}

static bool take_name(rest *r, unsigned version) {
  const unsigned char *end = memchr(r->at, 0, r->size);
  const size_t bytes = end ? (size_t)(end - r->at) + 1 : r->size + 1;
  return take(r, version < 3 ? (bytes + 7) / 8 * 8 : bytes);
}

static bool take_type(rest *r, int depth, uint64_t *bytes);

/* Bits in a value of so many bytes. */
static bool lie_in(uint64_t first, uint64_t count, uint64_t bytes) { return count && first + count <= 8 * bytes; }

static bool take_bits(rest *r, uint64_t bytes) {
  const unsigned char *p = take(r, 4);
  return p && lie_in(cb_little_endian(p, 2), cb_little_endian(p + 2, 2), bytes);
}

static bool take_float(rest *r, uint64_t flags, uint64_t bytes) {
  const unsigned char *p = take_bits(r, bytes) ? take(r, 8) : NULL;
  return p && lie_in(p[0], p[1], bytes) && lie_in(p[2], p[3], bytes) && lie_in(flags >> 8 & 255, 1, bytes);
}

static bool take_extents(const unsigned char *p, size_t rank, uint64_t *bytes) {
  for (size_t d = 0; d < rank; d++)
    if (!cb_times(bytes, cb_little_endian(p + 4 * d, 4))) return false;
  return true;
}

static bool take_member(rest *r, int depth, unsigned version, uint64_t bytes) {
  const int width = version >= 3 ? cb_bytes_for(bytes) : 4;
  if (!take_name(r, version)) return false;
  const unsigned char *p = take(r, version == 1 ? MEMBER : (size_t)width);
  uint64_t inner;
  if (!p || !take_type(r, depth, &inner)) return false;
  if (version == 1 && (p[4] > MOST_RANK_OF_MEMBER || !take_extents(p + 16, p[4], &inner))) return false;
  const uint64_t offset = cb_little_endian(p, width);
  return offset <= bytes && inner <= bytes - offset;
}

static bool take_enumeration(rest *r, int depth, unsigned version, size_t count, uint64_t bytes) {
  uint64_t inner;
  if (!take_type(r, depth, &inner) || inner != bytes) return false;
  for (size_t i = 0; i < count; i++)
    if (!take_name(r, version)) return false;
  return cb_times(&inner, count) && take(r, inner);
}

static bool take_array(rest *r, int depth, unsigned version, uint64_t bytes) {
  const unsigned char *head = take(r, version < 3 ? 4 : 1);
  const size_t rank = head ? head[0] : 0;
  const unsigned char *extents = take(r, 4 * rank * (version < 3 ? 2 : 1));
  uint64_t all;
  return rank && rank <= MOST_RANK && extents && take_type(r, depth, &all) && take_extents(extents, rank, &all) &&
         all == bytes;
}

static bool take_type(rest *r, int depth, uint64_t *bytes) {
  const unsigned char *p = take(r, HEAD);
  if (!p || depth == MOST_DEPTH) return false;
  const unsigned kind = p[0] & 15, version = p[0] >> 4;
  const uint64_t flags = cb_little_endian(p + 1, 3);
  uint64_t inner;
  *bytes = cb_little_endian(p + 4, 4);
  if (!*bytes || version < 1 || version > 3) return false;
  switch (kind) {
    case NUMBER:
    case BITS: return take_bits(r, *bytes);
    case FLOAT: return take_float(r, flags, *bytes);
    case TIME: return take(r, 2);
    case TEXT: return true;
    case OPAQUE: return take(r, flags & 255);
    case REFERENCE: return *bytes == ((flags & 15) == 0 ? 8 : 12);
    case ENUMERATION: return take_enumeration(r, depth + 1, version, flags & 65535, *bytes);
    case VARYING: return take_type(r, depth + 1, &inner);
    case ARRAY: return take_array(r, depth + 1, version, *bytes);
    case COMPOUND: break;
    default: return false;
  }
  for (size_t i = 0, count = flags & 65535; i < count; i++)
    if (!take_member(r, depth + 1, version, *bytes)) return false;
  return flags & 65535;
}

const char *cb_type_fault(const unsigned char *message, size_t size) {
  rest r = {message, size};
  uint64_t bytes;
  return take_type(&r, 0, &bytes) ? NULL : "has a type that cannot be read";
}
