/* A plugin with a method that has no step. */
#include <curvebody/plugin.h>

static const cb_integrator_class still = {
    .name = "still", .title = "", .doc = "", .configuration = &cb_configuration_particles};

CB_PLUGIN(CB_PLUGIN_INTEGRATOR(&still));
