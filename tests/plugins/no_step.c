/* A plugin with an integrator that has no step function. */
#include <curvebody/plugin.h>

static const cb_integrator_class still = {.name = "still", .title = "", .doc = "", .solves = &cb_problem_hamiltonian};

CB_PLUGIN(CB_PLUGIN_INTEGRATOR(&still));
