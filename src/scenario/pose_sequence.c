/* Poses of a body from one HDF5 file (scenario/hdf5_input.h). */
#include "core/failure.h"
#include "scenario/hdf5_input.h"
#include "record/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the file ---- */

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
