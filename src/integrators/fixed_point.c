/* Fixed-point iteration for the stages of one step: see fixed_point.h. */
#include "integrators/fixed_point.h"

#include <math.h>

cb_status cb_stage_not_finite(const char *name, int iteration) {
  return cb_fail(CB_STEP_NOT_FINITE, "%s: a stage is not finite in iteration %d", name, iteration);
}

cb_status cb_fixed_point_solve(const cb_fixed_point *how, cb_integrator *in,
                               cb_status (*sweep)(void *method, int iteration, cb_stage_change *c), void *method) {
  double none = 0, *contraction = how->contraction ? how->contraction : &none, before = 0, rho = *contraction;
  for (int it = 1; it <= how->most; it++) {
    cb_stage_change c = {0};
    const cb_status status = sweep(method, it, &c);
    if (status) return status;
    if (!(c.change < INFINITY && c.size < INFINITY)) return cb_stage_not_finite(how->name, it);
    const bool noise = cb_stage_change_is_noise(&c, how->noise);
    in->iterations = it;
    in->residual = c.size > 0 ? c.change / c.size : 0;
    if (it > 1) {
      rho = before > 0 ? c.change / before : 0;
      if (!noise || !*contraction) *contraction = rho < 1 ? rho : 0;
    }
    if (c.change <= how->target * c.size) return CB_OK;
    if (rho > 0 && rho < 1 && c.change * rho / (1 - rho) <= how->target * c.size) return CB_OK;
    if (it > 1 && noise && rho > 0.25) return CB_OK;
    if (it > 4 && rho > 1e3) break;
    before = c.change;
  }
  *contraction = 0;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "%s: the fixed-point iteration stands at a relative change of %.2g after %d iterations; a smaller "
                 "step or `solver: newton` may do",
                 how->name, in->residual, in->iterations);
}
