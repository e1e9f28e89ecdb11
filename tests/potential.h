/* Meshes for the tests of potential flow: ellipsoids and discs with a chosen number of faces, shapes of the library,
 * and several bodies in one mesh. */
#pragma once

#include "check.h"
#include "yaml/yaml.h"
#include "potential/kirchhoff.h"
#include <curvebody/surface.h>

typedef struct solid_mesh {
  int vertices, faces;
  double (*x)[3];
  int (*face)[3];
} solid_mesh;

static inline void free_mesh(solid_mesh *m) {
  free(m->x);
  free(m->face);
}

/* Makes an octahedron whose edges are divided into n parts, and projects it onto the ellipsoid with the half axes a, b
 * and c. The result has 8 n^2 faces. */
static inline solid_mesh ellipsoid_mesh(int n, double a, double b, double c) {
  const double axes[3] = {a, b, c};
  const int row = n + 1, side = row * (row + 1) / 2;
  solid_mesh m = {.faces = 8 * n * n};
  double(*x)[3] = malloc((size_t)(8 * side) * sizeof *x);
  int *first = malloc((size_t)(8 * side) * sizeof *first);
  m.face = malloc((size_t)m.faces * sizeof *m.face);
  m.x = malloc((size_t)(8 * side) * sizeof *m.x);
  assert_true(x && first && m.face && m.x);
  int f = 0;
  for (int o = 0; o < 8; o++) {
    const int s[3] = {o & 1 ? -1 : 1, o & 2 ? -1 : 1, o & 4 ? -1 : 1}, turned = s[0] * s[1] * s[2] < 0;
#define AT(i, j) (o * side + (i)*row - (i) * ((i)-1) / 2 + (j))
    for (int i = 0; i <= n; i++)
      for (int j = 0; i + j <= n; j++) {
        /* on the sphere the points of an edge of the octahedron have equal angles between them */
        const double p[3] = {sin(M_PI / 2 * i / n), sin(M_PI / 2 * j / n), sin(M_PI / 2 * (n - i - j) / n)},
                     size = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int k = 0; k < 3; k++) x[AT(i, j)][k] = axes[k] * (p[k] == 0 ? 0 : s[k] * p[k] / size);
        if (i + j == n) continue;
        for (int half = 0; half < (i + j + 1 < n ? 2 : 1); half++) {
          const int q[3] = {half ? AT(i + 1, j) : AT(i, j), half ? AT(i + 1, j + 1) : AT(i + 1, j), AT(i, j + 1)};
          for (int k = 0; k < 3; k++) m.face[f][k] = q[turned ? 2 - k : k];
          f++;
        }
      }
#undef AT
  }
  assert_int_equal(f, m.faces);
  /* the octants share the vertices on their borders */
  for (int i = 0; i < 8 * side; i++) {
    first[i] = -1;
    for (int p = 0; p < 3 && first[i] < 0; p++)
      if (x[i][p] == 0)
        for (int j = 0; j < m.vertices; j++)
          if (memcmp(m.x[j], x[i], sizeof *x) == 0 ||
              (m.x[j][0] == x[i][0] && m.x[j][1] == x[i][1] && m.x[j][2] == x[i][2])) {
            first[i] = j;
            break;
          }
    if (first[i] >= 0) continue;
    first[i] = m.vertices;
    memcpy(m.x[m.vertices++], x[i], sizeof *x);
  }
  for (int i = 0; i < m.faces; i++)
    for (int k = 0; k < 3; k++) m.face[i][k] = first[m.face[i][k]];
  free(x);
  free(first);
  return m;
}

/* Makes a flat disc with half axes 1 and b, of 6 n^2 faces of about equal size. */
static inline solid_mesh disc_mesh(int n, double b) {
  solid_mesh s = {.x = malloc((size_t)(3 * n * (n + 1) + 1) * sizeof *s.x),
                  .face = malloc((size_t)(6 * n * n) * sizeof *s.face)};
  assert_true(s.x && s.face);
  memset(s.x[s.vertices++], 0, sizeof *s.x);
  for (int i = 1; i <= n; i++) {
    const int start = s.vertices, inner = i > 1 ? start - 6 * (i - 1) : 0, inside = i > 1 ? 6 * (i - 1) : 1;
    for (int k = 0; k < 6 * i; k++) {
      const double a = 2 * M_PI * k / (6 * i), at[3] = {cos(a) * i / n, b * sin(a) * i / n, 0};
      memcpy(s.x[s.vertices++], at, sizeof at);
    }
    for (int side = 0; side < 6; side++)
      for (int k = 0; k < i; k++) {
        const int out = start + (side * i + k) % (6 * i), next = start + (side * i + k + 1) % (6 * i);
        const int in = inner + (side * (i - 1) + k) % inside, beyond = inner + (side * (i - 1) + k + 1) % inside;
        const int f[3] = {in, out, next}, g[3] = {in, next, beyond};
        memcpy(s.face[s.faces++], f, sizeof f);
        if (k < i - 1) memcpy(s.face[s.faces++], g, sizeof g);
      }
  }
  return s;
}

