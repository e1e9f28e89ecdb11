/* Shapes that change, for the tests of their masses. */
#pragma once

#include "fluid/moving_mass.h"
#include "fluid_mesh.h"
#include "numerics/vec3.h"

typedef double vector[3];

/* A surface with the positions x and the velocities v that its vertices have at one time. */
typedef struct shape {
  cb_surface *s;
  vector *x, *v;
} shape;

static inline shape shape_of(mesh m) {
  shape out = {.s = mesh_surface(m)};
  out.x = calloc((size_t)out.s->vertices, sizeof(vector));
  out.v = calloc((size_t)out.s->vertices, sizeof(vector));
  memcpy(out.x, out.s->x, sizeof(vector) * (size_t)out.s->vertices);
  return out;
}
static inline void shape_free(shape *h) {
  cb_surface_free(h->s);
  free(h->x);
  free(h->v);
}

/* Makes one surface of two closed parts and a sheet. Random changes of its vertices make it asymmetric. */
static inline shape three_parts(uint64_t *seed) {
  mesh piece[3] = {mesh_ellipsoid(4, 1, 0.7, 0.4), mesh_torus(11, 7, 0.8, 0.3), mesh_plate(4, 1, 0.6, false)};
  int vertices = 0, faces = 0;
  for (int k = 0; k < 3; k++) {
    mesh_move(piece + k, (double[3]){3. * k - 2, 1 - 2. * k, 0.5 * k});
    mesh_shake(piece + k, seed, 0.02);
    vertices += piece[k].vertices;
    faces += piece[k].faces;
  }
  mesh all = mesh_room(vertices, faces);
  for (int k = 0; k < 3; k++) {
    const int first = all.vertices;
    for (int i = 0; i < piece[k].vertices; i++) mesh_vertex(&all, piece[k].x[i][0], piece[k].x[i][1], piece[k].x[i][2]);
    for (int f = 0; f < piece[k].faces; f++) {
      const int *at = piece[k].face[f];
      all.part[all.faces] = k;
      mesh_face(&all, first + at[0], first + at[1], first + at[2]);
    }
    free(piece[k].x);
    free(piece[k].face);
    free(piece[k].part);
  }
  return shape_of(all);
}
static const cb_material materials[3] = {{800, 0}, {1300, 0}, {500, 0.02}};

static inline double area_at_rest(const cb_surface *s, int f) {
  const int *c = s->face[f];
  double n[3];
  cb_normal3(s->x[c[0]], s->x[c[1]], s->x[c[2]], n);
  return sqrt(cb_dot3(n, n)) / 2;
}

static inline cb_moving_mass *made(const shape *h, const cb_material *material, bool lumped, int n,
                                   const cb_point_mass *points) {
  cb_moving_mass *m;
  check_ok(cb_moving_mass_create(h->s, material, lumped, n, points, &m));
  return m;
}
static inline cb_mass at(const cb_moving_mass *m, const shape *h, double mu0[6]) {
  cb_mass out;
  check_ok(cb_moving_mass_at(m, (const vector *)h->x, (const vector *)h->v, &out, mu0));
  return out;
}

static inline double largest(const double m[6][6]) {
  double size = 0;
  for (int i = 0; i < 36; i++) size = fmax(size, fabs(m[i / 6][i % 6]));
  return size;
}
static inline void check_same_mass(const cb_mass *a, const cb_mass *b, double tolerance) {
  check_relative(a->mass, b->mass, tolerance);
  check_near(a->volume, b->volume, tolerance * fabs(b->volume));
  check_relative(a->area, b->area, tolerance);
  for (int i = 0; i < 3; i++) {
    check_near(a->centre[i], b->centre[i], 10 * tolerance);
    check_near(a->volume_centre[i], b->volume_centre[i], 10 * tolerance);
  }
  for (int i = 0; i < 36; i++)
    check_near(a->inertia[i / 6][i % 6], b->inertia[i / 6][i % 6], tolerance * largest(b->inertia));
}

/* Sets the positions and velocities at the time t of a motion that bends and stretches the shape. */
static inline void wriggle(shape *h, double t) {
  for (int i = 0; i < h->s->vertices; i++) {
    const double *X = h->s->x[i], k = 1.3;
    for (int c = 0; c < 3; c++) {
      const double phase = 2 * t + k * X[(c + 1) % 3] + c;
      h->x[i][c] = X[c] * (1 + 0.1 * sin(3 * t + X[c])) + 0.2 * sin(phase);
      h->v[i][c] = X[c] * 0.3 * cos(3 * t + X[c]) + 0.4 * cos(phase);
    }
  }
}
