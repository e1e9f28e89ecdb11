/* The invariants of the coadjoint action on Killing momenta, which do not depend on the frame: |T|^2 + K |J|^2 and, in
 * three dimensions, T.J. K is the curvature of the space (E^n: 0), T are the momenta of translations (or boosts) and J
 * those of rotations. */
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
