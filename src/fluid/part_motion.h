/* The rigid motion that fits the motion of a part of a surface best.
 *
 *   sum w |x - c - R a|^2 is least:   c = sum w x,  a = X - sum w X,  and R is the rotation for which
 *                                     tr(R^T sum w (x - c) a^T) is greatest
 *   spin   (tr(S) 1 - S) omega = sum w R a × x',  S = sum w R a (x - c)^T;      c' = sum w x'
 *   a point of the part at X0 at rest is at c + R (X0 - sum w X), and moves by c' + omega × R (X0 - sum w X)
 *
 * X are the vertices at rest, x the posed ones, x' their velocities, and w their weights, whose sum is 1. The weights
 * are proportional to the areas of the part's faces at the vertices at rest. The spin is the exact rate of R, R' =
 * hat(omega) R, for any motion of the vertices, because it is the derivative of the condition that S is symmetric. If a
 * part moves rigidly, omega is the spin of the part. R comes from the eigenvector of the largest eigenvalue of a
 * symmetric 4x4 matrix. Source: Horn, J. Opt. Soc. Am. A 4 (1987) 629, doi:10.1364/JOSAA.4.000629. Positions are in the
 * body frame. SI units. */
#pragma once

#include "core/arena.h"
#include <curvebody/surface.h>

/* The data of a part that the fit uses. Parts of the same name move together and are one part here. Vertices that the
 * part shares with other parts are left out, because they may move with these, unless fewer than three would remain. */
typedef struct cb_part_fit {
  int part;         /* the first part of this name */
  int n;            /* vertices */
  int *vertex;      /* [n]: their numbers in the surface */
  double *w;        /* [n]: weights */
  double (*a)[3];   /* [n]: X - centre */
  double centre[3]; /* sum w X */
  double size;      /* (sum w |a|^2)^(1/2) */
  const cb_surface *surface;
} cb_part_fit;

typedef struct cb_part_motion {
  bool rests; /* all vertices are exactly at their places at rest: the part is neither turned nor shifted */
  bool moves; /* a vertex has a velocity */
  double R[3][3], centre[3];
  double omega[3], velocity[3]; /* the spin, and c' */
  double residual;              /* (sum w |x - c - R a|^2)^(1/2)/size */
} cb_part_motion;

/* Returns CB_ERROR_MEMORY, or CB_ERROR_DOMAIN for a part whose vertices are on a line. The surface is borrowed. */
cb_status cb_part_fit_create(cb_arena *arena, const cb_surface *s, int part, cb_part_fit *out);
/* Finds the motion for the posed vertices x[vertices] with the velocities v. Returns CB_STEP_SINGULAR if more than one
 * rotation fits. */
cb_status cb_part_motion_at(const cb_part_fit *f, const double (*x)[3], const double (*v)[3], cb_part_motion *out);
/* Finds the place of the part's point X0, and its twist: the spin, and the velocity of the place. */
void cb_part_motion_place(const cb_part_fit *f, const cb_part_motion *m, const double X0[3], double place[3],
                          double twist[6]);
