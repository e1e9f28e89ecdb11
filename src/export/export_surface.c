/* Exports the moving, deforming surfaces of bodies in a fluid: an XDMF 3 document and the HDF5 file of its numbers, or
 * a file of the format STL or OBJ per frame.
 *
 *   x = X + R g(t),  v = R (V + W × g(t) + g'(t))
 *
 * for the position x and velocity v of each vertex in flat space, with the pose (R, X) and the twist (W, V) of the
 * record and the position g in the body at the time t of the row. The file has /plot_position [frame, vertex, 3] (m,
 * in the world; in a curved space in plot coordinates, fluid/immersed_run.h), /plot_velocity (m/s, if the record has
 * twists), /time [frame], /row [frame], /face [face, 3], and the body and its part, counted from 0, in /body [face],
 * /part [face]. Vertices and faces are listed for all bodies, one body after another. Like a record the file has
 * dimension scales and the attributes of netCDF-4.
 */
#include "core/failure.h"
#include "scenario/private.h"
#include "export/export.h"
#include "fluid/immersed_run.h"
#include "core/text.h"
#include "record/output.h"
#include "numerics/numerics_curved.h"
#include "record/arrays.h"
#include <curvebody/pose.h>
#include <curvebody/scenario.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 10000 };
static const uint64_t maximum_bytes = UINT64_C(2) << 30;

typedef struct frame {
  double *pose, *twist;     /* [bodies][7], [bodies][6] */
  double (*g)[3], (*dg)[3]; /* [maximum]: position and velocity of the vertices of one body, in its frame */
  double (*x)[3];           /* [vertices]: positions of the vertices of all bodies in the world */
  double (*v)[3];           /* [vertices]: velocities of the vertices of all bodies in the world */
} frame;

/* ---- the record ---- */

size_t cb_export_find_field(const cb_reader *reader, const char *name, size_t width) {
  const cb_reader_field *field;
  size_t n = cb_reader_fields(reader, &field);
  for (size_t f = 1; f < n; f++)
    if (!strcmp(field[f].name, name) && field[f].rank == 2 && field[f].shape[1] == width) return f;
  return 0;
}

cb_status cb_export_has_bodies(cb_reader *reader, const char *path, bool *out) {
  const cb_configuration *class;
  const cb_status status = cb_scenario_class_of_record(reader, path, &class);
  if (!status) *out = class && class->body && cb_export_find_field(reader, "pose", 7);
  return status;
}

cb_status cb_export_bodies_find(cb_export_bodies *s, const cb_scenario *scenario) {
  const cb_reader_field *field;
  cb_reader_fields(s->reader, &field);
  s->pose = cb_export_find_field(s->reader, "pose", 7);
  s->twist = cb_export_find_field(s->reader, "twist", 6);
  s->rows = cb_reader_position(s->reader).rows;
  s->bodies = (size_t)cb_scenario_bodies(scenario);
  if (!s->pose || field[s->pose].shape[0] != s->bodies)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: the record has poses of %zu bodies, but its scenario has %zu bodies", s->path,
                          s->pose ? field[s->pose].shape[0] : 0, s->bodies);
  if (s->twist && field[s->twist].shape[0] != s->bodies)
    return cb_fail_placed(CB_ERROR_INPUT,
                          "%s: error: the record has twists of %zu bodies, but its scenario has %zu bodies", s->path,
                          field[s->twist].shape[0], s->bodies);
  s->body = malloc(s->bodies * sizeof *s->body);
  if (!s->body) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", s->bodies);
  for (size_t b = 0; b < s->bodies; b++) {
    s->body[b] = cb_scenario_body(scenario, (int)b);
    const cb_surface *surface = cb_immersed_surface(s->body[b]);
    s->vertices += (size_t)surface->vertices;
    s->faces += (size_t)surface->faces;
    if (s->maximum < (size_t)surface->vertices) s->maximum = (size_t)surface->vertices;
  }
  if (s->vertices > INT_MAX || s->faces > INT_MAX)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: the bodies have %zu vertices and %zu faces, expected at most %d of each",
                   s->path, s->vertices, s->faces, INT_MAX);
  return CB_OK;
}

