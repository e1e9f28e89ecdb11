/* S^2 x E, the product of the sphere of curvature K > 0 and a line. Points are (x, y, w, z) with x^2 + y^2 + w^2 = 1/K;
 * z is the coordinate of the line. The distance d of two points 1 and 2 is given by d^2 = d_S2^2 + (z1 - z2)^2, where
 * d_S2 is their distance on the sphere. The isometries are those of the sphere and of the line. */
#include "geometry/space_class.h"

CB_CONSTANT_CURVATURE("1", "> 0", "1/R^2, R the radius of S2", 2, 1)

const cb_space_class cb_space_s2xe = {
    .name = "s2xe",
    .title = "sphere times a line",
    .doc = "sphere times a line; points (x, y, w, z) with x^2 + y^2 + w^2 = R^2",
    CB_CONSTANT_CURVATURE_CLASS,
};
