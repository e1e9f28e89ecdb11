/* Exports the flow of a perfect fluid around the bodies of a record at one row (potential/field.h): an XDMF 3 document
 * and the HDF5 file of its numbers.
 *
 *   grid         /u [z, y, x, 3] (m/s), /p [z, y, x] (Pa, relative to the pressure far away), nan in bodies. Along
 *                each axis the points are at /origin plus i times /spacing (m), i = 0, 1, ..; /origin and /spacing have
 *                one number per axis
 *   surface      /x [vertex, 3], /face [face, 3]; per face /body and, on the side of its normal, /phi (m^2/s), /face_p,
 *                /face_u; with sheets /phi_back, /face_p_back, /face_u_back on the other side, 0 on solids
 *   streamlines  /line [line, point, 3]; per point /line_u and the /radius of a stream tube, whose width at its seed is
 *                about half the distance between neighbouring seeds
 *
 * The flow is the one that the bodies felt, according to the `coupling` of the run (flow_solve.c). With `exact` it is
 * the flow around all bodies together. With `dipole` each body is in the dipole flow of the others, and the flow of the
 * others does not pass through this body, up to the order of the coupling. Without a coupling the bodies did not feel
 * each other. The flow on the grid is then the sum of the flows around each body alone, which pass through the other
 * bodies, and its pressure is the sum of their pressures. On a surface there is then only the flow of its own body. u,
 * p and phi are velocity, pressure and potential. The faces are the faces of the scenario. If the run used finer faces
 * for its added mass, the error of the given faces is reported, as the error of the kinetic energy of the fluid. The
 * wall of the coupling is included: behind it u and p are nan. Floor, the wall of `added_mass`, weight and wakes are
 * not included. The accelerations in p are differences of the twists of three rows, of second order in the time between
 * rows (first order in a record of two rows). Streamlines are computed for u - V - W × (x - X), the flow relative to
 * the first body, which is at X with the velocity V and angular velocity W.
 */
#include "export/export.h"
#include "scenario/private.h"

#include "core/failure.h"
#include "core/text.h"
#include "core/threads.h"
#include "fluid/immersed_run.h"
#include "record/output.h"
#include "scenario/warnings.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the two files --- */

typedef struct numbers {
  /* grid: the XDMF grid of which the array is an attribute; NULL: it is no attribute. center: "Node" or "Cell" */
  const char *name, *grid, *center;
  bool whole; /* the values are int; otherwise double */
  int rank;
  size_t shape[4];
  const void *data;
} numbers;

enum { TABLES = 16 };
static void list_numbers(const cb_export_scene *s, numbers table[TABLES]) {
  const size_t nx = (size_t)s->how.grid[0], ny = (size_t)s->how.grid[1], nz = (size_t)s->how.grid[2],
               faces = (size_t)s->faces, lines = (size_t)s->lines, backs = s->sheets ? faces : 0;
  const numbers all[TABLES] = {{"u", "grid", "Node", false, 4, {nz, ny, nx, 3}, s->u},
                               {"p", "grid", "Node", false, 3, {nz, ny, nx}, s->p},
                               {"x", NULL, NULL, false, 2, {(size_t)s->vertices, 3}, s->x},
                               {"face", NULL, NULL, true, 2, {faces, 3}, s->face},
                               {"body", "surface", "Cell", true, 1, {faces}, s->body},
                               {"phi", "surface", "Cell", false, 1, {faces}, s->face_phi[0]},
                               {"face_p", "surface", "Cell", false, 1, {faces}, s->face_p[0]},
                               {"face_u", "surface", "Cell", false, 2, {faces, 3}, s->face_u[0]},
                               {"line", NULL, NULL, false, 3, {lines, CB_FLOW_LINE, 3}, s->line},
                               {"line_u", "streamlines", "Node", false, 3, {lines, CB_FLOW_LINE, 3}, s->line_u},
                               {"radius", "streamlines", "Node", false, 2, {lines, CB_FLOW_LINE}, s->radius},
                               {"phi_back", "surface", "Cell", false, 1, {backs}, s->face_phi[1]},
                               {"face_p_back", "surface", "Cell", false, 1, {backs}, s->face_p[1]},
                               {"face_u_back", "surface", "Cell", false, 2, {backs, 3}, s->face_u[1]},
                               {"origin", NULL, NULL, false, 1, {3}, s->origin},
                               {"spacing", NULL, NULL, false, 1, {3}, s->spacing}};
  memcpy(table, all, sizeof all);
}

