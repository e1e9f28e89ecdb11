/* S^2 x E, the product of the sphere of curvature K > 0 and a line: (x, y, w) with x^2 + y^2 + w^2 = 1/K,
 * then z; d^2 = d_S2^2 + (z1 - z2)^2. Isometries: those of the sphere and the translations of the line. */
#include "geometry/constant.h"

CB_CONSTANT_CURVATURE("1", "> 0", "1/R^2, R the radius of S2", 2, 1)

const cb_geometry_class cb_geometry_s2xe = {
    .name = "s2xe",
    .title = "sphere times a line",
    .doc = "points (x, y, w, z) with x^2 + y^2 + w^2 = R^2",
    CB_CONSTANT_CURVATURE_CLASS,
};