/* Sets s->every: one of every s->every rows becomes a frame. If `every` is 0, this is the smallest number with which
 * there are at most 10 000 frames and 2 GiB. bytes is the size of a frame. */
static void choose(cb_export_bodies *s, uint64_t every, uint64_t bytes) {
  uint64_t maximum = bytes > maximum_bytes / MAX_FRAMES ? maximum_bytes / (bytes ? bytes : 1) : MAX_FRAMES;
  if (!maximum) maximum = 1;
  s->every = every ? every : (s->rows + maximum - 1) / maximum;
  if (!s->every) s->every = 1;
  s->frames = (s->rows + s->every - 1) / s->every;
}

/* ---- positions of vertices ---- */

static void free_frame(frame *f) {
  free(f->pose);
  free(f->twist);
  free(f->g);
  free(f->dg);
  free(f->x);
  free(f->v);
}

static cb_status make_frame(const cb_export_bodies *s, frame *f) {
  *f = (frame){.pose = malloc(s->bodies * 7 * sizeof(double)),
               .twist = calloc(s->bodies * 6, sizeof(double)),
               .g = malloc(s->maximum * sizeof *f->g),
               .dg = malloc(s->maximum * sizeof *f->dg),
               .x = malloc(s->vertices * sizeof *f->x),
               .v = malloc(s->vertices * sizeof *f->v)};
  if (f->pose && f->twist && f->g && f->dg && f->x && f->v) return CB_OK;
  free_frame(f);
  return cb_fail(CB_ERROR_MEMORY, "%s: no memory for surfaces of %zu vertices", s->path, s->vertices);
}

/* Computes the velocity X_xi(y) + y' of a vertex y, which has the normal coordinates g in the body: xi is the twist,
 * X_xi its Killing field, and K the curvature. The components are along the body's axes, transported from the body's
 * origin to the vertex. */
static void carried(double K, const double twist[6], const double g[3], const double dg[3], double out[3]) {
  double y[4], u[4], turn[3];
  cb_curved_point(K, g, y);
  cb_curved_velocity(K, g, dg, u);
  cb_cross3(twist, y, turn);
  for (int k = 0; k < 3; k++) u[k] += turn[k] + y[3] * twist[3 + k];
  u[3] -= K * cb_dot3(twist + 3, y);
  for (int k = 0; k < 3; k++) out[k] = u[k] - u[3] / (1 + y[3]) * y[k];
}

static void place_curved(double K, const cb_pose *pose, const double twist[6], const double g[3], const double dg[3],
                         double to[3], double velocity[3]) {
  const cb_pose vertex = {.q = {1}, .x = {g[0], g[1], g[2]}};
  double own[3], r[3][3];
  cb_pose at;
  cb_pose_multiply_in(K, pose, &vertex, &at);
  carried(K, twist, g, dg, own);
  cb_pose_rotation(&at, r);
  cb_apply3((const double(*)[3])r, own, velocity);
  const double factor = cb_plot_factor(K, at.x);
  for (int k = 0; k < 3; k++) velocity[k] *= factor;
  cb_plot_place(K, at.x, to);
}

void cb_export_place(double K, const double at[7], const double twist[6], size_t n, const double (*g)[3],
                     const double (*dg)[3], double (*to)[3], double (*velocity)[3]) {
  const cb_pose pose = {.q = {at[3], at[4], at[5], at[6]}, .x = {at[0], at[1], at[2]}};
  if (K != 0) {
    for (size_t i = 0; i < n; i++) place_curved(K, &pose, twist, g[i], dg[i], to[i], velocity[i]);
    return;
  }
  double r[3][3], u[3], x[3];
  cb_pose_rotation(&pose, r);
  for (size_t i = 0; i < n; i++) {
    cb_cross3(twist, g[i], u);
    for (int k = 0; k < 3; k++) u[k] += twist[3 + k] + dg[i][k];
    cb_apply3((const double(*)[3])r, g[i], x);
    cb_apply3((const double(*)[3])r, u, velocity[i]);
    for (int k = 0; k < 3; k++) to[i][k] = at[k] + x[k];
  }
}

