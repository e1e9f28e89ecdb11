/* A plugin with an integrator that has no step function. */
#include <curvebody/plugin.h>

static const cb_integrator_class still = {
    .name = "still", .title = "", .doc = "", .configuration = &cb_configuration_particles};

CB_PLUGIN(CB_PLUGIN_INTEGRATOR(&still));
