/* Inputs from HDF5 files (scenario/hdf5_input.h): the poses of a body, and bundles from a table, as in `bundle: {name:
 * samples, file: purcell.h5, degree: 5}`. */
#include "scenario/hdf5_input.h"

#include "core/failure.h"
#include "record/arrays.h"
#include "scenario/bundle_scenario.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- poses of a body --- */

typedef struct sequence {
  cb_hdf5_source file;
  const char *path, *dataset;
  int poses, vertices, faces;
  double (*x)[3]; /* [poses * vertices] */
  double *time;   /* [poses]; NULL: the step gives the times */
  int (*face)[3]; /* NULL: the file has no faces */
} sequence;

/* ---- poses, times, faces ---- */

static cb_status check_finite(const sequence *s) {
  for (int i = 0; i < s->poses; i++)
    for (int v = 0; v < s->vertices; v++) {
      const double *x = s->x[(size_t)i * (size_t)s->vertices + (size_t)v];
      if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        return cb_fail_placed(
            CB_ERROR_INPUT,
            "%s: error: dataset '%s': pose %d: expected finite coordinates of vertex %d, found (%g, %g, %g)", s->path,
            s->dataset, i + 1, v + 1, x[0], x[1], x[2]);
    }
  return CB_OK;
}

static cb_status read_poses(sequence *s, const cb_surface *mesh) {
  static const cb_hdf5_expected expected = {H5T_FLOAT, 3, 3, 3, "[pose, vertex, 3]"};
  cb_hdf5_array a;
  const cb_status status = cb_hdf5_read_array(&s->file, s->dataset, &expected, &a);
  if (status) return status;
  s->poses = a.dims[0];
  s->vertices = a.dims[1];
  s->x = (double(*)[3])a.value;
  if (mesh && s->vertices != mesh->listed)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: dataset '%s' has the shape %s, expected [pose, %d, 3]: the mesh has %d vertices",
                          s->path, s->dataset, a.shape, mesh->listed, mesh->listed);
  return check_finite(s);
}

static cb_status read_times(sequence *s, double start) {
  static const cb_hdf5_expected expected = {H5T_FLOAT, 1, 1, 0, "[pose], or a step"};
  cb_hdf5_array a;
  const cb_status status = cb_hdf5_read_array(&s->file, "time", &expected, &a);
  if (status) return status;
  s->time = a.value;
  if (a.dims[0] != s->poses)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: dataset 'time' has the shape %s, expected [%d]: '%s' has %d poses", s->path,
                          a.shape, s->poses, s->dataset, s->poses);
  for (int i = 0; i < s->poses; i++) s->time[i] += start;
  return CB_OK;
}

static cb_status read_faces(sequence *s) {
  static const cb_hdf5_expected expected = {H5T_INTEGER, 2, 2, 3, "[face, 3], or the mesh of these poses"};
  cb_hdf5_array a;
  cb_status status = cb_hdf5_read_array(&s->file, "face", &expected, &a);
  if (status) return status;
  s->faces = a.dims[0];
  s->face = malloc((size_t)s->faces * sizeof *s->face);
  if (!s->face) status = cb_fail(CB_ERROR_MEMORY, "%s: no memory for %d faces", s->path, s->faces);
  for (int f = 0; f < s->faces && !status; f++)
    for (int k = 0; k < 3 && !status; k++) {
      const double v = a.value[3 * (size_t)f + (size_t)k];
      if (v < 0 || v >= s->vertices)
        status =
            cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset 'face': face %d: vertex number %.0f, expected 0 to %d",
                           s->path, f + 1, v, s->vertices - 1);
      else
        s->face[f][k] = (int)v;
    }
  free(a.value);
  return status;
}

/* Finds the vertices v of the mesh that correspond to a face of the file. Returns false if the mesh has joined two of
 * these vertices and therefore has no such face. */
static bool in_mesh(const cb_surface *mesh, const int *face, int v[3]) {
  bool joined = false;
  for (int k = 0; k < 3; k++) v[k] = mesh->vertex[face[k]];
  for (int k = 0, next = 1; k < 3; k++, next = (k + 1) % 3)
    joined |= v[k] >= 0 && v[k] == v[next] && face[k] != face[next];
  return !joined;
}

