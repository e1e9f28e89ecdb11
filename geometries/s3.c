/* The sphere S^3 of curvature K > 0: x in R^4 with <x,x> = 1/K, <x,y> = x1 y1 + x2 y2 + x3 y3 + w w'. */
#include "geometry/constant.h"

CB_CONSTANT_CURVATURE("1", "> 0", "1/R^2, R the radius", 3)

const cb_geometry_class cb_geometry_s3 = {
    .name = "s3",
    .title = "3-sphere",
    .doc = "points (x, y, z, w) with x^2 + y^2 + z^2 + w^2 = R^2",
    CB_CONSTANT_CURVATURE_CLASS,
};
