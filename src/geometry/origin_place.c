/* Places by moving origins: where coordinates say that a point is, and fields of the world there, without the numbers
 * of the world, which grow like exp(distance).
 *
 *   field X of the world at T y, brought to y:  T^-1 X T = sum_k M_k X_k, M the coadjoint action that
 *   cb_origin_killing has: p.(T^-1 X T) = (T p).X
 */
#include "geometry/origin_private.h"

#include <string.h>

bool cb_origin_grows(const cb_geometry *g) {
  return cb_origin_moves(g) && !g->intrinsic && cb_origin_part_of(g).curvature < 0;
}

double cb_origin_radii(const cb_geometry *g, const cb_origin *origin) {
  return cb_origin_part_of(g).rate * origin->length;
}

cb_status cb_origin_of(const cb_geometry *g, const cb_chart *chart, const double *q, const double *u, cb_origin *origin,
                       double *v) {
  double x[CB_Q_MAX], world[CB_Q_MAX];
  cb_origin back;
  if (chart && chart->to_origin) return chart->to_origin(g, q, u, origin, v);
  if (chart) {
    const cb_status status = cb_chart_push(g, chart, q, u, x, world);
    if (status) return status;
  } else {
    memcpy(x, q, (size_t)g->embedding * sizeof *x);
    memcpy(world, u, (size_t)g->embedding * sizeof *world);
  }
  cb_origin_at(g, x, origin);
  cb_origin_inverse(g, origin, &back);
  cb_origin_world_vector(g, &back, world, v);
  return CB_OK;
}

cb_status cb_origin_coordinates(const cb_geometry *g, const cb_origin *origin, const double *x, const cb_chart *chart,
                                double *q) {
  double world[CB_Q_MAX];
  cb_origin there, point;
  bool finite = true;
  cb_origin_world_point(g, origin, x, world);
  for (int a = 0; a < g->embedding; a++) finite = finite && isfinite(world[a]);
  if (finite || !chart->from_origin) return chart->from_point(g, world, q);
  cb_origin_at(g, x, &there);
  cb_origin_compose(g, origin, &there, &point);
  return chart->from_origin(g, &point, q);
}

void cb_origin_field(const cb_geometry *g, const cb_origin *origin, int killing, const double *x, double *v) {
  double field[CB_Q_MAX], sum[CB_Q_MAX] = {0};
  for (int k = 0; k < g->n_killing; k++) {
    double local[CB_KILLING_MAX] = {0}, world[CB_KILLING_MAX];
    local[k] = 1;
    cb_origin_killing(g, origin, local, world);
    if (world[killing] == 0) continue;
    cb_killing_at(g, k, x, field);
    for (int a = 0; a < g->embedding; a++) sum[a] += world[killing] * field[a];
  }
  memcpy(v, sum, (size_t)g->embedding * sizeof *v);
}