/* Makes a copy of the mesh, shifted by d. */
static inline solid_mesh shifted_mesh(const solid_mesh *m, const double d[3]) {
  solid_mesh out = *m;
  out.x = malloc((size_t)m->vertices * sizeof *out.x);
  out.face = malloc((size_t)m->faces * sizeof *out.face);
  assert_true(out.x && out.face);
  for (int i = 0; i < m->vertices; i++)
    for (int k = 0; k < 3; k++) out.x[i][k] = m->x[i][k] + d[k];
  memcpy(out.face, m->face, (size_t)m->faces * sizeof *m->face);
  return out;
}

/* Makes one mesh of copies of two meshes. */
static inline solid_mesh joined_mesh(const solid_mesh *a, const solid_mesh *b) {
  solid_mesh m = {.vertices = a->vertices + b->vertices, .faces = a->faces + b->faces};
  m.x = malloc((size_t)m.vertices * sizeof *m.x);
  m.face = malloc((size_t)m.faces * sizeof *m.face);
  assert_true(m.x && m.face);
  memcpy(m.x, a->x, (size_t)a->vertices * sizeof *m.x);
  memcpy(m.x + a->vertices, b->x, (size_t)b->vertices * sizeof *m.x);
  memcpy(m.face, a->face, (size_t)a->faces * sizeof *m.face);
  for (int i = 0; i < b->faces; i++)
    for (int k = 0; k < 3; k++) m.face[a->faces + i][k] = b->face[i][k] + a->vertices;
  return m;
}

/* Makes the mirror image of the mesh in the plane x = 0. The order of the corners of each face is reversed, so that
 * normals still point outwards. */
static inline solid_mesh mirrored_mesh(const solid_mesh *m) {
  const double none[3] = {0, 0, 0};
  solid_mesh out = shifted_mesh(m, none);
  for (int i = 0; i < m->vertices; i++) out.x[i][0] = -m->x[i][0];
  for (int i = 0; i < m->faces; i++) {
    out.face[i][1] = m->face[i][2];
    out.face[i][2] = m->face[i][1];
  }
  return out;
}

/* Makes the mesh of a shape of the library (bodies/shapes). `parameters` is a map in YAML. */
static inline solid_mesh shape_mesh(const char *name, const char *parameters) {
  cb_surface *s = NULL;
  cb_tree *tree = NULL;
  check_ok(cb_yaml_read_text("parameters", parameters, strlen(parameters), &tree));
  check_ok(cb_shape_create(name, cb_tree_root(tree), &s));
  cb_tree_free(tree);
  solid_mesh m = {s->vertices, s->faces, malloc((size_t)s->vertices * sizeof *m.x),
                  malloc((size_t)s->faces * sizeof *m.face)};
  assert_true(m.x && m.face);
  memcpy(m.x, s->x, (size_t)s->vertices * sizeof *m.x);
  memcpy(m.face, s->face, (size_t)s->faces * sizeof *m.face);
  cb_surface_free(s);
  return m;
}

static inline cb_kirchhoff *kirchhoff_of(const solid_mesh *m, const cb_kirchhoff_options *options) {
  cb_kirchhoff *k = NULL;
  check_ok(cb_kirchhoff_create(m->vertices, (const double(*)[3])m->x, m->faces, (const int(*)[3])m->face, options, &k));
  return k;
}

static inline cb_kirchhoff_mass mass_of(const solid_mesh *m, const cb_kirchhoff_options *options,
                                        cb_kirchhoff_report *report) {
  cb_kirchhoff *k = kirchhoff_of(m, options);
  cb_kirchhoff_mass mass;
  check_ok(cb_kirchhoff_added_mass(k, NULL, &mass));
  if (report) *report = cb_kirchhoff_report_of(k);
  cb_kirchhoff_free(k);
  return mass;
}

/* Removes errors of order h^2 from the results on two meshes with edges of the lengths h and h/2. */
static inline double extrapolated(double coarse, double fine) { return fine + (fine - coarse) / 3; }
