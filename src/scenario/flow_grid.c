/* Reading a flow on a grid. See flow_grid.h. */
#include "core/failure.h"
#include "scenario/flow_grid.h"
#include "record/array.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { T, X, Y, Z, AXES };
static const char *const axis_name[AXES] = {"time", "x", "y", "z"};

/* Is the row even? Its first value and spacing. Values may be off by what their storage rounds them by. */
static cb_status check_even(const cb_hdf5_source *s, const char *name, const cb_hdf5_array *row, double *origin,
                            double *spacing) {
  const double *v = row->value;
  const size_t last = row->count - 1;
  const double step = last ? (v[last] - v[0]) / (double)last : 1,
               slack =
                   1e-6 * fabs(step) + 4 * (row->single ? FLT_EPSILON : DBL_EPSILON) * fmax(fabs(v[0]), fabs(v[last]));
  for (size_t i = 0; i <= last; i++) {
    const double expected = v[0] + (double)i * step;
    if (!isfinite(v[i]))
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s': value %zu is %g", s->path, name, i + 1, v[i]);
    if (i && !(v[i] > v[i - 1]))
      return cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: dataset '%s': value %zu is %.9g after %.9g, expected values that ascend",
                            s->path, name, i + 1, v[i], v[i - 1]);
    if (isfinite(v[last]) && !(fabs(v[i] - expected) <= slack))
      return cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: dataset '%s': value %zu is %.9g, expected %.9g: evenly spaced by %.9g", s->path,
                            name, i + 1, v[i], expected, step);
  }
  *origin = v[0];
  *spacing = step;
  return CB_OK;
}

/* One direction, of n points. */
static cb_status read_axis(const cb_hdf5_source *s, int axis, int n, double *origin, double *spacing) {
  char words[64];
  const cb_hdf5_expected expected = {H5T_NO_CLASS, 1, 1, (hsize_t)n, words};
  cb_hdf5_array row;
  *origin = 0, *spacing = 1;
  if (n == 1) return CB_OK;
  snprintf(words, sizeof words, "[%d], the %s of 'velocity'", n, axis == T ? "times" : "places");
  cb_status status = cb_hdf5_read_array(s, axis_name[axis], &expected, &row);
  if (status) return status;
  status = check_even(s, axis_name[axis], &row, origin, spacing);
  free(row.value);
  return status;
}

/* attribute `periodic` of 3 or 4 integers, if it is there. */
static cb_status read_periodic(const cb_hdf5_source *s, bool periodic[4]) {
  int value[4] = {0};
  if (H5Aexists_by_name(s->file, "velocity", "periodic", H5P_DEFAULT) <= 0) return CB_OK;
  bool ok = false;
  for (size_t n = 3; n <= 4 && !ok; n++)
    ok = cb_hdf5_get_numbers(s->file, "velocity", "periodic", H5T_INTEGER, H5T_NATIVE_INT, n, value);
  if (!ok)
    return cb_fail_placed(
        CB_ERROR_INPUT, "%s: error: attribute 'periodic' of 'velocity': expected 3 integers (x, y, z) or 4 (and time)",
        s->path);
  for (int k = 0; k < 4; k++) periodic[k] = value[k] != 0;
  return CB_OK;
}

static cb_status make(const cb_hdf5_source *s, const cb_hdf5_array *velocity, cb_flow **out) {
  const bool steady = velocity->rank == 4;
  cb_flow_grid grid = {.times = steady ? 1 : velocity->dims[0], .u = velocity->value};
  cb_status status = steady ? CB_OK : read_axis(s, T, grid.times, &grid.start, &grid.interval);
  for (int k = 0; k < 3 && !status; k++) {
    grid.n[k] = velocity->dims[k + !steady];
    status = read_axis(s, X + k, grid.n[k], &grid.origin[k], &grid.spacing[k]);
  }
  if (!status) status = read_periodic(s, grid.periodic);
  status = cb_hdf5_unread(s->path, status);
  if (status) return status;
  status = cb_flow_from_grid(&grid, out);
  if (!status || status == CB_ERROR_MEMORY) return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset 'velocity': %s", s->path, cb_error_text());
}

cb_status cb_flow_read_grid(const char *path, cb_flow **out) {
  static const cb_hdf5_expected expected = {H5T_NO_CLASS, 4, 5, 3, "[x, y, z, 3] or [time, x, y, z, 3]"};
  cb_hdf5_source s;
  cb_hdf5_array velocity = {.value = NULL};
  cb_status status = cb_hdf5_source_open(path, &s);
  if (status) return status;
  status = cb_hdf5_read_array(&s, "velocity", &expected, &velocity);
  if (!status) status = make(&s, &velocity, out);
  status = cb_hdf5_source_close(&s, status);
  free(velocity.value);
  return status;
}