/* Write the HDF5 file of the numbers, and the XDMF document. */
static cb_status export_flow_numbers(const cb_export_scene *s, const char *name) {
  numbers table[TABLES];
  cb_output output;
  hid_t file;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = cb_output_open_hdf5(name, false, &output, &file);
  if (!status) {
    list_numbers(s, table);
    for (int i = 0; i < TABLES && !status; i++) {
      hsize_t dims[4];
      for (int d = 0; d < 4; d++) dims[d] = table[i].shape[d];
      if (!dims[0]) continue;
      const hid_t kind[2] = {table[i].whole ? H5T_STD_I32LE : H5T_IEEE_F64LE,
                             table[i].whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE};
      const hid_t dataset =
          cb_hdf5_put_dataset(file, table[i].name, kind[0], table[i].rank, dims, kind[1], table[i].data);
      if (dataset < 0 || H5Dclose(dataset) < 0) status = cb_hdf5_fail(name, "write");
    }
    status = cb_output_close_hdf5(&output, file, status);
  }
  cb_hdf5_quiet_end(quiet);
  return status;
}

static void put_numbers(FILE *stream, const char *file, const numbers *n) {
  cb_xdmf_array array = {file, n->name, n->whole ? "Int" : "Float", n->whole ? 4 : 8, n->rank, {0}};
  memcpy(array.shape, n->shape, sizeof array.shape);
  cb_xdmf_put_array(stream, &array);
}

static void put_grid(const cb_export_scene *s, FILE *stream, const char *file, const char *grid,
                     const numbers table[TABLES]) {
  char text[6][32];
  cb_export_number(text[0], s->time);
  fprintf(stream, "<Grid Name=\"%s\" GridType=\"Uniform\"><Time Value=\"%s\"/>\n", grid, text[0]);
  if (!strcmp(grid, "grid")) {
    for (int k = 0; k < 3; k++) {
      cb_export_number(text[k], s->origin[2 - k]);
      cb_export_number(text[3 + k], s->spacing[2 - k]);
    }
    fprintf(
        stream,
        "<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%d %d %d\"/>\n<Geometry GeometryType=\"ORIGIN_DXDYDZ\">",
        s->how.grid[2], s->how.grid[1], s->how.grid[0]);
    for (int k = 0; k < 6; k += 3)
      fprintf(stream,
              "<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">%s %s %s</DataItem>",
              text[k], text[k + 1], text[k + 2]);
  } else if (!strcmp(grid, "surface")) {
    fprintf(stream, "<Topology TopologyType=\"Triangle\" NumberOfElements=\"%d\">", s->faces);
    put_numbers(stream, file, &table[3]);
    fputs("</Topology>\n<Geometry GeometryType=\"XYZ\">", stream);
    put_numbers(stream, file, &table[2]);
  } else {
    fprintf(stream, "<Topology TopologyType=\"Polyline\" NumberOfElements=\"%d\" NodesPerElement=\"%d\">", s->lines,
            CB_FLOW_LINE);
    fprintf(stream, "<DataItem Dimensions=\"%d %d\" NumberType=\"Int\" Format=\"XML\">", s->lines, CB_FLOW_LINE);
    for (int i = 0; i < s->lines * CB_FLOW_LINE; i++) fprintf(stream, "%d%c", i, (i + 1) % CB_FLOW_LINE ? ' ' : '\n');
    fputs("</DataItem></Topology>\n<Geometry GeometryType=\"XYZ\">", stream);
    put_numbers(stream, file, &table[8]);
  }
  fputs("</Geometry>\n", stream);
  for (int i = 0; i < TABLES; i++) {
    if (!table[i].grid || !table[i].shape[0] || strcmp(table[i].grid, grid) != 0) continue;
    const bool vector = table[i].shape[table[i].rank - 1] == 3 && table[i].rank > 1;
    fprintf(stream, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">", table[i].name,
            vector ? "Vector" : "Scalar", table[i].center);
    put_numbers(stream, file, &table[i]);
    fputs("</Attribute>\n", stream);
  }
  fputs("</Grid>\n", stream);
}

