/* See record_structure.h.
 *
 * HDF5 checks its parts by checksums and by little else: a part that has the right checksum, and a number in it that is
 * not such as HDF5 writes, takes it out of its memory (H5HF_dtable_lookup, H5F__accum_read, H5G__link_release_table),
 * or keeps it busy for as many turns as that number (H5EA_iterate, under H5Dget_num_chunks and others).
 *
 * Or it copies as many numbers as the extents of a dataset say from a layout that has fewer (H5VM_memcpyvv).
 *
 * The HDF Group, HDF5 File Format Specification 3.0, all little endian:
 *   link info (2)         1 flags   2 most created (8) if flags & 1   heap, tree by name, if flags & 2 another (8 each)
 *   attribute info (21)   1 flags   2 most created (2) if flags & 1   the same   record_btree.c
 *   link (6)              record_link.c   attribute (12)   record_attribute.c
 *   layout (8), version 4 1 class   chunks: 2 flags   3 rank   4 width   5 sizes (width each)   kind of index,
 *                         parameters by kind, address (8); contiguous: 2 address (8)   10 bytes (8); compact: 2 bytes (2)
 *   version 3             chunks: 2 rank   3 tree (8)   11 sizes (4 each)
 *   versions 1, 2         1 rank   2 class   8 address (8), but for compact   sizes (4 each)   compact: bytes (4)
 *   filters (11)          0 version   1 how many   2 (version 1: 8) each: number (2)   length of its name (2; version 2:
 *                         if number >= 256)   flags (2)   values (2)   name   values (4 each)
 *   names (17)            0 tree (8)   8 heap (8)   record_trees.c
 *   fixed array (VI.A)    0 "FAHD", 0   6 bytes of an element   7 bits of a page   8 elements (8)   16 root (8)
 *   type (3)              4 bytes of a number (4)   record_type.c
 *   space (1)             0 version   1 rank   2 flags   4 (version 1: 8) extents, if flags & 1 most (8 each)
 *   fill value (5)        version 3: 1 flags   if flags & 32 length (4) and value; version 2: 3 whether, then the same
 *   array (VI.B)          record_array.c
 *   external files (7)    that there are any
 */
#include "io/record_array.h"
#include "io/record_attribute.h"
#include "io/record_btree.h"
#include "io/record_driver.h"
#include "io/record_hdf5.h"
#include "io/record_link.h"
#include "io/record_structure.h"
#include "io/record_superblock.h"
#include "io/record_taken.h"
#include "io/record_trees.h"
#include "io/record_type.h"
#include <string.h>

enum {
  SPACE = 1,
  LINK_INFO = 2,
  TYPE = 3,
  OLD_FILL = 4,
  FILL = 5,
  LINK = 6,
  EXTERNAL = 7,
  LAYOUT = 8,
  FILTERS = 11,
  ATTRIBUTE = 12,
  CONTINUATION = 16,
  NAMES = 17,
  ATTRIBUTE_INFO = 21,
  FIXED_ARRAY = 28,
  LARGEST_ELEMENT = 24
};

typedef struct look {
  cb_source file;
  uint64_t bytes; /* of it */
  const char *fault;
  int blocks;            /* of its header */
  unsigned met;          /* messages that there is one of */
  cb_structure is;
  uint64_t type, stored; /* bytes of a number, of all that do not lie in chunks */
  bool in_one;           /* they do not, nor elsewhere */
  uint64_t from;         /* where they are, by a layout that does not tell how many; none: UINT64_MAX */
  bool fixed;            /* an array of so many elements says where its chunks are */
  uint64_t elements;
  bool shared; /* it is a type that others share */
} look;

static const char too_short[] = "has a message that is too short";

static uint64_t number(const unsigned char *bytes, int count) { return cb_little_endian(bytes, count); }

static bool is_none(uint64_t address) { return address == UINT64_MAX; }

static bool within(const look *l, uint64_t at, uint64_t size) { return at <= l->bytes && size <= l->bytes - at; }

