/* Rigid bodies of unequal masses in any space, for the tests of methods that take constraints. */
#ifndef CB_TESTS_CONSTRAINED_H
#define CB_TESTS_CONSTRAINED_H

#include "dynamics/gram.h"
#include "integrate.h"
#include <curvebody/constraint.h>

static const cb_target at_start = {NAN, NULL};

/* Velocities of the state: v[n*k]. */
static inline void constrained_velocities(const body_case *c, const cb_state *state, double *v) {
  const double *mass = cb_system_masses(c->system);
  const int k = c->g->k;
  for (int a = 0; a < state->n; a++) {
    check_ok(cb_geometry_raise(c->g, state->x + a * k, state->p + a * k, v + a * k));
    for (int e = 0; e < k; e++) v[a * k + e] /= mass[a];
  }
}

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
    }
  }
}

/* Brings a state to the constraints. */
static inline void constrained_project(const body_case *c, cb_state *state) {
  double v[256];
  cb_gram *gram;
  check_ok(cb_gram_create(c->forces, cb_forces_constraints(c->forces), &gram));
  constrained_velocities(c, state, v);
  check_ok(cb_gram_project(gram, state->t, state->x, v, 0, NULL, NULL, NULL));
  constrained_set_momenta(c, v, state);
  memset(state->x_low, 0, (size_t)state->n * (size_t)state->k * sizeof(double));
  memset(state->p_low, 0, (size_t)state->n * (size_t)state->k * sizeof(double));
  cb_gram_free(gram);
}

/* n particles at the corners of an uneven triangle (3) or tetrahedron (4), tumbling, every pair joined by a rod; in a
 * chart away from the base point. spring: the last pair by a spring instead. potential: a harmonic centre aside. */
static inline void open_frame(body_case *c, const char *space, int n, bool spring, bool potential, uint64_t *seed) {
  static const double corner[4][CB_DIM_MAX] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1}, {0.1, 0.1, 0.6}};
  open_space(c, space);
  const cb_geometry *g = c->g;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[4][CB_COORD_MAX], v[CB_COORD_MAX];
  const double aside[CB_DIM_MAX] = {1.2, 0.3, 0.2};
  double shift[CB_COORD_MAX] = {0}, there[CB_COORD_MAX];
  cb_isometry move;
  cb_geometry_base_point(g, base);
  cb_geometry_frame(g, base, frame);
  for (int i = 0; i < g->dim; i++)
    for (int e = 0; e < g->embedding; e++) shift[e] += (g->chart ? aside[i] : 0) * frame[i * g->embedding + e];
  cb_exp(g, base, shift, there, NULL);
  cb_isometry_to(g, there, &move);
  for (int a = 0; a < n; a++) {
    double tangent[CB_COORD_MAX] = {0}, near[CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++) {
      const double offset = corner[a][i] + check_uniform(seed, -0.05, 0.05);
      for (int e = 0; e < g->embedding; e++) tangent[e] += offset * frame[i * g->embedding + e];
    }
    cb_exp(g, base, tangent, near, NULL);
    cb_isometry_point(g, &move, near, x[a]);
    check_random_tangent(g, seed, x[a], 0.5, v);
    add_particle(c, check_uniform(seed, 0.6, 2.5), x[a], v);
  }
  for (int a = 0; a < n; a++)
    for (int b = a + 1; b < n; b++) {
      if (spring && a == n - 2)
        check_ok(cb_builder_spring(c->builder, a, b, 1.3, -1, 0));
      else
        check_ok(cb_builder_rod(c->builder, NULL, a, b, at_start));
    }
  if (potential) {
    double centre[CB_COORD_MAX], tangent[CB_COORD_MAX] = {0}, q[CB_COORD_MAX];
    for (int e = 0; e < g->embedding; e++) tangent[e] = 0.7 * frame[e] + 0.4 * frame[g->embedding + e];
    cb_exp(g, there, tangent, centre, NULL);
    if (g->chart) check_ok(g->chart->from_point(g, centre, q));
    check_ok(cb_builder_central(c->builder, -1, CB_LAW_HARMONIC, 0.8, 0, NULL, g->chart ? q : centre));
  }
  finish_system(c);
  constrained_project(c, c->state);
}

/* Largest |g| and |dg/dt| of the state. */
static inline void constrained_residuals(const body_case *c, const cb_state *state, double *position, double *rate) {
  cb_constraints *rows = cb_forces_constraints(c->forces);
  double v[256], g[64];
  const int m = cb_constraints_rows(rows)->rows;
  check_ok(cb_forces_set_origins(c->forces, state->origin));
  constrained_velocities(c, state, v);
  check_ok(cb_constraints_eval(rows, state->t, state->x, g, NULL));
  *position = *rate = 0;
  for (int r = 0; r < m; r++) *position = fmax(*position, fabs(g[r]));
  check_ok(cb_constraints_rate(rows, state->t, state->x, v, g, NULL));
  for (int r = 0; r < m; r++) *rate = fmax(*rate, fabs(g[r]));
}

#endif
