/* Swimmers whose surface has drag, for the tests. */
#pragma once

#include "fluid_mesh.h"
#include "models.h"

#include "fluid/immersed_bundle.h"

typedef struct swimmer {
  cb_surface *surface;
  cb_poses *poses;
  cb_shape_surface *shape;
  cb_bundle *b;
} swimmer;

static inline swimmer expressed(mesh m, int n, const char *const *names, int motions, const cb_poses_motion *motion,
                                double normal, double tangential) {
  swimmer s = {.surface = mesh_surface(m)};
  check_ok(cb_shape_surface_expressions(s.surface, n, names, motions, motion, &s.shape));
  check_ok(cb_bundle_surface_drag(s.shape, normal, tangential, &s.b));
  return s;
}

static inline void swimmer_free(swimmer *s) {
  cb_bundle_free(s->b);
  cb_shape_surface_free(s->shape);
  cb_poses_free(s->poses);
  cb_surface_free(s->surface);
}

/* Makes a thin tube along the x axis from -1 to 1. */
static inline mesh eel(int n) {
  mesh m = mesh_tube(n, 6, .05, 1, true);
  for (int i = 0; i < m.vertices; i++) {
    const double z = m.x[i][2];
    m.x[i][2] = m.x[i][1];
    m.x[i][1] = m.x[i][0];
    m.x[i][0] = z;
  }
  return m;
}

/* Makes a swimmer with one shape variable, the phase of a motion. The motion is an expression of the time t and has the
 * period 2. If poses > 0, the motion is sampled as a sequence of this number of poses. */
static inline swimmer phased(mesh m, const cb_poses_motion *motion, int poses, double normal, double tangential) {
  swimmer s = {.surface = mesh_surface(m)};
  check_ok(cb_poses_from_expressions(s.surface, motion, 1, NULL, NULL, NULL, NULL, &s.poses));
  if (poses) {
    const size_t vertices = (size_t)s.surface->vertices;
    double(*x)[3] = malloc((size_t)poses * vertices * sizeof *x);
    for (int i = 0; i < poses; i++) check_ok(cb_poses_at(s.poses, 2. * i / poses, x + (size_t)i * vertices, NULL));
    cb_poses_free(s.poses);
    check_ok(cb_poses_from_arrays(s.surface->vertices, poses, (const double(*)[3])x,
                                  &(cb_poses_times){.step = 2. / poses, .end = CB_POSES_PERIODIC}, &s.poses));
    free(x);
  }
  check_ok(cb_shape_surface_of_poses(s.poses, s.surface, 0, 2, &s.shape));
  check_ok(cb_bundle_surface_drag(s.shape, normal, tangential, &s.b));
  check_near(s.b->period[0], 1, 0);
  return s;
}
