/* A law between two points of any space: its value and ordinary partial derivatives in the coordinates (x, y).
 *
 * On one quadric by the chord w = <x-y, x-y> (law.h):
 *   V_x = phi I(x - y) = -V_y,   V_xx = phi I + 2 phi' I(x-y) (x-y)I,   I = diag(form);
 * in products and static charts by the derivatives of the distance:
 *   V_a = U' d_a,   V_ab = U'' d_a d_b + U' d_ab.
 * Derivatives are those of V as a function on the embedding (or of the coordinates of the chart).
 */
#pragma once

#include "dynamics/law.h"

enum { CB_PAIR_MAX = 2 * CB_COORD_MAX };

/* A space made of one quadric or flat factor, in its embedding: the chord alone gives the distance. */
static inline int cb_pair_by_chord(const cb_geometry *g) { return !g->chart && g->n_factors == 1; }

/* The curvature of gravity and Coulomb: of the space if it has one factor, otherwise 0. */
static inline double cb_pair_curvature(const cb_geometry *g) { return g->n_factors == 1 ? g->factor[0].curvature : 0; }

/* w = <x-y, x-y> and e = x - y in a space of one factor. */
static inline double cb_pair_chord(const cb_geometry *g, const double *x, const double *y, double *e) {
  double w = 0;
  for (int a = 0; a < g->k; a++) {
    e[a] = x[a] - y[a];
    w += g->form[a] * e[a] * e[a];
  }
  return w;
}

/* d with gradient[2k] and hessian[(2k)^2] in (x, y); the last two may be NULL. CB_STEP_DOMAIN where there is none. */
cb_status cb_pair_distance(const cb_geometry *g, const double *x, const double *y, double *d, double *gradient,
                           double *hessian);

/* V = U(d(x, y)) with gradient[2k] and hessian[(2k)^2]; the last two may be NULL. */
cb_status cb_pair_law(const cb_geometry *g, const cb_law *law, const cb_law_pair *pair, const double *x,
                      const double *y, double *v, double *gradient, double *hessian);
