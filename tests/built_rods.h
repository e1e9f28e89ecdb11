/* Functions that check the rods of a body: their constraint rows, names and lengths at the start. The texts PAIR, THREE
 * and FOUR give positions of two, three and four particles. */
#pragma once

#include "built_body.h"
#include <curvebody/constraint.h>

enum { MOST_ROWS = 64 };

/* Returns the value of one constraint row at the start. */
static inline double row_of(const built *t, int row) {
  double g[MOST_ROWS];
  assert_in_range(cb_system_constraints(t->s), row + 1, MOST_ROWS);
  check_ok(cb_constraints_eval(cb_forces_constraints(t->f), 0, t->start->x, g, NULL));
  return g[row];
}

static inline double distance_of(const built *t, int i, int j) {
  double d;
  const double *x = t->start->x + cb_system_index(t->s, i) * t->g->k;
  const double *y = t->start->x + cb_system_index(t->s, j) * t->g->k;
  if (!t->g->chart) return cb_distance(t->g, x, y);
  check_ok(t->g->chart->distance(t->g, x, y, &d, NULL, NULL));
  return d;
}

/* Checks that bond b joins the particles i and j and has the length d at the start. */
static inline void check_bond(const built *t, int b, int i, int j, double d) {
  int found_i, found_j;
  double length[MOST_ROWS];
  cb_system_bond(t->s, b, &found_i, &found_j);
  assert_int_equal(found_i, i);
  assert_int_equal(found_j, j);
  check_ok(cb_forces_separations(t->f, t->start->x, length));
  check_near(length[b], d, 2e-15);
}

static inline void check_rod(const built *t, int row, int i, int j, const char *name) {
  int found_i, found_j;
  assert_true(cb_system_constraint_is_rod(t->s, row, &found_i, &found_j));
  assert_int_equal(found_i, i);
  assert_int_equal(found_j, j);
  assert_string_equal(cb_system_constraint_name(t->s, row), name);
}

#define PAIR "place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}"
#define THREE "place: {at: {chart: polar, point: [.4, 1, .3]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3]]}"
#define FOUR "place: {at: {point: [0, 0, 0, 1]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3], [0, .1, .7]]}"
