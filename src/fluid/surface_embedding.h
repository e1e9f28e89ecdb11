/* Embeddings: flat coordinates x of a body become normal coordinates v about its origin in a space of curvature K.
 *
 *   exponential  v = x: distances from the origin do not change;  |x| < pi R on a sphere
 *   gnomonic     y = x w, w = 1/sqrt(1 + K |x|^2): flat faces become geodesic planes; |x| < R if K < 0, and only half
 *                of a sphere is covered
 *   shift s      afterwards y goes to T y, with the transvection T from the origin to the normal coordinates s; x + s
 *                if K = 0
 *   v = y g(w),  g = arccos(w)/sqrt(1 - w^2), analytic for w > -1:  (1 - w^2) g' = w g - 1
 *
 * (y, w) is the point of the space (numerics/numerics_curved.h), and R = 1/sqrt|K|. The maps act on truncated Taylor
 * series, so that all derivatives are exact. Lengths are in metres.
 */
#pragma once

#include <curvebody/jet.h>
#include <curvebody/surface.h>

#include <stdbool.h>

typedef struct cb_surface_embedding {
  double K;
  cb_surface_chart chart;
} cb_surface_embedding;

/* Returns the bound below which the length of flat coordinates must be; INFINITY if there is none. */
double cb_surface_embedding_reach(cb_surface_embedding to);
void cb_surface_embedding_point(cb_surface_embedding to, const double x[3], double v[3]);
/* Returns whether the shift is finite and, on a sphere, nearer than the antipode of the origin. */
bool cb_surface_embedding_shifts(double K, const cb_jet shift[3]);
/* Replaces the flat coordinates x by the normal coordinates v. shift (NULL: none) are the normal coordinates s, series
 * in the same variables. The result is nan outside the range of the chart or of shifts. */
void cb_surface_embedding_jets(cb_surface_embedding to, const cb_jet shift[3], cb_jet x[3]);
