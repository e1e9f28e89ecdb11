/* Runs a body in S3 or H3 for 400 000 steps of 0.1. Measures the errors of its energy and the drift of the momenta that
 * belong to isometries. */
#pragma once

#include "casimirs.h"
#include "constrained_state.h"

enum { LONG_STEPS = 400000, TENTHS = 10 };

typedef struct long_errors {
  double energy, first_half, last_tenth; /* energy: at the start; the others: its maximum errors in parts of the run */
  double drift; /* relative drift of the momenta; if the origin moves, of their invariants (casimirs.h) */
} long_errors;

static inline void isometry_momenta(const body_case *c, double *j) {
  for (int i = 0; i < 6; i++) j[i] = 0;
  for (int a = 0; a < c->state->n; a++) cb_killing_momentum_add(c->g, c->state->x + 4 * a, c->state->p + 4 * a, j);
}

/* Returns the maximum drift of the momenta, or of their invariants if the space has moving origins, relative to the
 * largest value before the run. */
static inline double momentum_drift(const cb_space *g, const double *before, const double *after) {
  double casimir[2][2], drift = 0, size = 0;
  const bool moves = cb_origin_moves(g);
  killing_casimirs(g, before, casimir[0]);
  killing_casimirs(g, after, casimir[1]);
  const double *from = moves ? casimir[0] : before, *to = moves ? casimir[1] : after;
  for (int i = 0; i < (moves ? 2 : 6); i++) {
    drift = fmax(drift, fabs(to[i] - from[i]));
    size = fmax(size, fabs(from[i]));
  }
  return drift / size;
}

/* Runs the body with the integrator `method`. Returns the energy at the start, the maximum errors of the energy in the
 * first half and in the last tenth of the run, and the drift of the momenta. Calls `watch` after each step unless it is
 * NULL. */
static inline long_errors run_long(body_case *c, const char *method, void (*watch)(body_case *c, int step, void *self),
                                   void *self) {
  double worst[TENTHS] = {0}, before[6], after[6];
  use_method(c, method);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
  long_errors e = {.energy = energy(c)};
  isometry_momenta(c, before);
  for (int i = 0; i < LONG_STEPS; i++) {
    run_step(c, 0.1);
    const int tenth = (int)((long)i * TENTHS / LONG_STEPS);
    worst[tenth] = fmax(worst[tenth], fabs(energy(c) - e.energy));
    if (watch) watch(c, i, self);
  }
  isometry_momenta(c, after);
  for (int i = 0; i < TENTHS / 2; i++) e.first_half = fmax(e.first_half, worst[i]);
  e.last_tenth = worst[TENTHS - 1];
  e.drift = momentum_drift(c->g, before, after);
  return e;
}
