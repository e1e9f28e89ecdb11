/* Bodies that tests drop on a floor with floor_drop.h, and their poses at the start: a ball, a tripod, a rod, boxes,
 * and a tumbling body with a full inertia matrix. */
#pragma once

#include "floor_drop.h"
#include "fluid_mesh.h"

static const cb_pose upright = {{1, 0, 0, 0}, {0, 0, 1}};
static const cb_pose tilted = {{0.9, 0.1, 0.3, -0.3}, {0, 0, 1}};
static const double tripod[3][3] = {{0.1, 0, -0.25}, {-0.05, 0.1, -0.25}, {-0.06, -0.09, -0.25}};
static const double rod[2][3] = {{0.5, 0, 0}, {-0.5, 0, 0}};

static inline cb_pose unit_pose(cb_pose g) {
  double size = 0;
  for (int i = 0; i < 4; i++) size += g.q[i] * g.q[i];
  for (int i = 0; i < 4; i++) g.q[i] /= sqrt(size);
  return g;
}

static inline void box_points(const double a[3], double x[8][3]) {
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) x[i][k] = (i >> k & 1 ? 1 : -1) * a[k];
}

static inline body tumbling_body(void) {
  body b = {.weight = 1.5, .moment = {.1, -.05, .08}, .g = {0, 0, -10}};
  generic_tensor(b.K0);
  return b;
}

/* Makes a ball of radius 1/4 whose lowest vertex is below its centre. */
static inline drop *ball(double restitution, int method) {
  mesh m = mesh_ellipsoid(4, 0.25, 0.25, 0.25); /* an even division has vertices at the poles */
  const body b = drop_body(0.02, 0.02, 0.02);
  drop *d = drop_create(&b, restitution, m.vertices, (const double(*)[3])m.x, method);
  free(m.x);
  free(m.face);
  free(m.part);
  return d;
}
