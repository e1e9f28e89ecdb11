/* Laying: flat coordinates x of a body become normal coordinates v about its origin in a space of curvature K.
 *
 *   exponential  v = x: distances from the origin are kept;  |x| < pi R on a sphere
 *   gnomonic     y = x w, w = 1/sqrt(1 + K |x|^2): flat faces are geodesic planes;  |x| < R where K < 0, and half of a
 *                sphere is reached
 *   shift s      afterwards y goes to T y, T the transvection from the origin to normal coordinates s: x + s for K = 0
 *   v = y g(w),  g = arccos(w)/sqrt(1 - w^2), analytic for w > -1:  (1 - w^2) g' = w g - 1
 * on truncated Taylor numbers, so that all derivatives are exact. R = 1/sqrt|K|; lengths in metres.
 */
#pragma once

#include <curvebody/jet.h>
#include <curvebody/surface.h>

#include <stdbool.h>

typedef struct cb_laying {
  double K;
  cb_surface_chart chart;
} cb_laying;

/* How far flat coordinates may reach, not included: INFINITY where there is no end. */
double cb_lay_reach(cb_laying to);
void cb_lay(cb_laying to, const double x[3], double v[3]);
/* Is the shift finite, and on a sphere short of the origin's antipode? */
bool cb_lay_shifts(double K, const cb_jet shift[3]);
/* x becomes v; shift (NULL: none) of as many variables. Not a number beyond the chart's reach, or that of shifts. */
void cb_lay_jets(cb_laying to, const cb_jet shift[3], cb_jet x[3]);
