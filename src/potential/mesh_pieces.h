/* Solids and sheets of a mesh: which faces form closed pieces and which form pieces with a border, where the panels of
 * sheets lie, and the edges at which panels meet.
 *
 * A piece is a set of faces that are connected through edges of two faces, or through the two faces of a solid at an
 * edge where a sheet ends on it. A piece is a solid if each of its edges has two of its faces, and otherwise a sheet.
 *
 * A sheet whose panels have constant dipoles acts as if it extended beyond its border. In lattices of lifting surfaces
 * it extends by a quarter of a panel (Hough 1973, J. Aircraft 10, 314, doi 10.2514/3.60225). With triangles of area A
 * it extends by 0.26 sqrt(A), measured to within 0.006 sqrt(A) on discs whose triangles have bases of 0.5 to 2.1 times
 * their heights. The panels of a sheet are therefore made to end at this distance inside its border. Without this
 * correction the error of the added mass is proportional to the size of the faces: 2.5 % for a disc of 2900 faces. With
 * it the error is 0.1 % (tests/potential/test_sheet.c), or 0.4 % for an elliptic disc, whose faces have different sizes
 * and shapes. Edges that a sheet shares with other pieces do not move.
 */
#pragma once

#include "potential/panels.h"
#include <curvebody/status.h>

#include <stdbool.h>

#define CB_SHEET_REACH 0.26 /* distance of panels from the border of a sheet, in units of sqrt(A) (see above) */

typedef struct cb_pieces {
  int n, solids;    /* numbers of all panels, and of panels on solids, which come first; cavities have no panels */
  int *kept;        /* [n] the face of each panel */
  int (*corner)[3]; /* [n] the corners of each panel, as indices of places */
  int places;       /* number of places: the vertices, then copies of the vertices on borders */
} cb_pieces;

/* Finds the pieces of a mesh. Returns CB_ERROR_DOMAIN if no piece has the fluid on its outside, or if solids and sheets
 * cannot be distinguished. The caller frees the result with cb_pieces_free. */
cb_status cb_pieces_create(int vertices, const double (*x)[3], int faces, const int (*face)[3], cb_pieces **out);
void cb_pieces_free(cb_pieces *p);

/* Computes the positions y[places] of the corners of panels (cb_pieces.places) from the positions x of the vertices. */
void cb_pieces_place(const cb_pieces *p, const double (*x)[3], double (*y)[3]);

/* Finds the faces of solids that the fluid reaches. For this function a piece is a set of faces that are connected
 * through shared vertices. The fluid reaches all faces of a piece if the volume of the piece is positive and the piece
 * is not in a cavity of another piece. Sets reached[faces], *n and kept[0..n), the indices of these faces. Returns
 * CB_ERROR_DOMAIN if there is no such face.
 */
cb_status cb_pieces_outward(int vertices, const double (*x)[3], int faces, const int (*face)[3], bool *reached,
                            int *kept, int *n);

/* An edge at which two panels meet. */
typedef struct cb_panel_edge {
  int end[2], panel[2]; /* end: the two vertices; panel: the two panels. If more than two panels share an edge, there is
                         * a cb_panel_edge for each panel and the next one. */
} cb_panel_edge;

/* Finds the edges at which two of n panels meet. Panel i is face[which[i]], or face[i] if `which` is NULL. The caller
 * frees *out. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_panel_edges(int n, const int (*face)[3], const int *which, cb_panel_edge **out, int *edges);

/* Returns the angle between the normals of the two panels at a convex edge, 0 to pi. Returns 0 at a flat or concave
 * edge. */
double cb_panel_bend(const cb_panels *p, const cb_panel_edge *edge);

/* --- closed bodies that are thinner than their panels are wide ---
 *
 * Such a body has an additional error if its two sides are not mirror images. The number q measures this error:
 *
 *   q = o^2/(t h),  h^2 the area of a panel
 *   t: distance along the inward normal from the centre of the panel to the opposite panel
 *   o: offset of the two centres perpendicular to that normal
 * The equation of a panel uses the potential at the centre of the opposite panel. If the sides are mirror images (o =
 * 0), the jump of the potential across the thin body is right. Otherwise the change of the potential over the distance
 * o appears as a change over t. The error was measured on spheroids and coins with 288 and 1152 faces on both sides,
 * t/h from 1 to 1e-3, and o/h from 0 to 0.5; the offsets were random, or one side was rotated. While the mean of min(q,
 * 32) over the area is below 2, the tensor is within about 5 % of that of the mirrored mesh. Above 2 the difference is
 * mostly larger, up to 230 %, even if the asymmetry of the tensor (potential/kirchhoff.h) is 1e-14. Mirrored meshes
 * also have an error, because panels are wider than the border is thick. For the translation across a spheroid with 288
 * faces it is 2, 5 and 11 % if the mean t/h is 0.7, 0.4 and 0; with 1152 faces it is 1.5, 3.5 and 6 % at 0.7, 0.3 and
 * 0.
 */

typedef struct cb_thickness {
  double mean;     /* mean of min(1, t/h) over the area */
  double mismatch; /* mean of min(q, 32) over the area */
  int worst;       /* the panel with the largest q; -1: no panel is wider than the body is thick */
  double t, h, o;  /* t, h and o (above) of the panel `worst` */
} cb_thickness;

/* Finds the thickness of the body at the first n panels, which are on closed pieces and point outwards, in n log n
 * operations. Sets ratio[n] (may be NULL) to min(1, t/h) of each panel. Returns CB_ERROR_MEMORY if there is no
 * memory. */
cb_status cb_thickness_find(const cb_panels *p, int n, double *ratio, cb_thickness *out);

/* The places of panels next to the rims of thin closed bodies.
 *
 * Two sides whose distance is below the size sqrt(A) of a panel act like a sheet of dipoles, which seems larger than
 * its panels (see above). The panels therefore end at a distance inside the rim. This distance is the distance for a
 * sheet, CB_SHEET_REACH sqrt(A), times r(t/sqrt(A)), where A is the area of the panel and t the thickness of the body
 * there:
 *   r(x) = (1 - x)/(1 + 5.8 x),  x < 1/2, and from there it decreases to 0 at 3/4
 * On coins of uniform rings with 240 to 3360 faces and a thickness of 1e-4 to 0.1 of the radius, the measured ratio was
 * within 0.07 of r. A rim is an edge between a panel of a thin side and a panel perpendicular to it, with a convex
 * right angle. The panels are moved by the whole distance if the height of the second panel is at most the thickness of
 * the body. The distance decreases to 0 if the height is 1.25 times the thickness. It also decreases for other angles,
 * to 0 at 45 degrees from a right angle. The panels at the wedge-shaped rims of ellipsoids are higher. They are not
 * moved, because moving them gives no improvement. */

/* Moves those positions y[vertices] of vertices that are at rims. The first n panels have the corners corner[i] and
 * point outwards. ratio[n] is min(1, t/sqrt(A)) for the thickness t of the body at a panel of area A. Returns
 * CB_ERROR_MEMORY if there is no memory. */
cb_status cb_rims_place(const cb_panels *p, int n, const int (*corner)[3], const double *ratio, int vertices,
                        double (*y)[3]);
