/* Air at 15 degrees Celsius and one atmosphere. Source: ISO 2533 (1975), the standard atmosphere at sea level. */
#include <curvebody/medium.h>

const cb_fluid_medium_class cb_fluid_medium_air = {
    .name = "air", .title = "Air", .doc = "At 15 degrees Celsius and one atmosphere: 1.225 kg/m3", .uniform = 1.225};
