/* Arrays in HDF5 files (arrays.h): files of arrays that commands write, datasets of foreign files, dimension scales. */
#include "record/arrays.h"
#include "record/output.h"
#include "core/failure.h"
#include "core/file.h"
#include "record/internal.h"

#include <hdf5_hl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIMENSIONS = 16, RANK = 6, ATTRIBUTE = 60000 };

struct cb_arrays {
  cb_output output;
  hid_t file;
  cb_hdf5_quiet quiet;
  cb_status status;
  char text[512]; /* the message of the first failure */
  int n;
  struct {
    char name[64];
    size_t count;
  } dimension[DIMENSIONS];
};

static void failed(cb_arrays *a, const char *what) {
  if (a->status) return;
  a->status = cb_hdf5_fail(a->output.path, "write '%s'", what);
  snprintf(a->text, sizeof a->text, "%s", cb_error_text());
}

cb_status cb_arrays_create(const char *path, bool own, cb_arrays **out) {
  cb_arrays *a = calloc(1, sizeof *a);
  if (!a) return cb_fail(CB_ERROR_MEMORY, "no memory for a file");
  a->quiet = cb_hdf5_quiet_begin();
  const cb_status status = cb_output_open_hdf5(path, own, &a->output, &a->file);
  if (status) {
    cb_hdf5_quiet_end(a->quiet);
    free(a);
  } else {
    *out = a;
  }
  return status;
}

static int find(const cb_arrays *a, const char *name) {
  for (int d = 0; d < a->n; d++)
    if (!strcmp(a->dimension[d].name, name)) return d;
  return -1;
}

void cb_arrays_dimension(cb_arrays *a, const cb_dimension *d, const char *units) {
  if (a->status || !d->count) return;
  if (a->n == DIMENSIONS || strlen(d->name) >= sizeof a->dimension[0].name) return failed(a, d->name);
  const cb_hdf5_values values = {d->values, d->labels, NULL, NULL};
  if (!cb_hdf5_put_scale(a->file, d->name, d->count, &values, units, d->doc)) failed(a, d->name);
  strcpy(a->dimension[a->n].name, d->name);
  a->dimension[a->n++].count = d->count;
}

static void put(cb_arrays *a, const char *name, int rank, const char *const *dims, bool integers, const void *data,
                const char *units, const char *doc) {
  hsize_t shape[RANK] = {0};
  if (a->status) return;
  for (int d = 0; d < rank; d++) {
    const int at = find(a, dims[d]);
    if (at < 0) return; /* the dimension is empty */
    shape[d] = a->dimension[at].count;
  }
  const hid_t set = cb_hdf5_put_dataset(a->file, name, integers ? H5T_STD_I32LE : H5T_IEEE_F64LE, rank, shape,
                                        integers ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE, data);
  bool good = set >= 0 && cb_hdf5_describe(set, units, doc);
  for (int d = 0; d < rank && good; d++) good = cb_hdf5_attach(a->file, set, dims[d], (unsigned)d);
  if (!good) failed(a, name);
  if (set >= 0) H5Dclose(set);
}

void cb_arrays_put(cb_arrays *a, const char *name, int rank, const char *const *dims, const double *data,
                   const char *units, const char *doc) {
  put(a, name, rank, dims, false, data, units, doc);
}

void cb_arrays_put_integers(cb_arrays *a, const char *name, int rank, const char *const *dims, const int *data,
                            const char *doc) {
  put(a, name, rank, dims, true, data, "1", doc);
}

void cb_arrays_text(cb_arrays *a, const char *name, const char *text) {
  if (!a->status && !cb_hdf5_put_text(a->file, name, text)) failed(a, name);
}

