/* Reading a flow on a grid. See flow_grid.h. */
#include "io/flow_grid.h"
#include "io/record_hdf5.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T, X, Y, Z, AXES, MOST_RANK = 5 };
static const char *const axis_name[AXES] = {"time", "x", "y", "z"};

/* A dataset of numbers, read whole. */
typedef struct numbers {
  double *value;
  int rank;
  hsize_t dims[MOST_RANK];
  size_t count;
  bool single; /* stored in single precision */
} numbers;

typedef struct source {
  const char *path;
  hid_t file;
} source;

static cb_status read_open(const source *s, const char *name, const char *expected, hid_t dataset, numbers *out) {
  hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const H5T_class_t class = H5Tget_class(type);
  out->single = class == H5T_FLOAT && H5Tget_size(type) < sizeof(double);
  out->rank = H5Sget_simple_extent_ndims(space);
  hssize_t count = -1;
  if (out->rank >= 0 && out->rank <= MOST_RANK) {
    H5Sget_simple_extent_dims(space, out->dims, NULL);
    count = H5Sget_simple_extent_npoints(space);
  }
  H5Sclose(space);
  H5Tclose(type);
  if (class != H5T_FLOAT && class != H5T_INTEGER)
    return cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' is not of numbers, expected %s", s->path, name, expected);
  if (out->rank > MOST_RANK)
    return cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' has %d dimensions, expected %s", s->path, name, out->rank,
                   expected);
  if (count < 1 || !H5Dget_storage_size(dataset))
    return cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' of %d dimensions holds no numbers, expected %s", s->path,
                   name, out->rank, expected);
  out->count = (size_t)count;
  out->value = out->count <= SIZE_MAX / 16 ? malloc(out->count * sizeof *out->value) : NULL;
  if (!out->value)
    return cb_fail(CB_ERROR_MEMORY, "%s: no memory for the %zu numbers of '%s'", s->path, out->count, name);
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->value) < 0)
    return cb_hdf5_fail(s->path, "read '%s'", name);
  return CB_OK;
}

static cb_status read_numbers(const source *s, const char *name, const char *expected, numbers *out) {
  if (H5Lexists(s->file, name, H5P_DEFAULT) <= 0)
    return cb_fail(CB_ERROR_INPUT, "%s: error: no dataset '%s', expected %s", s->path, name, expected);
  hid_t dataset = H5Dopen2(s->file, name, H5P_DEFAULT);
  if (dataset < 0) return cb_hdf5_fail(s->path, "read '%s'", name);
  const cb_status status = read_open(s, name, expected, dataset, out);
  H5Dclose(dataset);
  return status;
}

/* Is the row even? Its first value and spacing. Values may be off by what their storage rounds them by. */
static cb_status check_even(const source *s, const char *name, const numbers *row, double *origin, double *spacing) {
  const double *v = row->value;
  const size_t last = row->count - 1;
  const double step = last ? (v[last] - v[0]) / (double)last : 1,
               slack =
                   1e-6 * fabs(step) + 4 * (row->single ? FLT_EPSILON : DBL_EPSILON) * fmax(fabs(v[0]), fabs(v[last]));
  for (size_t i = 0; i <= last; i++) {
    const double expected = v[0] + (double)i * step;
    if (!isfinite(v[i]))
      return cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s': value %zu is %g", s->path, name, i + 1, v[i]);
    if (i && !(v[i] > v[i - 1]))
      return cb_fail(CB_ERROR_INPUT,
                     "%s: error: dataset '%s': value %zu is %.9g after %.9g, expected values that ascend", s->path,
                     name, i + 1, v[i], v[i - 1]);
    if (isfinite(v[last]) && !(fabs(v[i] - expected) <= slack))
      return cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s': value %zu is %.9g, expected %.9g: evenly spaced by %.9g",
                     s->path, name, i + 1, v[i], expected, step);
  }
  *origin = v[0];
  *spacing = step;
  return CB_OK;
}

