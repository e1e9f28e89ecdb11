/* Impulses of a floor on a body: shared by floor_impulse.c (the problem of impulses) and floor_reflect.c (steps). */
#ifndef CB_FLUID_FLOOR_PRIVATE_H
#define CB_FLUID_FLOOR_PRIVATE_H

#include "fluid/floor.h"

/* What impulses along n (up in the body's axes) do to a body of inertia K. n, p, q: right-handed, orthonormal. A vertex
 * at c has w = (c × n, n) = W a, a = (1, <c,p>, <c,q>), W = [(0, n), (p × n, 0), (q × n, 0)]. */
typedef struct cb_floor_metric {
  double n[3], p[3], q[3];
  double B[6][3]; /* K^-1 W */
  double C[3][3]; /* C C^T = W^T K^-1 W, lower */
} cb_floor_metric;
/* CB_STEP_SINGULAR where K is singular or not positive. */
cb_status cb_floor_metric_of(const double K[6][6], const double n[3], cb_floor_metric *m);

/* Impulses l >= 0 at vertices, at most three; sum of l a. */
typedef struct cb_floor_impulses {
  int count, vertex[3];
  double l[3], sum[3];
} cb_floor_impulses;
/* The least dY = K^-1 W sum (in <dY, K dY>) with w_i . dY >= bound[i] for i in list[count], up to tolerance.
 * CB_STEP_NO_CONVERGENCE. */
cb_status cb_floor_solve(const cb_floor_metric *m, int count, const int *list, const double (*x)[3],
                         const double *bound, double tolerance, cb_floor_impulses *out);
/* w_i . K^-1 W sum */
double cb_floor_response(const cb_floor_metric *m, const double c[3], const double sum[3]);

#endif
