/* Bundles from a table in an HDF5 file: `bundle: {name: samples, file: purcell.h5, degree: 5}`
 * (scenario/hdf5_input.h). */
#include "scenario/hdf5_input.h"
#include "scenario/bundle_scenario.h"
#include "core/failure.h"
#include "record/arrays.h"

#include <stddef.h>
#include <stdlib.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct samples_parameters {
  const cb_node *file;
  int degree;
} samples_parameters;

static const cb_param samples_params[] = {
    {"file", CB_PARAM_NODE, offsetof(samples_parameters, file), NULL, "", "", NULL,
     "an HDF5 file: axes named by the shape variables, /connection, /metric, attribute `group`"},
    {"degree", CB_PARAM_INT, offsetof(samples_parameters, degree), "0", "", "[0, 5]", NULL,
     "degree of the spline, 3 or 5; 0: 5 if there are enough points"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status read_samples(cb_scenario *s, const cb_node *map, cb_bundle **out) {
  static const char *const name[] = {"name"};
  samples_parameters p;
  const char *text;
  cb_status status = cb_params_bind(samples_params, map, map, name, 1, &p);
  if (!status) status = cb_node_string(p.file, &text);
  if (status) return status;
  if (p.degree != 0 && p.degree != 3 && p.degree != 5)
    return cb_node_fail(cb_node_get(map, "degree"), "degree: expected 3 or 5, found %d", p.degree);
  status = cb_scenario_file(s, p.file, &text);
  return status ? status : cb_bundle_samples_read(text, p.degree, out);
}

const cb_scenario_bundle_class cb_scenario_bundle_samples = {
    "samples", "Table", "connection and metric on a grid, interpolated by splines", samples_params, read_samples};

/* --- the file --- */

enum { LONGEST_NAME = 128 };

typedef struct table {
  cb_bundle_table t;
  char name[CB_SAMPLES_AXES][LONGEST_NAME];
  cb_hdf5_array connection, metric, axis[CB_SAMPLES_AXES];
} table;

static void clear(table *f) {
  free(f->connection.value);
  free(f->metric.value);
  for (int i = 0; i < CB_SAMPLES_AXES; i++) free(f->axis[i].value);
}

static char *text_of(const cb_hdf5_source *s, const char *name) {
  enum { LIMIT = 4096 };
  char *text = cb_hdf5_get_text_attribute(s->file, name);
  const hid_t attribute = text ? H5I_INVALID_HID : cb_hdf5_attribute(s->file, ".", name, H5T_STRING, 1);
  if (attribute < 0) return text;
  const hid_t type = H5Aget_type(attribute);
  const size_t size = H5Tget_size(type);
  if (H5Tis_variable_str(type) == 0 && size <= LIMIT) text = calloc(size + 1, 1);
  if (text && H5Aread(attribute, type, text) < 0) {
    free(text);
    text = NULL;
  }
  for (char *end = text ? text + strlen(text) : NULL; end && end > text && end[-1] == ' '; end--) end[-1] = 0;
  H5Tclose(type);
  H5Aclose(attribute);
  return text;
}

/* Reads an attribute of the file, a string of fixed or variable length; *out is NULL if it does not exist. The caller
 * frees *out. */
static cb_status read_text(const cb_hdf5_source *s, const char *name, char **out) {
  errno = 0;
  *out = text_of(s, name);
  if (!*out && errno == ENOMEM) return cb_fail(CB_ERROR_MEMORY, "no memory for attribute '%s' of %s", name, s->path);
  return CB_OK;
}

static cb_status read_group(const cb_hdf5_source *s, table *f) {
  char *name;
  cb_status status = read_text(s, "group", &name);
  if (status) return status;
  if (!name)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: the attribute 'group' is missing: expected the name of a group such as 'se2'",
                          s->path);
  f->t.group = cb_group_find(name);
  if (!f->t.group)
    status = cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: attribute 'group': there is no group '%.40s', expected a name such as 'se2'",
                            s->path, name);
  free(name);
  return status;
}

static cb_status read_connection(const cb_hdf5_source *s, table *f) {
  static const cb_hdf5_expected expected = {H5T_NO_CLASS, 3, 2 + CB_SAMPLES_AXES, 0,
                                            "[N1, .., dim, n] with dim axes of the group and n shape variables"};
  const cb_status status = cb_hdf5_read_array(s, "connection", &expected, &f->connection);
  if (status) return status;
  const cb_hdf5_array *a = &f->connection;
  const int n = f->t.n = a->rank - 2, dim = f->t.group->dim;
  if (a->dims[n] != dim || a->dims[n + 1] != n)
    return cb_fail_placed(
        CB_ERROR_INPUT,
        "%s: error: dataset 'connection' has the shape %s, expected [%s, %d, %d]: %d shape variables, %d axes of %s",
        s->path, a->shape, n > 1 ? "N1, .." : "N1", dim, n, n, dim, f->t.group->name);
  f->t.connection = a->value;
  for (int i = 0; i < n; i++) f->t.points[i] = a->dims[i];
  return CB_OK;
}

