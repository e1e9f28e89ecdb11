/* Measures of a state.
 *
 *   kinetic energy  sum <p,p>/2m (embedding), sum g^ij p_i p_j/2m (chart)
 * Picture coordinates go through the moving origin. Killing momenta are in measure_killing.c.
 */
#include "dynamics/measure.h"

#include "dynamics/forces_private.h"

cb_status cb_state_local(const cb_system *s, const cb_state *state, int place, double *x, double *v) {
  const cb_geometry *g = cb_system_space(s);
  const double *q = state->x + (size_t)place * g->k, *p = state->p + (size_t)place * g->k;
  const double mass = cb_system_masses(s)[place];
  if (!g->chart) {
    for (int a = 0; a < g->k; a++) {
      x[a] = q[a];
      v[a] = p[a] / mass;
    }
    return CB_OK;
  }
  double velocity[CB_Q_MAX];
  const cb_status status = cb_geometry_raise(g, q, p, velocity);
  if (status) return status;
  for (int a = 0; a < g->dim; a++) velocity[a] /= mass;
  return cb_chart_push(g, g->chart, q, velocity, x, v);
}

cb_status cb_state_picture(const cb_system *s, const cb_state *state, int particle, double picture[3],
                           double velocity[3]) {
  if (particle < 0 || particle >= state->n)
    return cb_fail(CB_ERROR_ARGUMENT, "particle %d: expected 0 to %d", particle, state->n - 1);
  double x[CB_Q_MAX], v[CB_Q_MAX], at[3], rate[3];
  const int place = cb_system_index(s, particle);
  const cb_status status = cb_state_local(s, state, place, x, v);
  if (status) return status;
  cb_origin_picture(cb_system_space(s), &state->origin[cb_system_component(s, place)], x, v, at, rate);
  for (int a = 0; a < 3; a++) {
    picture[a] = at[a];
    if (velocity) velocity[a] = rate[a];
  }
  return CB_OK;
}

cb_status cb_forces_energy(cb_forces *f, const cb_state *state, double *kinetic, double *potential) {
  const cb_system *s = f->system;
  const cb_geometry *g = cb_system_space(s);
  const double *mass = cb_system_masses(s);
  double sum = 0;
  for (int a = 0; a < state->n; a++) {
    const double *q = state->x + (size_t)a * g->k, *p = state->p + (size_t)a * g->k;
    if (!g->chart) {
      sum += cb_inner(g, p, p) / (2 * mass[a]);
    } else {
      double raised[CB_Q_MAX];
      const cb_status status = cb_geometry_raise(g, q, p, raised);
      if (status) return status;
      for (int e = 0; e < g->dim; e++) sum += p[e] * raised[e] / (2 * mass[a]);
    }
  }
  const cb_status status = cb_forces_potential(f, state->t, state->x, potential);
  if (!status) *kinetic = sum;
  return status;
}
