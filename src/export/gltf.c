/* Writes the parts of a binary glTF 2.0 file (Khronos Group, glTF 2.0 Specification, 2021): accessors, nodes,
 * animation, fixed shapes, and the file itself. gltf_scene.c uses these functions to export a record.
 *
 * A file is a header of 12 bytes, a chunk of JSON, and a chunk with all numbers, in little-endian order and with four
 * bytes each. The node `record` turns the z axis of the record to the y axis of glTF, which points up; all other nodes
 * are its children, so that their lengths and axes are those of the record.
 */
#include "export/export.h"
#include "numerics/vec3.h"
#include "record/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT = 5126, INDEX = 5125, ELEMENTS = 34963 };
static const double pi = 3.14159265358979323846;

/* ---- parts of the file ---- */

/* Begins an item of a list, and returns its number. */
int cb_gltf_add(cb_gltf *s, int which) {
  cb_gltf_list *l = &s->list[which];
  if (l->n) fputs(",\n", l->stream);
  return l->n++;
}

static void put_u32(cb_text *out, uint32_t bits) {
  const unsigned char byte[] = {bits & 255, bits >> 8 & 255, bits >> 16 & 255, bits >> 24};
  cb_text_put(out, (const char *)byte, 4);
}

/* Writes an accessor of everything in the buffer after `start`, without its closing brace. target says whether these
 * numbers are vertices or indices; it is 0 for all other data. */
