/* The moving origin: in H^n numbers grow like exp(distance) and differences lose the square of that, in E^n they lose
 * proportionally. A component whose mean has drifted by more than a unit of length (the radius of curvature) is
 * brought back to the centre by an isometry, which is kept in its origin. The methods commute with isometries: this
 * changes round-off only. It is a function of the state alone, so that a resumed run does the same. */
#include "geometry/origin.h"
#include "run/run_private.h"

#include <math.h>

/* Distance of the mean at which a component is brought back, in radii of curvature; in flat space in its own sizes
 * too. */
static const double drift = 1;

static bool flat(const cb_geometry *g) { return g->factor[0].curvature == 0; }

cb_status cb_run_recentre(cb_run *run) {
  const cb_geometry *g = cb_system_space(run->system);
  if (g->chart || !cb_origin_moves(g)) return CB_OK;
  cb_state *s = run->state;
  const int *start = cb_system_component_starts(run->system);
  double base[CB_COORD_MAX];
  cb_geometry_base_point(g, base);
  for (int c = 0; c < s->n_components; c++) {
    double mean[CB_COORD_MAX] = {0};
    const int count = start[c + 1] - start[c];
    for (int a = start[c]; a < start[c + 1]; a++)
      for (int e = 0; e < g->k; e++) mean[e] += s->x[(size_t)a * g->k + e];
    for (int e = 0; e < g->k; e++) mean[e] /= count;
    /* Along the radius first, which isometries take along: K <mean,mean> >= 1 but for round-off. */
    const double square = g->factor[0].curvature * cb_inner(g, mean, mean);
    for (int e = 0; square > 0.5 && e < g->k; e++) mean[e] /= sqrt(square);
    cb_geometry_project_point(g, mean);
    double limit = flat(g) ? drift : drift / sqrt(fabs(g->factor[0].curvature));
    if (flat(g)) {
      double size = 0;
      for (int e = 0; e < g->k; e++) size = fmax(size, fabs(s->x[(size_t)start[c] * g->k + e] - mean[e]));
      limit = fmax(limit, 4 * size);
    }
    if (cb_distance(g, base, mean) <= limit) continue;
    cb_isometry isometry;
    cb_status status = cb_origin_recentre(g, &s->origin[c], mean, count, s->x + (size_t)start[c] * g->k,
                                          s->x_low + (size_t)start[c] * g->k, s->p + (size_t)start[c] * g->k,
                                          s->p_low + (size_t)start[c] * g->k, &isometry);
    if (!status) status = cb_integrator_moved(run->integrator, s, c, &isometry);
    if (status) return status;
  }
  return CB_OK;
}
