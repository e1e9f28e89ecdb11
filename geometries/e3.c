/* Flat space E^3: points are x in R^3, and the scalar product is <x,y> = x.y. */
#include "geometry/space_class.h"

CB_CONSTANT_CURVATURE("0", "[0, 0]", "always 0: use s3 or h3 for a curved space", 3)

const cb_space_class cb_space_e3 = {
    .name = "e3",
    .title = "Euclidean space",
    .doc = "Euclidean space; points (x, y, z)",
    CB_CONSTANT_CURVATURE_CLASS,
};
