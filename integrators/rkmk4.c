/* Munthe-Kaas's Runge–Kutta method of order 4 on SE(3), for bodies with prescribed poses in a fluid: explicit, an
 * independent check of hamilton_pontryagin.
 *
 *   g = g_k exp(Theta),  Theta' = dexp^-1_{-Theta} Y,  mu' = ad*_Y mu + F    by the classical method   (fluid/rigid_step.h)
 * Source: Munthe-Kaas, Appl. Numer. Math. 29 (1999) 115, doi:10.1016/S0168-9274(98)00030-0.
 */
#include "fluid/rigid_step.h"
#include <curvebody/integrator.h>

static const cb_param table[] = {{NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status create(cb_integrator *in, const void *params) {
  (void)params;
  in->solver = "explicit";
  return CB_OK;
}

static cb_status step(const cb_integrator *in, const cb_rigid_problem *p, double h, cb_rigid_state *s,
                      int *iterations) {
  (void)in;
  *iterations = 0;
  return cb_rigid_step_rkmk4(p, h, s);
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  (void)in;
  *order = 4;
  *symplectic = *symmetric = false;
}

const cb_integrator_class cb_integrator_rkmk4 = {
    .name = "rkmk4",
    .title = "Runge-Kutta-Munthe-Kaas of order 4 on SE(3)",
    .doc = "explicit; bodies in a fluid",
    .params = table,
    .create = create,
    .properties = properties,
    .step_body = step,
};