/* Computes the positions of the vertices of all bodies at a row and, if the record has twists, their velocities.
 * Copies of a body have the same shape. */
static cb_status place(const cb_export_bodies *s, uint64_t row, double time, frame *f) {
  cb_status status = cb_reader_rows(s->reader, s->pose, row, 1, f->pose);
  if (!status && s->twist) status = cb_reader_rows(s->reader, s->twist, row, 1, f->twist);
  for (size_t b = 0, first = 0; !status && b < s->bodies; b++) {
    size_t n = (size_t)cb_immersed_surface(s->body[b])->vertices;
    if (b == 0 || s->body[b] != s->body[b - 1]) status = cb_immersed_shape(s->body[b], time, f->g, f->dg);
    if (!status)
      cb_export_place(cb_immersed_surface(s->body[b])->curvature, &f->pose[7 * b], &f->twist[6 * b], n,
                      (const double(*)[3])f->g, (const double(*)[3])f->dg, f->x + first, f->v + first);
    first += n;
  }
  return status;
}

/* ---- dimension scales and attributes of the file of numbers ---- */

/* Writes the numbers of the rows: 0, by, 2 by, ... */
static hid_t put_rows(hid_t file, size_t count, uint64_t by) {
  int64_t *row = malloc((count ? count : 1) * sizeof *row);
  if (!row) return H5I_INVALID_HID;
  for (size_t i = 0; i < count; i++) row[i] = (int64_t)(i * by);
  const hid_t set = cb_hdf5_put_values(file, "row", 1, &(hsize_t){count}, &(cb_hdf5_values){.integers = row});
  free(row);
  return set;
}

static bool put_scale(hid_t file, const char *name, size_t count, const char *doc) {
  return cb_hdf5_put_scale(file, name, count, &(cb_hdf5_values){.integers = NULL}, NULL, doc);
}

typedef struct described {
  const char *name, *dims[3], *units, *doc;
} described;

static const described arrays[] = {
    {"row", {"time"}, NULL, "row of the record"},
    {"face", {"triangle", "corner"}, NULL, "vertices of a triangle, outward"},
    {"body", {"triangle"}, NULL, "body of a triangle"},
    {"part", {"triangle"}, NULL, "part of the body"},
    {"plot_position", {"time", "vertex", "axis"}, "m", "positions of vertices; in a curved space, in plot coordinates"},
    {"plot_velocity", {"time", "vertex", "axis"}, "m/s", "velocities of vertices"}};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static bool describe_array(hid_t file, const described *a) {
  const hid_t set = H5Dopen2(file, a->name, H5P_DEFAULT);
  bool good = set >= 0 && cb_hdf5_describe(set, a->units, a->doc);
  for (unsigned d = 0; good && d < 3 && a->dims[d]; d++) good = cb_hdf5_attach(file, set, a->dims[d], d);
  if (set >= 0) H5Dclose(set);
  return good;
}

static bool put_scales(hid_t file, const cb_export_bodies *s) {
  static const char *const axis[] = {"x", "y", "z"};
  const hid_t row = put_rows(file, s->frames, s->every);
  bool good = row >= 0 && H5Dclose(row) >= 0 &&
              cb_hdf5_make_scale(H5Dopen2(file, "time", H5P_DEFAULT), "time", "s", "time") &&
              put_scale(file, "vertex", s->vertices, "vertices of all bodies") &&
              put_scale(file, "triangle", s->faces, "triangles of all bodies") &&
              put_scale(file, "corner", 3, "corners of a triangle") &&
              cb_hdf5_put_scale(file, "axis", 3, &(cb_hdf5_values){.texts = axis}, NULL, "axes of the world") &&
              cb_hdf5_put_text(file, "Conventions", "CF-1.10") && cb_hdf5_put_text(file, "title", s->title);
  for (int i = 0; i < ARRAYS - !s->twist && good; i++) good = describe_array(file, &arrays[i]);
  return good;
}

