/* Measures how far a step is from symplectic: the maximum change of omega(d1, d2) = sum <dx1, dp2> - <dx2, dp1> for
 * pairs of vectors d = (dx, dp). These are tangent to the phase space of the positions x and the momenta p or, if there
 * are constraints, to the manifold that they define. Each vector is the tangent of a curve through the state: the line
 * along one coordinate, projected onto the space and the constraints. The vectors and their images are computed by
 * differences of fourth order with the step eps = 5e-4. Their errors are eps^4 = 6e-14 times fifth derivatives of the
 * curves, and 1e-13 from round-off. */
#pragma once

#include "constrained_state.h"

enum { SYMPLECTIC_NUMBERS = 2 * 4 * CB_COORD_MAX };

/* Returns the symplectic form dx1.dp2 - dx2.dp1 of two changes (dx1, dp1) and (dx2, dp2) of a state. The products use
 * the form of the embedding. In a chart they use no form, because momenta are covectors. */
static inline double omega(const body_case *c, const double *d1, const double *d2) {
  const int k = c->state->k, count = c->state->n * k;
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += (c->g->chart ? 1 : c->g->form[i % k]) * (d1[i] * d2[count + i] - d2[i] * d1[count + i]);
  return sum;
}

/* Adds weight times (x, p) of the state s to d. */
static inline void add_state(const cb_state *s, double weight, double *d) {
  const int count = s->n * s->k;
  for (int i = 0; i < count; i++) {
    d[i] += weight * s->x[i];
    d[count + i] += weight * s->p[i];
  }
}

static inline double symplectic_defect(body_case *c, double h) {
  static double before[SYMPLECTIC_NUMBERS][SYMPLECTIC_NUMBERS], after[SYMPLECTIC_NUMBERS][SYMPLECTIC_NUMBERS];
  static const double eps = 5e-4, weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
  const cb_space *g = c->g;
  const int k = c->state->k, count = c->state->n * k;
  assert_true(2 * count <= SYMPLECTIC_NUMBERS);
  memset(before, 0, sizeof before);
  memset(after, 0, sizeof after);
  cb_state *start = clone_state(c);
  for (int b = 0; b < 2 * count; b++)
    for (int q = 0; q < 4; q++) {
      cb_state_copy(c->state, start);
      (b < count ? c->state->x : c->state->p)[b % count] += at[q] * eps;
      for (int a = 0; !g->chart && a < c->state->n; a++) {
        cb_space_project_point(g, c->state->x + a * k);
        cb_space_project_tangent(g, c->state->x + a * k, c->state->p + a * k);
      }
      constrained_project(c, c->state);
      add_state(c->state, weight[q] / (12 * eps), before[b]);
      cb_integrator_reset(c->integrator);
      advance(c, h, 1);
      add_state(c->state, weight[q] / (12 * eps), after[b]);
    }
  double worst = 0;
  for (int a = 0; a < 2 * count; a++)
    for (int b = 0; b < a; b++) {
      const double defect = fabs(omega(c, after[a], after[b]) - omega(c, before[a], before[b]));
      if (!(defect <= worst) && !isnan(worst)) worst = defect; /* once `worst` is nan, it stays nan */
    }
  cb_state_copy(c->state, start);
  cb_state_free(start);
  return worst;
}