/* A part of that name, or nothing to look at: HDF5 refuses another itself. */
static bool read_part(look *l, uint64_t at, const char *name, unsigned char *part, size_t size) {
  if (is_none(at)) return false;
  if (!within(l, at, size)) return l->fault = cb_fault_beyond, false;
  cb_taken_add(l->file.taken, at, size, false);
  return cb_source_read(l->file, at, part, size) && !memcmp(part, name, 4) && part[4] == 0;
}

static void check_root(look *l, uint64_t at) {
  if (!is_none(at) && !within(l, at, 16)) l->fault = cb_fault_beyond;
}

static void look_at_tree(look *l, uint64_t at, cb_btree_kind kind, cb_heap *heap) {
  if (!l->fault && !is_none(at)) l->fault = cb_btree_fault(l->file, l->bytes, at, kind, heap);
}

static void look_at_fixed_array(look *l, uint64_t at) {
  unsigned char p[FIXED_ARRAY];
  if (!read_part(l, at, "FAHD", p, sizeof p)) return;
  l->fixed = true, l->elements = number(p + 8, 8);
  if (p[6] < 8 || p[6] > LARGEST_ELEMENT || p[7] != 10)
    l->fault = cb_fault_index;
  else if (l->elements > l->bytes / 8)
    l->fault = "has more chunks than the file has room for";
  check_root(l, number(p + 16, 8));
}

static void look_at_space(look *l, const unsigned char *m, size_t size) {
  const size_t at = size >= 4 && m[0] == 1 ? 8 : 4, rank = size >= 4 ? m[1] : 0;
  if (size < 4 || at + 8 * rank * (m[2] & 1 ? 2 : 1) > size) return (void)(l->fault = too_short);
  if (!rank || rank > H5S_MAX_RANK) return;
  cb_structure *is = &l->is;
  is->rank = (int)rank;
  for (size_t d = 0; d < rank; d++) is->now[d] = number(m + at + 8 * d, 8);
  for (size_t d = 0; d < rank; d++) is->most[d] = number(m + at + 8 * ((m[2] & 1 ? rank : 0) + d), 8);
  for (size_t d = 0; d < rank; d++)
    if (is->now[d] > is->most[d]) l->fault = "has extents that are more than the most that it says";
}

/* A fixed array has an element for each chunk that there can be, and HDF5 asks for that of any. */
static void compare_chunks(look *l) {
  const cb_structure *is = &l->is;
  uint64_t chunks = 1;
  bool more = false;
  for (int d = 0; d < is->rank && l->fixed; d++) {
    const uint64_t chunk = is->chunk[d], along = chunk ? is->most[d] / chunk + (is->most[d] % chunk != 0) : 0;
    more |= !along || !cb_times(&chunks, along);
  }
  if (l->fixed && (more || !is->rank || chunks > l->elements)) l->fault = "has more chunks than its index";
}

/* The numbers that the extents tell of are those that the layout has room for. */
static void compare_room(look *l) {
  uint64_t bytes = l->type;
  bool more = false;
  for (int d = 0; d < l->is.rank; d++) more |= !cb_times(&bytes, l->is.now[d]);
  if (!is_none(l->from)) cb_taken_add(l->file.taken, l->from, more ? UINT64_MAX : bytes, true);
  if (l->in_one && l->type && (more || bytes > l->stored)) l->fault = "has more numbers than its layout has room for";
  if (l->is.chunk_rank && l->type && (l->is.element != l->type || l->is.chunk_rank != l->is.rank))
    l->fault = "has chunks of another kind than its numbers";
}

/* Where a message of that kind keeps the length of a value; 0: it says that it has none. */
static size_t fill_length_at(const unsigned char *m, size_t size) {
  if (size >= 2 && m[0] == 3) return m[1] & 32 ? 2 : 0;
  return size >= 4 && m[0] == 2 && !m[3] ? 0 : 4;
}

