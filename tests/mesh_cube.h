/* A deformed cube of six quadrilaterals, and PLY files of this cube in every encoding, for the tests of mesh
 * readers. */
#pragma once

#include "check.h"

#include "core/text.h"
#include "numerics/mesh.h"

static inline cb_status read_obj(const char *text, cb_mesh **mesh) {
  return cb_mesh_read_text("a.obj", text, strlen(text), CB_MESH_OBJ, NULL, mesh);
}

static inline cb_status read_ply(const char *text, cb_mesh **mesh) {
  return cb_mesh_read_text("a.ply", text, strlen(text), CB_MESH_PLY, NULL, mesh);
}

static const double cube_vertices[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0},   {0, 1, 0},
                                           {0, 0, 1}, {1, 0, 1}, {1, 1.5, 1}, {-1e-3, 1.5, 1}};
static const int cube_faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                     {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

static inline void check_cube(const cb_mesh *mesh) {
  static const int edges[12][2] = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                   {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
  assert_int_equal(mesh->n_vertices, 8);
  assert_int_equal(mesh->n_edges, 12);
  assert_int_equal(mesh->n_triangles, 12);
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) check_near(mesh->vertices[i][k], cube_vertices[i][k], 0);
  assert_memory_equal(mesh->edges, edges, sizeof edges);
  for (int f = 0; f < 6; f++)
    for (int t = 0; t < 2; t++) {
      const int fan[3] = {cube_faces[f][0], cube_faces[f][t + 1], cube_faces[f][t + 2]};
      assert_memory_equal(mesh->triangles[2 * f + t], fan, sizeof fan);
    }
}

typedef struct cube_style {
  const char *format;               /* name of the encoding in the PLY header */
  const char *real, *count, *index; /* PLY types of coordinates, numbers of corners, and indices of vertices */
} cube_style;

static inline void put(cb_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void put(cb_text *text, const char *format, ...) {
  char line[256];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  cb_text_puts(text, line);
}

/* Appends the n bytes of a value. If `big` is set, their order is reversed; the tests assume a little-endian
 * processor. */
static inline void put_binary(cb_text *text, const void *value, size_t n, bool big) {
  const char *bytes = value;
  for (size_t i = 0; i < n; i++) cb_text_put(text, bytes + (big ? n - 1 - i : i), 1);
}

static inline void put_value(cb_text *text, const cube_style *style, const char *type, double value) {
  bool big = strstr(style->format, "big") != NULL;
  if (strcmp(style->format, "ascii") == 0)
    put(text, "%.17g ", value);
  else if (strcmp(type, "double") == 0)
    put_binary(text, &value, 8, big);
  else if (strcmp(type, "float") == 0)
    put_binary(text, &(float){(float)value}, 4, big);
  else if (strstr(type, "char") || strstr(type, "8"))
    put_binary(text, &(int8_t){(int8_t)value}, 1, big);
  else if (strstr(type, "short") || strstr(type, "16"))
    put_binary(text, &(int16_t){(int16_t)value}, 2, big);
  else
    put_binary(text, &(int32_t){(int32_t)value}, 4, big);
}

static inline void put_cube(cb_text *text, const cube_style *style) {
  bool ascii = strcmp(style->format, "ascii") == 0;
  put(text, "ply\nformat %s 1.0\ncomment a cube\nobj_info none\nelement vertex 8\nproperty uchar red\n", style->format);
  put(text, "property %s x\nproperty %s z\nproperty %s y\n", style->real, style->real, style->real);
  put(text, "property list uchar short tags\nelement face 6\nproperty list %s %s vertex_indices\n", style->count,
      style->index);
  put(text, "property float32 area\nelement material 1\nproperty double shine\nend_header\n");
  for (int i = 0; i < 8; i++) {
    put_value(text, style, "uchar", 100);
    put_value(text, style, style->real, cube_vertices[i][0]);
    put_value(text, style, style->real, cube_vertices[i][2]);
    put_value(text, style, style->real, cube_vertices[i][1]);
    put_value(text, style, "uchar", i % 3);
    for (int k = 0; k < i % 3; k++) put_value(text, style, "short", -k);
    if (ascii) put(text, "\n");
  }
  for (int f = 0; f < 6; f++) {
    put_value(text, style, style->count, 4);
    for (int k = 0; k < 4; k++) put_value(text, style, style->index, cube_faces[f][k]);
    put_value(text, style, "float", 1);
    if (ascii) put(text, "\n");
  }
  put_value(text, style, "double", 0.5);
}
