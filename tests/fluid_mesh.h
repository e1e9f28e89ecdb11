/* Meshes for the tests of bodies in a fluid. The code here shares nothing with the built-in shapes of the library. */
#pragma once

#include "check.h"
#include "fluid/surface_mesh.h"

#define PI 3.14159265358979323846

typedef struct mesh {
  double (*x)[3];
  int (*face)[3], *part, vertices, faces;
} mesh;

static inline mesh mesh_room(int vertices, int faces) {
  return (mesh){.x = calloc((size_t)vertices, sizeof(double[3])),
                .face = calloc((size_t)faces, sizeof(int[3])),
                .part = calloc((size_t)faces, sizeof(int))};
}
static inline int mesh_vertex(mesh *m, double x, double y, double z) {
  m->x[m->vertices][0] = x;
  m->x[m->vertices][1] = y;
  m->x[m->vertices][2] = z;
  return m->vertices++;
}
static inline void mesh_face(mesh *m, int a, int b, int c) {
  m->face[m->faces][0] = a;
  m->face[m->faces][1] = b;
  m->face[m->faces][2] = c;
  m->faces++;
}
static inline void mesh_quad(mesh *m, int a, int b, int c, int d) {
  mesh_face(m, a, b, c);
  mesh_face(m, a, c, d);
}
/* Creates a surface from the mesh m and frees m. */
static inline cb_surface *mesh_surface(mesh m) {
  cb_surface *s;
  check_ok(cb_surface_make(m.vertices, (const double(*)[3])m.x, m.faces, (const int(*)[3])m.face, m.part, &s));
  free(m.x);
  free(m.face);
  free(m.part);
  return s;
}

/* Adds the faces of a grid of n rows of k existing vertices, which begin at number `first`. Each row is closed to a
 * ring. If `closed` is set, the last row is joined to the first row, as on a torus. */
static inline void mesh_grid(mesh *m, int first, int n, int k, bool closed) {
  for (int i = 0; i < n - !closed; i++)
    for (int j = 0; j < k; j++)
      mesh_quad(m, first + i * k + j, first + (i + 1) % n * k + j, first + (i + 1) % n * k + (j + 1) % k,
                first + i * k + (j + 1) % k);
}

/* Makes a cube with n x n squares per face, each of two triangles. If `sphere` is set, the cube is projected onto the
 * unit sphere. Then the axes are scaled by a[0], a[1] and a[2]. The surface is closed, with normals outwards. */
static inline mesh mesh_box(int n, const double a[3], bool sphere) {
  mesh m = mesh_room(6 * (n + 1) * (n + 1), 12 * n * n);
  int *at = malloc(sizeof(int) * (size_t)((n + 1) * (n + 1) * (n + 1)));
  for (int i = 0; i < (n + 1) * (n + 1) * (n + 1); i++) at[i] = -1;
  for (int axis = 0; axis < 3; axis++)
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          int corner[4];
          for (int c = 0; c < 4; c++) {
            int q[3];
            q[axis] = side * n;
            q[(axis + 1) % 3] = i + (c == 1 || c == 2);
            q[(axis + 2) % 3] = j + (c >= 2);
            int *number = at + (q[0] * (n + 1) + q[1]) * (n + 1) + q[2];
            double x[3], size = 0;
            for (int k = 0; k < 3; k++) x[k] = sphere ? tan(PI / 4 * (2. * q[k] / n - 1)) : 2. * q[k] / n - 1;
            for (int k = 0; k < 3; k++) size += x[k] * x[k];
            size = sphere ? sqrt(size) : 1;
            if (*number < 0) *number = mesh_vertex(&m, a[0] * x[0] / size, a[1] * x[1] / size, a[2] * x[2] / size);
            corner[c] = *number;
          }
          if (side)
            mesh_quad(&m, corner[0], corner[1], corner[2], corner[3]);
          else
            mesh_quad(&m, corner[0], corner[3], corner[2], corner[1]);
        }
  free(at);
  return m;
}
static inline mesh mesh_ellipsoid(int n, double a, double b, double c) {
  return mesh_box(n, (double[3]){a, b, c}, true);
}

/* Makes a tube around the z axis from z = -half to half, of n rings with k vertices. If `caps` is set, fans of
 * triangles around the axis close the ends of the tube. */
static inline mesh mesh_tube(int n, int k, double radius, double half, bool caps) {
  mesh m = mesh_room(n * k + 2, 2 * n * k);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k; j++)
      mesh_vertex(&m, radius * cos(2 * PI * j / k), radius * sin(2 * PI * j / k), half - 2 * half * i / (n - 1));
  mesh_grid(&m, 0, n, k, false);
  if (!caps) return m;
  const int top = mesh_vertex(&m, 0, 0, half), bottom = mesh_vertex(&m, 0, 0, -half);
  for (int j = 0; j < k; j++) {
    mesh_face(&m, top, j, (j + 1) % k);
    mesh_face(&m, bottom, (n - 1) * k + (j + 1) % k, (n - 1) * k + j);
  }
  return m;
}

/* Makes a rectangle a x b of n x n cells in the plane z = 0. If `closed` is set, a second layer of faces in the same
 * place forms its back. The two layers share the vertices of the border. */
static inline mesh mesh_plate(int n, double a, double b, bool closed) {
  const int side = (n + 1) * (n + 1);
  mesh m = mesh_room(2 * side, 4 * n * n);
  int *back = malloc(sizeof(int) * (size_t)side);
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= n; j++) back[i * (n + 1) + j] = mesh_vertex(&m, a * i / n - a / 2, b * j / n - b / 2, 0);
  if (closed)
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++) back[i * (n + 1) + j] = mesh_vertex(&m, a * i / n - a / 2, b * j / n - b / 2, 0);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int p = i * (n + 1) + j, q = p + n + 1;
      mesh_quad(&m, p, q, q + 1, p + 1);
      if (closed)
        mesh_quad(&m, back[p + 1], back[q + 1], back[q], back[p]); /* the diagonals of the back differ from
                                                                              * those of the front */
    }
  free(back);
  return m;
}

static inline mesh mesh_torus(int n, int k, double R, double r) {
  mesh m = mesh_room(n * k, 2 * n * k);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k; j++) {
      const double u = 2 * PI * i / n, v = 2 * PI * j / k, at = R + r * cos(v);
      mesh_vertex(&m, at * cos(u), at * sin(u), r * sin(v));
    }
  mesh_grid(&m, 0, n, k, true);
  return m;
}

static inline void mesh_move(mesh *m, const double d[3]) {
  for (int i = 0; i < m->vertices; i++)
    for (int k = 0; k < 3; k++) m->x[i][k] += d[k];
}

/* Changes every coordinate of every vertex by up to `size`, so that nothing is symmetric. */
static inline void mesh_shake(mesh *m, uint64_t *seed, double size) {
  for (int i = 0; i < m->vertices; i++)
    for (int k = 0; k < 3; k++) m->x[i][k] += check_uniform(seed, -size, size);
}
