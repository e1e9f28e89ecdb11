/* Two functions of the Killing momenta that are the same in every frame: |T|^2 + K |J|^2 and, in three dimensions, T.J.
 * K is the curvature of the space (0 in E^n). T contains the momenta of the translations (boosts in H^n), and J the
 * momenta of the rotations. */
#pragma once

#include <curvebody/space.h>

static inline void killing_casimirs(const cb_space *g, const double *momentum, double casimir[2]) {
  const int n = g->dim;
  const double *t = momentum, *j = momentum + n, K = g->factor[0].curvature;
  casimir[0] = casimir[1] = 0;
  for (int i = 0; i < n; i++) casimir[0] += t[i] * t[i];
  for (int i = 0; i < n * (n - 1) / 2; i++) casimir[0] += K * j[i] * j[i];
  for (int i = 0; n == 3 && i < n; i++) casimir[1] += t[i] * j[i];
}