/* ---- the file of numbers ---- */

static bool put_faces(const cb_export_bodies *s, hid_t file, int *number) {
  int(*face)[3] = (int(*)[3])number, *body = number + 3 * s->faces, *part = body + s->faces, at = 0, first = 0;
  for (size_t b = 0; b < s->bodies; b++) {
    const cb_surface *surface = cb_immersed_surface(s->body[b]);
    for (int i = 0; i < surface->faces; i++, at++) {
      for (int k = 0; k < 3; k++) face[at][k] = first + surface->face[i][k];
      body[at] = (int)b;
      part[at] = surface->part[i];
    }
    first += surface->vertices;
  }
  const hsize_t dims[] = {s->faces, 3};
  const struct {
    const char *name;
    int rank;
    const int *data;
  } put[] = {{"face", 2, number}, {"body", 1, body}, {"part", 1, part}};
  bool good = true;
  for (int i = 0; i < 3 && good; i++) {
    hid_t dataset =
        cb_hdf5_put_dataset(file, put[i].name, H5T_STD_I32LE, put[i].rank, dims, H5T_NATIVE_INT, put[i].data);
    good = dataset >= 0 && H5Dclose(dataset) >= 0;
  }
  return good;
}

/* Writes frame i of a series [frame, n, 3]. */
static bool put_frame(hid_t dataset, uint64_t i, size_t n, const double (*data)[3]) {
  const hsize_t start[] = {i, 0, 0}, count[] = {1, n, 3};
  hid_t memory = H5Screate_simple(3, count, NULL), space = H5Dget_space(dataset);
  bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
              H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  return good;
}

static cb_status put_frames(const cb_export_bodies *s, hid_t file, const char *out, const double *time, frame *f) {
  const hsize_t dims[] = {s->frames, s->vertices, 3};
  hid_t x = cb_hdf5_put_dataset(file, "plot_position", H5T_IEEE_F64LE, 3, dims, H5I_INVALID_HID, NULL),
        v = H5I_INVALID_HID;
  if (s->twist) v = cb_hdf5_put_dataset(file, "plot_velocity", H5T_IEEE_F32LE, 3, dims, H5I_INVALID_HID, NULL);
  cb_status status = x < 0 || (s->twist && v < 0) ? cb_hdf5_fail(out, "write") : CB_OK;
  for (uint64_t i = 0; i < s->frames && !status; i++) {
    status = place(s, i * s->every, time[i], f);
    if (!status && (!put_frame(x, i, s->vertices, (const double(*)[3])f->x) ||
                    (s->twist && !put_frame(v, i, s->vertices, (const double(*)[3])f->v))))
      status = cb_hdf5_fail(out, "write");
  }
  if (x >= 0) H5Dclose(x);
  if (v >= 0) H5Dclose(v);
  return status;
}

static cb_status put_numbers(const cb_export_bodies *s, hid_t file, const char *out, const double *time) {
  frame f;
  cb_status status = make_frame(s, &f);
  if (status) return status;
  int *number = malloc(5 * s->faces * sizeof *number);
  if (!number)
    status = cb_fail(CB_ERROR_MEMORY, "%s: no memory for %zu faces", s->path, s->faces);
  else if (!put_faces(s, file, number))
    status = cb_hdf5_fail(out, "write");
  free(number);
  const hsize_t dims[] = {s->frames};
  if (!status) {
    hid_t dataset = cb_hdf5_put_dataset(file, "time", H5T_IEEE_F64LE, 1, dims, H5T_NATIVE_DOUBLE, time);
    if (dataset < 0 || H5Dclose(dataset) < 0) status = cb_hdf5_fail(out, "write");
  }
  if (!status) status = put_frames(s, file, out, time, &f);
  if (!status && !put_scales(file, s)) status = cb_hdf5_fail(out, "write");
  free_frame(&f);
  return status;
}