static cb_status export_flow_document(const cb_export_scene *s, const char *out, const char *name) {
  const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
  numbers table[TABLES];
  cb_output output;
  FILE *stream;
  cb_status status = cb_output_open_text(out, &output, &stream);
  if (status) return status;
  list_numbers(s, table);
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\"><Domain>\n", stream);
  fputs("<Grid Name=\"flow\" GridType=\"Collection\" CollectionType=\"Spatial\">\n", stream);
  put_grid(s, stream, file, "grid", table);
  put_grid(s, stream, file, "surface", table);
  if (s->lines) put_grid(s, stream, file, "streamlines", table);
  fputs("</Grid>\n</Domain></Xdmf>\n", stream);
  return cb_output_close_text(&output, stream, CB_OK);
}

/* --- the flow --- */

static const double around = 0.75; /* margin of the grid, relative to the size of the bodies */

/* ---- the bodies at a time ---- */

static cb_status take_body(cb_export_scene *s, int b) {
  const cb_immersed *body = cb_scenario_body(s->scenario, b);
  const cb_surface *surface = cb_immersed_surface(body);
  const cb_fluid *fluid = cb_immersed_fluid_about(body);
  static const double origin[3] = {0};
  cb_export_flow_body *of = s->of + b;
  *of = (cb_export_flow_body){
      .vertex = s->vertices, .face = s->faces, .vertices = surface->vertices, .faces = surface->faces};
  for (int p = 0; p < surface->parts; p++) of->sheets = of->sheets || surface->open[p];
  s->sheets = s->sheets || of->sheets;
  if (fluid->flow)
    return cb_fail(CB_ERROR_UNSUPPORTED, "%s: expected a fluid at rest far away, but the scenario has a `flow`",
                   s->path);
  if (!fluid->medium || !cb_medium_is_uniform(fluid->medium))
    return cb_fail(CB_ERROR_UNSUPPORTED, "%s: expected a uniform `medium`: the fluid must have one density", s->path);
  if (INT_MAX - s->vertices < surface->vertices || INT_MAX / 3 - s->faces < surface->faces)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: the bodies have too many faces: expected fewer bodies or coarser surfaces",
                   s->path);
  s->vertices += surface->vertices;
  s->faces += surface->faces;
  return cb_medium_at(fluid->medium, origin, &s->density);
}

static cb_status read_field(cb_reader *reader, const cb_export_scene *s, const char *name, size_t width, uint64_t row,
                            double *out) {
  const size_t field = cb_export_find_field(reader, name, width);
  const cb_reader_field *fields;
  cb_reader_fields(reader, &fields);
  if (!field || fields[field].shape[0] != (size_t)s->bodies)
    return cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected `%s` of %d bodies, as in the scenario of the record",
                          s->path, name, s->bodies);
  return cb_reader_rows(reader, field, row, 1, out);
}

