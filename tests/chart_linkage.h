/* Linkages of four particles in static charts, for the tests of the integrator Lobatto IIIA-IIIB in charts. */
#pragma once

#include "constrained_state.h"
#include <curvebody/pair_potential.h>

enum { N = 4, NUMBERS = N * CB_COORD_MAX, ROWS = 4 };

/* Spaces of two and three dimensions with zero, positive and negative curvature, in polar and in other charts. */
static const char *const chart_spaces[] = {"e3 {chart: polar}",
                                           "s3 {chart: polar}",
                                           "h3 {chart: polar}",
                                           "e2 {chart: polar}",
                                           "s2 {chart: polar}",
                                           "h2 {chart: polar}",
                                           "s3 {chart: polar, curvature: 2.3}",
                                           "h3 {chart: polar, curvature: -0.4}",
                                           "s3 {chart: stereographic}",
                                           "h3 {chart: poincare}",
                                           "s2 {chart: translation}",
                                           "h3 {chart: translation}"};
enum { CHART_SPACES = sizeof chart_spaces / sizeof *chart_spaces };

/* Four unequal masses away from the base point. Three rods join masses 0, 1 and 2 into a triangle. One rod and two
 * springs join mass 3 to this triangle. If `rods` is false, springs replace the rods. */
typedef struct linkage {
  bool rods;
  double damping, stiffness;
  bool stretched; /* whether the length of the rod to mass 3 changes with time */
  double well;    /* stiffness of springs to a fixed point near the body */
} linkage;

static inline cb_status add_rod(body_case *c, int i, int j, double length, bool stretched) {
  char law[96];
  snprintf(law, sizeof law, "%.17g*(1 + 0.2*sin(1.7*t))", length);
  return cb_builder_rod(c->builder, NULL, i, j, (cb_target){NAN, stretched ? law : NULL});
}

static inline void open_linkage(body_case *c, const char *space, linkage f, uint64_t *seed) {
  static const double corner[N][CB_DIM_MAX] = {
      {0.35, 0.07, 0.14}, {-0.28, 0.28, -0.07}, {-0.14, -0.35, 0.07}, {0.245, 0.42, -0.35}};
  static const int rod[ROWS][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, spring[2][2] = {{0, 3}, {1, 3}};
  double x[N][CB_COORD_MAX];
  open_space(c, space);
  const cb_space *g = c->g;
  add_corners(c, N, corner, 0.05, 0.3, NULL, seed, x);
  for (int b = 0; b < ROWS + 2; b++) {
    const int i = b < ROWS ? rod[b][0] : spring[b - ROWS][0], j = b < ROWS ? rod[b][1] : spring[b - ROWS][1];
    const double k = f.stiffness * check_uniform(seed, 0.6, 1.8), rest = check_uniform(seed, 0.9, 1.1);
    if (b < ROWS && f.rods)
      check_ok(add_rod(c, i, j, cb_distance(g, x[i], x[j]), f.stretched && b == ROWS - 1));
    else
      check_ok(cb_builder_spring(c->builder, i, j, k, rest * cb_distance(g, x[i], x[j]), f.damping));
  }
  if (f.well > 0) {
    double base[CB_COORD_MAX], there[CB_COORD_MAX], q[CB_COORD_MAX];
    cb_isometry move;
    aside(g, &move);
    cb_space_base_point(g, base);
    cb_isometry_point(g, &move, base, there);
    check_ok(g->chart->from_point(g, there, q));
    check_ok(cb_builder_central(c->builder, -1, "harmonic", &(cb_pair_parameters){f.well, 0, NULL}, q));
  }
  finish_system(c);
}

/* Creates the linkage with an integrator, and projects its state onto the constraints. */
static inline void open_case(body_case *c, const char *space, linkage f, const char *method, uint64_t *seed) {
  open_linkage(c, space, f, seed);
  constrained_project(c, c->state);
  use_method(c, method);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
}

static inline const char *method_of(int stages, const char *solver) {
  static char text[96];
  snprintf(text, sizeof text, "lobatto {stages: %d, solver: %s}", stages, solver);
  return text;
}
