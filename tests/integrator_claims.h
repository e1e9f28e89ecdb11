/* Tests of the properties that an integrator claims to have (its function `properties`), with and without constraints,
 * for one body in one space. */
#pragma once

#include "symplectic.h"

typedef struct claim {
  int order;
  bool symplectic, symmetric;
} claim;

typedef void claim_test(body_case *c, const claim *claimed, const char *where);

static inline claim claim_of(cb_integrator *m) {
  claim out;
  m->class_->properties(m, &out.order, &out.symplectic, &out.symmetric);
  return out;
}

static inline size_t numbers_bytes(const cb_state *s) { return (size_t)s->n * (size_t)s->k * sizeof(double); }

static inline void check_symplectic(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symplectic) return;
  const double defect = symplectic_defect(c, 0.1);
  if (!(defect <= 1e-9) || getenv("CB_TEST_VERBOSE")) print_error("%s: |M^T J M - J| = %g\n", where, defect);
  check_at_most(defect, 1e-9);
}

static inline void check_reversible(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symmetric || claimed->order < 2) return;
  cb_state *start = clone_state(c);
  advance(c, 0.02, 400);
  cb_integrator_reset(c->integrator);
  advance(c, -0.02, 400);
  const int count = start->n * start->k;
  const double error =
      fmax(check_distance_max(count, start->x, c->state->x), check_distance_max(count, start->p, c->state->p));
  if (!(error <= 1e-12)) print_error("%s: 400 steps there and back miss by %g\n", where, error);
  check_at_most(error, 1e-12); /* the sums are compensated, but the motion amplifies the round-off of 800 steps */
  cb_state_free(start);
}

static inline void check_momenta(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symplectic || c->g->chart) return;
  double before[CB_KILLING_MAX] = {0}, after[CB_KILLING_MAX] = {0}, size = 0;
  const int n = c->state->n, k = c->g->k;
  for (int a = 0; a < n; a++) cb_killing_momentum_add(c->g, c->state->x + a * k, c->state->p + a * k, before);
  advance(c, 0.05, 200);
  for (int a = 0; a < n; a++) {
    cb_killing_momentum_add(c->g, c->state->x + a * k, c->state->p + a * k, after);
    for (int e = 0; e < k; e++) size = fmax(size, fabs(c->state->x[a * k + e]) * (1 + fabs(c->state->p[a * k + e])));
  }
  const double error = check_distance_max(c->g->n_killing, before, after);
  /* the tolerance is for round-off of products of x and p, which grow as a body moves away from the origin of H3 */
  if (!(error <= 1e-13 * size * size))
    print_error("%s: Killing momenta drift by %g (numbers of size %g)\n", where, error, size);
  check_at_most(error, 1e-13 * size * size);
}

static inline void check_restart(body_case *c, const claim *claimed, const char *where) {
  advance(c, 0.03, 5);
  cb_integrator_reset(c->integrator);
  cb_state *middle = clone_state(c);
  advance(c, 0.03, 5);
  cb_state *end = clone_state(c);
  advance(c, 0.07, 3); /* other steps before the restart */
  cb_state_copy(c->state, middle);
  cb_integrator_reset(c->integrator);
  advance(c, 0.03, 5);
  const size_t bytes = numbers_bytes(end);
  const bool same = !memcmp(end->x, c->state->x, bytes) && !memcmp(end->p, c->state->p, bytes) &&
                    !memcmp(end->x_low, c->state->x_low, bytes) && !memcmp(end->p_low, c->state->p_low, bytes) &&
                    end->t == c->state->t;
  if (!same) print_error("%s: a restart does not repeat the bytes\n", where);
  assert_true(same);
  cb_state_free(middle);
  cb_state_free(end);
}

static inline void check_failure(body_case *c, const claim *claimed, const char *where) {
  cb_state *start = clone_state(c);
  const size_t bytes = numbers_bytes(start);
  start->p[0] = c->state->p[0] = NAN;
  const cb_status status = cb_integrator_step(c->integrator, c->state, 0.1);
  const bool same = !memcmp(start->x, c->state->x, bytes) && !memcmp(start->x_low, c->state->x_low, bytes) &&
                    !memcmp(start->p, c->state->p, bytes) && start->t == c->state->t;
  if (status <= 0 || !same)
    print_error("%s: a state that is not finite gives status %d, state kept: %d\n", where, (int)status, same);
  assert_true(status > 0);
  assert_true(same);
  cb_state_free(start);
}