/* Reads the state at the row nearest to the requested time, and the rates of twists from the rows around it. */
static cb_status read_state(cb_reader *reader, cb_export_scene *s) {
  const uint64_t rows = cb_reader_position(reader).rows;
  if (rows < 2)
    return cb_fail(CB_ERROR_INPUT, "%s: expected at least two rows, because accelerations are computed from them",
                   s->path);
  double *time = cb_arena_alloc(s->arena, rows, sizeof *time), (*twist)[6];
  twist = cb_arena_alloc(s->arena, (size_t)s->bodies, sizeof *twist);
  if (!time || !twist) return cb_fail(CB_ERROR_MEMORY, "no memory for %llu times", (unsigned long long)rows);
  cb_status status = cb_reader_rows(reader, 0, 0, rows, time);
  if (status) return status;
  const double at = isnan(s->how.at) ? time[rows - 1] : s->how.at;
  if (!(at >= time[0] && at <= time[rows - 1]))
    return cb_fail(CB_ERROR_ARGUMENT, "%s has rows from %g s to %g s: expected a time between them, found %g", s->path,
                   time[0], time[rows - 1], at);
  uint64_t row = 0;
  for (uint64_t i = 1; i < rows; i++)
    if (fabs(time[i] - at) < fabs(time[row] - at)) row = i;
  const uint64_t first = row == 0 ? 0 : row == rows - 1 ? (rows < 3 ? 0 : rows - 3) : row - 1;
  const int count = rows < 3 ? 2 : 3;
  s->time = time[row];
  status = read_field(reader, s, "pose", 7, row, s->pose[0]);
  if (!status) status = read_field(reader, s, "twist", 6, row, s->twist[0]);
  for (int i = 0; i < count && !status; i++) {
    /* `weight / below` is the weight of row i in the derivative of Lagrange's polynomial through the rows. */
    const double t = time[first + (uint64_t)i];
    double weight = 0, below = 1;
    for (int j = 0; j < count; j++) {
      if (j == i) continue;
      double product = 1;
      for (int l = 0; l < count; l++)
        if (l != i && l != j) product *= s->time - time[first + (uint64_t)l];
      weight += product;
      below *= t - time[first + (uint64_t)j];
    }
    status = read_field(reader, s, "twist", 6, first + (uint64_t)i, twist[0]);
    for (int k = 0; k < 6 * s->bodies && !status; k++) s->rate[0][k] += weight / below * twist[0][k];
  }
  return status;
}

static void number_faces(cb_export_scene *s) {
  for (int b = 0; b < s->bodies; b++) {
    const cb_surface *surface = cb_immersed_surface(cb_scenario_body(s->scenario, b));
    const cb_export_flow_body *of = s->of + b;
    for (int i = 0; i < surface->faces; i++) {
      for (int k = 0; k < 3; k++) s->face[of->face + i][k] = of->vertex + surface->face[i][k];
      s->body[of->face + i] = b;
    }
  }
}

/* ---- the grid ---- */

/* Computes the velocity that the point x of space would have if it moved with body b. */
static void carried(const cb_export_scene *s, int b, const double x[3], double out[3]) {
  const double *at = s->pose[b], *Y = s->twist[b];
  const cb_pose g = {.q = {at[3], at[4], at[5], at[6]}};
  double r[3][3], w[3], v[3], d[3] = {x[0] - at[0], x[1] - at[1], x[2] - at[2]};
  cb_pose_rotation(&g, r);
  cb_apply3((const double(*)[3])r, Y, w);
  cb_apply3((const double(*)[3])r, Y + 3, v);
  cb_cross3(w, d, out);
  for (int k = 0; k < 3; k++) out[k] += v[k];
}

static int nearest_vertex(const cb_export_scene *s, const cb_export_flow *of, const double x[3]) {
  int best = of->vertex;
  double least = INFINITY;
  for (int i = of->vertex; i < of->vertex + of->vertices; i++) {
    const double d[3] = {x[0] - s->x[i][0], x[1] - s->x[i][1], x[2] - s->x[i][2]}, d2 = cb_dot3(d, d);
    if (d2 < least) {
      least = d2;
      best = i;
    }
  }
  return best;
}

