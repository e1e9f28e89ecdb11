/* The sphere S^2 of curvature K > 0: points are x = (x1, x2, w) in R^3 with <x,x> = 1/K. The form is <x,y> = x1 y1 + x2
 * y2 + w w' for y = (y1, y2, w'). */
#include "geometry/space_class.h"

CB_CONSTANT_CURVATURE("1", "> 0", "1/R^2, R the radius", 2)

const cb_space_class cb_space_s2 = {
    .name = "s2",
    .title = "sphere",
    .doc = "sphere; points (x, y, w) with x^2 + y^2 + w^2 = R^2",
    CB_CONSTANT_CURVATURE_CLASS,
};
