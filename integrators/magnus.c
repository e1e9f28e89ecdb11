/* Magnus's method for the fibre of a bundle: reconstruction of the motion from the gait, on the group.
 *
 *   g_{k+1} = g_k exp(-W(h)), W from A(r) r' in Gauss's points: order 4 in two, 6 in three    (bundle/magnus.h)
 * Steps are cut at the breaks of the gait. Symmetric; a gait that is run backwards takes it back.
 * Source: Blanes, Casas, Oteo & Ros, Physics Reports 470 (2009) 151, doi:10.1016/j.physrep.2008.11.001.
 */
#include "bundle/bundle_step.h"
#include <curvebody/integrator.h>

typedef struct parameters {
  int order; /* index of the choice */
  double error;
} parameters;

static const cb_param table[] = {{"order", CB_PARAM_CHOICE, offsetof(parameters, order), "6", "", "", "4|6", "in step"},
                                 {"error", CB_PARAM_REAL, offsetof(parameters, error), "0", "", ">= 0", NULL,
                                  "on a cycle: a step is halved until it is met; 0: steps are taken as they are"},
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
    .doc = "explicit, order 4 or 6; gaits in a bundle",
    .configuration = &cb_configuration_bundle,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .properties = properties,
    .step = step,
};