static cb_status check_same(const sequence *s, const cb_surface *mesh) {
  int count = 0, v[3];
  for (int f = 0; f < s->faces; f++) count += in_mesh(mesh, s->face[f], v);
  if (count != mesh->faces)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: dataset 'face' has the shape [%d, 3], expected [%d, 3] as in the mesh", s->path,
                          count, mesh->faces);
  for (int f = 0, at = 0; f < s->faces; f++) {
    if (!in_mesh(mesh, s->face[f], v)) continue;
    const int *a = s->face[f], *c = mesh->face[at++],
              b[3] = {mesh->number[c[0]] - 1, mesh->number[c[1]] - 1, mesh->number[c[2]] - 1};
    if (memcmp(v, c, sizeof v))
      return cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: dataset 'face': face %d has the vertices %d, %d, %d (counted from 0), expected "
                            "%d, %d, %d as in the mesh",
                            s->path, f + 1, a[0], a[1], a[2], b[0], b[1], b[2]);
  }
  return CB_OK;
}

/* ---- the file of poses ---- */

static cb_status read_file(sequence *s, const cb_surface *mesh, const cb_poses_times *times) {
  cb_status status = read_poses(s, mesh);
  if (!status && !(times->step > 0)) status = read_times(s, times->start);
  if (!status && (!mesh || H5Lexists(s->file.file, "face", H5P_DEFAULT) > 0)) status = read_faces(s);
  return !status && mesh ? s->face ? check_same(s, mesh) : CB_OK : status;
}

/* Adds the path of the file to the message of an error in its data. */
static cb_status of_file(const sequence *s, cb_status status) {
  if (status != CB_ERROR_ARGUMENT && status != CB_ERROR_DOMAIN) return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s", s->path, cb_error_text());
}

static cb_status gather(const sequence *s, const cb_surface *body) {
  for (int i = 0; i < s->poses; i++) {
    const double(*x)[3] = (const double(*)[3])s->x + (size_t)i * (size_t)body->listed;
    const int apart = cb_surface_torn(body, x);
    if (apart >= 0)
      return cb_fail_placed(
          CB_ERROR_INPUT,
          "%s: error: dataset '%s': pose %d: vertex %d does not coincide with vertex %d, to which `weld` joins it: "
          "expected equal coordinates",
          s->path, s->dataset, i + 1, apart + 1, body->number[body->vertex[apart]]);
    cb_surface_gather(body, x, s->x + (size_t)i * (size_t)body->vertices);
  }
  return CB_OK;
}

static cb_status build(const sequence *s, const cb_surface *mesh, const cb_poses_times *times, const cb_mending *how,
                       cb_surface **rest, cb_poses **out) {
  const cb_mesh own = {.name = s->path,
                       .n_vertices = (size_t)s->vertices,
                       .vertices = s->x,
                       .n_triangles = (size_t)s->faces,
                       .triangles = s->face};
  cb_mending posed = how ? *how : (cb_mending){.weld = false};
  cb_surface *surface = NULL;
  cb_poses_times when = *times;
  when.time = s->time;
  posed.posed = true;
  if (s->time && when.period == 0 && s->poses > 1)
    when.period = (s->time[s->poses - 1] - s->time[0]) * s->poses / (s->poses - 1);
  cb_status status = mesh ? CB_OK : cb_surface_of_mesh(&own, &posed, &surface);
  const cb_surface *body = mesh ? mesh : surface;
  if (!status) status = gather(s, body);
  if (!status) status = cb_poses_from_arrays(body->vertices, s->poses, (const double(*)[3])s->x, &when, out);
  if (status)
    cb_surface_free(surface);
  else if (!mesh)
    *rest = surface;
  return of_file(s, status);
}

cb_status cb_poses_read_sequence(const char *path, const char *dataset, const cb_surface *mesh,
                                 const cb_poses_times *times, const cb_mending *how, cb_surface **rest,
                                 cb_poses **out) {
  if (!mesh && !rest) return cb_fail(CB_ERROR_ARGUMENT, "%s: poses need a mesh: expected `mesh` or `rest`", path);
  if (!(times->step >= 0))
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a step >= 0 of the poses, found %g", path, times->step);
  sequence s = {.path = path, .dataset = dataset ? dataset : "poses"};
  cb_status status = cb_hdf5_source_open(path, &s.file);
  if (status) return status;
  status = read_file(&s, mesh, times);
  status = cb_hdf5_source_close(&s.file, status);
  if (!status) status = build(&s, mesh, times, how, rest, out);
  free(s.x);
  free(s.time);
  free(s.face);
  return status;
}

/* --- bundles from tables --- */

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

/* ---- the file of a table ---- */

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

/* Reads the names of the shape variables from the attribute `shape` of the file. If it is absent, they are the names of
 * the dimension scales of the dataset `connection`. */
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
