/* Base points, frames, and the transvection from the base point o = (0, ..., 0, R) to x, factor by factor.
 *
 *   e_i(x) = E_i - sign(K) x_i (x + o)/(R (R + w)),   E_i the i-th axis, w the last coordinate of x
 * is E_i transported along the geodesic from o; with x/R as the last column these are the columns of the transvection.
 * On the lower half of a sphere R + w = |x_1..n|^2/(R - w), without cancellation.
 */
#include <curvebody/intrinsic.h>
#include "geometry/intrinsic_private.h"
#include "geometry/origin.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

static double radius(cb_factor f) { return 1 / sqrt(fabs(f.curvature)); }

void cb_geometry_base_point(const cb_geometry *g, double *x) {
  if (g->intrinsic) {
    memcpy(x, g->intrinsic->base, (size_t)g->dim * sizeof *x);
    return;
  }
  memset(x, 0, (size_t)g->embedding * sizeof *x);
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature != 0) x[g->factor[f].offset + g->factor[f].count - 1] = radius(g->factor[f]);
}

/* The frame of one factor: e[i][a], i < dim, a < count. */
static void factor_frame(cb_factor f, const double *x, double e[CB_DIM_MAX][CB_COORD_MAX]) {
  int dim = cb_factor_dim(f), n = f.count - 1;
  for (int i = 0; i < dim; i++)
    for (int a = 0; a < f.count; a++) e[i][a] = a == i;
  if (f.curvature == 0) return;
  double r = radius(f), w = x[n], sum = r + w, square = 0;
  for (int a = 0; a < n; a++) square += x[a] * x[a];
  if (w < 0) sum = square / (r - w);
  if (!(sum > 0)) { /* the antipode: half a turn about any axis */
    e[0][0] = -1;
    return;
  }
  for (int i = 0; i < dim; i++) {
    double scale = (f.curvature > 0 ? -1 : 1) * x[i] / (r * sum);
    for (int a = 0; a < n; a++) e[i][a] += scale * x[a];
    e[i][n] = f.curvature > 0 ? -x[i] / r : x[i] / r;
  }
}

void cb_geometry_frame(const cb_geometry *g, const double *x, double *e) {
  if (g->intrinsic) {
    cb_intrinsic_frame(g, x, e);
    return;
  }
  double part[CB_DIM_MAX][CB_COORD_MAX];
  memset(e, 0, (size_t)(g->dim * g->embedding) * sizeof *e);
  for (int f = 0, row = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    factor_frame(factor, x + factor.offset, part);
    for (int i = 0; i < cb_factor_dim(factor); i++, row++)
      memcpy(e + row * g->embedding + factor.offset, part[i], (size_t)factor.count * sizeof *e);
  }
}

void cb_isometry_to(const cb_geometry *g, const double *x, cb_isometry *out) {
  double part[CB_DIM_MAX][CB_COORD_MAX];
  cb_isometry_identity(g, out);
  if (g->intrinsic) { /* the left translation of a group; there is none in other spaces */
    cb_origin origin;
    cb_origin_at(g, x, &origin);
    cb_origin_isometry(g, &origin, out);
    return;
  }
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    int o = factor.offset, last = o + factor.count - 1;
    if (factor.curvature == 0) {
      memcpy(out->b + o, x + o, (size_t)factor.count * sizeof *x);
      continue;
    }
    double r = radius(factor);
    factor_frame(factor, x + o, part);
    for (int a = 0; a < factor.count; a++) {
      for (int i = 0; i < factor.count - 1; i++) out->m[o + a][o + i] = part[i][a];
      out->m[o + a][last] = x[o + a] / r;
    }
  }
}
