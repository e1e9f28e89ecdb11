/* Killing momenta J_i = sum <X_i(x), p> about the world's axes, how large they could be, and where they are known.
 *
 * A frame that is far out has round-off of its own, and X_i grows with the distance, in H^n like its exponential: J_i is
 * known to some units of round-off of sum |p| |X_i|, and of what a turn of the frame makes of the others. A momentum that
 * is conserved, and small, is lost there: nothing that a state has tells it. It is nan where too much of it is lost.
 */
#include "dynamics/measure.h"

#include "geometry/origin.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Units of round-off of a frame, after some thousand changes of it. */
static const double units = 16 * DBL_EPSILON;
/* What may be lost of a momentum, or of what the same particles would have near the base point. */
static const double lost = 1e-6;
/* Fields no larger than this lose nothing that counts. */
static const double harmless = 1e6;

/* Those of a component. */
static cb_status world_of(const cb_system *s, const cb_state *state, int component, double *world) {
  const cb_geometry *g = cb_system_space(s);
  const int *start = cb_system_component_starts(s);
  const cb_origin *origin = &state->origin[component];
  double here[CB_KILLING_MAX] = {0}, x[CB_Q_MAX], v[CB_Q_MAX];
  for (int a = start[component]; a < start[component + 1]; a++) {
    if (g->intrinsic && cb_origin_moves(g)) {
      cb_origin_killing_add(g, origin, state->x + (size_t)a * g->k, state->p + (size_t)a * g->k, here);
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
  const double *p = state->p + (size_t)place * g->k;
  double raised[CB_Q_MAX], square = 0;
  const cb_status status = cb_geometry_raise(g, state->x + (size_t)place * g->k, p, raised);
  for (int e = 0; e < g->k && !status; e++) square += (g->chart ? 1 : g->form[e]) * p[e] * raised[e];
  *size = sqrt(fmax(0, square));
  return status;
}

/* |X_i| of the world's fields at a particle: by their components in the chart. */
static cb_status sizes_in_chart(const cb_system *s, const cb_state *state, int place, double *norm) {
  const cb_geometry *g = cb_system_space(s);
  const double *q = state->x + (size_t)place * g->k;
  double metric[CB_Q_MAX * CB_Q_MAX], X[CB_KILLING_MAX][CB_Q_MAX];
  const cb_status status = g->chart->metric(g, q, metric, NULL, NULL);
  for (int a = 0; a < g->dim && !status; a++) {
    double p[CB_Q_MAX] = {0}, here[CB_KILLING_MAX] = {0};
    p[a] = 1;
    if (cb_origin_moves(g)) cb_origin_killing_add(g, &state->origin[cb_system_component(s, place)], q, p, here);
    for (int i = 0; i < g->n_killing; i++) X[i][a] = here[i];
  }
  for (int i = 0; i < g->n_killing && !status; i++) {
    double square = 0;
    if (!cb_origin_moves(g)) cb_killing_at(g, i, q, X[i]);
    for (int a = 0; a < g->dim; a++)
      for (int b = 0; b < g->dim; b++) square += X[i][a] * metric[a * g->dim + b] * X[i][b];
    norm[i] = sqrt(fmax(0, square));
  }
  return status;
}

/* The same by their momenta with an orthonormal frame. */
static cb_status sizes_in_frame(const cb_system *s, const cb_state *state, int place, double *norm) {
  const cb_geometry *g = cb_system_space(s);
  double x[CB_Q_MAX], v[CB_Q_MAX], frame[CB_DIM_MAX * CB_COORD_MAX];
  const cb_status status = cb_state_local(s, state, place, x, v);
  if (status) return status;
  cb_geometry_frame(g, x, frame);
  for (int i = 0; i < g->n_killing; i++) norm[i] = 0;
  for (int d = 0; d < g->dim; d++) {
    double here[CB_KILLING_MAX] = {0}, world[CB_KILLING_MAX];
    cb_killing_momentum_add(g, x, frame + d * g->embedding, here);
    cb_origin_killing(g, &state->origin[cb_system_component(s, place)], here, world);
    for (int i = 0; i < g->n_killing; i++) norm[i] = hypot(norm[i], world[i]);
  }
  return CB_OK;
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
    if (!status) status = (g->intrinsic ? sizes_in_chart : sizes_in_frame)(s, state, a, norm);
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

bool cb_state_killing_known(const cb_system *s, const cb_state *state) {
  const cb_geometry *g = cb_system_space(s);
  if (!cb_origin_moves(g)) return true;
  if (g->intrinsic) return false;
  for (int a = 0; a < state->n; a++) {
    const cb_origin *origin = &state->origin[cb_system_component(s, a)];
    const double *x = state->x + (size_t)a * (size_t)g->k;
    double most = 1, shift = 1 + origin->length;
    for (int e = 0; e < g->k; e++) most = fmax(most, fabs(x[e]));
    for (int e = 0; e < CB_DIM_MAX; e++) shift = fmax(shift, fabs(origin->shift[e]));
    if (!(most * (cb_origin_grows(g) ? exp(cb_origin_radii(g, origin)) : 1) + shift < harmless)) return false;
  }
  return true;
}

/* What a unit of momentum has at the base point, or for a field that vanishes there a radius from it. */
static double at_base(const cb_geometry *g, int field) {
  double base[CB_Q_MAX], v[CB_Q_MAX], most = 0, curvature = 0;
  cb_geometry_base_point(g, base);
  cb_killing_at(g, field, base, v);
  for (int e = 0; e < g->k; e++) most = fmax(most, fabs(v[e]));
  for (int f = 0; f < g->n_factors; f++) curvature = fmin(curvature, g->factor[f].curvature);
  return most > 0 || curvature == 0 ? 1 : 1 / sqrt(-curvature);
}

cb_status cb_state_killing_momentum(const cb_system *s, const cb_state *state, double *momentum) {
  const cb_geometry *g = cb_system_space(s);
  const bool near = cb_state_killing_known(s, state);
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
    const bool known = units * noise[i] <= lost * fmax(fabs(total[i]), level * at_base(g, i));
    momentum[i] = known && isfinite(total[i]) ? total[i] : NAN;
  }
  return CB_OK;
}
