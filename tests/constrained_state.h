/* States of bodies with constraints, in the embedding or in a chart: their velocities, their projection onto the
 * constraints, and the residuals of the constraints. */
#pragma once

#include "dynamics/gram.h"
#include "integrate.h"

enum { MOST = 64 * CB_COORD_MAX };
static const cb_target as_it_starts = {NAN, NULL};

/* Computes the velocities v[n*k] of the n particles of a state, each with k coordinates. */
static inline void constrained_velocities(const body_case *c, const cb_state *state, double *v) {
  const double *mass = cb_system_masses(c->system);
  const int k = c->g->k;
  for (int a = 0; a < state->n; a++) {
    check_ok(cb_space_raise(c->g, state->x + a * k, state->p + a * k, v + a * k));
    for (int e = 0; e < k; e++) v[a * k + e] /= mass[a];
  }
}

static inline void velocities(const body_case *c, double *v) { constrained_velocities(c, c->state, v); }

/* Sets the momenta of a state from the velocities v[n*k]. */
static inline void constrained_set_momenta(const body_case *c, const double *v, cb_state *state) {
  const double *mass = cb_system_masses(c->system);
  const int k = c->g->k;
  double metric[CB_DIM_MAX * CB_DIM_MAX];
  for (int a = 0; a < state->n; a++) {
    if (c->g->chart) check_ok(c->g->chart->metric(c->g, state->x + a * k, metric, NULL, NULL));
    for (int e = 0; e < k; e++) {
      double sum = c->g->chart ? 0 : v[a * k + e];
      for (int f = 0; c->g->chart && f < k; f++) sum += metric[e * k + f] * v[a * k + f];
      state->p[a * k + e] = mass[a] * sum;
      state->p_low[a * k + e] = 0;
    }
  }
}

static inline void set_velocities(body_case *c, const double *v) { constrained_set_momenta(c, v, c->state); }

/* Projects positions and velocities of a state onto the constraints. Without constraints the state does not change. */
static inline void constrained_project(const body_case *c, cb_state *state) {
  cb_constraints *rows = cb_forces_constraints(c->forces);
  double v[MOST];
  cb_gram *gram;
  if (!rows) return;
  check_ok(cb_gram_create(c->forces, rows, &gram));
  constrained_velocities(c, state, v);
  check_ok(cb_gram_project(gram, state->t, state->x, v, 0, NULL, NULL, NULL));
  constrained_set_momenta(c, v, state);
  memset(state->x_low, 0, (size_t)state->n * (size_t)state->k * sizeof(double));
  cb_gram_free(gram);
}

/* Computes the maxima of |g| and of |dg/dt| over the constraints g = 0 in this state. */
static inline void constrained_residuals(const body_case *c, const cb_state *state, double *position, double *rate) {
  cb_constraints *rows = cb_forces_constraints(c->forces);
  double v[MOST], g[MOST];
  const int m = cb_constraints_rows(rows)->rows;
  check_ok(cb_forces_set_origins(c->forces, state->origin));
  constrained_velocities(c, state, v);
  check_ok(cb_constraints_eval(rows, state->t, state->x, g, NULL));
  *position = *rate = 0;
  for (int r = 0; r < m; r++) *position = fmax(*position, fabs(g[r]));
  check_ok(cb_constraints_rate(rows, state->t, state->x, v, g, NULL));
  for (int r = 0; r < m; r++) *rate = fmax(*rate, fabs(g[r]));
}

/* Returns the maximum of |g| and |dg/dt| over all rows g = 0, including the rows that keep the particles on the
 * quadrics of the embedding. */
static inline double residual(const body_case *c) {
  double v[MOST], g[MOST], rate[MOST], most = 0;
  cb_constraints *rows = cb_forces_constraints_with_space(c->forces);
  velocities(c, v);
  check_ok(cb_constraints_eval(rows, c->state->t, c->state->x, g, NULL));
  check_ok(cb_constraints_rate(rows, c->state->t, c->state->x, v, rate, NULL));
  for (int r = 0; r < cb_constraints_rows(rows)->rows; r++) most = fmax(most, fmax(fabs(g[r]), fabs(rate[r])));
  return most;
}

/* Makes a step of the length h. Then the origin follows the body, as in a run. */
static inline void run_step(body_case *c, double h) {
  advance(c, h, 1);
  recentre(c);
  check_ok(cb_forces_set_origins(c->forces, c->state->origin));
}
