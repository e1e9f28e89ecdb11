/* Bodies in curved spaces for the suites of what they are made of. */
#pragma once

#include "check.h"
#include "fluid/surface.h"

/* NAME at the resolution, one length (NULL: its defaults), laid. */
static inline cb_surface *curved_ball(double radius, int resolution, double K, cb_surface_chart chart) {
  cb_surface *s;
  const struct {
    double radius;
    int resolution;
  } params = {radius, resolution};
  extern const cb_shape_class cb_shape_ball;
  check_ok(cb_shape_ball.make(&params, &s));
  check_ok(cb_surface_lay(s, K, chart));
  return s;
}

/* The quadric x^2/a^2 + y^2/b^2 + z^2/c^2 = w^2, from a ball's faces, by the gnomonic chart. */
static inline cb_surface *curved_quadric(const double a[3], int resolution, double K) {
  cb_surface *s = curved_ball(1, resolution, 0, CB_CHART_EXPONENTIAL);
  for (int v = 0; v < s->vertices; v++)
    for (int i = 0; i < 3; i++) s->x[v][i] *= a[i];
  check_ok(cb_surface_lay(s, K, CB_CHART_GNOMONIC));
  return s;
}
