/* Killing momenta J_i = sum <X_i(x), p> about the world's axes, how large they could be, and where they are known.
 *
 * A frame that is far out has round-off of its own, and X_i grows with the distance, in H^n like its exponential: J_i is
 * known to some units of round-off of sum |p| |X_i|, and of what a turn of the frame makes of the others. A momentum that
 * is conserved, and small, is lost there: nothing that a state has tells it. It is nan where too much of it is lost.
 */
#include "dynamics/measure.h"

#include "geometry/origin.h"
#include "geometry/quadric.h"

#include <float.h>
#include <math.h>

/* Units of round-off of a frame, after some thousand changes of it. */
static const double units = 16 * DBL_EPSILON;
/* What may be lost of a momentum, or of what the same particles would have near the base point. */
static const double lost = 1e-6;
/* Fields no larger than this lose nothing that counts. */
static const double harmless = 1e6;

/* Those of a component. */
static cb_status world_of(const cb_system *s, const cb_state *state, int component, double *world) {
  const cb_geometry *g = cb_system_space(s);
  const cb_origin *origin = &state->origin[component];
  const size_t k = (size_t)g->k;
  double here[CB_KILLING_MAX] = {0}, x[CB_Q_MAX], v[CB_Q_MAX];
  const int first = cb_system_component_starts(s)[component], end = cb_system_component_starts(s)[component + 1];
  if (!g->chart) cb_killing_momenta_add(g, end - first, state->x + (size_t)first * k, state->p + (size_t)first * k, here);
  for (int a = first; a < end && g->chart; a++) {
    if (g->intrinsic) {
      cb_origin_killing_add(g, origin, state->x + (size_t)a * k, state->p + (size_t)a * k, here);
      continue;
    }
    const cb_status status = cb_state_local(s, state, a, x, v);
    if (status) return status;
    for (int e = 0; e < g->embedding; e++) v[e] *= cb_system_masses(s)[a];
    cb_killing_momentum_add(g, x, v, here);
  }
  cb_origin_killing(g, origin, here, world);
  return CB_OK;
}

/* |p|. */
static cb_status momentum_size(const cb_system *s, const cb_state *state, int place, double *size) {
  const cb_geometry *g = cb_system_space(s);
  const double *p = state->p + (size_t)place * (size_t)g->k;
  double raised[CB_Q_MAX], square = g->chart ? 0 : cb_inner(g, p, p);
  const cb_status status = g->chart ? cb_geometry_raise(g, state->x + (size_t)place * (size_t)g->k, p, raised) : CB_OK;
  for (int e = 0; e < g->k && g->chart && !status; e++) square += p[e] * raised[e];
  *size = sqrt(fmax(0, square));
  return status;
}

/* Of the particles of a component: sizes[i] sum |p| |X_i|, and added to *all and *p_all sum |p| max |X_i| and sum |p|. */
static cb_status sizes_of(const cb_system *s, const cb_state *state, int component, double *sizes, double *all,
                          double *p_all) {
  const cb_geometry *g = cb_system_space(s);
  const int *start = cb_system_component_starts(s);
  for (int i = 0; i < g->n_killing; i++) sizes[i] = 0;
  for (int a = start[component]; a < start[component + 1]; a++) {
    double norm[CB_KILLING_MAX] = {0}, most = 0, p;
    cb_status status = momentum_size(s, state, a, &p);
    if (!status)
      status = cb_origin_killing_sizes(g, &state->origin[component], state->x + (size_t)a * (size_t)g->k, norm);
    if (status) return status;
    *p_all += p;
    for (int i = 0; i < g->n_killing && p > 0; i++) { /* no 0 inf */
      most = fmax(most, norm[i]);
      sizes[i] += p * norm[i];
    }
    *all += p > 0 ? p * most : 0;
  }
  return CB_OK;
}

cb_status cb_state_killing_size(const cb_system *s, const cb_state *state, double *size) {
  double sizes[CB_KILLING_MAX], all = 0, p = 0;
  for (int c = 0; c < state->n_components; c++) {
    const cb_status status = sizes_of(s, state, c, sizes, &all, &p);
    if (status) return status;
  }
  *size = all;
  return CB_OK;
}

/* --- where they are known --- */

/* Are all particles so near the base point that their momenta are surely known? */
static bool is_near(const cb_system *s, const cb_state *state) {
  const cb_geometry *g = cb_system_space(s);
  const int *start = cb_system_component_starts(s);
  if (!cb_origin_moves(g)) return true;
  if (g->intrinsic) return false;
  for (int c = 0; c < state->n_components; c++) {
    const cb_origin *origin = &state->origin[c];
    const double grow = cb_origin_grows(g) ? exp(cb_origin_radii(g, origin)) : 1;
    double shift = 1 + origin->length;
    for (int e = 0; e < CB_DIM_MAX; e++) shift += fabs(origin->shift[e]);
    for (int a = start[c]; a < start[c + 1]; a++) {
      double size = shift;
      for (int e = 0; e < g->k; e++) size += grow * fabs(state->x[(size_t)a * (size_t)g->k + (size_t)e]);
      if (!(size < harmless)) return false;
    }
  }
  return true;
}

/* What a unit of momentum has at the base point, or for a rotation, which vanishes there, a radius from it. */
static double at_base(const cb_geometry *g, int field) {
  for (int f = 0; f < g->n_factors; f++) {
    const int n = cb_factor_dim(g->factor[f]), fields = n * (n + 1) / 2;
    if (field < fields) return field < n || g->factor[f].curvature >= 0 ? 1 : 1 / sqrt(-g->factor[f].curvature);
    field -= fields;
  }
  return 1;
}

cb_status cb_state_killing_momentum(const cb_system *s, const cb_state *state, double *momentum) {
  const cb_geometry *g = cb_system_space(s);
  const bool near = is_near(s, state);
  double total[CB_KILLING_MAX] = {0}, world[CB_KILLING_MAX], sizes[CB_KILLING_MAX], noise[CB_KILLING_MAX] = {0},
         all = 0, level = 0;
  for (int c = 0; c < state->n_components; c++) {
    cb_status status = world_of(s, state, c, world);
    if (!status && !near) status = sizes_of(s, state, c, sizes, &all, &level);
    if (status) return status;
    for (int i = 0; i < g->n_killing; i++) total[i] += world[i];
    if (!near) cb_origin_killing_noise(g, &state->origin[c], sizes, world, noise);
  }
  for (int i = 0; i < g->n_killing; i++) {
    const double off = units * noise[i];
    const bool known = off <= lost * fabs(total[i]) || off <= lost * level * at_base(g, i);
    momentum[i] = known && isfinite(total[i]) ? total[i] : NAN;
  }
  return CB_OK;
}
