/* A body's parts: where it lies and its equations (kirchhoff.c), its tensor (kirchhoff_tensor.c). */
#pragma once

#include "potential/curved.h"
#include "potential/kirchhoff.h"
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
  double centre[3], radius;
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
  double K[6][6], asymmetry, coarseness; /* about the centre */
};

cb_status cb_kirchhoff_equations(cb_kirchhoff *k, int columns, const double *w, double *phi);
