/* No fluid: bodies move in a vacuum. */
#include <curvebody/medium.h>

const cb_fluid_medium_class cb_fluid_medium_none = {
    .name = "none", .title = "No fluid", .doc = "The density is 0", .uniform = 0};