/* Adds a flow on the grid. For the time derivative of the potential, each point moves with the nearest vertex. */
static cb_status add_to_grid(cb_export_scene *s, const cb_export_flow *f) {
  const double(*x)[3] = (const double(*)[3])s->at;
#pragma omp parallel for num_threads(cb_threads_for((size_t)s->points *(size_t)f->vertices))
  for (int i = 0; i < s->points; i++) memcpy(s->with[i], s->v[nearest_vertex(s, f, x[i])], sizeof *s->with);
  return cb_export_flow_add(s, f, s->points, x, (const double(*)[3])s->with,
                            &(cb_export_sum){s->u, s->p, NULL, s->inside});
}

static bool behind_wall(const cb_export_scene *s, const double x[3]) {
  return s->wall.kind != CB_MIRROR_NONE && cb_dot3(s->wall.normal, x) < s->wall.height;
}

/* Computes u and p at the points of the grid; nan in bodies and behind the wall. */
static cb_status fill_grid(cb_export_scene *s) {
  cb_status status = CB_OK;
  for (int k = 0; k < 3; k++) {
    const int n = s->how.grid[k];
    const double low = s->low[k] - around * s->size, high = s->high[k] + around * s->size;
    s->spacing[k] = n > 1 ? (high - low) / (n - 1) : s->size;
    s->origin[k] = n > 1 ? low : (s->low[k] + s->high[k]) / 2;
  }
  const int nx = s->how.grid[0], ny = s->how.grid[1];
  for (int i = 0; i < s->points; i++) {
    const int at[3] = {i % nx, i / nx % ny, i / nx / ny};
    for (int k = 0; k < 3; k++) s->at[i][k] = s->origin[k] + at[k] * s->spacing[k];
  }
  for (int i = 0; i < s->flows && !status; i++) status = add_to_grid(s, s->flow + i);
  for (int i = 0; i < s->points; i++) {
    if (!s->inside[i] && !behind_wall(s, s->at[i])) continue;
    s->p[i] = NAN;
    for (int k = 0; k < 3; k++) s->u[i][k] = NAN;
  }
  return status;
}

/* ---- streamlines ---- */

static cb_status seen(void *given, int points, const double (*x)[3], double (*u)[3]) {
  const cb_export_scene *s = given;
  double(*own)[3] = malloc((size_t)points * sizeof *own);
  cb_status status = own ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the flow at %d points", points);
  memset(u, 0, (size_t)points * sizeof *u);
  for (int f = 0; f < s->flows && !status; f++) {
    status = cb_field_at(s->flow[f].field[1], points, x, own, NULL, NULL);
    for (int i = 0; i < points && !status; i++)
      for (int k = 0; k < 3; k++) u[i][k] += own[i][k];
  }
  free(own);
  for (int i = 0; i < points && !status; i++) {
    double v[3];
    carried(s, 0, x[i], v);
    for (int k = 0; k < 3; k++) u[i][k] = behind_wall(s, x[i]) ? 0 : u[i][k] - v[k];
  }
  return status;
}

/* Computes the streamlines and the radii of their stream tubes. The seeds are upstream of the centre of the bodies,
 * evenly distributed over a disc perpendicular to the stream (Vogel's spiral). If the first body does not move at that
 * centre, the disc is perpendicular to z. */
