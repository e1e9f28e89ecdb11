/* Bodies with rods, and solutions of their motion by another method, for the tests of the integrator Radau IIA. */
#pragma once

#include "constrained_state.h"
#include "integrators/radau.h"
#include "reference_constrained.h"

static const char *const spaces[] = {
    "e3", "s3", "h3", "s3 {curvature: 2.3}", "e2", "h2xe", "exs2", "h3 {chart: polar}", "s3 {chart: polar}"};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* Creates three unequal masses with random velocities. Rods join the first `rods` of the pairs 0-1, 1-2 and 2-0, and
 * springs join the others. `law` is the length of the first rod as a function of time, or NULL if it is constant. If
 * stiffness > 0, springs have this stiffness and this damping, and start at their rest length. Otherwise their
 * stiffness is 1.7, their damping 0.1, and their rest length 0.9 of the length at the start. */
static inline void open_body(body_case *c, const char *space, int rods, const char *law, double stiffness,
                             double damping, uint64_t *seed) {
  static const double corner[3][CB_DIM_MAX] = {{0.45, 0.1, 0.2}, {-0.35, 0.4, -0.1}, {-0.2, -0.45, 0.15}};
  static const double mass[3] = {0.8, 2.3, 1.1};
  double x[3][CB_COORD_MAX];
  open_space(c, space);
  const cb_space *g = c->g;
  add_corners(c, 3, corner, 0.05, 0.4, mass, seed, x);
  for (int a = 0; a < 3; a++) {
    const double length = cb_distance(g, x[a], x[(a + 1) % 3]);
    if (a < rods)
      check_ok(cb_builder_rod(c->builder, NULL, a, (a + 1) % 3, (cb_target){NAN, a ? NULL : law}));
    else if (stiffness > 0)
      check_ok(cb_builder_spring(c->builder, a, (a + 1) % 3, stiffness, -1, damping));
    else
      check_ok(cb_builder_spring(c->builder, a, (a + 1) % 3, 1.7, 0.9 * length, 0.1));
  }
  finish_system(c);
  constrained_project(c, c->state);
}

/* Creates the body of open_body with the default values of its springs. For rods = 2 it has the rods 0-1 and 1-2 and
 * the spring 2-0. */
static inline void open_chain(body_case *c, const char *space, int rods, const char *law, uint64_t *seed) {
  open_body(c, space, rods, law, 0, 0, seed);
}

static inline void use_radau(body_case *c, const char *method) {
  use_method(c, method);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
}

/* Computes the positions, velocities and multipliers at the time `end` with the reference method of
 * constrained_advance. */
static inline void reduced_solution(body_case *c, double end, double *x, double *v, double *lambda) {
  const size_t count = (size_t)(c->state->n * c->state->k);
  cb_gram *gram;
  memcpy(x, c->state->x, count * sizeof *x);
  constrained_velocities(c, c->state, v);
  constrained_advance(c->forces, count, 0, end, x, v);
  check_ok(cb_gram_create(c->forces, cb_forces_constraints_with_space(c->forces), &gram));
  check_ok(cb_gram_multipliers(gram, end, x, v, lambda, NULL));
  cb_gram_free(gram);
}

/* Computes the errors of the integrator after n steps from `start` to the time `end`: error[0] of the positions x,
 * error[1] of the velocities v, and error[2] of the multipliers lambda. */
static inline void errors(body_case *c, const cb_state *start, int n, double end, const double *x, const double *v,
                          const double *lambda, double error[3]) {
  double u[MOST];
  const int count = c->state->n * c->state->k;
  cb_state_copy(c->state, start);
  cb_integrator_reset(c->integrator);
  advance(c, end / n, n);
  constrained_velocities(c, c->state, u);
  error[0] = check_distance_max(count, c->state->x, x);
  error[1] = check_distance_max(count, u, v);
  error[2] = check_distance_max(cb_system_constraints(c->system), c->integrator->multipliers, lambda);
}

/* Measures the orders of convergence of the positions, the velocities and the multipliers. The number of steps, `first`
 * at the beginning, is doubled three times; the last doubling after which the error is well above round-off gives the
 * order. */
static inline void fit(body_case *c, int first, double order[3]) {
  double x[MOST], v[MOST], lambda[MOST], error[4][3];
  cb_state *start = clone_state(c);
  reduced_solution(c, 1, x, v, lambda);
  for (int level = 0; level < 4; level++) {
    errors(c, start, first << level, 1, x, v, lambda, error[level]);
    for (int what = 0; level > 0 && what < 3; what++)
      if (level == 1 || error[level][what] > (what < 2 ? (first < 4 ? 1e-11 : 3e-13) : 1e-10))
        order[what] = log2(error[level - 1][what] / error[level][what]);
  }
  cb_state_copy(c->state, start);
  cb_state_free(start);
}
