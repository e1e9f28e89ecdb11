/* The plane E^2: points are x in R^2, and the scalar product is <x,y> = x.y. */
#include "geometry/space_class.h"

CB_CONSTANT_CURVATURE("0", "[0, 0]", "always 0: use s2 or h2 for a curved surface", 2)

const cb_space_class cb_space_e2 = {
    .name = "e2",
    .title = "Euclidean plane",
    .doc = "Euclidean plane; points (x, y)",
    CB_CONSTANT_CURVATURE_CLASS,
};
