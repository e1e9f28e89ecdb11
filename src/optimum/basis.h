/* Functions of time of which a gait is a sum, with nodes to integrate over.
 *
 *   r_i(t) = sum_a c[i functions + a] phi_a(t)
 * fourier  1, cos 2 pi k t/(2 pi k), sin 2 pi k t/(2 pi k): periodic and smooth
 * arcs     polynomials of one degree between given times, continuous, r(1) = r(0): corners at the times alone
 * Rates of all but the constants are of size 1, so that the Hessian of a cost is well scaled. Integrals are Gauss's over
 * panels of CB_BASIS_STAGES nodes, which end at the arcs' ends.
 */
#pragma once

#include "numerics/tableau.h"
#include <curvebody/gait.h>

enum { CB_BASIS_STAGES = 6, CB_BASIS_ARCS_MAX = 64 };

typedef struct cb_basis {
  int functions, panels, nodes; /* nodes = panels CB_BASIS_STAGES */
  int harmonics;                /* fourier; 0: arcs */
  int arcs, degree;
  double *end; /* [arcs + 1] */
  cb_tableau gauss;
  double *edge;          /* [panels + 1]: times */
  double *time, *weight; /* [nodes] */
  double *phi, *rate;    /* [nodes][functions] */
  struct cb_arena *arena;
} cb_basis;

/* panels: of all; 0: as many as resolve the functions. The caller frees. */
cb_status cb_basis_fourier(int harmonics, int panels, cb_basis **out);
/* ends[arcs + 1] from 0 to 1. */
cb_status cb_basis_arcs(int arcs, const double *ends, int degree, int panels, cb_basis **out);
void cb_basis_free(cb_basis *b);

/* phi[functions] and rate[functions] (NULL) at a time. */
void cb_basis_at(const cb_basis *b, double t, double *phi, double *rate);
/* The gait of coefficients c[n][functions], and the coefficients that are nearest to a gait in the squares of r and r'. */
cb_status cb_basis_gait(const cb_basis *b, int n, const double *c, cb_gait **out);
cb_status cb_basis_project(const cb_basis *b, const cb_gait *gait, double *c);
