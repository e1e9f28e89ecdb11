/* Lobatto IIIA-IIIB with s stages and order 2s-2, with position constraints; symplectic and symmetric if no force
 * depends on velocities.
 *
 * It works in the embedding of a space made of quadrics and flat factors (src/integrators/lobatto_embedding.c), or in a
 * fixed chart (src/integrators/lobatto_chart.c).
 * Source: Jay, Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems, SIAM J. Numer. Anal. 33
 * (1996) 368, doi:10.1137/0733019; Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd ed. (2006), VII.1.
 */
#include "integrators/lobatto.h"

#include "integrators/iteration.h"

#include <stddef.h>

typedef cb_lobatto_options parameters;

static const cb_param table[] = {
    {"stages", CB_PARAM_INT, offsetof(parameters, stages), "4", "", "[2, 5]", NULL,
     "number of stages; the order is 2 stages - 2"},
    CB_SOLVER_PARAMS(parameters, "last change of the positions relative to the largest move in the step; 0: round-off",
                     "250"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_lobatto_form *form(const cb_integrator *in) {
  return cb_system_space(in->system)->chart ? &cb_lobatto_chart_form : &cb_lobatto_embedding_form;
}

static cb_status create(cb_integrator *in, const void *params) { return form(in)->create(in, params, &in->self); }

static void destroy(cb_integrator *in) {
  if (in->self) form(in)->destroy(in->self);
}

static cb_status step(cb_integrator *in, void *state, double h) { return form(in)->step(in->self, state, h); }

static void reset(cb_integrator *in) { form(in)->reset(in->self); }

static void moved(cb_integrator *in, int component, const cb_isometry *isometry) {
  if (form(in)->moved) form(in)->moved(in->self, component, isometry);
}

static void properties(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  *order = 2 * ((const parameters *)in->params)->stages - 2;
  *symplectic = *symmetric = !cb_forces_uses_velocity(in->forces);
}

const cb_integrator_class cb_integrator_lobatto = {
    .name = "lobatto",
    .title = "Lobatto IIIA-IIIB",
    .doc =
        "Symplectic, symmetric, order 2 stages - 2; in the embedding of a quadric space, where it conserves isometry "
        "momenta exactly, or in a fixed chart.",
    .solves = &cb_problem_hamiltonian,
    .params = table,
    .params_size = sizeof(parameters),
    .create = create,
    .destroy = destroy,
    .step = step,
    .reset = reset,
    .moved = moved,
    .properties = properties,
    .takes_constraints = true};
