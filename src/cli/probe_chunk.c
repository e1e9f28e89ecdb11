/* Chunks of untrusted files. HDF5 1.10 uses the number of bytes that the extents of a chunk require, even if fewer
 * bytes are stored or come out of the filters (H5D__chunk_lock); it then reads memory that does not come from the file.
 * So the child counts the bytes first.
 *
 * Filters are listed in the order in which they are applied in writing: shuffle keeps the size, fletcher32 adds 4
 * bytes, deflate makes a zlib stream (HDF5 User's Guide 5.6).
 */
#include "cli/probe.h"

#include <stdlib.h>
#include <zlib.h>

enum { CHECKSUM = 4 };

/* Returns the number of bytes of a stored chunk after the filters are undone; 0 if the bytes do not come from these
 * filters. */
static uLongf count_plain(hid_t create, uint32_t left_out, const unsigned char *stored, uLongf size,
                          unsigned char *plain, uLongf capacity) {
  for (int f = H5Pget_nfilters(create); f-- > 0;) {
    unsigned flags, config;
    size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)f, &flags, &values, NULL, 0, NULL, &config);
    if (left_out & 1u << f) continue;
    if (filter == H5Z_FILTER_FLETCHER32) size = size < CHECKSUM ? 0 : size - CHECKSUM;
    if (filter != H5Z_FILTER_DEFLATE) continue;
    uLongf made = capacity;
    size = uncompress(plain, &made, stored, size) == Z_OK ? made : 0;
  }
  return size;
}

bool cli_probe_chunk_is_whole(hid_t dataset, hid_t create, int rank, const hsize_t *dims, const hsize_t *at) {
  hsize_t chunk[H5S_MAX_RANK], size = 0;
  uint32_t left_out = 0;
  unsigned options;
  const hid_t type = H5Dget_type(dataset);
  size_t bytes = H5Tget_size(type);
  bool filtered = H5Pget_nfilters(create) > 0; /* without filters HDF5 checks the length itself */
  H5Tclose(type);
  if (H5Pget_chunk_opts(create, &options) < 0 || H5Pget_chunk(create, rank, chunk) != rank) return false;
  for (int d = 0; d < rank; d++) bytes *= chunk[d];
  for (int d = 0; d < rank && options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS; d++)
    filtered &= dims[d] - at[d] >= chunk[d];
  if (!filtered || H5Dget_chunk_storage_size(dataset, at, &size) < 0 || !size) return true;
  if (size > bytes + bytes / 8 + 4096) return false; /* a zlib stream is never so much longer than its content */
  unsigned char *stored = malloc(size), *plain = malloc(bytes + CHECKSUM);
  const bool whole = stored && plain && H5Dread_chunk(dataset, H5P_DEFAULT, at, &left_out, stored) >= 0 &&
                     count_plain(create, left_out, stored, size, plain, bytes + CHECKSUM) == bytes;
  free(stored);
  free(plain);
  return whole;
}
