/* A body's parts: where it lies (kirchhoff_place.c), its equations (kirchhoff.c), its tensor (kirchhoff_tensor.c). */
#ifndef CB_POTENTIAL_KIRCHHOFF_PRIVATE_H
#define CB_POTENTIAL_KIRCHHOFF_PRIVATE_H

#include "core/arena.h"
#include "potential/curved.h"
#include "potential/kirchhoff.h"
#include "potential/operator.h"
#include "potential/pieces.h"
#include "potential/sheet.h"
#include "potential/thin.h"

enum { CB_KIRCHHOFF_MOTIONS = 6, CB_KIRCHHOFF_COLUMNS = CB_KIRCHHOFF_MOTIONS + 1 };

struct cb_kirchhoff {
  cb_arena *arena;
  int vertices, faces, n; /* n: faces of pieces that point outwards, the others are cavities that no fluid reaches */
  double (*x)[3];         /* as prepared */
  int (*face)[3], *kept;  /* [n] */
  bool *reached;          /* [faces]: kept */
  int reference[3];       /* vertices far apart */
  double size, centre[3], radius;
  double R[3][3], at[3]; /* the prepared panels, moved: x' = R x + at */
  cb_panels *panels;
  cb_operator *operator;
  cb_thickness thickness;
  int (*corner)[3]; /* [n] of the panels, among the places y */
  double (*y)[3];
  cb_pieces *pieces;      /* of a body with sheets; NULL: of solids alone */
  cb_sheet *sheet;        /* then in place of the operator */
  cb_curved_flow *curved; /* likewise in a curved space; the panels are then those of the normal coordinates */
  const double *area;     /* [n] */
  double *w, *phi;        /* [CB_KIRCHHOFF_COLUMNS][n] */
  double *some;           /* [CB_KIRCHHOFF_COLUMNS][n] for others' right-hand sides */
  bool solved, placed;    /* placed: before a wall, where no motion is as good as another */
  double K[6][6], asymmetry, coarseness; /* about the centre, in the axes as prepared */
};

/* Vertices by which a rigid motion is told, the body as it lies, and the motions about its centre. */
void cb_kirchhoff_place(cb_kirchhoff *k);
/* Whether x is the prepared body moved; then how. */
bool cb_kirchhoff_moved_rigidly(cb_kirchhoff *k, const double (*x)[3]);
/* K and mu0, from the prepared body's centre and axes to where it is. mu0: in and out. */
void cb_kirchhoff_carry(const cb_kirchhoff *k, cb_kirchhoff_mass *out);

cb_status cb_kirchhoff_equations(cb_kirchhoff *k, int columns, const double *w, double *phi);

#endif