static cb_status draw_lines(cb_export_scene *s) {
  double middle[3], ahead[3], e[2][3], axis[3] = {0};
  for (int k = 0; k < 3; k++) middle[k] = (s->low[k] + s->high[k]) / 2;
  carried(s, 0, middle, ahead);
  const double speed = sqrt(cb_dot3(ahead, ahead)), reach = (0.5 + around) * s->size, length = 2.5 * reach;
  for (int k = 0; k < 3; k++) ahead[k] = speed > 0 ? ahead[k] / speed : k == 2;
  axis[fabs(ahead[0]) < 0.7 ? 0 : 1] = 1;
  cb_cross3(ahead, axis, e[0]);
  const double size = sqrt(cb_dot3(e[0], e[0]));
  for (int k = 0; k < 3; k++) e[0][k] /= size;
  cb_cross3(ahead, e[0], e[1]);
  double(*seed)[3] = cb_arena_alloc(s->arena, (size_t)s->lines, sizeof *seed);
  if (!seed) return cb_fail(CB_ERROR_MEMORY, "no memory for %d streamlines", s->lines);
  for (int i = 0; i < s->lines; i++) {
    const double r = 0.7 * s->size * sqrt((i + 0.5) / s->lines), angle = i * 3.14159265358979323846 * (3 - sqrt(5));
    for (int k = 0; k < 3; k++)
      seed[i][k] = middle[k] + reach * ahead[k] + r * (cos(angle) * e[0][k] + sin(angle) * e[1][k]);
  }
  const cb_status status =
      cb_streamlines(seen, s, (cb_stream_lines){s->lines, CB_FLOW_LINE, length / (CB_FLOW_LINE - 1), 1e-4 * s->size},
                     (const double(*)[3])seed, s->line, s->line_u);
  const double start = 0.35 * s->size / sqrt(s->lines);
  for (int i = 0; i < s->lines * CB_FLOW_LINE && !status; i++) {
    const double *u = s->line_u[i], *u0 = s->line_u[i - i % CB_FLOW_LINE];
    s->radius[i] = start * sqrt(sqrt(cb_dot3(u0, u0) / cb_dot3(u, u)));
    if (!isfinite(s->radius[i])) s->radius[i] = 0;
  }
  return status;
}

/* ---- the files ---- */

static cb_status write_both(cb_export_scene *s, const char *out) {
  const char *dot = strrchr(out, '.'), *slash = strrchr(out, '/');
  const size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - out) : strlen(out);
  char *name = cb_arena_alloc(s->arena, stem + 4, 1);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory to export %s", s->path);
  snprintf(name, stem + 4, "%.*s.h5", (int)stem, out);
  if (!strcmp(name, out))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "%s: the numbers are written to a file with this name: expected another ending, such as .xdmf", out);
  cb_status status = cb_export_check_output(name, s->path, s->scenario, true);
  if (!status) status = cb_export_check_output(out, s->path, s->scenario, false);
  if (!status) status = cb_export_flow_solve(s);
  if (!status) status = fill_grid(s);
  if (!status && s->lines) status = draw_lines(s);
  if (!status) status = export_flow_numbers(s, name);
  return status ? status : export_flow_document(s, out, name);
}

/* ---- the scene ---- */

