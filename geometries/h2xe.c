/* H^2 x E, the product of the hyperbolic plane of curvature K < 0 and a line. Points are (x, y, w, z) with x^2 + y^2 -
 * w^2 = 1/K and w > 0; z is the coordinate of the line. The distance d of two points 1 and 2 is given by d^2 = d_H2^2 +
 * (z1 - z2)^2, where d_H2 is their distance in the plane. The isometries are those of the hyperbolic plane and of the
 * line. */
#include "geometry/space_class.h"

CB_CONSTANT_CURVATURE("-1", "< 0", "-1/R^2, R the radius of curvature of H2", 2, 1)

const cb_space_class cb_space_h2xe = {
    .name = "h2xe",
    .title = "hyperbolic plane times a line",
    .doc = "hyperbolic plane times a line; points (x, y, w, z) with x^2 + y^2 - w^2 = -R^2, w > 0",
    CB_CONSTANT_CURVATURE_CLASS,
};
