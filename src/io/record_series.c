/* The datasets of a record that grow: all at the root whose first dimension is unlimited, and the digests
 * (record_digest.h). Those named event or event_... grow with the events, the others with the rows.
 *
 * After a writer was killed in a flush, some have more rows than others: the record has as many as the shortest.
 */
#include "core/failure.h"
#include "core/file.h"
#include "io/record_digest.h"
#include "io/record_internal.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

cb_status cb_record_check_mark(hid_t file, const char *path) {
  int version = 0;
  const cb_status status = cb_record_check_root(file, path);
  if (status) return status;
  if (H5Aexists(file, "curvebody_record") <= 0)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: an HDF5 file, but not a record of curvebody", path);
  if (cb_hdf5_get_numbers(file, ".", "curvebody_record", H5T_INTEGER, H5T_NATIVE_INT, 1, &version) &&
      version == CB_RECORD_VERSION)
    return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: a record of version %d, expected %d", path, version,
                        CB_RECORD_VERSION);
}

/* Whether dataset grows, and its length. */
static bool is_series(hid_t dataset, uint64_t *length) {
  hid_t space = H5Dget_space(dataset);
  hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
  int rank = H5Sget_simple_extent_dims(space, dims, most);
  H5Sclose(space);
  if (rank < 1 || rank > 4 || most[0] != H5S_UNLIMITED) return false;
  *length = dims[0];
  return true;
}

typedef struct series_visit {
  const char *path;
  cb_series_visit function;
  void *context;
} series_visit;

static cb_status visit_object(const series_visit *visit, hid_t object, const char *name, bool is_event) {
  if (object < 0)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s cannot be opened: the file is damaged", visit->path, name);
  uint64_t length;
  cb_status status = CB_OK;
  if (H5Iget_type(object) == H5I_DATASET && is_series(object, &length))
    status = visit->function(visit->context, object, name, is_event);
  H5Oclose(object);
  return status;
}

/* A link of the root; soft ones (aliases) are passed over. */
static cb_status visit_link(void *context, hid_t file, const char *name, const H5L_info_t *link) {
  if (link->type != H5L_TYPE_HARD) return CB_OK;
  const bool is_event = !strcmp(name, "event") || !strncmp(name, "event_", 6);
  return visit_object(context, H5Oopen_by_addr(file, link->u.address), name, is_event);
}

cb_status cb_series_each(hid_t file, const char *path, cb_series_visit function, void *context) {
  series_visit visit = {path, function, context};
  cb_status status = cb_hdf5_each_link(file, path, H5_INDEX_CRT_ORDER, visit_link, &visit);
  for (int table = 0; table < 2 && !status && cb_digest_there(file); table++)
    status = visit_object(&visit, H5Oopen(file, cb_digest_names[table], H5P_DEFAULT), cb_digest_names[table], table);
  return status;
}

typedef struct extent {
  cb_record_position whole;
  uint64_t most;
  bool rows, events;
  uint64_t bytes; /* of the file */
} extent;

/* How many rows lie within the file: where no chunk was written, and beyond the end of a file that was cut, such as by a
 * crash of the machine, HDF5 reads zeros. A dataset that was never written has rows of one chunk. */
static uint64_t rows_within(hid_t dataset, uint64_t length, uint64_t bytes) {
  hid_t create = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
  hsize_t chunk[H5S_MAX_RANK] = {0}, first[H5S_MAX_RANK] = {0}, size = 0, written;
  int rank = H5Pget_chunk(create, H5S_MAX_RANK, chunk);
  if (H5Dget_num_chunks(dataset, space, &written) >= 0 && rank > 0) {
    const hsize_t most = (written ? written : 1) * chunk[0];
    if (length > most) length = most;
  }
  H5Sclose(space);
  H5Pclose(create);
  while (rank > 0 && length) {
    haddr_t at = HADDR_UNDEF;
    first[0] = (length - 1) / chunk[0] * chunk[0];
    if (H5Dget_chunk_info_by_coord(dataset, first, NULL, &at, &size) < 0 || at == HADDR_UNDEF || at + size <= bytes)
      break;
    length = first[0];
  }
  return length;
}

