/* Elements of constraints between the embedding and charts.
 *
 * A chart x(q) of a space of quadrics and flat factors, J = dx/dq, K_f the curvature of a factor, <,>_f and x_f parts:
 *   x_ij = Gamma^c_ij J_c - sum_f K_f <J_i, J_j>_f x_f                                (Gauss's formula)
 * and, with q as a function on the embedding that does not change along the ray through x_f,
 *   B = dq/dx = g^-1 J^T I,   n_f = K_f I x_f,   I = diag(form)
 *   q^c_ab = -Gamma^c_ij B^i_a B^j_b - sum_f (B^c_a n_b + n_a B^c_b)_f
 * The Christoffel symbols are those of the chart's own metric: nothing here is a difference.
 * Source: do Carmo, Riemannian Geometry (1992), chapter 6.
 */
#pragma once

#include "dynamics/constraint_private.h"

/* The coordinates of a point in a chart of the world, with their derivatives in the point's local embedding. */
typedef struct cb_coordinates {
  int size;
  double q[CB_Q_MAX];
  double first[CB_Q_MAX][CB_Q_MAX];            /* [c][a] dq_c/dx_a */
  double second[CB_Q_MAX][CB_Q_MAX][CB_Q_MAX]; /* [c][a][b] */
} cb_coordinates;

/* chart NULL: the coordinates of the world's embedding. world: local to world. order 0: q alone, 1: first too, 2: all.
 * CB_STEP_DOMAIN outside the chart and where it is singular. */
cb_status cb_coordinates_at(const cb_geometry *g, const cb_chart *chart, const cb_isometry *world, const double *x,
                            int order, cb_coordinates *out);

/* Evaluates an element that is written for the embedding; in a chart space, at the points x(q), its derivatives brought
 * to the chart: g_i = J^T g, g_ij = J^T H J + g.x_ij. */
cb_status cb_element_by_embedding(cb_element_function *in_embedding, const cb_constraints *c, const cb_constraint *row,
                                  int element, double t, const double *const *x, int order, cb_element *out);
