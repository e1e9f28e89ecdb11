/* Singular shapes that a gait passes, or that lie between nodes of a grid.
 *
 * Both are found as a holonomy finds them (holonomy.c): a way along which A r' has a pole does not settle. */
#pragma once

#include <curvebody/holonomy.h>

/* CB_STEP_SINGULAR with the shape where a gait, closed or not, passes a singular shape; a pole of a residue below 1e-6
 * is taken as none. Cost: about that of a holonomy to 1e-6. */
cb_status cb_gait_regular(const cb_bundle *b, const cb_gait *gait);

/* The same over a grid of the variables v[0], v[1], nodes k * points[1] + l at value[0][k], value[1][l], others as in
 * `at`: along two sides and both diagonals of those cells at whose corners A, [node][dim n], differs by more than half
 * of its size, since of four directions two at least cross a pole with a residue. A node with a nan belongs to no cell
 * that is looked at. At most 256 cells, from the first on. */
cb_status cb_grid_regular(const cb_bundle *b, const int *v, const int *points, const double *const *value,
                          const double *at, const double *A);
