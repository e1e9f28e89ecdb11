/* Newton's method of Radau IIA: what its two files share. Stage i has the unknowns, from i*each on,
 *   D_i [count], h E_i [count], h^2 lambda_i [R] and, with `ggl`, h mu_i [R];
 * equations stand in the same order. */
#ifndef CB_INTEGRATORS_RADAU_NEWTON_H
#define CB_INTEGRATORS_RADAU_NEWTON_H

#include "integrators/radau.h"
#include "numerics/entries.h"

struct cb_radau_newton {
  int each, unknowns;
  const cb_pattern *pattern;
  size_t blocks;                       /* numbers in the blocks of the pattern */
  double *by_x, *by_v, *by_l, *by_m;   /* [blocks] of one stage: dF/dx, dF/dv, d(G^T lambda)/dx, d(G^T mu)/dx */
  double *rate_x, *gamma_x;            /* [entries] of one stage */
  double *mean, *probe, *away;         /* [count]: G^T lambda; scratch; [entries] scratch */
  double *residual, *last;             /* [unknowns]: and the last correction */
  cb_sparse *matrix;
  cb_entries entries; /* of the matrix */
};

/* Adds all numbers of the matrix. free: without forces, as for short steps. */
cb_status cb_radau_add_all(cb_radau *m, bool free);

#endif
