/* Sums over the particles that terms act on one by one: laws of the distance to a centre, potentials. */
#include "dynamics/forces_private.h"

cb_status cb_singles_sum(cb_forces *f, const cb_singles *of, double t, const double *x, double *potential,
                         double *force, double *dx) {
  const int k = f->system->k;
  const cb_particle_set *group;
  double sum = 0;
  for (int n = 0; (group = of->group(f->system, n)); n++)
    for (int m = 0; m < group->n; m++) {
      const int i = group->particle[m];
      double v, one[CB_Q_MAX], block[CB_Q_MAX * CB_Q_MAX];
      const cb_status status = of->at(f, n, i, t, x + i * k, &v, force ? one : NULL, dx ? block : NULL);
      if (status) return status;
      sum += v;
      for (int a = 0; force && a < k; a++) force[i * k + a] += one[a];
      if (!dx) continue;
      double *out = dx + (size_t)cb_pattern_find(&f->pattern, i, i) * (size_t)(k * k);
      for (int e = 0; e < k * k; e++) out[e] += block[e];
    }
  if (potential) *potential += sum;
  return CB_OK;
}