static cb_status write_numbers(const cb_export_bodies *s, const char *name, const double *time) {
  cb_output output;
  hid_t file;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_output_open_hdf5(name, false, &output, &file);
  if (!status) status = cb_output_close_hdf5(&output, file, put_numbers(s, file, name, time));
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* ---- the document ---- */

static void put_attribute(FILE *stream, const char *name, const char *center, const cb_xdmf_array *array) {
  fprintf(stream, "<Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"%s\">", name, center);
  cb_xdmf_put_array(stream, array);
  fputs("</Attribute>\n", stream);
}

static void put_grid(const cb_export_bodies *s, FILE *stream, const char *file, uint64_t i, double time) {
  char text[32];
  cb_export_number(text, time);
  fprintf(stream, "<Grid Name=\"row %llu\" GridType=\"Uniform\"><Time Value=\"%s\"/>\n",
          (unsigned long long)(i * s->every), text);
  fprintf(stream, "<Topology TopologyType=\"Triangle\" NumberOfElements=\"%zu\">", s->faces);
  cb_xdmf_put_array(stream, &(cb_xdmf_array){file, "face", "Int", 4, 2, {s->faces, 3}});
  fputs("</Topology>\n<Geometry GeometryType=\"XYZ\">", stream);
  cb_xdmf_put_row(stream, &(cb_xdmf_array){file, "plot_position", "Float", 8, 2, {s->vertices, 3}}, s->frames, i);
  fputs("</Geometry>\n", stream);
  put_attribute(stream, "body", "Cell", &(cb_xdmf_array){file, "body", "Int", 4, 1, {s->faces}});
  put_attribute(stream, "part", "Cell", &(cb_xdmf_array){file, "part", "Int", 4, 1, {s->faces}});
  if (s->twist) {
    fputs("<Attribute Name=\"velocity\" AttributeType=\"Vector\" Center=\"Node\">", stream);
    cb_xdmf_put_row(stream, &(cb_xdmf_array){file, "plot_velocity", "Float", 4, 2, {s->vertices, 3}}, s->frames, i);
    fputs("</Attribute>\n", stream);
  }
  fputs("</Grid>\n", stream);
}

static cb_status write_document(const cb_export_bodies *s, const char *out, const char *numbers, const double *time) {
  const char *slash = strrchr(numbers, '/'), *file = slash ? slash + 1 : numbers;
  cb_output output;
  FILE *stream;
  cb_status status = cb_output_open_text(out, &output, &stream);
  if (status) return status;
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\"><Domain>\n", stream);
  fprintf(stream, "<!-- every %llu of %llu rows -->\n", (unsigned long long)s->every, (unsigned long long)s->rows);
  fputs("<Grid Name=\"surfaces\" GridType=\"Collection\" CollectionType=\"Temporal\">\n", stream);
  for (uint64_t i = 0; i < s->frames && !ferror(stream); i++) put_grid(s, stream, file, i, time[i]);
  fputs("</Grid>\n</Domain></Xdmf>\n", stream);
  return cb_output_close_text(&output, stream, CB_OK);
}

cb_status cb_export_check_output(const char *path, const char *record, const cb_scenario *scenario, bool derived) {
  const cb_files files = cb_scenario_files(scenario);
  cb_reader *reader;
  cb_status status = cb_output_check(path, &(cb_files){&record, 1});
  if (!status) status = cb_output_check(path, &files);
  if (status || !derived || cb_reader_open(path, &reader)) return status;
  cb_reader_close(reader);
  return cb_fail_placed(CB_ERROR_INPUT,
                        "%s: error: the export also writes this file, but it exists and is a record: expected another "
                        "name of the output",
                        path);
}

