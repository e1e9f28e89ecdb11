/* Poses of a body from one HDF5 file. */
#include "io/pose_sequence.h"
#include "io/record_hdf5.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK = 3 };

typedef struct sequence {
  const char *path, *dataset;
  hid_t file;
  int poses, vertices, faces;
  double (*x)[3];  /* [poses * vertices] */
  double *time;    /* [poses]; NULL: by step */
  int (*face)[3];  /* NULL: the file has none */
} sequence;

/* ---- one dataset ---- */

typedef struct array {
  hid_t dataset;
  hsize_t dims[MOST_RANK];
} array;

/* Writes [2, 3, ..] of the first `rank` dimensions. */
static void put_shape(char text[128], int rank, const hsize_t *dims) {
  int n = snprintf(text, 128, "[");
  for (int i = 0; i < rank && n < 100; i++)
    n += snprintf(text + n, 128 - (size_t)n, "%s%llu", i ? ", " : "", (unsigned long long)dims[i]);
  snprintf(text + n, 128 - (size_t)n, "]");
}

/* Opens a dataset whose numbers are of one class, of `rank` dimensions of which the last is `width` (0: any), and that
 * holds any; `expected` says so in words. The dataset stays open on success only. */
static cb_status open_array(const sequence *s, const char *name, H5T_class_t class, int rank, hsize_t width,
                            const char *expected, array *out) {
  hid_t dataset = H5Dopen2(s->file, name, H5P_DEFAULT);
  if (dataset < 0)
    return H5Lexists(s->file, name, H5P_DEFAULT) > 0
               ? cb_hdf5_fail(s->path, "read '%s'", name)
               : cb_fail(CB_ERROR_INPUT, "%s: error: no dataset '%s', expected %s", s->path, name, expected);
  hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  H5T_class_t found_class = H5Tget_class(type);
  hsize_t dims[H5S_MAX_RANK] = {0};
  int found = H5Sget_simple_extent_dims(space, dims, NULL);
  H5Sclose(space);
  H5Tclose(type);
  cb_status status = CB_OK;
  char shape[128];
  put_shape(shape, found, dims);
  if (found_class != class)
    status = cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' is not of %s, expected %s", s->path, name,
                     class == H5T_FLOAT ? "floating-point numbers" : "integers", expected);
  else if (found != rank || (width && dims[rank - 1] != width))
    status = cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' has the shape %s, expected %s", s->path, name, shape,
                     expected);
  for (int i = 0; i < rank && !status; i++)
    if (dims[i] < 1 || dims[i] > INT_MAX / 3)
      status = cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' has the shape %s, expected from 1 to %d each", s->path,
                       name, shape, INT_MAX / 3);
  if (!status && !H5Dget_storage_size(dataset))
    status = cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s' of shape %s holds no numbers", s->path, name, shape);
  if (status) {
    H5Dclose(dataset);
    return status;
  }
  *out = (array){.dataset = dataset};
  memcpy(out->dims, dims, (size_t)rank * sizeof *dims);
  return CB_OK;
}