static cb_status read_metric(const cb_hdf5_source *s, table *f) {
  const int n = f->t.n;
  const cb_hdf5_expected expected = {H5T_NO_CLASS, n + 2, n + 2, (hsize_t)n, "[N1, .., n, n]"};
  if (H5Lexists(s->file, "metric", H5P_DEFAULT) <= 0) return CB_OK;
  const cb_status status = cb_hdf5_read_array(s, "metric", &expected, &f->metric);
  if (status) return status;
  bool same = f->metric.dims[n] == n;
  for (int i = 0; i < n; i++) same = same && f->metric.dims[i] == f->t.points[i];
  if (!same)
    return cb_fail_placed(
        CB_ERROR_INPUT,
        "%s: error: dataset 'metric' has the shape %s: expected the grid of 'connection', whose shape is %s", s->path,
        f->metric.shape, f->connection.shape);
  f->t.metric = f->metric.value;
  return CB_OK;
}

/* Reads the names of the axes, from the attribute `shape` or from the scales of the connection. */
static cb_status read_names(const cb_hdf5_source *s, table *f) {
  char *list, *rest = NULL;
  const cb_status status = read_text(s, "shape", &list);
  if (status) return status;
  if (list) {
    int count = 0;
    for (char *token = strtok_r(list, " ,\t\n", &rest); token; token = strtok_r(NULL, " ,\t\n", &rest), count++)
      if (count < f->t.n) snprintf(f->name[count], LONGEST_NAME, "%s", token);
    free(list);
    if (count != f->t.n)
      return cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: attribute 'shape' has %d names: expected %d, one per axis of 'connection'",
                            s->path, count, f->t.n);
  } else {
    const hid_t dataset = H5Dopen2(s->file, "connection", H5P_DEFAULT);
    for (int i = 0; dataset >= 0 && i < f->t.n; i++) {
      char *scale = cb_hdf5_scale_name(dataset, f->connection.rank, i);
      if (scale && strlen(scale) < LONGEST_NAME) strcpy(f->name[i], scale);
      free(scale);
    }
    if (dataset >= 0) H5Dclose(dataset);
  }
  for (int i = 0; i < f->t.n; i++) {
    f->t.shape[i] = f->name[i];
    if (!f->name[i][0])
      return cb_fail_placed(
          CB_ERROR_INPUT,
          "%s: error: dimension %d of 'connection' has no scale: expected a scale, or an attribute 'shape' of the file",
          s->path, i + 1);
    for (int j = 0; j < i; j++)
      if (!strcmp(f->name[i], f->name[j]))
        return cb_fail_placed(
            CB_ERROR_INPUT,
            "%s: error: dimensions %d and %d of 'connection' have the same axis '%s': expected different axes", s->path,
            j + 1, i + 1, f->name[i]);
  }
  return CB_OK;
}

/* Reads the attribute `period` of an axis, if it is present. */
static cb_status read_period(const cb_hdf5_source *s, const char *name, double *period) {
  *period = 0;
  if (H5Aexists_by_name(s->file, name, "period", H5P_DEFAULT) <= 0) return CB_OK;
  const bool ok = cb_hdf5_get_numbers(s->file, name, "period", H5T_FLOAT, H5T_NATIVE_DOUBLE, 1, period) ||
                  cb_hdf5_get_numbers(s->file, name, "period", H5T_INTEGER, H5T_NATIVE_DOUBLE, 1, period);
  if (ok) return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: attribute 'period' of '%s': expected a number", s->path, name);
}

static cb_status read_axis(const cb_hdf5_source *s, table *f, int i) {
  char texts[64];
  const cb_hdf5_expected expected = {H5T_NO_CLASS, 1, 1, (hsize_t)f->t.points[i], texts};
  snprintf(texts, sizeof texts, "[%d], dimension %d of 'connection'", f->t.points[i], i + 1);
  const cb_status status = cb_hdf5_read_array(s, f->name[i], &expected, &f->axis[i]);
  if (status) return status;
  f->t.axis[i] = f->axis[i].value;
  return read_period(s, f->name[i], &f->t.period[i]);
}

static cb_status read_table(const cb_hdf5_source *s, table *f) {
  cb_status status = read_group(s, f);
  if (!status) status = read_connection(s, f);
  if (!status) status = read_metric(s, f);
  if (!status) status = read_names(s, f);
  for (int i = 0; i < f->t.n && !status; i++) status = read_axis(s, f, i);
  return status;
}

cb_status cb_bundle_samples_read(const char *path, int degree, cb_bundle **out) {
  cb_hdf5_source s;
  table f = {.t = {.n = 0}};
  cb_status status = cb_hdf5_source_open(path, &s);
  if (status) return status;
  status = cb_hdf5_unread(path, read_table(&s, &f));
  if (!status) {
    status = cb_bundle_samples(&f.t, degree, out);
    if (status && status != CB_ERROR_MEMORY)
      status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s", path, cb_error_text());
  }
  status = cb_hdf5_source_close(&s, status);
  clear(&f);
  return status;
}
