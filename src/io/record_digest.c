/* Rows compared with their digests: record_digest.h. */
#include "io/record_digest.h"
#include "io/record_internal.h"
#include <stdlib.h>

static const size_t block_bytes = (size_t)1 << 22, largest_row = (size_t)1 << 34;

const char *const cb_digest_names[2] = {"checkpoint/row_digest", "checkpoint/event_digest"};

bool cb_digest_there(hid_t file) {
  return H5Lexists(file, "checkpoint", H5P_DEFAULT) > 0 && H5Lexists(file, cb_digest_names[0], H5P_DEFAULT) > 0 &&
         H5Lexists(file, cb_digest_names[1], H5P_DEFAULT) > 0;
}

static const char text_digest[] = "digest";

static uint64_t digest_of_text(const char *text) { return cb_digest_bytes(cb_digest_begin(0), text, strlen(text)); }

bool cb_digest_put_text(hid_t dataset, const char *text) {
  const uint64_t digest = digest_of_text(text);
  const hid_t space = H5Screate(H5S_SCALAR),
              attribute = H5Acreate2(dataset, text_digest, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT64, &digest) >= 0;
  if (attribute >= 0) ok &= H5Aclose(attribute) >= 0;
  H5Sclose(space);
  return ok;
}

bool cb_digest_is_of(hid_t dataset, const char *text) {
  uint64_t digest;
  if (H5Aexists(dataset, text_digest) == 0) return true;
  return cb_hdf5_get_numbers(dataset, ".", text_digest, H5T_INTEGER, H5T_NATIVE_UINT64, 1, &digest) &&
         digest == digest_of_text(text);
}

static cb_status no_memory(const char *path) {
  return cb_fail(CB_ERROR_MEMORY, "%s: no memory to compare its rows", path);
}

/* The rows, or the events, which are compared as the series go by: the last is their digest. */
typedef struct comparison {
  const char *path;
  uint64_t first, end; /* rows; end falls to the first that is wrong */
  uint64_t *hash;
} comparison;

/* Rows from `row` on as they lie in the file. */
static bool read_block(hid_t dataset, hid_t type, int rank, const hsize_t *dims, uint64_t row, uint64_t count,
                       void *out) {
  hsize_t start[H5S_MAX_RANK] = {row}, size[H5S_MAX_RANK] = {count};
  for (int d = 1; d < rank; d++) size[d] = dims[d];
  const hid_t memory = H5Screate_simple(rank, size, NULL), space = H5Dget_space(dataset);
  const bool ok = memory >= 0 && space >= 0 &&
                  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                  cb_hdf5_read(dataset, type, memory, space, out);
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return ok;
}

static void take_block(comparison *c, bool digests, uint64_t row, uint64_t count, size_t row_bytes,
                       const unsigned char *bytes) {
  for (uint64_t i = 0; i < count && row + i < c->end; i++) {
    uint64_t *hash = &c->hash[row + i - c->first];
    if (!digests)
      *hash = cb_digest_bytes(*hash, bytes + i * row_bytes, row_bytes);
    else if (memcmp(hash, bytes + i * row_bytes, sizeof *hash))
      c->end = row + i;
  }
}

static cb_status compare_series(void *context, hid_t dataset, const char *name, bool is_event) {
  comparison *c = (comparison *)context + is_event;
  if (c->first >= c->end) return CB_OK;
  const bool digests = !strcmp(name, cb_digest_names[is_event]);
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  hsize_t dims[H5S_MAX_RANK];
  const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
  size_t row_bytes = H5Tget_size(type);
  H5Sclose(space);
  for (int d = 1; d < rank; d++) row_bytes = dims[d] && row_bytes > largest_row / dims[d] ? 0 : row_bytes * dims[d];
  if (!row_bytes) { /* no row of ours */
    H5Tclose(type);
    return c->end = c->first, CB_OK;
  }
  uint64_t step = block_bytes / row_bytes;
  if (!step) step = 1;
  if (step > c->end - c->first) step = c->end - c->first;
  unsigned char *block = malloc((step ? step : 1) * row_bytes);
  for (uint64_t row = c->first; block && row < c->end; row += step) {
    const uint64_t count = c->end - row < step ? c->end - row : step;
    if (read_block(dataset, type, rank, dims, row, count, block))
      take_block(c, digests, row, count, row_bytes, block);
    else
      c->end = row;
  }
  free(block);
  H5Tclose(type);
  return block ? CB_OK : no_memory(c->path);
}

static bool begin(comparison *c) {
  if (c->first >= c->end) return true;
  c->hash = malloc((c->end - c->first) * sizeof *c->hash);
  for (uint64_t row = c->first; c->hash && row < c->end; row++) c->hash[row - c->first] = cb_digest_begin(row);
  return c->hash;
}

cb_status cb_digest_check(hid_t file, const char *path, cb_record_position from, cb_record_position *whole) {
  comparison c[2] = {{path, from.rows, whole->rows, NULL}, {path, from.events, whole->events, NULL}};
  if (!cb_digest_there(file)) return CB_OK;
  cb_status status = begin(&c[0]) && begin(&c[1]) ? CB_OK : no_memory(path);
  if (!status && (c[0].hash || c[1].hash)) status = cb_series_each(file, path, compare_series, c);
  if (!status) whole->rows = c[0].end, whole->events = c[1].end;
  free(c[0].hash), free(c[1].hash);
  return status;
}
