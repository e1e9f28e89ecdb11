/* The plane E^2: x in R^2, <x,y> = x.y. */
#include "geometry/constant.h"

CB_CONSTANT_CURVATURE("0", "[0, 0]", "always 0: use s2 or h2 for a curved surface", 2)

const cb_geometry_class cb_geometry_e2 = {
    .name = "e2",
    .title = "Euclidean plane",
    .doc = "flat; points (x, y)",
    CB_CONSTANT_CURVATURE_CLASS,
};