void cb_arrays_number(cb_arrays *a, const char *name, double value) {
  if (a->status) return;
  const hid_t space = H5Screate(H5S_SCALAR),
              set = H5Acreate2(a->file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  if (set < 0 || H5Awrite(set, H5T_NATIVE_DOUBLE, &value) < 0) failed(a, name);
  if (set >= 0) H5Aclose(set);
  H5Sclose(space);
}

void cb_arrays_pairs(cb_arrays *a, const char *of, const char *name, int count, const int (*pair)[2]) {
  if (a->status || !count || 2 * sizeof(int) * (size_t)count > ATTRIBUTE) return;
  const hsize_t dims[] = {(hsize_t)count, 2};
  const hid_t set = H5Dopen2(a->file, of, H5P_DEFAULT), space = H5Screate_simple(2, dims, NULL),
              attribute = H5Acreate2(set, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0 || H5Awrite(attribute, H5T_NATIVE_INT, pair) < 0) failed(a, name);
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  if (set >= 0) H5Dclose(set);
}

cb_status cb_arrays_close(cb_arrays *a, cb_status status) {
  if (!status && a->status) status = cb_fail(a->status, "%s", a->text);
  status = cb_output_close_hdf5(&a->output, a->file, status);
  cb_hdf5_quiet_end(a->quiet);
  free(a);
  return status;
}

/* ---- Reading datasets of numbers from files that other programs wrote */

enum {
  LIMIT = INT_MAX / 3,
  SPARSEST = 4096
}; /* LIMIT: maximum length of a dimension. SPARSEST: at least 1/SPARSEST of the values must have been written */

cb_status cb_hdf5_source_open(const char *path, cb_hdf5_source *out) {
  const char *why;
  const int fd = cb_open_regular(path, 0, &why); /* HDF5 would block at a pipe */
  if (fd < 0) return cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "%s: cannot read: %s", path, why);
  close(fd);
  cb_hdf5_source s = {path, H5I_INVALID_HID, cb_hdf5_quiet_begin()};
  s.file = cb_hdf5_open(path, H5F_ACC_RDONLY);
  if (s.file < 0) {
    const cb_status status = cb_hdf5_fail(path, "read");
    cb_hdf5_quiet_end(s.quiet);
    return status;
  }
  *out = s;
  return CB_OK;
}

cb_status cb_hdf5_source_close(cb_hdf5_source *s, cb_status status) {
  cb_hdf5_close_read(s->file, s->path);
  status = cb_hdf5_unread(s->path, status);
  cb_hdf5_quiet_end(s->quiet);
  return status;
}

static void put_shape(int rank, const hsize_t *dims, char *text, size_t size) {
  int n = snprintf(text, size, "[");
  for (int i = 0; i < rank && n < (int)size - 28; i++)
    n += snprintf(text + n, size - (size_t)n, "%s%llu", i ? ", " : "", (unsigned long long)dims[i]);
  snprintf(text + n, size - (size_t)n, "]");
}

/* Returns the number of values for which the file has storage. A chunk counts as completely filled. A caller can thus
 * reject a dataset of which too few values were written, before it allocates memory for all of its `count` values. */
static size_t count_written(hid_t dataset, hid_t create, int rank, size_t count) {
  hsize_t chunk[H5S_MAX_RANK], chunks = 0;
  if (!H5Dget_storage_size(dataset)) return 0;
  if (H5Pget_layout(create) != H5D_CHUNKED) return count;
  const hid_t space = H5Dget_space(dataset);
  if (H5Pget_chunk(create, rank, chunk) != rank || H5Dget_num_chunks(dataset, space, &chunks) < 0) chunks = 0;
  H5Sclose(space);
  for (int i = 0; i < rank && chunks; i++) chunks *= chunk[i];
  return chunks;
}

/* Accepts each filter only once: a few bytes that are deflated twice may unpack to a million times as many. */
const char *cb_hdf5_foreign_filter(hid_t create) {
  const int count = H5Pget_nfilters(create);
  unsigned met = 0, flags, config;
  for (int i = 0; i < count; i++) {
    size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
    if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_FLETCHER32)
      return "passes through a filter other than shuffle, deflate and fletcher32";
    if (met & 1u << filter) return "passes through the same filter twice";
    met |= 1u << filter;
  }
  return NULL;
}

/* Checks that a dataset has its numbers in the file itself, only accepted filters, the expected type and shape, and
 * that enough of its numbers were written. Fills *out except for the values. */
