/* Bodies for the tests of the local fluid model (fluid/local.h): the model of a mesh, the added mass of a mesh, and a
 * body of three parts with a random pose, motion, density and flow. */
#pragma once

#include "fluid/local.h"
#include "fluid_mesh.h"

static inline cb_local *local_of(mesh m) {
  cb_surface *s = mesh_surface(m);
  cb_local *l;
  check_ok(cb_local_create(s, &l));
  cb_surface_free(s);
  return l;
}

typedef struct added {
  double K[6][6];
  cb_local_part part;
} added;
static inline added added_of(mesh m) {
  added a;
  cb_local *l = local_of(m);
  cb_local_added_mass(l, 1, NULL, a.K, NULL, &a.part);
  cb_local_free(l);
  return a;
}

typedef struct setting {
  cb_surface *s;
  cb_local *l;
  double (*x)[3], (*v)[3], (*flow)[3], *rho, Y[6], flow1[3];
} setting;

/* Creates a body of two closed parts and an open one. Positions and velocities of its vertices, densities and flow
 * velocities at its faces, and its twist Y are random. */
static inline setting setting_open(uint64_t *seed, int n) {
  mesh a = mesh_torus(2 * n, n, 1, 0.4), b = mesh_ellipsoid(n, 1, 0.6, 0.4), c = mesh_plate(n, 1, 2, false);
  mesh piece[] = {a, b, c}, m = mesh_room(a.vertices + b.vertices + c.vertices, a.faces + b.faces + c.faces);
  for (int p = 0; p < 3; p++) {
    const int first = m.vertices;
    for (int i = 0; i < piece[p].vertices; i++)
      mesh_vertex(&m, piece[p].x[i][0] + 3 * p, piece[p].x[i][1], piece[p].x[i][2]);
    for (int f = 0; f < piece[p].faces; f++) {
      const int *v = piece[p].face[f];
      m.part[m.faces] = p;
      mesh_face(&m, first + v[0], first + v[1], first + v[2]);
    }
    free(piece[p].x);
    free(piece[p].face);
    free(piece[p].part);
  }
  mesh_shake(&m, seed, 0.1 / n);
  setting t = {.s = mesh_surface(m)};
  check_ok(cb_local_create(t.s, &t.l));
  const size_t vertices = (size_t)t.s->vertices, faces = (size_t)t.s->faces;
  t.x = malloc(sizeof *t.x * vertices);
  t.v = malloc(sizeof *t.v * vertices);
  t.flow = malloc(sizeof *t.flow * faces);
  t.rho = malloc(sizeof *t.rho * faces);
  for (size_t i = 0; i < vertices; i++)
    for (int k = 0; k < 3; k++) {
      t.x[i][k] = t.s->x[i][k] + check_uniform(seed, -0.1, 0.1) / n;
      t.v[i][k] = check_uniform(seed, -1, 1);
    }
  for (size_t f = 0; f < faces; f++) {
    t.rho[f] = check_uniform(seed, 1, 2);
    for (int k = 0; k < 3; k++) t.flow[f][k] = check_uniform(seed, -1, 1);
  }
  for (int i = 0; i < 6; i++) t.Y[i] = check_uniform(seed, -1, 1);
  for (int i = 0; i < 3; i++) t.flow1[i] = check_uniform(seed, -1, 1);
  return t;
}
static inline void setting_close(setting *t) {
  cb_local_free(t->l);
  cb_surface_free(t->s);
  free(t->x);
  free(t->v);
  free(t->flow);
  free(t->rho);
}
static inline void setting_pose(setting *t, bool moving) {
  cb_local_pose(t->l, (const double(*)[3])t->x, moving ? (const double(*)[3])t->v : NULL);
}
