/* The embedding as a chart: q = x, with as many numbers as the embedding has. Cartesian in E^n. */
#include "geometry/chart.h"
#include "geometry/quadric.h"

#include <string.h>

/* How far off its quadric a point may be, relative: as many digits as people type. */
static const double tolerance = 1e-9;

cb_status cb_chart_own_to_point(const cb_geometry *g, const double *q, double *x, double *jacobian) {
  cb_status status = cb_geometry_check_point(g, q, tolerance);
  if (status) return status;
  memcpy(x, q, (size_t)g->embedding * sizeof *x);
  for (int i = 0; jacobian && i < g->embedding * g->embedding; i++) jacobian[i] = i % (g->embedding + 1) == 0;
  return CB_OK;
}

cb_status cb_chart_own_from_point(const cb_geometry *g, const double *x, double *q) {
  memcpy(q, x, (size_t)g->embedding * sizeof *q);
  return CB_OK;
}

/* Only where the coordinates are free, in E^n. */
static cb_status metric(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {
  int n = g->dim;
  (void)q;
  for (int i = 0; i < n * n; i++) gij[i] = i % (n + 1) == 0;
  if (dg) memset(dg, 0, (size_t)(n * n * n) * sizeof *dg);
  if (ddg) memset(ddg, 0, (size_t)(n * n * n * n) * sizeof *ddg);
  return CB_OK;
}

static cb_status distance(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
                          double *hessian) {
  if (gradient || hessian) return cb_distance_derivatives(g, q1, q2, d, gradient, hessian);
  *d = cb_distance(g, q1, q2);
  return CB_OK;
}

cb_status cb_chart_embedding_add(cb_geometry *g) {
  static const char *const axes[CB_DIM_MAX] = {"x", "y", "z"};
  cb_chart chart = {
      .name = "embedding",
      .doc = "coordinates of the embedding; w is the last one of a curved factor",
      .size = g->embedding,
      .to_point = cb_chart_own_to_point,
      .from_point = cb_chart_own_from_point,
  };
  int axis = 0;
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    int dim = cb_factor_dim(factor);
    for (int i = 0; i < dim; i++) chart.coordinates[factor.offset + i] = axes[axis++];
    if (dim < factor.count) chart.coordinates[factor.offset + dim] = "w";
  }
  if (g->embedding == g->dim) {
    chart.alias = "cartesian";
    chart.doc = "Cartesian coordinates";
    chart.metric = metric;
    chart.distance = distance;
  }
  return cb_geometry_add_chart(g, &chart);
}
