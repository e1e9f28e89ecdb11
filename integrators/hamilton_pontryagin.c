/* The Hamilton–Pontryagin integrator on SE(3), SO(4) and SO(3,1), of order 2 or, composed, 4, for bodies in a fluid
 * that are rigid or have a prescribed shape.
 *
 *   g_{k+1} = g_k tau(h Y),  (dtau^-1_{hY})^T mu = p_k + h/2 F,  p_{k+1} = (dtau^-1_{-hY})^T mu + h/2 F,
 *   mu = K Y + mu_0
 * with the pose g, the twist Y in the body's axes, the momentum p, the wrench F and the map tau of `map`. The inertia
 * K, the momentum mu_0 at Y = 0, and F are those at the middle of the step (with `damped`, all of F acts at its start,
 * and the order is 1); Newton's method solves for the six unknowns Y (fluid/rigid_step.h). Without `damped` the
 * integrator is symmetric, and with the maps cayley and exponential it is variational, hence symplectic without drag.
 * Source: Bou-Rabee & Marsden, Found. Comput. Math. 9 (2009) 197, doi:10.1007/s10208-008-9030-4; Suzuki, Phys. Lett. A
 * 146 (1990) 319, doi:10.1016/0375-9601(90)90962-N.
 */
#include "integrators/shapes.h"
#include "mechanism/mechanism.h"
#include <curvebody/integrator.h>

typedef struct parameters {
  int map;   /* the map tau, a number of the enum cb_se3_map */
  int order; /* ORDER_2 or ORDER_4 */
  bool damped;
} parameters;

enum { ORDER_2, ORDER_4 };

static const cb_param table[] = {
    {"map", CB_PARAM_CHOICE, offsetof(parameters, map), "cayley", "", "", "cayley|exponential|tln",
     "the map tau; tln has the trapezoidal rule C = 1 - ad/2 in place of dtau^-1 and is not variational"},
    {"order", CB_PARAM_CHOICE, offsetof(parameters, order), "2", "", "", "2|4",
     "order in the step; 4: five steps of order 2, one of them backwards, for motions without strong drag"},
    {"damped", CB_PARAM_BOOL, offsetof(parameters, damped), "false", "", "", NULL,
     "true: all forces act at the start of a step, so the order is 1; for strong drag after impacts, only with `order: "
     "2`"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status create(cb_integrator *in, const void *params) {
  const parameters *own = params;
  in->solver = "newton";
  if (own->damped && own->order == ORDER_4)
    return cb_fail(CB_ERROR_UNSUPPORTED, "`damped: true` is of order 1: expected `order: 2` next to it");
  if (own->order == ORDER_4) in->substep = cb_composition_of_order_4(&in->substeps);
  return CB_OK;
}

static cb_status step(cb_integrator *in, void *state, double h) {
  const parameters *own = in->params;
  return (own->damped ? cb_rigid_step_damped : cb_rigid_step_pontryagin)(in->problem, (cb_se3_map)own->map, h, state,
                                                                         &in->iterations);
}

static cb_status drift_joined(cb_integrator *in, cb_mechanism *m, const cb_mechanism_bodies *b, double t, double h,
                              int *failed) {
  const parameters *own = in->params;
  if (own->map == CB_SE3_TLN)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the map `tln` has no discrete Lagrangian: joints need cayley or exponential");
  const cb_mechanism_step how = {(cb_se3_map)own->map, own->damped, t, h};
  return cb_mechanism_drift(m, b, &how, failed, &in->iterations);
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  const parameters *own = in->params;
  *order = own->damped ? 1 : own->order == ORDER_4 ? 4 : 2;
  *symplectic = own->map != CB_SE3_TLN;
  *symmetric = !own->damped;
}

const cb_integrator_class cb_integrator_hamilton_pontryagin = {
    .name = "hamilton_pontryagin",
    .title = "Hamilton-Pontryagin on SE(3), SO(4), SO(3,1)",
    .doc =
        "Implicit, order 2 or 4, variational with the maps cayley and exponential; for bodies in a fluid. Also, with "
        "the "
        "key order only, for shapes of a bundle with inertia.",
    .solves = &cb_problem_discrete_lagrangian,
    .other = &cb_hamilton_pontryagin_of_shapes,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .properties = properties,
    .step = step,
    .takes_impulses = true,
    .drift_joined = drift_joined,
};
