/* Surfaces in E^3 whose coordinates separate:
 *
 *   X_a(u, v) = A_a(u) B_a(v),   A = (cos u, sin u, 1),   u from 0 to 2 pi
 *   g_ij = X_i . X_j,   d_l g_ij = X_il . X_j + X_i . X_jl,   and so on.
 */
#pragma once

#include <curvebody/geometry.h>

/* b[k][a] = the k-th derivative of B_a at v, k = 0 .. 3. */
typedef double cb_profile[4][3];

/* Metric with derivatives as in cb_chart.metric, dim = 2; dg and ddg may be NULL. */
void cb_surface_metric(double u, const cb_profile b, double *gij, double *dg, double *ddg);
/* For cb_intrinsic.killing where the surface is one of revolution: its turn about the axis, d/du. */
extern const char *const cb_surface_rotation_names[];
void cb_surface_rotation(const cb_geometry *g, int index, const double *q, double *x);
/* X and dX/d(u, v) [3*2]. */
void cb_surface_picture(double u, const cb_profile b, double *x, double *jacobian);
