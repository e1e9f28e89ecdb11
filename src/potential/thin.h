/* Where a closed body is thinner than its panels are wide, and what faces them is not their mirror image.
 *
 *   q = o^2/(t h),  h^2 the panel's area
 *   t along the inward normal from its centre to the panel that faces it, o from centre to centre across that normal
 * An equation of panels takes the potential of the one that faces it at that one's centre: where the sides are mirror
 * images (o = 0) the thin body's jump is kept, else the potential's change over o is taken for what t has of it.
 * Measured on spheroids and coins, 288 and 1152 faces of both sides, t/h from 1 to 1e-3, o/h from 0 to 0.5 at random or
 * by turning a side: with the mean of min(q, 32) over the area below 2 the tensor is within about 5 % of that of the
 * mirrored mesh, above it mostly beyond, by up to 230 %; the raw asymmetry may be 1e-14 nevertheless. What both meshes
 * have of error is that of panels wider than the border is thick: of the translation across a mirrored spheroid 2, 5
 * and 11 % where t/h is 0.7, 0.4 and 0 on the mean, by 288 faces; 1.5, 3.5 and 6 % at 0.7, 0.3 and 0 by 1152.
 */
#pragma once

#include "potential/panels.h"

typedef struct cb_thickness {
  double mean;     /* of min(1, t/h) over the area */
  double mismatch; /* of min(q, 32) likewise */
  int worst;       /* the panel of the greatest q; -1: none is thinner than it is wide */
  double t, h, o;  /* of the worst */
} cb_thickness;

/* Of the first n panels, which are of closed pieces that point outwards; in n log n. ratio[n]: min(1, t/h) of each;
 * NULL: not wanted. CB_ERROR_MEMORY. */
cb_status cb_thickness_find(const cb_panels *p, int n, double *ratio, cb_thickness *out);

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

/* Moves y of the vertices, of the first n panels, which are corner[i] and point outwards; ratio[n]: min(1, t/sqrt(A)).
 * CB_ERROR_MEMORY. */
cb_status cb_rims_place(const cb_panels *p, int n, const int (*corner)[3], const double *ratio, int vertices,
                        double (*y)[3]);
