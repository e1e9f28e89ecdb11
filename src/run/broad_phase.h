/* Which balls of a space may touch: a grid over the space that finds all pairs near each other in time proportional to
 * their number, and never misses one.
 *
 * A ball i is a point x_i with a reach rho_i: near pairs have d(x_i, x_j) <= rho_i + rho_j. What is found may contain
 * more. Cells: S^n in the embedding by chords (2R sin(d/2R) <= d); E^n in its coordinates; H^n in the upper half-space,
 * cells of size e^(level); products by factor; a space known by a metric by a bound on its coordinates' change. The
 * result is sorted and depends neither on threads nor on the size of cells.
 * Source: Ericson, Real-Time Collision Detection (2005), chapter 7.
 */
#pragma once

#include <curvebody/geometry.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_broad cb_broad;
typedef struct cb_near_pair {
  int i, j; /* i < j */
} cb_near_pair;

/* all_pairs: every pair is looked at, without a grid; what is near is the same (to compare with). */
cb_status cb_broad_create(const cb_geometry *g, bool all_pairs, cb_broad **out);
void cb_broad_free(cb_broad *b);
/* Takes n balls: world points x[n*k] (of the embedding, or chart coordinates in a chart space; k = g->k; where they are
 * not finite the ball is near to none) and reach[n]. Memory grows when n or the number of pairs does, otherwise nothing
 * is allocated. */
cb_status cb_broad_set(cb_broad *b, int n, const double *x, const double *reach);
/* All near pairs, sorted by i, then j; borrowed until the next call. */
cb_status cb_broad_pairs(cb_broad *b, const cb_near_pair **pair, size_t *count);
/* All balls near to a further one, x[k] with this reach, ascending; borrowed until the next call. A ball may have moved
 * since it was set: by at most `moved` (of all balls). */
cb_status cb_broad_around(cb_broad *b, const double *x, double reach, double moved, const int **ball, int *count);

/* Are two further balls, x[k] and y[k] with these reaches, surely not near each other? */
bool cb_broad_apart(const cb_broad *b, const double *x, double reach_x, const double *y, double reach_y);
