/* Gaits for the tests (random loops and circles), and expressions of time. */
#pragma once

#include <curvebody/holonomy.h>
#include "check.h"

/* Makes a random polygon in n variables. Its first corner is `centre`. The coordinates of the other corners differ from
 * those of `centre` by up to `size`. */
static inline cb_gait *random_polygon(uint64_t *seed, int n, int corners, const double *centre, double size) {
  double r[3 * 8];
  cb_gait *g;
  for (int k = 0; k < corners; k++)
    for (int i = 0; i < n; i++) r[k * n + i] = centre[i] + (k ? size * check_uniform(seed, -1, 1) : 0);
  check_ok(cb_gait_polygon(n, corners, r, &g));
  return g;
}

static inline cb_gait *random_fourier(uint64_t *seed, int n, double size) {
  double mean[3], cosine[6], sine[6];
  cb_gait *g;
  for (int i = 0; i < n; i++) mean[i] = check_uniform(seed, -.3, .3);
  for (int i = 0; i < 2 * n; i++) {
    cosine[i] = size * check_uniform(seed, -1, 1);
    sine[i] = size * check_uniform(seed, -1, 1);
  }
  check_ok(cb_gait_fourier(n, 2, mean, cosine, sine, &g));
  return g;
}

/* Makes a circle around (x, y). `way` is 1 for counter-clockwise and -1 for clockwise. */
static inline cb_gait *ring(double x, double y, double radius, double way) {
  const double mean[2] = {x, y}, cosine[2] = {radius, 0}, sine[2] = {0, way * radius};
  cb_gait *g;
  check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &g));
  return g;
}

static inline cb_gait *circle(double x, double y, double radius) { return ring(x, y, radius, 1); }

static inline cb_expression *expression(const char *text) {
  static const char *const names[] = {"t"};
  cb_expression *e = NULL;
  check_ok(cb_expression_parse(text, names, 1, NULL, &e));
  return e;
}
