/* Linked bodies for the tests of integrators that support constraints: an irregular figure with links of several kinds,
 * and the rigid rod and triangle of the thesis that analysis/README.md names. */
#pragma once

#include "constrained_state.h"

/* The links that join each corner of an irregular figure to the next one. RODS_AND_SPRING: the first link is a spring,
 * the others are rods. BREATHING: all links are rods, and the length of the first one changes. DAMPED: the links are
 * damped springs, and there is a rod from corner 0 to corner 2. */
typedef enum links { NONE, RODS, RODS_AND_SPRING, BREATHING, DAMPED } links;

static inline void open_figure(body_case *c, const char *space, int n, links kind, double speed, uint64_t *seed) {
  static const double corner[4][CB_DIM_MAX] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1}, {0.1, 0.2, 0.7}};
  double x[4][CB_COORD_MAX];
  open_space(c, space);
  const cb_space *g = c->g;
  add_corners(c, n, corner, 0, speed, NULL, seed, x);
  for (int a = 0; a < n; a++) {
    const int b = (a + 1) % n;
    const double d = cb_distance(g, x[a], x[b]);
    char law[64];
    snprintf(law, sizeof law, "%.17g + 0.1*sin(2*t)^2", d);
    const bool spring = kind == DAMPED || (kind == RODS_AND_SPRING && a == 0);
    if (spring)
      check_ok(cb_builder_spring(c->builder, a, b, 1.7, 0.9 * d, kind == DAMPED ? 0.4 : 0));
    else if (kind == BREATHING && a == 0)
      check_ok(cb_builder_rod(c->builder, NULL, a, b, (cb_target){0, law}));
    else if (kind != NONE)
      check_ok(cb_builder_rod(c->builder, NULL, a, b, as_it_starts));
  }
  if (kind == DAMPED) check_ok(cb_builder_rod(c->builder, NULL, 0, 2, as_it_starts));
  finish_system(c);
  constrained_project(c, c->state); /* removes velocities that the rods do not allow */
}

/* Returns the maximum difference of the positions and velocities of the state from x and v. */
static inline double miss(const body_case *c, const double *x, const double *v) {
  double u[MOST];
  velocities(c, u);
  const int count = c->state->n * c->state->k;
  return fmax(check_distance_max(count, c->state->x, x), check_distance_max(count, u, v));
}

/* Creates the rigid rod or triangle of figures 2.16, 2.20 and 2.21 of the thesis (open_figure_2), with all parameters
 * 1. */
static inline void open_rigid(body_case *c, const char *space, bool triangle) {
  open_figure_2(c, space, triangle);
  for (int i = 0; i < (triangle ? 3 : 1); i++)
    check_ok(cb_builder_rod(c->builder, NULL, i, triangle ? (i + 1) % 3 : 1, (cb_target){1, NULL}));
  finish_system(c);
}
