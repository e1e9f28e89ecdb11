/* Fresh water at 20 degrees Celsius and one atmosphere: 998.2 kg/m^3, rounded to 998. Source: G. S. Kell, J. Chem. Eng.
 * Data 20 (1975) 97, doi:10.1021/je60064a005. */
#include <curvebody/medium.h>

const cb_fluid_medium_class cb_fluid_medium_water = {
    .name = "water", .title = "Fresh water", .doc = "At 20 degrees Celsius: 998 kg/m3", .uniform = 998};
