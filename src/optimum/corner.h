/* Where a gait turns about a corner of what it may not pass, as where the tips of two links meet.
 *
 *   at a vertex of its arcs:  f_0(r) = f_1(r) = 0,  terms of one wall (wall.h), s = max(f_0, f_1) there
 *   p(+) - p(-) = nu_0 f_0' + nu_1 f_1',  nu <= 0;   v'Mv is the same on both sides
 * Only one of f_0, f_1 has to be positive, so that a path is hung over the corner as a string over an edge. */
#ifndef CB_OPTIMUM_CORNER_H
#define CB_OPTIMUM_CORNER_H

#include "optimum/wall.h"

enum { CB_CORNERS_MAX = 8 };

typedef struct cb_corner {
  int wall, term[2], vertex;
  double df[2][CB_SHAPE_MAX], ddf[2][CB_SHAPE_MAX * CB_SHAPE_MAX]; /* where slopes were last asked */
} cb_corner;

struct cb_direct;

/* Values f[2] at the vertex of coefficients c[n][functions]; with slopes, df and ddf. */
cb_status cb_corner_at(cb_walls *w, cb_corner *corner, int functions, const double *c, bool slopes, double *f);

/* The gait at such corners that a gait at a barrier tells of, of stationary cost to round-off, in polynomials of this
 * degree between them. *out is NULL where it meets none; CB_STEP_NO_CONVERGENCE where the corners do not hold it, or it
 * meets walls elsewhere. The caller frees. */
cb_status cb_direct_sharpen(struct cb_direct *d, int degree, struct cb_direct **out);

#endif