static void look_at_fill(look *l, unsigned type, const unsigned char *m, size_t size) {
  const size_t at = type == FILL ? fill_length_at(m, size) : 0;
  if (type == FILL && !at) return;
  const uint64_t value = at + 4 <= size ? number(m + at, 4) : UINT64_MAX;
  if (value == UINT64_MAX)
    l->fault = too_short;
  else if (value > size - at - 4 && (value != UINT32_MAX || type == OLD_FILL || m[0] == 3)) /* -1 in those between */
    l->fault = "has a value for what was not written that is longer than its message";
}

/* HDF5 divides by them. */
static void look_at_chunk(look *l, const unsigned char *sizes, int count, int width) {
  if (count - 1 > H5S_MAX_RANK) return (void)(l->fault = "has chunks of another kind than its numbers");
  l->is.chunk_rank = count - 1, l->is.element = number(sizes + (count - 1) * width, width);
  for (int d = 0; d < count - 1; d++) l->is.chunk[d] = number(sizes + d * width, width);
  for (int d = 0; d < count; d++)
    if (!number(sizes + d * width, width)) l->fault = "has chunks of no size";
}

enum { COMPACT = 0, CONTIGUOUS = 1, CHUNKED = 2, VIRTUAL = 3 };

/* Versions 1 and 2: the address is not there of what is compact, and nobody needs the extents of what is not in chunks. */
static void look_at_old_layout(look *l, const unsigned char *m, size_t size) {
  const size_t at = size >= 8 && m[2] == COMPACT ? 8 : 16, end = at + (size >= 8 ? 4 * (size_t)m[1] : 0);
  if (size < 8 || end > size || (m[2] == COMPACT && (end + 4 > size || number(m + end, 4) > size - end - 4)))
    l->fault = too_short;
  else if (m[2] == CHUNKED && m[1] < 2)
    l->fault = "has chunks of no size";
  else if (m[2] == CHUNKED)
    look_at_chunk(l, m + 16, m[1], 4);
  else if (m[2] == COMPACT)
    l->in_one = true, l->stored = number(m + end, 4);
  else
    l->from = number(m + 8, 8);
  if (!l->fault && m[2] == CHUNKED) l->fault = cb_chunk_tree_fault(l->file, l->bytes, number(m + 8, 8), m[1] - 1);
}

/* Version 3. */
static void look_at_tree_of_chunks(look *l, const unsigned char *m, size_t size) {
  if (size < 11 || 11 + 4 * (size_t)m[2] > size)
    l->fault = too_short;
  else if (m[2] < 2)
    l->fault = "has chunks of no size";
  else
    look_at_chunk(l, m + 11, m[2], 4);
  if (!l->fault) l->fault = cb_chunk_tree_fault(l->file, l->bytes, number(m + 3, 8), m[2] - 1);
}

/* Version 4. */
static void look_at_indexed_chunks(look *l, const unsigned char *m, size_t size) {
  enum { ONE = 1, FIXED = 3, EXTENSIBLE = 4, TREE_2 = 5, FILTERED = 2 };
  const size_t at = size > 4 ? 5 + (size_t)m[3] * m[4] : 0; /* of the kind of index */
  if (size < 6 || at >= size) return (void)(l->fault = too_short);
  if (m[3] < 2 || m[4] < 1 || m[4] > 8) return (void)(l->fault = "has chunks of no size");
  look_at_chunk(l, m + 5, m[3], m[4]);
  const int kind = m[at];
  const size_t more = kind == ONE          ? (m[2] & FILTERED ? 12 : 0)
                      : kind == FIXED      ? 1
                      : kind == EXTENSIBLE ? 5
                      : kind == TREE_2     ? 6
                                           : 0;
  if (at + 1 + more + 8 > size) l->fault = too_short;
  if (l->fault) return;
  const uint64_t address = number(m + at + 1 + more, 8);
  if (!address) return (void)(l->fault = cb_fault_chunk);
  if (kind == FIXED) look_at_fixed_array(l, address);
  if (kind == EXTENSIBLE && !is_none(address)) l->fault = cb_array_fault(l->file, l->bytes, address);
  if (kind == TREE_2) look_at_tree(l, address, CB_BTREE_CHUNKS, NULL);
}

