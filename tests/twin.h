/* Bodies in charts, converted to the embedding: positions and velocities of their particles, and a copy of the body as
 * a system of the embedding. */
#pragma once

#include "integrate.h"

/* Computes the positions x and the velocities v of the particles in the embedding, in the order in which they were
 * added. */
static inline void in_embedding(const body_case *c, double *x, double *v) {
  const int k = c->g->embedding;
  for (int i = 0; i < c->state->n; i++) {
    const int a = cb_system_index(c->system, i);
    const double *q = c->state->x + a * c->state->k, *p = c->state->p + a * c->state->k;
    double u[CB_COORD_MAX];
    check_ok(cb_space_raise(c->g, q, p, u));
    if (c->g->chart) {
      check_ok(cb_chart_push(c->g, c->g->chart, q, u, x + i * k, v + i * k));
    } else {
      memcpy(x + i * k, q, (size_t)k * sizeof *x);
      memcpy(v + i * k, u, (size_t)k * sizeof *v);
    }
    for (int e = 0; e < k; e++) v[i * k + e] /= cb_system_masses(c->system)[a];
  }
}

/* Opens in e a copy of the body c, which is in a space of one factor, with its particles and springs. The copy is in
 * the embedding. The caller finishes its system. */
static inline void open_twin(const body_case *c, body_case *e) {
  double x[16 * CB_COORD_MAX], v[16 * CB_COORD_MAX];
  char space[96];
  const double K = c->g->factor[0].curvature;
  const int n = snprintf(space, sizeof space, "%s", c->g->class_->name);
  if (K != 0) snprintf(space + n, sizeof space - (size_t)n, " {curvature: %.17g}", K);
  open_space(e, space);
  in_embedding(c, x, v);
  for (int i = 0; i < c->state->n; i++)
    add_particle(e, cb_system_masses(c->system)[cb_system_index(c->system, i)], x + i * e->g->k, v + i * e->g->k);
  for (int b = 0; b < cb_system_springs(c->system); b++) {
    int i, j;
    double stiffness, rest, damping;
    cb_system_bond(c->system, b, &i, &j);
    cb_system_spring(c->system, b, &stiffness, &rest, &damping);
    check_ok(cb_builder_spring(e->builder, i, j, stiffness, rest, damping));
  }
}
