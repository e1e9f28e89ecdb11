/* OUT.h5 during a run: every array of rows is an HDF5 virtual dataset over the arrays of the segments. Segments are
 * named relative to OUT.h5, so that it can be moved together with its folder. Everything else is as in a segment, but
 * /checkpoint has no state.
 *
 * /checkpoint/segments lists the sources of the file: one line per segment with its name, rows, events and SHA-256.
 */
#include "core/failure.h"
#include "record/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char list[] = "segments";
enum { LINE = 160 };

bool cb_virtual_is(hid_t file) {
  return H5Lexists(file, "checkpoint", H5P_DEFAULT) > 0 && H5Lexists(file, "checkpoint/segments", H5P_DEFAULT) > 0;
}

/* Makes the name by which the virtual file refers to a segment: FOLDER/NUMBER.h5. */
static void source_name(const cb_record_pieces *over, uint64_t number, char *out, size_t size) {
  const char *slash = strrchr(over->folder.path, '/');
  snprintf(out, size, "%s/%06llu.h5", slash ? slash + 1 : over->folder.path, (unsigned long long)number);
}

static bool map_piece(hid_t create, hid_t whole, const cb_record_pieces *over, const cb_piece *piece, const char *name,
                      bool is_event, int rank, const hsize_t *dims) {
  const uint64_t rows = is_event ? piece->have.events : piece->have.rows;
  hsize_t start[4] = {is_event ? piece->first.events : piece->first.rows}, size[4] = {rows},
          maximum[4] = {H5S_UNLIMITED};
  const hsize_t begin[4] = {0};
  char file[4200];
  if (!rows) return true;
  for (int d = 1; d < rank; d++) size[d] = maximum[d] = dims[d];
  source_name(over, piece->number, file, sizeof file);
  const hid_t source = H5Screate_simple(rank, size, maximum);
  /* Exactly these rows are selected: the segment may have more rows that do not count or were written later. */
  const bool ok = source >= 0 && H5Sselect_hyperslab(source, H5S_SELECT_SET, begin, NULL, size, NULL) >= 0 &&
                  H5Sselect_hyperslab(whole, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                  cb_hdf5_set_virtual(create, whole, file, name, source);
  if (source >= 0) H5Sclose(source);
  return ok;
}

hid_t cb_virtual_properties(const cb_record_pieces *over, const char *name, bool is_event, hid_t type, int rank,
                            hsize_t *dims) {
  static const double nothing = NAN;
  hsize_t maximum[4] = {H5S_UNLIMITED};
  dims[0] = is_event ? over->have.events : over->have.rows;
  for (int d = 1; d < rank; d++) maximum[d] = dims[d];
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE), whole = H5Screate_simple(rank, dims, maximum);
  bool ok = create >= 0 && whole >= 0;
  if (ok && H5Tget_class(type) == H5T_FLOAT) ok = H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &nothing) >= 0;
  for (size_t i = 0; ok && i < over->count; i++)
    ok = map_piece(create, whole, over, &over->piece[i], name, is_event, rank, dims);
  if (whole >= 0) H5Sclose(whole);
  if (ok) return create;
  if (create >= 0) H5Pclose(create);
  return H5I_INVALID_HID;
}

/* The list is one text of fixed length per segment, or a single empty text if there is no segment. */
static bool put_list(hid_t file, const cb_record_pieces *over) {
  const hsize_t dims[1] = {over->count ? over->count : 1};
  char *lines = calloc(dims[0], LINE);
  const hid_t group = H5Gopen2(file, "checkpoint", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, LINE);
  for (size_t i = 0; lines && i < over->count; i++)
    snprintf(lines + i * LINE, LINE, "%06llu.h5 %llu %llu %s", (unsigned long long)over->piece[i].number,
             (unsigned long long)over->piece[i].have.rows, (unsigned long long)over->piece[i].have.events,
             over->piece[i].digest);
  const hid_t dataset = lines ? cb_hdf5_put_dataset(group, list, type, 1, dims, type, lines) : H5I_INVALID_HID;
  H5Tclose(type);
  if (group >= 0) H5Gclose(group);
  free(lines);
  return dataset >= 0 && H5Dclose(dataset) >= 0;
}

