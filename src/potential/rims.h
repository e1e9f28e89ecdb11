/* Where the panels of thin closed bodies lie next to their rims.
 *
 * Two sides that face each other within less than the size sqrt(A) of a panel are a sheet of dipoles, which reach beyond
 * a rim as those of a sheet do (potential/pieces.h): by r(t/sqrt(A)) of that, t the thickness,
 *   r(x) = (1 - x)/(1 + 5.8 x),  x < 1/2, and from there to 0 at 3/4
 * Measured on coins of uniform rings, 240 to 3360 faces, thickness 1e-4 to 0.1 of the radius: within 0.07 of it. Rims are
 * edges between a thin side and a panel across that is no higher than 1 to 1.25 of its thickness, which bend outwards by
 * a right angle; less so as they depart from it, and not from 45 degrees on. The wedges of ellipsoids, whose panels are
 * higher, do not gain by it and stay.
 */
#ifndef CB_POTENTIAL_RIMS_H
#define CB_POTENTIAL_RIMS_H

#include "potential/panels.h"

/* Moves y of the vertices, of the first n panels, which are corner[i] and point outwards; ratio[n]: min(1, t/sqrt(A)).
 * CB_ERROR_MEMORY. */
cb_status cb_rims_place(const cb_panels *p, int n, const int (*corner)[3], const double *ratio, int vertices,
                        double (*y)[3]);

#endif
