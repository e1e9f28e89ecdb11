/* The error of closed bodies that are thinner than their panels are wide, if the two sides are not mirror images.
 *
 *   q = o^2/(t h),  h^2 the panel's area
 *   t: distance along the inward normal from the panel's centre to the opposite panel; o: offset of the two centres
 *   perpendicular to that normal
 * The equation of a panel uses the potential of the opposite panel at that panel's centre. If the sides are mirror
 * images (o = 0), the jump across the thin body is right. Otherwise the change of the potential over o appears as a
 * change over t. Measured on spheroids and coins with 288 and 1152 faces on both sides, t/h from 1 to 1e-3, and o/h
 * from 0 to 0.5, at random or by rotating one side: while the mean of min(q, 32) over the area is below 2, the tensor
 * is within about 5 % of that of the mirrored mesh. Above 2 the difference is mostly larger, up to 230 %, even if the
 * raw asymmetry is 1e-14. Mirrored meshes also have an error, because panels are wider than the border is thick: for
 * the translation across a spheroid 2, 5 and 11 % if the mean t/h is 0.7, 0.4 and 0 with 288 faces; 1.5, 3.5 and 6 % at
 * 0.7, 0.3 and 0 with 1152 faces.
 */
#pragma once

#include "potential/panels.h"

typedef struct cb_thickness {
  double mean;     /* mean of min(1, t/h) over the area */
  double mismatch; /* mean of min(q, 32) over the area */
  int worst;       /* the panel with the largest q; -1: no panel is wider than the body is thick */
  double t, h, o;  /* t, h and o of the panel `worst` */
} cb_thickness;

/* Finds the thickness for the first n panels, which are on closed pieces and point outwards, in n log n operations.
 * ratio[n]: min(1, t/h) of each (may be NULL). CB_ERROR_MEMORY. */
cb_status cb_thickness_find(const cb_panels *p, int n, double *ratio, cb_thickness *out);

/* The places of panels next to the rims of thin closed bodies.
 *
 * Two sides that face each other at less than the size sqrt(A) of a panel act as a sheet of dipoles, which seems larger
 * than its panels, as for a sheet (potential/mesh_pieces.h). The distance is that for a sheet times r(t/sqrt(A)), where
 * A is the panel's area and t the thickness of the body there:
 *   r(x) = (1 - x)/(1 + 5.8 x),  x < 1/2, and from there it decreases to 0 at 3/4
 * Measured on coins of uniform rings with 240 to 3360 faces and a thickness of 1e-4 to 0.1 of the radius: within 0.07
 * of r. A rim is an edge between a thin side and a panel perpendicular to it that is at most 1 to 1.25 times as high as
 * the body is thick; it bends outwards by a right angle. The effect decreases for other angles and is 0 beyond 45
 * degrees from a right angle. The wedges of ellipsoids have higher panels; moving them gives no improvement, so they
 * are not moved. */

/* Moves the places y of the vertices of the first n panels, which have the corners corner[i] and point outwards.
 * ratio[n]: min(1, t/sqrt(A)). CB_ERROR_MEMORY. */
cb_status cb_rims_place(const cb_panels *p, int n, const int (*corner)[3], const double *ratio, int vertices,
                        double (*y)[3]);