static void look_at_layout(look *l, const unsigned char *m, size_t size) {
  if (size < 2) {
    l->fault = too_short;
  } else if (m[0] < 3) {
    look_at_old_layout(l, m, size);
  } else if (m[1] == CONTIGUOUS) {
    if (size < 18) return (void)(l->fault = too_short);
    l->in_one = !is_none(number(m + 2, 8)), l->stored = number(m + 10, 8);
    if (l->in_one && !within(l, number(m + 2, 8), l->stored)) l->fault = "has numbers beyond the end of the file";
    if (l->in_one) cb_taken_add(l->file.taken, number(m + 2, 8), l->stored, true);
  } else if (m[1] == COMPACT) {
    l->in_one = true, l->stored = size < 4 ? UINT64_MAX : number(m + 2, 2);
    if (size < 4 || l->stored > size - 4) l->fault = too_short;
  } else if (m[1] == CHUNKED && m[0] == 3) {
    look_at_tree_of_chunks(l, m, size);
  } else if (m[1] == CHUNKED) {
    look_at_indexed_chunks(l, m, size);
  } else if (m[1] == VIRTUAL) {
    l->is.elsewhere = cb_hdf5_virtual;
  }
}

/* Links and attributes that are many lie in a heap, which trees lead into. */
static void look_at_many(look *l, unsigned type, const unsigned char *m, size_t size) {
  const size_t at = size < 2 || !(m[1] & 1) ? 2
                    : type == LINK_INFO     ? 10
                                            : 4,
               end = at + (size > 1 && m[1] & 2 ? 24 : 16);
  if (end > size) {
    l->fault = too_short;
    return;
  }
  cb_heap heap;
  l->fault =
      cb_heap_open(l->file, l->bytes, number(m + at, 8), type == LINK_INFO ? cb_link_fault : cb_attribute_fault, &heap);
  look_at_tree(l, heap.outside, CB_BTREE_OUTSIDE, &heap);
  for (size_t tree = at + 8; tree < end && !is_none(number(m + at, 8)); tree += 8) {
    if (is_none(number(m + tree, 8))) l->fault = "has a heap without an index";
    const bool by_order = tree > at + 8;
    look_at_tree(l, number(m + tree, 8),
                 type == LINK_INFO ? by_order ? CB_BTREE_LINKS_BY_ORDER : CB_BTREE_LINKS
                 : by_order        ? CB_BTREE_ATTRIBUTES_BY_ORDER
                                   : CB_BTREE_ATTRIBUTES,
                 &heap);
  }
  cb_heap_close(&heap);
}

/* Names of links of before HDF5 1.8, in a tree and a heap. */
static void look_at_names(look *l, const unsigned char *m, size_t size) {
  l->fault = size < 16 ? too_short : cb_names_fault(l->file, l->bytes, number(m, 8), number(m + 8, 8));
}

static void look_at_filters(look *l, const unsigned char *m, size_t size) {
  size_t at = size && m[0] == 1 ? 8 : 2;
  for (int i = 0, n = size > 1 ? m[1] : 0; i < n && !l->fault; i++) {
    const bool named = at + 8 <= size && (m[0] == 1 || number(m + at, 2) >= 256);
    const size_t head = named || (size && m[0] == 1) ? 8 : 6;
    if (at + head > size) {
      l->fault = "has filters that cannot be read";
      return;
    }
    const H5Z_filter_t filter = (H5Z_filter_t)number(m + at, 2);
    if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_DEFLATE && l->is.filter < 0) l->is.filter = filter;
    const size_t name = named ? number(m + at + 2, 2) : 0, values = number(m + at + head - 2, 2);
    at += head + (m[0] == 1 ? (name + 7) / 8 * 8 : name) + 4 * (values + (m[0] == 1 ? values % 2 : 0));
    if (at > size) l->fault = "has filters that cannot be read";
  }
}