static int begin_accessor(cb_gltf *s, size_t start, int component, const char *type, size_t n, int target) {
  FILE *view = s->list[CB_GLTF_VIEWS].stream, *out = s->list[CB_GLTF_ACCESSORS].stream;
  const int v = cb_gltf_add(s, CB_GLTF_VIEWS), a = cb_gltf_add(s, CB_GLTF_ACCESSORS);
  fprintf(view, "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", start, s->bin.length - start);
  if (target) fprintf(view, ",\"target\":%d", target);
  fputc('}', view);
  fprintf(out, "{\"bufferView\":%d,\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"", v, component, n, type);
  return a;
}

/* Writes x[n][width] to the buffer, with an accessor that holds its minimum and maximum. Returns the number of the
 * accessor. */
int cb_gltf_floats(cb_gltf *s, size_t n, size_t width, const double *x, int target) {
  static const char *const type[] = {NULL, "SCALAR", NULL, "VEC3", "VEC4"};
  float bound[2][4] = {{INFINITY, INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY, -INFINITY}};
  const size_t start = s->bin.length;
  for (size_t i = 0; i < n * width; i++) {
    const float value = (float)x[i];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(&s->bin, bits);
    bound[0][i % width] = fminf(bound[0][i % width], value);
    bound[1][i % width] = fmaxf(bound[1][i % width], value);
  }
  const int a = begin_accessor(s, start, FLOAT, type[width], n, target);
  FILE *out = s->list[CB_GLTF_ACCESSORS].stream;
  for (int b = 0; b < 2; b++)
    for (size_t k = 0; k < width; k++)
      fprintf(out, "%s%.9g%s",
              k   ? ","
              : b ? ",\"max\":["
                  : ",\"min\":[",
              (double)bound[b][k], k + 1 < width ? "" : "]");
  fputc('}', out);
  return a;
}

int cb_gltf_indices(cb_gltf *s, size_t n, const int *index) {
  const size_t start = s->bin.length;
  for (size_t i = 0; i < n; i++) put_u32(&s->bin, (uint32_t)index[i]);
  const int a = begin_accessor(s, start, INDEX, "SCALAR", n, ELEMENTS);
  fputc('}', s->list[CB_GLTF_ACCESSORS].stream);
  return a;
}

static void put_array(FILE *out, const char *key, int n, const double *x) {
  for (int k = 0; k < n; k++) fprintf(out, "%s%.9g", k ? "," : key, x[k]);
  fputc(']', out);
}

/* Adds a node below the node `record`. With mesh = -1 it is the node of the camera. */
int cb_gltf_node(cb_gltf *s, const char *name, int mesh, const cb_gltf_place *p) {
  const int n = cb_gltf_add(s, CB_GLTF_NODES);
  FILE *out = s->list[CB_GLTF_NODES].stream;
  cb_gltf_add(s, CB_GLTF_ROOT);
  fprintf(s->list[CB_GLTF_ROOT].stream, "%d", n);
  fputs("{\"name\":", out);
  cb_json_put_text(out, name);
  fprintf(out, mesh < 0 ? ",\"camera\":0" : ",\"mesh\":%d", mesh);
  put_array(out, ",\"translation\":[", 3, p->at);
  put_array(out, ",\"rotation\":[", 4, p->turn);
  put_array(out, ",\"scale\":[", 3, p->scale);
  fputc('}', out);
  return n;
}

int cb_gltf_sampler(cb_gltf *s, int output) {
  const int n = cb_gltf_add(s, CB_GLTF_SAMPLERS);
  fprintf(s->list[CB_GLTF_SAMPLERS].stream, "{\"input\":%d,\"interpolation\":\"LINEAR\",\"output\":%d}", s->input,
          output);
  return n;
}

void cb_gltf_channel(cb_gltf *s, int node, const char *path, int sampler) {
  cb_gltf_add(s, CB_GLTF_CHANNELS);
  fprintf(s->list[CB_GLTF_CHANNELS].stream, "{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", sampler, node,
          path);
}

/* If x is the same at all keys, no animation is written, because the node itself has these numbers. */
void cb_gltf_animate(cb_gltf *s, int node, const char *path, size_t width, const double *x) {
  bool moves = false;
  for (size_t i = width; i < s->keys * width; i++) moves |= (float)x[i] != (float)x[i % width];
  if (moves) cb_gltf_channel(s, node, path, cb_gltf_sampler(s, cb_gltf_floats(s, s->keys, width, x, 0)));
}

/* ---- rotations ---- */

/* Turns q, which maps the z axis to some direction, by the smallest rotation after which it maps the z axis to the unit
 * vector d. q: x, y, z, w. */
void cb_gltf_turn_z(const double d[3], double q[4]) {
  const double z[3] = {2 * (q[0] * q[2] + q[3] * q[1]), 2 * (q[1] * q[2] - q[3] * q[0]),
                       1 - 2 * (q[0] * q[0] + q[1] * q[1])};
  double r[4], size = 0;
  cb_cross3(z, d, r);
  r[3] = 1 + cb_dot3(z, d);
  if (r[3] < 1e-9) { /* opposite directions: half a turn about an axis that is perpendicular to z */
    const double side[3] = {fabs(z[0]) < 0.7, fabs(z[0]) >= 0.7, 0};
    cb_cross3(z, side, r);
    r[3] = 0;
  }
  const double p[4] = {
      r[3] * q[0] + q[3] * r[0] + r[1] * q[2] - r[2] * q[1], r[3] * q[1] + q[3] * r[1] + r[2] * q[0] - r[0] * q[2],
      r[3] * q[2] + q[3] * r[2] + r[0] * q[1] - r[1] * q[0], r[3] * q[3] - r[0] * q[0] - r[1] * q[1] - r[2] * q[2]};
  for (int k = 0; k < 4; k++) size += p[k] * p[k];
  for (int k = 0; k < 4; k++) q[k] = p[k] / sqrt(size);
}

/* ---- fixed shapes ---- */

static int put_mesh(cb_gltf *s, int mode, int position, int normal, int indices, int material) {
  const int n = cb_gltf_add(s, CB_GLTF_MESHES);
  FILE *out = s->list[CB_GLTF_MESHES].stream;
  fprintf(out, "{\"primitives\":[{\"mode\":%d,\"attributes\":{\"POSITION\":%d", mode, position);
  if (normal >= 0) fprintf(out, ",\"NORMAL\":%d", normal);
  fprintf(out, "},\"indices\":%d,\"material\":%d}]}", indices, material);
  return n;
}

/* Writes the unit sphere once, and makes one mesh of it for each colour. Returns the number of the first mesh; the
 * CB_GLTF_COLOURS meshes have consecutive numbers. */
int cb_gltf_spheres(cb_gltf *s) {
  enum { RINGS = 8, SIDES = 16 };
  double x[(RINGS + 1) * SIDES][3];
  int index[6 * RINGS * SIDES], n = 0;
  for (int i = 0; i <= RINGS; i++)
    for (int j = 0; j < SIDES; j++) {
      const double a = pi * i / RINGS, b = 2 * pi * j / SIDES, r = i == 0 || i == RINGS ? 0 : sin(a);
      memcpy(x[i * SIDES + j], (double[]){r * cos(b), r * sin(b), cos(a)}, sizeof *x);
    }
  for (int i = 0; i < RINGS; i++)
    for (int j = 0; j < SIDES; j++) {
      const int a = i * SIDES + j, b = i * SIDES + (j + 1) % SIDES;
      const int half[2][3] = {{a, b + SIDES, b}, {a, a + SIDES, b + SIDES}};
      for (int k = i == 0; k < (i < RINGS - 1 ? 2 : 1); k++, n += 3) memcpy(index + n, half[k], sizeof half[k]);
    }
  const int at = cb_gltf_floats(s, (RINGS + 1) * SIDES, 3, *x, CB_GLTF_VERTICES),
            corners = cb_gltf_indices(s, (size_t)n, index);
  int first = put_mesh(s, 4, at, at, corners, 0);
  for (int c = 1; c < CB_GLTF_COLOURS; c++) put_mesh(s, 4, at, at, corners, c);
  return first;
}

/* Adds the mesh of bonds, and returns its number. It is a line from (0, 0, 0) to (0, 0, 1) and, because lines have no
 * width, a cylinder of radius 1 about this line. */
int cb_gltf_bond_mesh(cb_gltf *s) {
  enum { SIDES = 8 };
  double x[2 * SIDES][3], normal[2 * SIDES][3];
  int index[6 * SIDES];
  for (int i = 0; i < 2 * SIDES; i++) {
    const double a = pi * (i / 2) / (SIDES / 2);
    memcpy(normal[i], (double[]){cos(a), sin(a), 0}, sizeof *normal);
    memcpy(x[i], (double[]){cos(a), sin(a), i % 2}, sizeof *x);
  }
  for (int i = 0; i < SIDES; i++) {
    const int a = 2 * i, b = 2 * ((i + 1) % SIDES);
    memcpy(index + 6 * i, (int[]){a, b, b + 1, a, b + 1, a + 1}, 6 * sizeof *index);
  }
  const int at = cb_gltf_floats(s, 2 * SIDES, 3, *x, CB_GLTF_VERTICES),
            n = cb_gltf_floats(s, 2 * SIDES, 3, *normal, CB_GLTF_VERTICES),
            sides = cb_gltf_indices(s, 6 * SIDES, index),
            line = cb_gltf_floats(s, 2, 3, (double[]){0, 0, 0, 0, 0, 1}, CB_GLTF_VERTICES),
            ends = cb_gltf_indices(s, 2, (int[]){0, 1});
  const int mesh = cb_gltf_add(s, CB_GLTF_MESHES);
  fprintf(s->list[CB_GLTF_MESHES].stream,
          "{\"primitives\":[{\"mode\":1,\"attributes\":{\"POSITION\":%d},\"indices\":%d,\"material\":%d},"
          "{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},\"indices\":%d,\"material\":%d}]}",
          line, ends, CB_GLTF_GREY, at, n, sides, CB_GLTF_GREY);
  return mesh;
}

/* Adds the wireframe of a sphere of radius R or, if `round` is false, of a circle parallel to the plane z = 0. */
void cb_gltf_wires(cb_gltf *s, const char *name, const double at[3], double R, bool round) {
  enum { SIDES = 64, CIRCLES = 11, MERIDIANS = 6 };
  double x[CIRCLES * SIDES][3];
  int index[2 * CIRCLES * SIDES];
  const int circles = round ? CIRCLES : 1;
  for (int i = 0; i < circles * SIDES; i++) {
    const int c = i / SIDES;
    const double a = 2 * pi * (i % SIDES) / SIDES, m = pi * (c - 1) / MERIDIANS, z = pi * (c < 9 ? c - 9 : c - 8) / 6;
    if (c == 0 || c > MERIDIANS) /* the equator, and parallels at 30 and 60 degrees */
      memcpy(x[i], (double[]){(c ? cos(z) : 1) * cos(a), (c ? cos(z) : 1) * sin(a), c ? sin(z) : 0}, sizeof *x);
    else
      memcpy(x[i], (double[]){cos(a) * cos(m), cos(a) * sin(m), sin(a)}, sizeof *x);
    index[2 * i] = i;
    index[2 * i + 1] = c * SIDES + (i + 1) % SIDES;
  }
  const int position = cb_gltf_floats(s, (size_t)(circles * SIDES), 3, *x, CB_GLTF_VERTICES);
  const int mesh = put_mesh(s, 1, position, -1, cb_gltf_indices(s, (size_t)(2 * circles * SIDES), index), CB_GLTF_GREY);
  cb_gltf_node(s, name, mesh, &(cb_gltf_place){{at[0], at[1], at[2]}, {0, 0, 0, 1}, {R, R, R}});
}

/* Adds a square of the plane through `point` with this normal. Its centre is the point of the plane that is nearest to
 * the centre of the scene. */
void cb_gltf_plane(cb_gltf *s, const char *name, const double point[3], const double normal[3]) {
  const double size = sqrt(cb_dot3(normal, normal));
  if (!(size > 0)) return;
  cb_gltf_place p = {.turn = {0, 0, 0, 1}, .scale = {s->size, s->size, 1}};
  double n[3], height = 0;
  for (int k = 0; k < 3; k++) n[k] = normal[k] / size;
  for (int k = 0; k < 3; k++) height += n[k] * (s->centre[k] - point[k]);
  for (int k = 0; k < 3; k++) p.at[k] = s->centre[k] - height * n[k];
  cb_gltf_turn_z(n, p.turn);
  const int at = cb_gltf_floats(s, 4, 3, (double[]){-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0}, CB_GLTF_VERTICES),
            mesh = put_mesh(s, 4, at, -1, cb_gltf_indices(s, 6, (int[]){0, 1, 2, 0, 2, 3}), CB_GLTF_GLASS);
  cb_gltf_node(s, name, mesh, &p);
}

/* ---- the file ---- */

void cb_json_put_text(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c == '\n')
      fputs("\\n", out);
    else if (c < 0x20)
      fprintf(out, "\\u%04x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}

bool cb_gltf_begin(cb_gltf *s) {
  for (int l = 0; l < CB_GLTF_LISTS; l++) {
    s->list[l].stream = open_memstream(&s->list[l].text, &s->list[l].size);
    if (!s->list[l].stream) return false;
  }
  s->weights = -1;
  return true;
}

void cb_gltf_free(cb_gltf *s) {
  for (int l = 0; l < CB_GLTF_LISTS; l++) {
    if (s->list[l].stream) fclose(s->list[l].stream);
    free(s->list[l].text);
  }
  cb_text_free(&s->bin);
}

/* Adds a camera that looks at the centre from the front and a little from above, or from above at a flat scene. */
static void put_camera(cb_gltf *s, bool planar) {
  const double angle = planar ? 0 : atan2(1, 0.4), distance = 1.3 * s->size;
  const cb_gltf_place p = {{s->centre[0], s->centre[1] - sin(angle) * distance, s->centre[2] + cos(angle) * distance},
                           {sin(angle / 2), 0, 0, cos(angle / 2)},
                           {1, 1, 1}};
  cb_gltf_node(s, "camera", -1, &p);
}

static void put_materials(FILE *out) {
  /* the colours of Okabe and Ito (2008), which colour-blind readers can tell apart; grey; and glass */
  static const double colour[][4] = {{0.0, 0.17, 0.45, 1},   {0.80, 0.35, 0.0, 1},  {0.0, 0.34, 0.17, 1},
                                     {0.60, 0.19, 0.39, 1},  {0.09, 0.46, 0.81, 1}, {0.67, 0.11, 0.0, 1},
                                     {0.87, 0.77, 0.055, 1}, {0.2, 0.2, 0.2, 1},    {0.4, 0.5, 0.6, 0.3}};
  for (int m = 0; m <= CB_GLTF_GLASS; m++) {
    fprintf(out, "%s{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.7", m ? ",\n" : "");
    put_array(out, ",\"baseColorFactor\":[", 4, colour[m]);
    fprintf(out, "},\"doubleSided\":true%s}", m == CB_GLTF_GLASS ? ",\"alphaMode\":\"BLEND\"" : "");
  }
}

/* Writes the JSON text of the file. `extras` is a JSON object with the scene's data about the record. */
static void put_json(cb_gltf *s, const char *title, const char *extras, FILE *out) {
  static const char *const name[] = {"accessors", "bufferViews", "nodes", "meshes"};
  cb_gltf_list *list = s->list;
  const int root = cb_gltf_add(s, CB_GLTF_NODES);
  fprintf(list[CB_GLTF_NODES].stream, "{\"name\":\"record\",\"rotation\":[%.9g,0,0,%.9g],\"children\":[", -sqrt(0.5),
          sqrt(0.5));
  for (int l = 0; l < CB_GLTF_LISTS; l++) fflush(list[l].stream);
  fprintf(list[CB_GLTF_NODES].stream, "%s]}", list[CB_GLTF_ROOT].text);
  fflush(list[CB_GLTF_NODES].stream);
  fputs("{\"asset\":{\"version\":\"2.0\",\"generator\":\"curvebody\"},\"scene\":0,\"scenes\":[{\"name\":", out);
  cb_json_put_text(out, title);
  fprintf(out, ",\"nodes\":[%d],\"extras\":%s}],\n", root, extras);
  for (int l = 0; l <= CB_GLTF_MESHES; l++)
    if (list[l].n) fprintf(out, "\"%s\":[%s],\n", name[l], list[l].text);
  if (list[CB_GLTF_CHANNELS].n)
    fprintf(out, "\"animations\":[{\"name\":\"motion\",\"channels\":[%s],\"samplers\":[%s]}],\n",
            list[CB_GLTF_CHANNELS].text, list[CB_GLTF_SAMPLERS].text);
  fprintf(out,
          "\"cameras\":[{\"type\":\"perspective\",\"perspective\":{\"yfov\":0.8,\"znear\":%.9g,\"zfar\":%.9g}}],\n",
          0.001 * s->size, 100 * s->size);
  fputs("\"materials\":[", out);
  put_materials(out);
  fprintf(out, "],\n\"buffers\":[{\"byteLength\":%zu}]}", s->bin.length);
}

cb_status cb_gltf_write(cb_gltf *s, const char *path, const char *title, const char *extras, bool planar) {
  char *json = NULL;
  size_t size = 0;
  cb_text head = {0};
  cb_output output;
  FILE *out = open_memstream(&json, &size), *stream;
  if (!out) return cb_fail(CB_ERROR_MEMORY, "no memory for %s", path);
  put_camera(s, planar);
  put_json(s, title, extras, out);
  while (!fflush(out) && size % 4) fputc(' ', out);
  bool good = !ferror(out) && !s->bin.failed;
  for (int l = 0; l < CB_GLTF_LISTS; l++) good &= !ferror(s->list[l].stream);
  good &= !fclose(out);
  cb_status status = good ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %s", path);
  const uint64_t total = 28 + (uint64_t)size + s->bin.length;
  if (!status && total > UINT32_MAX)
    status = cb_fail(CB_ERROR_ARGUMENT, "%s: the file would have %llu bytes, expected less than 4 GiB", path,
                     (unsigned long long)total);
  if (!status && !(status = cb_output_open_text(path, &output, &stream))) {
    cb_text_puts(&head, "glTF");
    const uint32_t number[] = {2, (uint32_t)total, (uint32_t)size, 0x4e4f534a, (uint32_t)s->bin.length, 0x004e4942};
    for (int i = 0; i < 6; i++) put_u32(&head, number[i]);
    if (!head.failed) fwrite(head.data, 1, 20, stream);
    fwrite(json, 1, size, stream);
    if (!head.failed) fwrite(head.data + 20, 1, 8, stream);
    fwrite(s->bin.data, 1, s->bin.length, stream);
    status = head.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for %s", path) : CB_OK;
    status = cb_output_close_text(&output, stream, status);
  }
  cb_text_free(&head);
  free(json);
  return status;
}
