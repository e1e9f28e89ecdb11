/* Datasets read once it is known that their chunks are whole.
 *
 * HDF5 1.10 copies as many bytes out of a chunk as its extents say, also where fewer are stored, or come out of its
 * filters (H5D__chunk_lock, H5VM_memcpyvv). So each chunk of what is to be read is measured: its bytes in the file, and
 * what zlib makes of them, which is counted and not kept.
 *
 * Filters stand in the order in which they are applied in writing: shuffle keeps the size, fletcher32 has 4 bytes
 * behind, deflate is a stream of zlib's (HDF5 User's Guide 5.6). Chunks that reach beyond the extents may be kept as they
 * are (H5Pset_chunk_opts). */
#include "record/hdf5.h"

#include <stdlib.h>
#include <zlib.h>

enum { MOST_FILTERS = 8, CHECKSUM = 4 };

typedef struct chunked {
  hid_t dataset;
  int rank, filters;
  H5Z_filter_t filter[MOST_FILTERS];
  hsize_t chunk[H5S_MAX_RANK], extent[H5S_MAX_RANK];
  unsigned options;        /* of H5Pset_chunk_opts */
  uint64_t bytes, longest; /* of a whole chunk, of the file */
  unsigned char *stored;   /* what was read of one */
  uint64_t room;
} chunked;

/* How many bytes the stream makes, or more than `most`; false if it is none. */
static bool count_inflated(const unsigned char *stream, uint64_t size, uint64_t most, uint64_t *made) {
  unsigned char out[4096];
  z_stream z = {.next_in = (unsigned char *)stream, .avail_in = (uInt)size};
  int end = inflateInit(&z);
  if (end != Z_OK) return false;
  for (*made = 0; end == Z_OK && *made <= most; *made += sizeof out - z.avail_out) {
    z.next_out = out, z.avail_out = sizeof out;
    end = inflate(&z, Z_SYNC_FLUSH);
  }
  inflateEnd(&z);
  return end == Z_STREAM_END || *made > most;
}

/* Of a chunk of `size` bytes in the file that those filters of its mask were left out of. */
static bool comes_out_whole(const chunked *c, uint64_t size, uint32_t left_out) {
  bool inflated = false;
  for (int f = c->filters - 1; f >= 0; f--) {
    if (left_out & 1u << f) continue;
    if (c->filter[f] == H5Z_FILTER_FLETCHER32) {
      if (size < CHECKSUM) return false;
      size -= CHECKSUM;
    } else if (c->filter[f] == H5Z_FILTER_DEFLATE) {
      if (inflated || size > c->room || !count_inflated(c->stored, size, c->bytes + CHECKSUM, &size)) return false;
      inflated = true;
    }
  }
  return size == c->bytes;
}

static bool is_filtered(const chunked *c, const hsize_t *at) {
  bool within = true;
  for (int d = 0; d < c->rank; d++) within &= c->extent[d] - at[d] >= c->chunk[d];
  return c->filters && (within || !(c->options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
}

/* What is not stored is not read. */
static bool is_whole(chunked *c, const hsize_t *at) {
  hsize_t size;
  uint32_t left_out = 0;
  if (H5Dget_chunk_storage_size(c->dataset, at, &size) < 0) return false;
  if (!size) return true;
  if (!is_filtered(c, at)) return size == c->bytes;
  if (size > c->longest) return false;
  if (size > c->room) {
    unsigned char *more = realloc(c->stored, size);
    if (!more) return false;
    c->stored = more, c->room = size;
  }
  return H5Dread_chunk(c->dataset, H5P_DEFAULT, at, &left_out, c->stored) >= 0 && comes_out_whole(c, size, left_out);
}

/* The chunks that the selection's box goes through. */
static bool each_is_whole(chunked *c, hid_t space) {
  hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK], at[H5S_MAX_RANK];
  if (H5Sget_select_npoints(space) == 0) return true;
  if (H5Sget_select_bounds(space, first, last) < 0) return false;
  for (int d = 0; d < c->rank; d++) at[d] = first[d] -= first[d] % c->chunk[d];
  for (int d = c->rank - 1; d >= 0;) {
    if (!is_whole(c, at)) return false;
    for (d = c->rank - 1; d >= 0 && last[d] - at[d] < c->chunk[d]; d--) at[d] = first[d];
    if (d >= 0) at[d] += c->chunk[d];
  }
  return true;
}

static bool describe(chunked *c, hid_t create, hid_t space) {
  const hid_t file = H5Iget_file_id(c->dataset), type = H5Dget_type(c->dataset);
  hsize_t length = 0;
  bool sound = H5Fget_filesize(file, &length) >= 0 && H5Sget_simple_extent_dims(space, c->extent, NULL) >= 0 &&
               H5Pget_chunk_opts(create, &c->options) >= 0;
  c->longest = length;
  c->bytes = H5Tget_size(type);
  H5Tclose(type);
  H5Fclose(file); /* the dataset holds it */
  c->rank = H5Pget_chunk(create, H5S_MAX_RANK, c->chunk);
  for (int d = 0; d < c->rank; d++) sound &= cb_times(&c->bytes, c->chunk[d]);
  c->filters = H5Pget_nfilters(create);
  sound &= c->rank > 0 && c->filters >= 0 && c->filters <= MOST_FILTERS;
  for (int f = 0; f < c->filters && sound; f++) {
    unsigned flags;
    size_t none = 0;
    c->filter[f] = H5Pget_filter2(create, (unsigned)f, &flags, &none, NULL, 0, NULL, NULL);
    sound = c->filter[f] == H5Z_FILTER_SHUFFLE || c->filter[f] == H5Z_FILTER_DEFLATE ||
            c->filter[f] == H5Z_FILTER_FLETCHER32;
  }
  return sound;
}

static bool chunks_are_whole(hid_t dataset, hid_t selected) {
  chunked c = {.dataset = dataset};
  const hid_t create = H5Dget_create_plist(dataset), all = H5Dget_space(dataset);
  bool whole = create >= 0 && all >= 0;
  if (whole && H5Pget_layout(create) == H5D_CHUNKED)
    whole = describe(&c, create, all) && each_is_whole(&c, selected == H5S_ALL ? all : selected);
  free(c.stored);
  if (create >= 0) H5Pclose(create);
  if (all >= 0) H5Sclose(all);
  return whole;
}

bool cb_hdf5_read(hid_t dataset, hid_t type, hid_t memory, hid_t space, void *out) {
  if (chunks_are_whole(dataset, space)) return H5Dread(dataset, type, memory, space, H5P_DEFAULT, out) >= 0;
  cb_hdf5_give_reason(
      "a chunk is not as long as its extents say, or passes through other filters than shuffle, deflate "
      "and fletcher32");
  return false;
}
