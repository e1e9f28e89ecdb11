/* Where a surface cuts itself, within a part or between two.
 *
 * Two faces that share no vertex cut each other if each has corners on both sides of the other's plane and what they
 * have of the line of both planes overlaps (T. Möller, J. Graphics Tools 2 (1997) 25,
 * doi:10.1080/10867651.1997.10487472); and where one belongs to a closed part, if the other meets it in a line from
 * within. Faces that touch do not cut: lengths up to 1e-7 of the surface's size, which is the precision of files in
 * single precision, count as 0, and so do those below their own round-off.
 */
#pragma once

#include "fluid/surface.h"

typedef struct cb_surface_cut {
  int part[2]; /* ascending; equal: a part cuts itself */
  int pairs;   /* of faces that cut each other */
  int face[2]; /* the first of them, a face of each part */
  double at[3];
} cb_surface_cut;

/* One for each two parts that cut each other, ascending; the caller frees with free(). Faces without area are passed
 * over. Counting stops at a million pairs of faces. */
cb_status cb_surface_cuts(const cb_surface *s, cb_surface_cut **cuts, int *n);

/* A failure of the flow about a flat surface (CB_ERROR_DOMAIN or CB_ERROR_STEP) as what is behind it: parts that cut
 * each other, or faces that lie on each other; the failure itself where there is neither, or of another kind. */
cb_status cb_surface_explain(const cb_surface *s, cb_status status);

/* What to say of it: parts, number of pairs, the first of them and where, faces counted from 1. */
enum { CB_SURFACE_CUT_TEXT = 320 };
void cb_surface_cut_text(const cb_surface *s, const cb_surface_cut *cut, char text[CB_SURFACE_CUT_TEXT]);
