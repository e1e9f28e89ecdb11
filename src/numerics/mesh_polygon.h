/* A polygon of space as triangles.
 *
 * It has to be plane: no corner farther from its plane (Newell's normal, through the mean of the corners) than 1e-3 of
 * its size, or than the sixth digit of its largest coordinate where that is more, up to 1e-2 of its size.
 *   fan     from the first corner where all of its triangles turn as the polygon does and go round that corner once at
 *           most, as those of a convex polygon do
 *   ears    otherwise: a corner and the two beside it, as long as nothing of what is left lies in it
 *           (G. H. Meisters, Amer. Math. Monthly 82 (1975) 648, doi:10.2307/2319703)
 * Corners may lie on a line with those beside them, or where another corner is (a bridge to a hole): triangles without
 * area are made where it does not go without. A polygon that lies on a line is fanned: it has no area at all.
 */
#pragma once

#include <curvebody/status.h>

enum { CB_POLYGON_MOST_EARS = 10000 }; /* corners of one that is no fan: time grows as their square */

/* triangle[n - 2] of the polygon with n >= 3 corners among the vertices, in its order. CB_ERROR_DOMAIN where it is not
 * plane, or cuts itself by more than 1e-6 of its size; corners counted from 1. */
cb_status cb_polygon_triangles(int n, const int *corner, const double (*vertices)[3], int (*triangle)[3]);
