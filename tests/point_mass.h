/* Adds a point mass at x to mass properties. Its contribution comes from its momentum for each unit twist (w, v0): this
 * is mass (x × v, v), where v = w × x + v0 is the velocity of the point. */
#pragma once

#include <curvebody/mass.h>
#include "numerics/vec3.h"

static inline void mass_add_point(cb_mass *m, double mass, const double x[3]) {
  for (int j = 0; j < 6; j++) {
    double Y[6] = {0}, v[3], l[3];
    Y[j] = 1;
    cb_cross3(Y, x, v);
    for (int i = 0; i < 3; i++) v[i] += Y[3 + i];
    cb_cross3(x, v, l);
    for (int i = 0; i < 3; i++) {
      m->inertia[i][j] += mass * l[i];
      m->inertia[3 + i][j] += mass * v[i];
    }
  }
  if (m->mass + mass != 0)
    for (int i = 0; i < 3; i++) m->centre[i] = (m->mass * m->centre[i] + mass * x[i]) / (m->mass + mass);
  m->mass += mass;
}
