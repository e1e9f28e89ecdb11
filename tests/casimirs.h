/* The invariants of the coadjoint action on Killing momenta, the same in every frame. H^n, S^n: |T|^2 + K |J|^2 and
 * (n = 3) T.J; E^n: |P|^2 and P.J, with T the translation-like and J the rotation momenta. */
#pragma once

#include <curvebody/geometry.h>

static inline void killing_casimirs(const cb_geometry *g, const double *momentum, double casimir[2]) {
  const int n = g->dim;
  const double *t = momentum, *j = momentum + n, K = g->factor[0].curvature;
  casimir[0] = casimir[1] = 0;
  for (int i = 0; i < n; i++) casimir[0] += t[i] * t[i];
  for (int i = 0; i < n * (n - 1) / 2; i++) casimir[0] += K * j[i] * j[i];
  for (int i = 0; n == 3 && i < n; i++) casimir[1] += t[i] * j[i];
}
