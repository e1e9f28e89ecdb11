/* The nearest vector to a given one in a cone of inequalities.
 *
 *   least |x + g|^2/2 where A x >= 0:  x = -g + A'z,  y = A x,  y >= 0, z >= 0, y_j z_j = 0
 * by a primal-dual interior point method in z, which ends near the analytic centre of all z that there are: where a row
 * follows from others each of them has its share, so that z_j > y_j in scale tells which rows press.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), section 16.6, doi:10.1007/978-0-387-40065-5.
 */
#pragma once

#include <curvebody/status.h>

/* A[rows][n], g[n]; z[rows] and y[rows] of |g| = 1. CB_STEP_NO_CONVERGENCE where it does not end. */
cb_status cb_cone_project(int rows, int n, const double *A, const double *g, double *z, double *y);