static cb_status check(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected, hid_t dataset,
                       hid_t create, cb_hdf5_array *out) {
  const char *elsewhere = cb_hdf5_elsewhere(create);
  if (elsewhere)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' %s, expected numbers in the dataset itself", s->path,
                          name, elsewhere);
  const char *filter = cb_hdf5_foreign_filter(create);
  if (filter) return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' %s", s->path, name, filter);
  hsize_t dims[H5S_MAX_RANK] = {0};
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const H5T_class_t class = H5Tget_class(type);
  out->single = class == H5T_FLOAT && H5Tget_size(type) < sizeof(double);
  out->rank = H5Sget_simple_extent_dims(space, dims, NULL);
  const bool sound = (class != H5T_FLOAT && class != H5T_INTEGER) || cb_hdf5_is_number(type);
  H5Sclose(space);
  H5Tclose(type);
  put_shape(out->rank, dims, out->shape, sizeof out->shape);
  if (expected->class == H5T_NO_CLASS ? class != H5T_FLOAT && class != H5T_INTEGER : class != expected->class)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' does not contain %s, expected %s", s->path, name,
                          expected->class == H5T_FLOAT     ? "floating-point numbers"
                          : expected->class == H5T_INTEGER ? "integers"
                                                           : "numbers",
                          expected->texts);
  if (!sound)
    return cb_fail_placed(
        CB_ERROR_INPUT,
        "%s: error: dataset '%s' has numbers in a format that cannot be read: expected a standard format", s->path,
        name);
  if (out->rank < expected->least || out->rank > expected->maximum ||
      (expected->last && dims[out->rank - 1] != expected->last))
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' has the shape %s, expected %s", s->path, name,
                          out->shape, expected->texts);
  out->count = 1;
  for (int i = 0; i < out->rank; i++) {
    if (dims[i] < 1 || dims[i] > LIMIT)
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s' has the shape %s, expected lengths from 1 to %d",
                            s->path, name, out->shape, LIMIT);
    out->dims[i] = (int)dims[i];
    out->count = out->count > SIZE_MAX / 16 / dims[i] ? SIZE_MAX / 16 : out->count * dims[i];
  }
  const size_t written = count_written(dataset, create, out->rank, out->count);
  if (!written)
    return cb_fail_placed(
        CB_ERROR_INPUT, "%s: error: dataset '%s' of shape %s contains no numbers: expected a dataset that was written",
        s->path, name, out->shape);
  if (out->count / SPARSEST > written)
    return cb_fail_placed(
        CB_ERROR_INPUT,
        "%s: error: dataset '%s' of shape %s contains only %zu numbers: expected a dataset that was written completely",
        s->path, name, out->shape, written);
  return CB_OK;
}

static cb_status read_open(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected, hid_t dataset,
                           cb_hdf5_array *out) {
  cb_hdf5_array a;
  const hid_t create = H5Dget_create_plist(dataset);
  if (create < 0) return cb_hdf5_fail(s->path, "read '%s'", name);
  const cb_status status = check(s, name, expected, dataset, create, &a);
  H5Pclose(create);
  if (status) return status;
  a.value = malloc(a.count * sizeof *a.value);
  if (!a.value) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for the %zu numbers of '%s'", s->path, a.count, name);
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.value) < 0) {
    free(a.value);
    return cb_hdf5_fail(s->path, "read '%s'", name);
  }
  *out = a;
  return CB_OK;
}

/* HDF5 calls this when a path leads to another file. This function sets *met; the file is not opened. */
static herr_t refuse_link(const char *file, const char *group, const char *other, const char *object, unsigned *flags,
                          hid_t access, void *met) {
  (void)file;
  (void)group;
  (void)other;
  (void)object;
  (void)flags;
  (void)access;
  *(bool *)met = true;
  return -1;
}