static cb_status build(hid_t file, const cb_record_pieces *over, const cb_virtual *v) {
  static const cb_filing few = {0, CB_CHUNK_ROWS}; /* used for arrays that have no rows yet */
  const int completed = v->completed;
  char base[4200];
  source_name(over, 0, base, sizeof base);
  const cb_status status = cb_layout_build(file, over->path, v->layout, &few, over, base);
  if (status) return status;
  if (v->warnings) v->warnings->written = 0;
  const bool ok = put_list(file, over) && (!v->warnings || cb_warnings_write(file, v->warnings, v->warnings_length)) &&
                  cb_hdf5_set_integers(file, ".", "completed", H5T_NATIVE_INT, 1, &completed);
  return ok ? CB_OK : cb_hdf5_fail(over->path, "write");
}

cb_status cb_virtual_write(const cb_record_pieces *over, const cb_virtual *v) {
  const hid_t file = cb_memory_create();
  if (file < 0) return cb_hdf5_fail(over->path, "create");
  cb_status status = build(file, over, v);
  if (!status) status = cb_memory_save(file, over->path, over->folder.record, v->synced, NULL, NULL);
  H5Fclose(file);
  return status;
}

/* ---- Comparing the segments with the list */

static char *read_list(hid_t file, size_t *count) {
  const hid_t dataset = H5Dopen2(file, "checkpoint/segments", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1),
              space = dataset < 0 ? dataset : H5Dget_space(dataset);
  const hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  char *lines = NULL;
  H5Tset_size(type, LINE);
  const hid_t stored = dataset < 0 ? dataset : H5Dget_type(dataset);
  if (n > 0 && n < 1 << 24 && H5Tequal(stored, type) > 0 && (lines = calloc((size_t)n, LINE)) &&
      H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, lines) < 0) {
    free(lines);
    lines = NULL;
  }
  *count = lines ? (size_t)n : 0;
  if (stored >= 0) H5Tclose(stored);
  if (space >= 0) H5Sclose(space);
  if (dataset >= 0) H5Dclose(dataset);
  H5Tclose(type);
  return lines;
}

static cb_status check_segment(const cb_record_pieces *pieces, const char *line, bool last, cb_verify_listener listener,
                               void *user) {
  unsigned long long number, rows, events;
  char expected[CB_SHA256 + 1] = "", found[CB_SHA256], text[200];
  if (sscanf(line, "%llu.h5 %llu %llu %65s", &number, &rows, &events, expected) != 4) return CB_OK;
  char *name = cb_segment_name(&pieces->folder, number);
  cb_image image;
  cb_status status = name ? cb_image_read(name, &image) : cb_fail(CB_ERROR_MEMORY, "%s: no memory", pieces->path);
  free(name);
  if (status) return status;
  cb_image_digest(&image, found);
  free(image.bytes);
  snprintf(text, sizeof text, "segment %06llu.h5 has changed since it was written: its SHA-256 is different", number);
  /* The last segment may already be newer than the virtual file. */
  if (strcmp(found, expected) && !last) listener(user, text);
  return CB_OK;
}

cb_status cb_virtual_check(const cb_record_pieces *pieces, cb_verify_listener listener, void *user) {
  size_t count = 0;
  const hid_t file = cb_hdf5_open(pieces->folder.record, H5F_ACC_RDONLY);
  if (file < 0) { /* the virtual file has not been made yet */
    cb_hdf5_forget();
    return CB_OK;
  }
  char *lines = cb_virtual_is(file) ? read_list(file, &count) : NULL;
  cb_hdf5_close_read(file, pieces->path);
  cb_status status = CB_OK;
  for (size_t i = 0; i < count && !status; i++) {
    lines[(i + 1) * LINE - 1] = 0;
    if (lines[i * LINE]) status = check_segment(pieces, lines + i * LINE, i + 1 == count, listener, user);
  }
  free(lines);
  return status;
}
