/* Generalised forces given as expressions, in spaces with a chart: a covector F_a(q, u, t), u = dq/dt.
 *
 *   dp_a/dt = ... + F_a,   with the exact derivatives dF_a/dq_b and dF_a/du_b
 * Source: Arnold, Mathematical Methods of Classical Mechanics, 2nd ed. (1989), section 12.
 */
#include "dynamics/forces_private.h"
#include <math.h>
#include <string.h>

enum { D = CB_Q_MAX };

/* The arguments of an expression: q, u, t, mass, charge. */
static void arguments(const cb_forces *f, int i, double t, const double *x, const double *v, double *out) {
  const cb_system *s = f->system;
  const int d = s->k;
  memcpy(out, x + i * d, (size_t)d * sizeof *out);
  for (int a = 0; a < d; a++) out[d + a] = v ? v[i * d + a] : 0;
  out[2 * d] = t;
  out[2 * d + 1] = s->mass[i];
  out[2 * d + 2] = s->charge[i];
}

static cb_status check(const cb_forces *f, int a, double value) {
  if (isfinite(value)) return CB_OK;
  return cb_fail(CB_STEP_DOMAIN, "the force along coordinate %s is not finite",
                 f->system->space->chart->coordinates[a]);
}

cb_status cb_generalised_add(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  const int d = s->k;
  for (int n = 0; n < s->n_generalised; n++)
    for (int m = 0; m < s->generalised[n].group.n; m++) {
      const int i = s->generalised[n].group.particle[m];
      double at[2 * D + 3];
      arguments(f, i, t, x, v, at);
      for (int a = 0; a < d; a++) {
        const cb_expression *e = s->generalised[n].force[a];
        const double value = e ? cb_expression_value(e, at) : 0;
        const cb_status status = check(f, a, value);
        if (status) return status;
        force[i * d + a] += value;
      }
    }
  return CB_OK;
}

cb_status cb_generalised_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv) {
  const cb_system *s = f->system;
  const int d = s->k;
  for (int n = 0; n < s->n_generalised; n++)
    for (int m = 0; m < s->generalised[n].group.n; m++) {
      const int i = s->generalised[n].group.particle[m];
      const size_t block = (size_t)cb_pattern_find(&f->pattern, i, i) * (size_t)(d * d);
      double at[2 * D + 3], gradient[2 * D];
      arguments(f, i, t, x, v, at);
      for (int a = 0; a < d; a++) {
        const cb_expression *e = s->generalised[n].force[a];
        if (!e) continue;
        const cb_status status = check(f, a, cb_expression_gradient(e, at, 2 * d, gradient));
        if (status) return status;
        for (int b = 0; b < d; b++) {
          dx[block + (size_t)(a * d + b)] += gradient[b];
          if (dv) dv[block + (size_t)(a * d + b)] += gradient[d + b];
        }
      }
    }
  return CB_OK;
}
