/* The loop of all iterations for stages, and the rules of more than one method: see iteration.h. */
#include "integrators/iteration.h"

#include <math.h>

cb_status cb_stage_not_finite(const char *name, int iteration) {
  return cb_fail(CB_STEP_NOT_FINITE, "%s: a stage is not finite in iteration %d", name, iteration);
}

void cb_stage_sum(size_t count, int s, double h, const double *a, const double *value, size_t stride, double *sum) {
  for (int j = 0; j < s; j++) {
    const double factor = h * a[j], *v = value + (size_t)j * stride;
    if (j == 0)
      for (size_t e = 0; e < count; e++) sum[e] = factor * v[e];
    else
      for (size_t e = 0; e < count; e++) sum[e] += factor * v[e];
  }
}

/* fmax is a call. */
static inline double larger(double a, double b) { return b > a ? b : a; }

double cb_stage_move(size_t count, const double *next, const double *x0, double *moves, cb_stage_change *c) {
  double total = 0;
  for (size_t e = 0; e < count; e++) {
    const double change = fabs(next[e] - moves[e]);
    total += change;
    c->change = larger(c->change, change);
    c->size = larger(c->size, fabs(next[e]));
    c->position = larger(c->position, fabs(x0[e]));
    moves[e] = next[e];
  }
  return total;
}

cb_stage_end cb_end_by_contraction(const cb_iteration *how, const cb_stage_change *c) {
  const double rho = c->rho;
  const bool noise = cb_stage_change_is_noise(c, how->noise), later = c->iteration > 1;
  if (later && how->contraction && (!noise || !*how->contraction)) *how->contraction = rho < 1 ? rho : 0;
  const bool accurate = c->change <= how->target * c->size ||
                        (rho > 0 && rho < 1 && c->change * rho / (1 - rho) <= how->target * c->size);
  if (accurate || (later && noise && rho > how->stall)) return CB_STAGE_ENDED;
  return c->iteration > 4 && rho > how->lost ? CB_STAGE_LOST : CB_STAGE_ON;
}

cb_stage_end cb_end_by_change(const cb_iteration *how, const cb_stage_change *c) {
  const bool small = c->relative <= fmax(1e-12, how->rounding), unresolved = c->change <= how->noise;
  if (c->relative <= how->target || (small && c->change > c->before / 4) ||
      (unresolved && c->change > how->stall * c->before))
    return CB_STAGE_ENDED;
  return c->iteration > 3 && !small && !unresolved && c->change > how->lost * c->before ? CB_STAGE_LOST : CB_STAGE_ON;
}

cb_status cb_iterate(const cb_iteration *how, cb_integrator *in, void *method) {
  cb_stage_change c = {.change = INFINITY};
  while (c.iteration < how->most) {
    c = (cb_stage_change){.iteration = c.iteration + 1, .before = c.change, .relative = c.relative, .rho = -1};
    const cb_status status = how->pass(method, &c);
    if (status) return status;
    if (!(c.change < INFINITY && c.size < INFINITY)) return cb_stage_not_finite(how->name, c.iteration);
    in->iterations = c.iteration;
    in->residual = c.relative = c.size > 0 ? c.change / c.size : 0;
    if (c.rho < 0 && c.iteration == 1)
      c.rho = how->contraction ? *how->contraction : 0;
    else if (c.rho < 0)
      c.rho = c.before > 0 ? c.change / c.before : 0;
    const cb_stage_end end = how->end(how, &c);
    if (end == CB_STAGE_ENDED) return CB_OK;
    if (end == CB_STAGE_LOST) break;
  }
  if (how->contraction) *how->contraction = 0;
  return cb_fail(CB_STEP_NO_CONVERGENCE, "%s: %s of %.2g after %d iterations; %s", how->name, how->what, in->residual,
                 in->iterations, how->advice);
}
