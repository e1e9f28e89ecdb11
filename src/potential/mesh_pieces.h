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

#define CB_SHEET_REACH 0.26 /* the distance above, in units of the square root of a triangle's area */

typedef struct cb_pieces {
  int n, solids;    /* numbers of all panels, and of panels on solids, which come first; cavities have no panels */
  int *kept;        /* [n] the face of each panel */
  int (*corner)[3]; /* [n] the corners of each panel, as indices of places */
  int places;       /* number of places: the vertices, then copies of the vertices on borders */
} cb_pieces;

/* Finds the pieces. Returns CB_ERROR_DOMAIN if no piece has the fluid on its outside, or if solids and sheets cannot be
 * distinguished. The caller frees the result with cb_pieces_free. */
cb_status cb_pieces_create(int vertices, const double (*x)[3], int faces, const int (*face)[3], cb_pieces **out);
void cb_pieces_free(cb_pieces *p);

/* Sets the positions y[places] of the places, for vertices at x. */
void cb_pieces_place(const cb_pieces *p, const double (*x)[3], double (*y)[3]);

/* Finds the faces of solids that the fluid reaches. A piece consists of faces that share vertices here. The fluid
 * reaches all faces of a piece if the volume of the piece is positive and the piece is not in a cavity of another one.
 * Sets reached[faces], *n and kept[0..n), the indices of these faces. Returns CB_ERROR_DOMAIN if there is no such face.
 */
cb_status cb_pieces_outward(int vertices, const double (*x)[3], int faces, const int (*face)[3], bool *reached,
                            int *kept, int *n);

/* An edge at which two panels meet. */
typedef struct cb_panel_edge {
  int end[2], panel[2]; /* end: the vertices; if more than two panels share an edge, each is paired with the next */
} cb_panel_edge;

/* Finds the edges at which two of n panels meet. Panel i is face[which[i]], or face[i] if `which` is NULL. The caller
 * frees *out. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_panel_edges(int n, const int (*face)[3], const int *which, cb_panel_edge **out, int *edges);

/* Returns the angle between the normals of the two panels at a convex edge, 0 to pi. Returns 0 at a flat or concave
 * edge. */
double cb_panel_bend(const cb_panels *p, const cb_panel_edge *edge);