static cb_status write_both(cb_export_bodies *s, const cb_scenario *scenario, const char *out) {
  const char *dot = strrchr(out, '.'), *slash = strrchr(out, '/');
  size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - out) : strlen(out), length = stem + 12;
  char *name = malloc(length);
  double *time = malloc((s->frames ? s->frames : 1) * sizeof *time);
  cb_status status = name && time ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory to export %s", s->path);
  for (uint64_t i = 0; i < s->frames && !status; i++) status = cb_reader_rows(s->reader, 0, i * s->every, 1, &time[i]);
  if (!status) {
    snprintf(name, length, "%.*s-surface.h5", (int)stem, out);
    status = cb_export_check_output(name, s->path, scenario, true);
  }
  if (!status) status = cb_export_check_output(out, s->path, scenario, false);
  if (!status) status = write_numbers(s, name, time);
  if (!status) status = write_document(s, out, name, time);
  free(name);
  free(time);
  return status;
}

/* ---- a file per frame ---- */

cb_status cb_export_check_finite(const char *path, uint64_t row, size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite((float)x[i]))
      return cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: row %llu: expected finite times and positions, found nan, inf or a number "
                            "beyond single precision",
                            path, (unsigned long long)row);
  return CB_OK;
}

static void put_u32(FILE *stream, uint32_t bits) {
  for (int k = 0; k < 4; k++) fputc((int)(bits >> 8 * k & 255), stream);
}

static void put_vector(FILE *stream, const double x[3]) {
  for (int k = 0; k < 3; k++) {
    const float value = (float)x[k];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(stream, bits);
  }
}

/* Writes a frame as binary STL: 80 bytes, the number of triangles, then for each triangle its normal, its corners and
 * two bytes. */
static void put_stl(const cb_export_bodies *s, const frame *f, FILE *stream) {
  fprintf(stream, "%-80.80s", "surfaces of bodies");
  put_u32(stream, (uint32_t)s->faces);
  const double(*x)[3] = (const double(*)[3])f->x;
  for (size_t b = 0; b < s->bodies; b++) {
    const cb_surface *surface = cb_immersed_surface(s->body[b]);
    for (int i = 0; i < surface->faces; i++) {
      const int *corner = surface->face[i];
      double u[3], v[3], n[3];
      for (int k = 0; k < 3; k++) {
        u[k] = x[corner[1]][k] - x[corner[0]][k];
        v[k] = x[corner[2]][k] - x[corner[0]][k];
      }
      cb_cross3(u, v, n);
      const double size = sqrt(cb_dot3(n, n));
      for (int k = 0; k < 3; k++) n[k] /= size > 0 ? size : 1;
      put_vector(stream, n);
      for (int k = 0; k < 3; k++) put_vector(stream, x[corner[k]]);
      fputc(0, stream);
      fputc(0, stream);
    }
    x += surface->vertices;
  }
}

/* Writes a frame in the format OBJ, with one object per body and one group per part. */
static void put_obj(const cb_export_bodies *s, const cb_scenario *scenario, const frame *f, FILE *stream) {
  char text[32];
  for (size_t i = 0; i < s->vertices; i++) {
    fputs("v", stream);
    for (int k = 0; k < 3; k++) {
      cb_export_number(text, f->x[i][k]);
      fprintf(stream, " %s", text);
    }
    fputc('\n', stream);
  }
  int first = 1;
  for (size_t b = 0; b < s->bodies; b++) {
    const cb_surface *surface = cb_immersed_surface(s->body[b]);
    fprintf(stream, "o %s\n", cb_scenario_body_name(scenario, (int)b));
    for (int p = 0; p < surface->parts; p++) {
      fprintf(stream, "g %s/%s\n", cb_scenario_body_name(scenario, (int)b), surface->name[p]);
      for (int i = 0; i < surface->faces; i++) {
        const int *corner = surface->face[i];
        if (surface->part[i] == p)
          fprintf(stream, "f %d %d %d\n", first + corner[0], first + corner[1], first + corner[2]);
      }
    }
    first += surface->vertices;
  }
}