static cb_status read_named(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected,
                            cb_hdf5_array *out) {
  bool met = false;
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_elink_cb(access, refuse_link, &met);
  const bool there = H5Lexists(s->file, name, access) > 0;
  const hid_t dataset = there ? H5Dopen2(s->file, name, access) : H5I_INVALID_HID;
  H5Pclose(access);
  if (met)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: '%s' is a link to another file, expected %s in this file",
                          s->path, name, expected->texts);
  if (!there)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: there is no dataset '%s', expected %s", s->path, name,
                          expected->texts);
  if (dataset < 0) return cb_hdf5_fail(s->path, "read '%s'", name);
  const cb_status status = read_open(s, name, expected, dataset, out);
  H5Dclose(dataset);
  return status;
}

cb_status cb_hdf5_read_array(const cb_hdf5_source *s, const char *name, const cb_hdf5_expected *expected,
                             cb_hdf5_array *out) {
  return cb_hdf5_unread(s->path, read_named(s, name, expected, out));
}

/* ---- Datasets and dimension scales */

/* Makes a virtual dataset over the dataset with the same path in the file `base`. */
static hid_t put_based(hid_t file, const char *base, const char *path, hid_t type, int rank, const hsize_t *dims) {
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, NULL);
  hid_t set = H5I_INVALID_HID;
  H5Pset_obj_track_times(create, false);
  H5Pset_attr_phase_change(create, 64, 0);
  H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED);
  if (cb_hdf5_set_virtual(create, space, base, path, space))
    set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(create);
  return set;
}

static hid_t put_or_base(hid_t file, const char *base, const char *path, hid_t type, int rank, const hsize_t *dims,
                         hid_t memory_type, const void *data) {
  size_t bytes = H5Tget_size(type);
  for (int d = 0; d < rank; d++) bytes *= dims[d];
  return base && bytes > CB_LARGE_BYTES ? put_based(file, base, path, type, rank, dims)
                                        : cb_hdf5_put_dataset(file, path, type, rank, dims, memory_type, data);
}

hid_t cb_hdf5_put_values(hid_t file, const char *path, int rank, const hsize_t *dims, const cb_hdf5_values *v) {
  if (v->texts) {
    const hid_t type = cb_hdf5_text_type(), set = put_or_base(file, v->base, path, type, rank, dims, type, v->texts);
    H5Tclose(type);
    return set;
  }
  if (v->numbers) return put_or_base(file, v->base, path, H5T_IEEE_F64LE, rank, dims, H5T_NATIVE_DOUBLE, v->numbers);
  if (v->integers) return put_or_base(file, v->base, path, H5T_STD_I64LE, rank, dims, H5T_NATIVE_INT64, v->integers);
  hsize_t count = 1;
  for (int d = 0; d < rank; d++) count *= dims[d];
  int64_t *index = malloc((count ? count : 1) * sizeof *index);
  if (!index) return H5I_INVALID_HID;
  for (hsize_t i = 0; i < count; i++) index[i] = (int64_t)i;
  const hid_t set = put_or_base(file, v->base, path, H5T_STD_I64LE, rank, dims, H5T_NATIVE_INT64, index);
  free(index);
  return set;
}

bool cb_hdf5_describe(hid_t set, const char *units, const char *doc) {
  return (!units || cb_hdf5_put_text(set, "units", units)) && (!doc || cb_hdf5_put_text(set, "long_name", doc));
}

bool cb_hdf5_make_scale(hid_t set, const char *name, const char *units, const char *doc) {
  const bool good = set >= 0 && H5DSset_scale(set, name) >= 0 && cb_hdf5_describe(set, units, doc);
  if (set >= 0) H5Dclose(set);
  return good;
}

bool cb_hdf5_put_scale(hid_t file, const char *name, size_t count, const cb_hdf5_values *values, const char *units,
                       const char *doc) {
  return cb_hdf5_make_scale(cb_hdf5_put_values(file, name, 1, &(hsize_t){count}, values), name, units, doc);
}

bool cb_hdf5_attach(hid_t file, hid_t set, const char *dimension, unsigned index) {
  const hid_t scale = H5Dopen2(file, dimension, H5P_DEFAULT);
  const bool good = scale >= 0 && H5DSattach_scale(set, scale, index) >= 0;
  if (scale >= 0) H5Dclose(scale);
  return good;
}
