/* Arrays in HDF5. See arrays.h. */
#include "record/arrays.h"

#include "record/output.h"
#include "record/scales.h"

#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 16, RANK = 6, ATTRIBUTE = 60000 };

struct cb_arrays {
  cb_output output;
  hid_t file;
  cb_hdf5_quiet quiet;
  cb_status status;
  char text[512]; /* of the first failure */
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

static void put(cb_arrays *a, const char *name, int rank, const char *const *dims, hid_t type, hid_t memory,
                const void *data, const char *units, const char *doc) {
  hsize_t shape[RANK] = {0};
  if (a->status) return;
  for (int d = 0; d < rank; d++) {
    const int at = find(a, dims[d]);
    if (at < 0) return; /* empty */
    shape[d] = a->dimension[at].count;
  }
  const hid_t set = cb_hdf5_put_dataset(a->file, name, type, rank, shape, memory, data);
  bool good = set >= 0 && cb_hdf5_describe(set, units, doc);
  for (int d = 0; d < rank && good; d++) good = cb_hdf5_attach(a->file, set, dims[d], (unsigned)d);
  if (!good) failed(a, name);
  if (set >= 0) H5Dclose(set);
}

void cb_arrays_put(cb_arrays *a, const char *name, int rank, const char *const *dims, const double *data,
                   const char *units, const char *doc) {
  put(a, name, rank, dims, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, data, units, doc);
}

void cb_arrays_put_integers(cb_arrays *a, const char *name, int rank, const char *const *dims, const int *data,
                            const char *doc) {
  put(a, name, rank, dims, H5T_STD_I32LE, H5T_NATIVE_INT, data, "1", doc);
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
