/* Media for tests: layers across any direction, or an atmosphere, with the density and its integral (the column) as
 * functions of the height. */
#pragma once

#include "check.h"
#include "fluid/medium_surfaces.h"

static inline void random_direction(uint64_t *seed, double out[3]) {
  double size = 0;
  while (size < 0.1 || size > 1) {
    for (int i = 0; i < 3; i++) out[i] = check_uniform(seed, -1, 1);
    size = sqrt(cb_dot3(out, out));
  }
  for (int i = 0; i < 3; i++) out[i] /= size;
}

typedef struct strata {
  int n;
  double level[4], density[5], up[3];
  double scale; /* > 0: the density is density[0] exp(-h/scale) at the height h, instead of layers */
} strata;

static const strata sea = {3, {-0.3, 0.05, 0.4}, {1030, 998, 870, 1.2}, {0, 0, 1}, 0};

static inline cb_medium *layers_of(const strata *s) {
  cb_medium *m;
  check_ok(cb_medium_layers(s->n, s->level, s->density, s->up, &m));
  return m;
}

static inline double rho_of(const strata *s, double h) {
  if (s->scale > 0) return s->density[0] * exp(-h / s->scale);
  int i = 0;
  while (i < s->n && h >= s->level[i]) i++;
  return s->density[i];
}

/* Returns the column, the integral of the density from the height 0 to the height h. It is negative for h < 0. */
static inline double column_of(const strata *s, double h) {
  if (s->scale > 0) return s->density[0] * s->scale * -expm1(-h / s->scale);
  double sum = 0;
  for (int i = 0; i <= s->n; i++) {
    const double a = i ? s->level[i - 1] : -INFINITY, b = i < s->n ? s->level[i] : INFINITY, low = fmin(h, 0),
                 high = fmax(h, 0);
    const double part = fmin(b, high) - fmax(a, low);
    if (part > 0) sum += s->density[i] * part;
  }
  return h < 0 ? -sum : sum;
}
