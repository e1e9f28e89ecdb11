/* Hyperbolic space H^3 of curvature K < 0: points are x = (x1, x2, x3, w) in R^4 with <x,x> = 1/K and w > 0. The form
 * is <x,y> = x1 y1 + x2 y2 + x3 y3 - w w' for y = (y1, y2, y3, w'). */
#include "geometry/space_class.h"

CB_CONSTANT_CURVATURE("-1", "< 0", "-1/R^2, R the radius of curvature", 3)

const cb_space_class cb_space_h3 = {
    .name = "h3",
    .title = "hyperbolic space",
    .doc = "hyperbolic space; points (x, y, z, w) with x^2 + y^2 + z^2 - w^2 = -R^2, w > 0",
    CB_CONSTANT_CURVATURE_CLASS,
};
