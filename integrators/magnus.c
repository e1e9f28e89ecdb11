/* Magnus's method for the fibre of a bundle: it reconstructs the motion from the gait, on the group.
 *
 *   g_{k+1} = g_k exp(-W(h)), W from A(r) r' at Gauss's points: order 4 with two points, 6 with three
 *   (bundle/bundle_private.h)
 * with the group element g, the exponent W of Magnus for a step of length h, the shape r and the connection A. A step
 * is divided at the breaks of the gait, the times at which the gait is not smooth. The integrator is symmetric: a gait
 * that runs backwards reverses the motion.
 * Source: Blanes, Casas, Oteo & Ros, Physics Reports 470 (2009) 151, doi:10.1016/j.physrep.2008.11.001.
 */
#include "bundle/bundle_private.h"
#include <curvebody/integrator.h>

typedef struct parameters {
  int order; /* index of the chosen order */
  double error;
} parameters;

static const cb_param table[] = {
    {"order", CB_PARAM_CHOICE, offsetof(parameters, order), "6", "", "", "4|6", "order in the step"},
    {"error", CB_PARAM_REAL, offsetof(parameters, error), "0", "", ">= 0", NULL,
     "error tolerance per cycle: steps are halved until it is met; 0: no step is halved"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static int order_of(const parameters *p) { return p->order ? 6 : 4; }

static cb_status create(cb_integrator *in, const void *params) {
  (void)params;
  in->solver = "explicit";
  return CB_OK;
}

static cb_status step(cb_integrator *in, void *state, double h) {
  const parameters *own = in->params;
  return cb_bundle_step(in->problem, order_of(own), own->error, h, state, &in->iterations);
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  const parameters *own = in->params;
  *order = order_of(own);
  *symplectic = false;
  *symmetric = true;
}

const cb_integrator_class cb_integrator_magnus = {
    .name = "magnus",
    .title = "Magnus on the fibre of a bundle",
    .doc = "Explicit, order 4 or 6; for gaits in a bundle.",
    .solves = &cb_problem_group_path,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .properties = properties,
    .step = step,
};
