/* Closed surfaces and sheets at any pose in the world, and the mass and moment of the medium that they displace, for
 * the tests of displaced fluid. */
#pragma once

#include "fluid/medium_surfaces.h"
#include "fluid_mesh.h"
#include <curvebody/se3.h>

typedef struct solid {
  int n;
  double (*corner)[3][3], (*rest)[3][3];
} solid;

static inline solid solid_of(cb_surface *s) {
  solid b = {.n = s->faces};
  b.corner = malloc(sizeof *b.corner * (size_t)b.n);
  b.rest = malloc(sizeof *b.rest * (size_t)b.n);
  for (int f = 0; f < b.n; f++)
    for (int k = 0; k < 3; k++) memcpy(b.rest[f][k], s->x[s->face[f][k]], sizeof b.rest[f][k]);
  memcpy(b.corner, b.rest, sizeof *b.rest * (size_t)b.n);
  cb_surface_free(s);
  return b;
}

static inline solid solid_mesh(mesh m) { return solid_of(mesh_surface(m)); }

static inline solid solid_shape(const char *name) {
  cb_surface *s;
  check_ok(cb_shape_create(name, NULL, &s));
  for (int p = 0; p < s->parts; p++) assert_false(s->open[p]);
  return solid_of(s);
}

static inline void solid_free(solid *b) {
  free(b->corner);
  free(b->rest);
}

static inline solid any_solid(int which, uint64_t *seed) {
  if (which == 0) return solid_mesh(mesh_ellipsoid(5, 1, 0.6, 0.4));
  if (which == 1) return solid_shape("twisted_bar");
  if (which == 2) return solid_shape("propeller");
  mesh m = mesh_torus(14, 9, 0.8, 0.3);
  mesh_shake(&m, seed, 0.05);
  return solid_mesh(m);
}

static inline void solid_place(solid *b, const cb_pose *g) {
  double r[3][3];
  cb_pose_rotation(g, r);
  for (int f = 0; f < b->n; f++)
    for (int k = 0; k < 3; k++) {
      cb_apply3(r, b->rest[f][k], b->corner[f][k]);
      for (int i = 0; i < 3; i++) b->corner[f][k][i] += g->x[i];
    }
}

static inline cb_pose random_pose(uint64_t *seed, double far) {
  cb_pose g = {{0}, {0}};
  double size = 0;
  for (int i = 0; i < 4; i++) {
    g.q[i] = check_uniform(seed, -1, 1);
    size += g.q[i] * g.q[i];
  }
  for (int i = 0; i < 4; i++) g.q[i] /= sqrt(size);
  for (int i = 0; i < 3; i++) g.x[i] = check_uniform(seed, -far, far);
  return g;
}

typedef struct displaced {
  double mass, moment[3];
} displaced;

static inline displaced displaced_of(const cb_medium *m, const solid *b, const double *thickness) {
  displaced d;
  check_ok(cb_medium_displaced(m, b->n, (const double(*)[3][3])b->corner, thickness, &d.mass, d.moment, d.moment));
  return d;
}

static inline void check_displaced(displaced a, displaced b, double tolerance) {
  double size = fabs(b.mass);
  check_near(a.mass, b.mass, tolerance * size);
  for (int i = 0; i < 3; i++) size = fmax(size, fabs(b.moment[i]));
  for (int i = 0; i < 3; i++) check_near(a.moment[i], b.moment[i], tolerance * size);
}