static cb_status shorten(void *context, hid_t dataset, const char *name, bool is_event) {
  extent *e = context;
  uint64_t length = 0;
  (void)name;
  is_series(dataset, &length);
  uint64_t written = length;
  length = rows_within(dataset, length, e->bytes);
  if (is_event) {
    if (!e->events || length < e->whole.events) e->whole.events = length;
    e->events = true;
    return CB_OK;
  }
  if (!e->rows || length < e->whole.rows) e->whole.rows = length;
  if (written > e->most) e->most = written;
  e->rows = true;
  return CB_OK;
}

/* What a cut keeps, while it is done: HDF5 overwrites the end of a chunk before the file knows of its new length, so
 * that the rows after `keep` are lost and do not look it. Rows and events, or -1: no cut is under way. */
static const char cutting[] = "cutting";

static cb_status read_cutting(hid_t file, const char *path, int64_t keep[2]) {
  keep[0] = keep[1] = -1;
  if (H5Aexists_by_name(file, "checkpoint", cutting, H5P_DEFAULT) <= 0 ||
      cb_hdf5_get_numbers(file, "checkpoint", cutting, H5T_INTEGER, H5T_NATIVE_INT64, 2, keep))
    return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: attribute '%s' of /checkpoint: expected 2 integers", path, cutting);
}

bool cb_series_prepare_cut(hid_t checkpoint) {
  const hsize_t dims[1] = {2};
  const int64_t keep[2] = {-1, -1};
  hid_t space = H5Screate_simple(1, dims, NULL);
  hid_t attribute = H5Acreate2(checkpoint, cutting, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  bool ok = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, keep) >= 0;
  if (attribute >= 0) ok &= H5Aclose(attribute) >= 0;
  H5Sclose(space);
  return ok;
}

static bool write_cutting(hid_t checkpoint, int64_t rows, int64_t events) {
  const int64_t keep[2] = {rows, events};
  return (H5Aexists(checkpoint, cutting) > 0 || cb_series_prepare_cut(checkpoint)) &&
         cb_hdf5_set_integers(checkpoint, ".", cutting, H5T_NATIVE_INT64, 2, keep);
}

/* Writes it, after everything that was changed before. */
static cb_status put_cutting(hid_t file, const char *path, int64_t rows, int64_t events) {
  if (cb_hdf5_flush_refused(file)) return cb_hdf5_fail(path, "write");
  hid_t checkpoint = H5Gopen2(file, "checkpoint", H5P_DEFAULT);
  bool ok = checkpoint >= 0 && write_cutting(checkpoint, rows, events);
  if (checkpoint >= 0) H5Gclose(checkpoint);
  return ok && !cb_hdf5_flush_refused(file) ? CB_OK : cb_hdf5_fail(path, "write");
}

cb_status cb_series_extent(hid_t file, const char *path, cb_record_position *whole, uint64_t *most) {
  struct stat info;
  if (stat(path, &info) != 0) return cb_fail_file(path, "read", errno);
  extent e = {.bytes = (uint64_t)info.st_size};
  int64_t keep[2];
  cb_status status = cb_series_each(file, path, shorten, &e);
  if (!status) status = read_cutting(file, path, keep);
  if (status) return status;
  if (keep[0] >= 0 && keep[1] >= 0) {
    if (e.whole.rows > (uint64_t)keep[0]) e.whole.rows = (uint64_t)keep[0];
    if (e.whole.events > (uint64_t)keep[1]) e.whole.events = (uint64_t)keep[1];
  }
  whole->rows = e.whole.rows;
  whole->events = e.whole.events;
  if (most) *most = e.most;
  return CB_OK;
}

typedef struct cut {
  const char *path;
  cb_record_position keep;
} cut;

static cb_status cut_one(void *context, hid_t dataset, const char *name, bool is_event) {
  const cut *c = context;
  hsize_t dims[H5S_MAX_RANK], keep = is_event ? c->keep.events : c->keep.rows;
  hid_t space = H5Dget_space(dataset);
  H5Sget_simple_extent_dims(space, dims, NULL);
  H5Sclose(space);
  if (dims[0] == keep) return CB_OK;
  dims[0] = keep;
  return H5Dset_extent(dataset, dims) < 0 ? cb_hdf5_fail(c->path, "shorten %s", name) : CB_OK;
}

cb_status cb_series_cut(hid_t file, const char *path, cb_record_position keep) {
  cut c = {path, keep};
  cb_status status = put_cutting(file, path, (int64_t)keep.rows, (int64_t)keep.events);
  if (!status) status = cb_series_each(file, path, cut_one, &c);
  return status ? status : put_cutting(file, path, -1, -1);
}
