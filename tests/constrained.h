/* Rigid bodies of unequal masses in any space, for the tests of integrators that support constraints. */
#pragma once

#include "constrained_state.h"
#include <curvebody/pair_potential.h>

/* Creates n = 3 or 4 particles at the corners of an irregular triangle or tetrahedron, with random velocities. A rod
 * joins every pair of particles; if `spring` is set, the last pair has a spring instead. If `potential` is set, a fixed
 * point next to the body attracts all particles with a harmonic force. In a chart the body is away from the base
 * point. */
static inline void open_frame(body_case *c, const char *space, int n, bool spring, bool potential, uint64_t *seed) {
  static const double corner[4][CB_DIM_MAX] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1}, {0.1, 0.1, 0.6}};
  double x[4][CB_COORD_MAX];
  open_space(c, space);
  const cb_space *g = c->g;
  add_corners(c, n, corner, 0.05, 0.5, NULL, seed, x);
  for (int a = 0; a < n; a++)
    for (int b = a + 1; b < n; b++) {
      if (spring && a == n - 2)
        check_ok(cb_builder_spring(c->builder, a, b, 1.3, -1, 0));
      else
        check_ok(cb_builder_rod(c->builder, NULL, a, b, as_it_starts));
    }
  if (potential) {
    double near[CB_COORD_MAX], centre[CB_COORD_MAX], q[CB_COORD_MAX];
    cb_isometry move;
    aside(g, &move);
    check_point_at(g, (double[CB_DIM_MAX]){0.7, 0.4}, near);
    cb_isometry_point(g, &move, near, centre);
    if (g->chart) check_ok(g->chart->from_point(g, centre, q));
    check_ok(
        cb_builder_central(c->builder, -1, "harmonic", &(cb_pair_parameters){0.8, 0, NULL}, g->chart ? q : centre));
  }
  finish_system(c);
  constrained_project(c, c->state);
}