/* One direction, of n points. */
static cb_status read_axis(const source *s, int axis, hsize_t n, double *origin, double *spacing) {
  const char *name = axis_name[axis];
  char expected[64];
  numbers row = {0};
  *origin = 0, *spacing = 1;
  if (n == 1) return CB_OK;
  snprintf(expected, sizeof expected, "the %s of %llu points", axis == T ? "times" : "places", (unsigned long long)n);
  cb_status status = read_numbers(s, name, expected, &row);
  if (!status && (row.rank != 1 || row.count != n))
    status =
        cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' has %d dimensions and %zu numbers, expected %s of 'velocity'",
                s->path, name, row.rank, row.count, expected);
  if (!status) status = check_even(s, name, &row, origin, spacing);
  free(row.value);
  return status;
}

/* attribute `periodic` of 3 or 4 integers, if it is there. */
static cb_status read_periodic(const source *s, bool periodic[4]) {
  int value[4] = {0};
  if (H5Aexists_by_name(s->file, "velocity", "periodic", H5P_DEFAULT) <= 0) return CB_OK;
  hid_t attribute = H5Aopen_by_name(s->file, "velocity", "periodic", H5P_DEFAULT, H5P_DEFAULT);
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  const bool ok =
      (n == 3 || n == 4) && H5Tget_class(type) == H5T_INTEGER && H5Aread(attribute, H5T_NATIVE_INT, value) >= 0;
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  if (!ok)
    return cb_fail(CB_ERROR_INPUT,
                   "%s: error: attribute 'periodic' of 'velocity': expected 3 integers (x, y, z) or 4 (and time)",
                   s->path);
  for (int k = 0; k < 4; k++) periodic[k] = value[k] != 0;
  return CB_OK;
}

static const char shape[] = "[x, y, z, 3] or [time, x, y, z, 3]";

static cb_status read_all(const source *s, numbers *velocity, cb_flow **out) {
  cb_status status = read_numbers(s, "velocity", shape, velocity);
  if (status) return status;
  const int rank = velocity->rank;
  if (rank < 4 || velocity->dims[rank - 1] != 3)
    return cb_fail(CB_ERROR_INPUT, "%s: error: dataset 'velocity' has %d dimensions, the last of %llu, expected %s",
                   s->path, rank, rank ? (unsigned long long)velocity->dims[rank - 1] : 0, shape);
  cb_flow_grid grid = {.times = 1, .u = velocity->value};
  for (int k = rank == 4 ? X : T; k < AXES && !status; k++) {
    const hsize_t n = velocity->dims[k - (rank == 4)];
    if (n > 1 << 30)
      return cb_fail(CB_ERROR_INPUT, "%s: error: dataset 'velocity' has %llu points along %s, expected at most 2^30",
                     s->path, (unsigned long long)n, axis_name[k]);
    if (k == T)
      grid.times = (int)n;
    else
      grid.n[k - X] = (int)n;
    status =
        read_axis(s, k, n, k == T ? &grid.start : &grid.origin[k - X], k == T ? &grid.interval : &grid.spacing[k - X]);
  }
  if (!status) status = read_periodic(s, grid.periodic);
  if (status) return status;
  status = cb_flow_from_grid(&grid, out);
  if (!status || status == CB_ERROR_MEMORY) return status;
  char text[256];
  snprintf(text, sizeof text, "%s", cb_error_text());
  return cb_fail(CB_ERROR_INPUT, "%s: error: dataset 'velocity': %s", s->path, text);
}

cb_status cb_flow_read_grid(const char *path, cb_flow **out) {
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  hid_t access = cb_hdf5_file_access(false);
  source s = {path, H5Fopen(path, H5F_ACC_RDONLY, access)};
  H5Pclose(access);
  numbers velocity = {0};
  const cb_status status = s.file < 0 ? cb_hdf5_fail(path, "read") : read_all(&s, &velocity, out);
  if (s.file >= 0) H5Fclose(s.file);
  free(velocity.value);
  cb_hdf5_quiet_end(quiet);
  return status;
}