/* All numbers of an array, which is closed; malloc'd. */
static cb_status read_array(const sequence *s, const char *name, array *a, int rank, hid_t type, size_t size,
                            void *out) {
  size_t n = 1;
  for (int i = 0; i < rank; i++) n = n > SIZE_MAX / size / a->dims[i] ? SIZE_MAX / size : n * a->dims[i];
  void *data = malloc(n * size);
  cb_status status = CB_OK;
  if (!data) status = cb_fail(CB_ERROR_MEMORY, "%s: no memory for the %zu numbers of '%s'", s->path, n, name);
  else if (H5Dread(a->dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    status = cb_hdf5_fail(s->path, "read '%s'", name);
  H5Dclose(a->dataset);
  if (status) {
    free(data);
    return status;
  }
  memcpy(out, &data, sizeof data);
  return CB_OK;
}

/* ---- poses, times, faces ---- */

static cb_status check_finite(const sequence *s) {
  for (int i = 0; i < s->poses; i++)
    for (int v = 0; v < s->vertices; v++) {
      const double *x = s->x[(size_t)i * (size_t)s->vertices + (size_t)v];
      if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        return cb_fail(CB_ERROR_INPUT, "%s: error: dataset '%s': pose %d: vertex %d is not finite: (%g, %g, %g)",
                       s->path, s->dataset, i + 1, v + 1, x[0], x[1], x[2]);
    }
  return CB_OK;
}

static cb_status read_poses(sequence *s, const cb_surface *mesh) {
  array a;
  cb_status status = open_array(s, s->dataset, H5T_FLOAT, 3, 3, "[pose, vertex, 3]", &a);
  if (status) return status;
  if (mesh && a.dims[1] != (hsize_t)mesh->vertices) {
    char shape[128];
    put_shape(shape, 3, a.dims);
    H5Dclose(a.dataset);
    return cb_fail(CB_ERROR_INPUT,
                   "%s: error: dataset '%s' has the shape %s, expected [pose, %d, 3]: the mesh has %d vertices",
                   s->path, s->dataset, shape, mesh->vertices, mesh->vertices);
  }
  s->poses = (int)a.dims[0];
  s->vertices = (int)a.dims[1];
  status = read_array(s, s->dataset, &a, 3, H5T_NATIVE_DOUBLE, sizeof(double), &s->x);
  return status ? status : check_finite(s);
}

static cb_status read_times(sequence *s, double start) {
  array a;
  cb_status status = open_array(s, "time", H5T_FLOAT, 1, 0, "[pose], or a step", &a);
  if (status) return status;
  if (a.dims[0] != (hsize_t)s->poses) {
    H5Dclose(a.dataset);
    return cb_fail(CB_ERROR_INPUT, "%s: error: dataset 'time' has the shape [%llu], expected [%d]: '%s' has %d poses",
                   s->path, (unsigned long long)a.dims[0], s->poses, s->dataset, s->poses);
  }
  status = read_array(s, "time", &a, 1, H5T_NATIVE_DOUBLE, sizeof(double), &s->time);
  for (int i = 0; !status && i < s->poses; i++) s->time[i] += start;
  return status;
}

static cb_status read_faces(sequence *s) {
  array a;
  long long *number = NULL;
  cb_status status = open_array(s, "face", H5T_INTEGER, 2, 3, "[face, 3], or the mesh whose poses these are", &a);
  if (status) return status;
  int faces = (int)a.dims[0];
  status = read_array(s, "face", &a, 2, H5T_NATIVE_LLONG, sizeof *number, &number);
  if (status) return status;
  s->face = malloc((size_t)faces * sizeof *s->face);
  if (!s->face) status = cb_fail(CB_ERROR_MEMORY, "%s: no memory for %d faces", s->path, faces);
  for (int f = 0; f < faces && !status; f++)
    for (int k = 0; k < 3 && !status; k++) {
      long long v = number[3 * (size_t)f + (size_t)k];
      if (v < 0 || v >= s->vertices)
        status = cb_fail(CB_ERROR_INPUT, "%s: error: dataset 'face': face %d: vertex number %lld, expected 0 to %d",
                         s->path, f + 1, v, s->vertices - 1);
      else s->face[f][k] = (int)v;
    }
  s->faces = faces;
  free(number);
  return status;
}

static cb_status check_same(const sequence *s, const cb_surface *mesh) {
  if (s->faces != mesh->faces)
    return cb_fail(CB_ERROR_INPUT, "%s: error: dataset 'face' has the shape [%d, 3], expected [%d, 3] as the mesh has",
                   s->path, s->faces, mesh->faces);
  for (int f = 0; f < s->faces; f++) {
    const int *a = s->face[f], *b = mesh->face[f];
    if (memcmp(a, b, sizeof s->face[f]))
      return cb_fail(CB_ERROR_INPUT,
                     "%s: error: dataset 'face': face %d has the vertices %d, %d, %d (counted from 0), expected "
                     "%d, %d, %d as in the mesh",
                     s->path, f + 1, a[0], a[1], a[2], b[0], b[1], b[2]);
  }
  return CB_OK;
}

/* ---- the file ---- */

static cb_status read_file(sequence *s, const cb_surface *mesh, const cb_poses_times *times) {
  cb_status status = read_poses(s, mesh);
  if (!status && !(times->step > 0)) status = read_times(s, times->start);
  if (!status && (!mesh || H5Lexists(s->file, "face", H5P_DEFAULT) > 0)) status = read_faces(s);
  return !status && mesh ? s->face ? check_same(s, mesh) : CB_OK : status;
}

/* An error of arrays as one of the file. */
static cb_status of_file(const sequence *s, cb_status status) {
  if (status != CB_ERROR_ARGUMENT && status != CB_ERROR_DOMAIN) return status;
  return cb_fail(CB_ERROR_INPUT, "%s: error: %s", s->path, cb_error_text());
}

static cb_status build(const sequence *s, const cb_poses_times *times, cb_surface **rest, cb_poses **out) {
  const double(*x)[3] = (const double(*)[3])s->x;
  cb_surface *surface = NULL;
  cb_poses_times when = *times;
  when.time = s->time;
  if (s->time && when.period == 0 && s->poses > 1)
    when.period = (s->time[s->poses - 1] - s->time[0]) * s->poses / (s->poses - 1);
  cb_status status = rest ? cb_surface_make(s->vertices, x, s->faces, (const int(*)[3])s->face, NULL, &surface) : CB_OK;
  if (!status) status = cb_poses_from_arrays(s->vertices, s->poses, x, &when, out);
  if (status) cb_surface_free(surface);
  else if (rest) *rest = surface;
  return of_file(s, status);
}

cb_status cb_poses_read_sequence(const char *path, const char *dataset, const cb_surface *mesh,
                                 const cb_poses_times *times, cb_surface **rest, cb_poses **out) {
  if (!mesh && !rest) return cb_fail(CB_ERROR_ARGUMENT, "%s: poses without a mesh", path);
  if (!(times->step >= 0))
    return cb_fail(CB_ERROR_ARGUMENT, "%s: poses with step %g, expected 0 or more", path, times->step);
  sequence s = {.path = path, .dataset = dataset ? dataset : "poses"};
  cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  s.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  cb_status status = s.file < 0 ? cb_hdf5_fail(path, "read") : read_file(&s, mesh, times);
  if (s.file >= 0) H5Fclose(s.file);
  cb_hdf5_quiet_end(quiet);
  if (!status) status = build(&s, times, mesh ? NULL : rest, out);
  free(s.x);
  free(s.time);
  free(s.face);
  return status;
}
