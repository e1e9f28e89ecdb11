/* Anderson acceleration of a fixed-point iteration x = G(x) in n unknowns.
 *
 *   f_k = G(x_k) - x_k,  x_{k+1} = G(x_k) - sum_j gamma_j (G(x_{j+1}) - G(x_j)),  j = k - m .. k - 1
 *   gamma minimises |f_k - sum_j gamma_j (f_{j+1} - f_j)|
 * m <= CB_ANDERSON_DEPTH. For a linear G the points are those of GMRES, so the error falls at least as fast as without
 * acceleration, and faster if only few eigenvalues of G are large. The contraction is measured along the last move:
 * kappa = |G(x_k) - G(x_{k-1})|/|x_k - x_{k-1}|. The points depend only on the numbers that the caller supplies since
 * the last start. Source: Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715, doi:10.1137/10078356X.
 */
#pragma once

#include "core/arena.h"

enum { CB_ANDERSON_DEPTH = 5 };

typedef struct cb_anderson {
  int n, count;    /* count: number of differences since the start; -1: there is no point yet */
  double *x, *G;   /* [n]: x: the last point; G: its image */
  double *dF, *dG; /* [CB_ANDERSON_DEPTH][n]: differences of f (dF) and of G (dG); difference i is in row i %
                    * CB_ANDERSON_DEPTH */
  double *work;    /* [CB_ANDERSON_DEPTH + 1][n]: work array */
  double kappa;    /* the largest contraction that was measured since the start; 0: none */
} cb_anderson;

/* Takes the memory for n unknowns from an arena. Returns false if there is none. */
bool cb_anderson_create(int n, cb_arena *arena, cb_anderson *out);
void cb_anderson_start(cb_anderson *a);
/* Replaces x by the next point. On entry x is the present point, and G its image. weight[n]: the factors of the
 * unknowns in the norms. */
void cb_anderson_next(cb_anderson *a, const double *weight, const double *G, double *x);
