/* Flows around meshes for the tests, and the flow around a sphere in closed form. */
#pragma once

#include "potential.h"
#include "potential/field.h"

/* Creates the flow around a mesh that moves rigidly, with the angular velocity w about the origin and the velocity v of
 * the origin. */
static inline cb_flow_about *field_with(const solid_mesh *m, bool sheets, const double w[3], const double v[3]) {
  double(*u)[3] = malloc((size_t)m->vertices * sizeof *u);
  cb_flow_about *f = NULL;
  assert_non_null(u);
  for (int i = 0; i < m->vertices; i++)
    for (int k = 0; k < 3; k++) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      u[i][k] = v[k] + w[a] * m->x[i][b] - w[b] * m->x[i][a];
    }
  const cb_field_bodies bodies = {.vertices = m->vertices,
                                  .faces = m->faces,
                                  .x = (const double(*)[3])m->x,
                                  .v = (const double(*)[3])u,
                                  .face = (const int(*)[3])m->face,
                                  .sheets = sheets};
  check_ok(cb_field_create(&bodies, 1e-7, &f));
  free(u);
  return f;
}

static inline cb_flow_about *field_of(const solid_mesh *m, const double w[3], const double v[3]) {
  return field_with(m, false, w, v);
}

/* The flow around the unit sphere that moves with the velocity v: returns the potential phi = -v.x/(2 r^3), r = |x|,
 * and writes u = grad phi. */
static inline double dipole(const double v[3], const double x[3], double u[3]) {
  const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], r3 = r2 * sqrt(r2),
               along = v[0] * x[0] + v[1] * x[1] + v[2] * x[2];
  for (int k = 0; k < 3; k++) u[k] = -v[k] / (2 * r3) + 3 * along * x[k] / (2 * r3 * r2);
  return -along / (2 * r3);
}
