/* Newton's method for the stages of one step: see newton.h. */
#include "integrators/newton.h"

#include <math.h>

cb_status cb_newton_solve(const cb_newton *how, cb_integrator *in,
                          cb_status (*correct)(void *method, bool fresh, cb_stage_change *c), void *method) {
  /* Old factors cut the change by about their own relative age: below 1e-5 one pass more with them reaches
   * round-off. */
  const double reuse = 1e-5, noise = 1e-12;
  const int most = how->most < 30 ? how->most : 30;
  double before = INFINITY;
  for (int it = 1; it <= most; it++) {
    cb_stage_change c = {0};
    const cb_status status = correct(method, it == 1 || in->residual > reuse, &c);
    if (status) return status;
    if (!(c.change < INFINITY)) return cb_stage_not_finite(how->name, it);
    in->iterations = it;
    in->residual = c.size > 0 ? c.change / c.size : 0;
    const bool unresolved = in->residual <= noise || c.change <= how->noise;
    if (in->residual <= how->target || (unresolved && c.change > before / 4)) return CB_OK;
    before = c.change;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE, "%s: Newton's method stands at a relative change of %.2g after %d iterations",
                 how->name, in->residual, in->iterations);
}