static cb_status make_space(cb_export_scene *s) {
  const size_t n = (size_t)s->vertices, faces = (size_t)s->faces, bodies = (size_t)s->bodies,
               points = (size_t)s->points, most = points > faces ? points : faces,
               line = (size_t)s->lines * CB_FLOW_LINE;
  s->x = cb_arena_alloc(s->arena, n, sizeof *s->x);
  s->v = cb_arena_alloc(s->arena, n, sizeof *s->v);
  s->g = cb_arena_alloc(s->arena, n, sizeof *s->g);
  s->dg = cb_arena_alloc(s->arena, n, sizeof *s->dg);
  s->pose = cb_arena_alloc(s->arena, bodies, sizeof *s->pose);
  s->twist = cb_arena_alloc(s->arena, bodies, sizeof *s->twist);
  s->rate = cb_arena_alloc(s->arena, bodies, sizeof *s->rate);
  s->face = cb_arena_alloc(s->arena, faces, sizeof *s->face);
  s->body = cb_arena_alloc(s->arena, faces, sizeof *s->body);
  s->at = cb_arena_alloc(s->arena, points, sizeof *s->at);
  s->u = cb_arena_alloc(s->arena, points, sizeof *s->u);
  s->with = cb_arena_alloc(s->arena, points, sizeof *s->with);
  s->inside = cb_arena_alloc(s->arena, points, sizeof *s->inside);
  s->line = cb_arena_alloc(s->arena, line, sizeof *s->line);
  s->line_u = cb_arena_alloc(s->arena, line, sizeof *s->line_u);
  s->own_u = cb_arena_alloc(s->arena, most, sizeof *s->own_u);
  s->own_inside = cb_arena_alloc(s->arena, most, sizeof *s->own_inside);
  s->centre = cb_arena_alloc(s->arena, faces, sizeof *s->centre);
  s->centre_v = cb_arena_alloc(s->arena, faces, sizeof *s->centre_v);
  for (int side = 0; side < 2; side++) s->face_u[side] = cb_arena_alloc(s->arena, faces, sizeof *s->face_u[side]);
  cb_arena_doubles(s->arena, faces, &s->face_phi[0], &s->face_phi[1]);
  cb_arena_doubles(s->arena, points, &s->p);
  cb_arena_doubles(s->arena, most, &s->own_p, &s->own_phi);
  cb_arena_doubles(s->arena, faces, &s->face_p[0], &s->face_p[1]);
  cb_arena_doubles(s->arena, line, &s->radius);
  return cb_arena_lost(s->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the flow at %d points", s->points) : CB_OK;
}

static cb_status look(cb_export_scene *s) {
  const double points = (double)s->how.grid[0] * s->how.grid[1] * s->how.grid[2];
  if (!(points <= 1e8)) return cb_fail(CB_ERROR_ARGUMENT, "the grid has %.3g points: expected at most 1e8", points);
  s->points = (int)points;
  s->lines = s->how.streamlines;
  s->bodies = cb_scenario_bodies(s->scenario);
  s->of = cb_arena_alloc(s->arena, (size_t)s->bodies, sizeof *s->of);
  cb_status status = s->of ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", s->bodies);
  for (int b = 0; b < s->bodies && !status; b++) status = take_body(s, b);
  return status ? status : make_space(s);
}

cb_status cb_record_export_flow(const char *path, const char *out, const cb_flow_options *options) {
  cb_reader *reader = NULL;
  cb_scenario *scenario = NULL;
  const char *text;
  cb_status status = cb_output_check(out, &(cb_files){&path, 1});
  if (!status) status = cb_reader_open(path, &reader);
  if (status) return status;
  cb_export_scene *s = NULL;
  bool bodies = false;
  status = cb_export_has_bodies(reader, path, &bodies);
  if (!status && !bodies)
    status = cb_fail(CB_ERROR_ARGUMENT, "%s: expected a record of bodies in a fluid: there is no other flow to export",
                     path);
  if (!status) status = cb_reader_scenario(reader, "resolved", &text);
  if (!status) status = cb_scenario_open_record(path, text, NULL, 0, &scenario);
  if (!status) cb_scenario_warn_again(scenario);
  const cb_space *space = status ? NULL : cb_scenario_space(scenario);
  if (space && space->factor[0].curvature != 0)
    status = cb_fail(CB_ERROR_UNSUPPORTED, "%s: the flow around bodies can be exported only in flat space, not in %s",
                     path, space->class_->name);
  if (!status && !(s = cb_arena_object(sizeof *s, "the flow around bodies"))) status = CB_ERROR_MEMORY;
  if (!status) {
    s->path = path;
    s->how = *options;
    s->scenario = scenario;
    status = look(s);
    if (!status) number_faces(s);
    if (!status) status = read_state(reader, s);
    if (!status) status = write_both(s, out);
    cb_export_flow_release(s);
    cb_arena_free(s->arena);
  }
  cb_scenario_free(scenario);
  cb_reader_close(reader);
  return status;
}
