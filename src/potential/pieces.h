/* Solids and sheets of a mesh: which faces make closed pieces and which have a border, and where the panels of the
 * sheets lie.
 *
 * A piece is what faces connect through edges of two; it is a solid where each of its edges has two of its faces, else a
 * sheet. Constant dipoles reach beyond a border, as the lattices of lifting surfaces do a quarter of a panel (Hough 1973,
 * J. Aircraft 10, 314, doi 10.2514/3.60225): triangles of area A by 0.26 sqrt(A), measured within 0.006 of it on discs
 * whose triangles' bases are 0.5 to 2.1 of their heights, which is why the panels of a sheet end that far within it.
 * Without it K has an error of order h, 2.5 % of a disc's at 2900 faces; with it 0.1 % (tests/potential/test_sheet.c), and where
 * the faces vary in size and shape what that adds, 0.4 % of an elliptic disc's. Edges that a sheet shares with other
 * pieces stay.
 */
#pragma once

#include <curvebody/status.h>
#include <stdbool.h>

#define CB_SHEET_REACH 0.26 /* of the root of a triangle's area */

typedef struct cb_pieces {
  int n, solids;    /* panels, of which the first are those of solids that point outwards; cavities are left out */
  int *kept;        /* [n] the face that each is */
  int (*corner)[3]; /* [n] among the places below */
  int places;       /* the vertices, then those of borders once more */
} cb_pieces;

/* The caller frees with cb_pieces_free. CB_ERROR_DOMAIN where no piece has the fluid outside. */
cb_status cb_pieces_create(int vertices, const double (*x)[3], int faces, const int (*face)[3], cb_pieces **out);
void cb_pieces_free(cb_pieces *p);

/* Where the corners are, y[places], for vertices at x. */
void cb_pieces_place(const cb_pieces *p, const double (*x)[3], double (*y)[3]);

/* Of solids alone: the faces of pieces, connected by vertices, whose volume is positive: reached[faces], kept[0..n).
 * CB_ERROR_DOMAIN where there is none. */
cb_status cb_pieces_outward(int vertices, const double (*x)[3], int faces, const int (*face)[3], bool *reached,
                            int *kept, int *n);
