/* Finds the balls of a space that may touch each other. With a grid over the space the time is proportional to the
 * number of balls plus the number of near pairs. No near pair is missed.
 *
 * A ball i is a point x_i with a reach rho_i; two balls are near if d(x_i, x_j) <= rho_i + rho_j, where d is the
 * distance in the space. The result may contain further pairs. The cells of the grid depend on the space:
 *   E^n       cells of the coordinates
 *   S^n       cells of the embedding; points are compared by chords, which are not longer than arcs
 *   H^n       layers of the distance from the base point, divided by direction
 *   products  cells of the factors
 *   a space that is given by a metric: boxes of coordinates
 * The result is sorted, and depends neither on the number of threads nor on the size of the cells. Source: Ericson,
 * Real-Time Collision Detection (2005), chapter 7.
 */
#pragma once

#include <curvebody/space.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_broad cb_broad;
typedef struct cb_near_pair {
  int i, j; /* i < j */
} cb_near_pair;

/* Creates a broad phase for a space, which is borrowed. all_pairs: every pair is compared, without a grid; the result
 * is the same, and tests compare it with the result of the grid. CB_ERROR_ARGUMENT if the space has less than 1 or more
 * than CB_DIM_MAX dimensions. */
cb_status cb_broad_create(const cb_space *g, bool all_pairs, cb_broad **out);
void cb_broad_free(cb_broad *b);
/* Stores n balls: their centres x[n*k] (world coordinates in the embedding, or chart coordinates in a chart space; k =
 * g->k) and reach[n]. A ball whose centre is not finite is not near any ball. Memory is allocated only when n or the
 * number of pairs grows. CB_ERROR_ARGUMENT: n < 0, or a reach is negative or nan. */
cb_status cb_broad_set(cb_broad *b, int n, const double *x, const double *reach);
/* Finds all near pairs of the stored balls, sorted by i, then j. The list is borrowed until the next call. */
cb_status cb_broad_pairs(cb_broad *b, const cb_near_pair **pair, size_t *count);
/* Finds all stored balls that may be near the ball with centre x[k] and this reach, if each stored ball has moved by at
 * most `moved` since cb_broad_set. The list has their indices in ascending order and is borrowed until the next call.
 * CB_ERROR_ARGUMENT if `reach` or `moved` is negative or nan. */
cb_status cb_broad_around(cb_broad *b, const double *x, double reach, double moved, const int **ball, int *count);

/* Returns whether two balls with centres x[k] and y[k] and these reaches are certainly not near each other. The balls
 * need not be stored. */
bool cb_broad_apart(const cb_broad *b, const double *x, double reach_x, const double *y, double reach_y);
