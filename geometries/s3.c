/* The sphere S^3 of curvature K > 0: points are x = (x1, x2, x3, w) in R^4 with <x,x> = 1/K. The form is <x,y> = x1 y1
 * + x2 y2 + x3 y3 + w w' for y = (y1, y2, y3, w'). */
#include "geometry/space_class.h"

CB_CONSTANT_CURVATURE("1", "> 0", "1/R^2, R the radius", 3)

const cb_space_class cb_space_s3 = {
    .name = "s3",
    .title = "3-sphere",
    .doc = "three-sphere; points (x, y, z, w) with x^2 + y^2 + z^2 + w^2 = R^2",
    CB_CONSTANT_CURVATURE_CLASS,
};