/* Writes the file of a frame: out-0000.stl for the first frame of out.stl. */
static cb_status write_frame(const cb_export_bodies *s, const cb_scenario *scenario, const frame *f, const char *out,
                             uint64_t i) {
  const char *dot = strrchr(out, '.');
  const size_t length = strlen(out) + 24;
  char *name = malloc(length);
  cb_output output;
  FILE *stream;
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory to export %s", s->path);
  snprintf(name, length, "%.*s-%04llu%s", (int)(dot - out), out, (unsigned long long)i, dot);
  cb_status status = cb_export_check_output(name, s->path, scenario, true);
  if (!status && !(status = cb_output_open_text(name, &output, &stream))) {
    output.unsynced = true;
    if (!strcmp(dot, ".obj"))
      put_obj(s, scenario, f, stream);
    else
      put_stl(s, f, stream);
    status = cb_output_close_text(&output, stream, CB_OK);
  }
  free(name);
  return status;
}

static cb_status write_sequence(cb_export_bodies *s, const cb_scenario *scenario, const char *out) {
  frame f;
  cb_status status = make_frame(s, &f);
  if (status) return status;
  for (uint64_t i = 0; i < s->frames && !status; i++) {
    double time;
    status = cb_reader_rows(s->reader, 0, i * s->every, 1, &time);
    if (!status) status = place(s, i * s->every, time, &f);
    if (!status) status = cb_export_check_finite(s->path, i * s->every, 3 * s->vertices, *f.x);
    if (!status) status = write_frame(s, scenario, &f, out, i);
  }
  free_frame(&f);
  return status;
}

/* ---- the record and its scenario ---- */

cb_status cb_export_scenario(cb_reader *reader, const char *path, cb_scenario **scenario) {
  const char *text;
  const cb_status status = cb_reader_scenario(reader, "resolved", &text);
  return status ? status : cb_scenario_open_record(path, text, NULL, 0, scenario);
}

cb_status cb_export_surface(cb_reader *reader, const char *path, const char *out, uint64_t every) {
  cb_export_bodies s = {.reader = reader, .path = path};
  cb_scenario *scenario = NULL;
  cb_status status = cb_export_scenario(reader, path, &scenario);
  if (!status) s.title = cb_scenario_title(scenario);
  if (!status) status = cb_export_bodies_find(&s, scenario);
  if (!status) choose(&s, every, s.vertices * (3 * sizeof(double) + (s.twist ? 3 * sizeof(float) : 0)));
  if (!status) status = write_both(&s, scenario, out);
  free(s.body);
  cb_scenario_free(scenario);
  return status;
}

cb_status cb_record_export_sequence(const char *path, const char *out, uint64_t every, uint64_t *frames) {
  cb_export_bodies s = {.path = path};
  cb_scenario *scenario = NULL;
  bool bodies = false;
  cb_status status = cb_reader_open(path, &s.reader);
  if (status) return status;
  status = cb_export_has_bodies(s.reader, path, &bodies);
  if (!status && !bodies)
    status = cb_fail(CB_ERROR_ARGUMENT, "%s: a sequence of surfaces needs a record of bodies in a fluid", path);
  if (!status) status = cb_export_scenario(s.reader, path, &scenario);
  if (!status) status = cb_export_bodies_find(&s, scenario);
  if (!status && !s.rows) status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: the record has no rows", path);
  if (!status) choose(&s, every, s.faces * 50);
  if (!status) status = write_sequence(&s, scenario, out);
  *frames = s.frames;
  free(s.body);
  cb_scenario_free(scenario);
  cb_reader_close(s.reader);
  return status;
}
