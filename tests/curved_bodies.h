/* Bodies in curved spaces, for the tests of mass, added mass and motion. */
#pragma once

#include "check.h"
#include "fluid/surface_mesh.h"

/* Creates the built-in ball with this radius and resolution, and embeds it by a chart in the space of curvature K. */
static inline cb_surface *curved_ball(double radius, int resolution, double K, cb_surface_chart chart) {
  cb_surface *s;
  const struct {
    double radius;
    int resolution;
  } params = {radius, resolution};
  extern const cb_shape_class cb_shape_ball;
  check_ok(cb_shape_ball.make(&params, &s));
  check_ok(cb_surface_embed(s, K, chart));
  return s;
}

/* Creates the quadric x^2/a_0^2 + y^2/a_1^2 + z^2/a_2^2 = w^2 in the coordinates (x, y, z, w) of the embedding of the
 * space of curvature K. Its vertices are those of a ball, stretched by a and mapped by the gnomonic chart. */
static inline cb_surface *curved_quadric(const double a[3], int resolution, double K) {
  cb_surface *s = curved_ball(1, resolution, 0, CB_CHART_EXPONENTIAL);
  for (int v = 0; v < s->vertices; v++)
    for (int i = 0; i < 3; i++) s->x[v][i] *= a[i];
  check_ok(cb_surface_embed(s, K, CB_CHART_GNOMONIC));
  return s;
}