static const char *fault_of(look *l, uint64_t header);

/* What is kept elsewhere: in a type of its own, or, as HDF5 only does when asked to, in a heap of the file. */
static void look_at_shared(look *l, unsigned type, const unsigned char *m, size_t size) {
  look of = {.file = l->file, .bytes = l->bytes, .from = UINT64_MAX, .shared = true};
  if (type != TYPE || l->shared || size < 10 || m[0] < 2 || m[0] > 3 || m[1] != 2)
    l->fault = "shares parts of its header in a way that records do not";
  else
    l->fault = fault_of(&of, number(m + 2, 8));
}

static bool visit_message(void *context, unsigned type, unsigned flags, const unsigned char *m, size_t size) {
  enum { SHARED = 2 };
  look *l = context;
  const bool one = type == SPACE || type == TYPE || type == LAYOUT || type == FILL || type == FILTERS;
  if (one && l->met & 1u << type)
    l->fault = "has two messages of a kind";
  else if (flags & SHARED)
    look_at_shared(l, type, m, size);
  else if (type == LAYOUT)
    look_at_layout(l, m, size);
  else if (type == SPACE)
    look_at_space(l, m, size);
  else if (type == TYPE) {
    l->fault = cb_type_fault(m, size);
    l->type = l->fault ? 0 : number(m + 4, 4);
  } else if (type == FILL || type == OLD_FILL)
    look_at_fill(l, type, m, size);
  else if (type == NAMES)
    look_at_names(l, m, size);
  else if (type == FILTERS)
    look_at_filters(l, m, size);
  else if (type == EXTERNAL)
    l->is.elsewhere = cb_hdf5_external;
  else if (type == CONTINUATION)
    l->fault = cb_header_block_fault(m, size, l->bytes, &l->blocks);
  else if (type == ATTRIBUTE)
    l->fault = cb_attribute_fault(m, size);
  else if (type == LINK)
    l->fault = cb_link_fault(m, size);
  else if (type == LINK_INFO || type == ATTRIBUTE_INFO)
    look_at_many(l, type, m, size);
  if (one) l->met |= 1u << type;
  return l->fault;
}

static const char *fault_of(look *l, uint64_t header) {
  if (!within(l, header, 16)) return "lies beyond the end of the file";
  cb_header_each(l->file, header, visit_message, l);
  if (!l->fault) compare_room(l);
  if (!l->fault) compare_chunks(l);
  return l->fault;
}

const char *cb_structure_look(cb_source s, uint64_t bytes, uint64_t header, cb_structure *out) {
  look l = {.file = s, .bytes = bytes, .from = UINT64_MAX, .is.filter = -1};
  if (s.file) cb_driver_look_again(s.file);
  const char *fault = s.file ? fault_of(&l, header) : NULL;
  return *out = l.is, fault;
}

const char *cb_structure_fault(cb_source s, uint64_t bytes, uint64_t header) {
  cb_structure unused;
  return cb_structure_look(s, bytes, header, &unused);
}

const char *cb_structure_fault_at(hid_t file, const char *name) {
  const cb_source s = cb_source_of(file);
  uint64_t root;
  H5L_info_t link;
  if (!cb_source_root(s, &root)) return NULL;
  const uint64_t bytes = cb_driver_length(s.file);
  const char *fault = cb_structure_fault(s, bytes, root), *end = name;
  while (!fault && *end) {
    char part[512];
    end += strspn(end, "/");
    end += strcspn(end, "/");
    if ((size_t)(end - name) >= sizeof part) return "has a name that is too long";
    memcpy(part, name, (size_t)(end - name));
    part[end - name] = 0;
    if (!*part || H5Lexists(file, part, H5P_DEFAULT) <= 0 || H5Lget_info(file, part, &link, H5P_DEFAULT) < 0 ||
        link.type != H5L_TYPE_HARD)
      break;
    fault = cb_structure_fault(s, bytes, link.u.address);
  }
  return fault;
}
