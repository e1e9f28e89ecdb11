/* Builds a system with one body from the text of a scenario, with its forces and its state at the start, and checks the
 * lengths of its springs and rods. */
#pragma once

#include "check_geometry.h"
#include "check_system.h"

enum { K = CB_COORD_MAX };

typedef struct built {
  cb_space *g;
  cb_system *s;
  cb_forces *f;
  cb_state *start;
  int n; /* number of particles */
} built;

static inline built finish(cb_space *g, cb_builder *b) {
  built t = {.g = g};
  check_ok(cb_builder_finish(b, &t.s));
  cb_builder_free(b);
  check_ok(cb_forces_create(t.s, &t.f));
  check_ok(cb_state_create(t.s, &t.start));
  check_ok(cb_system_start(t.s, t.start));
  t.n = cb_system_particles(t.s);
  return t;
}

static inline built build(const char *space, const char *body) {
  cb_space *g = check_space(space);
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(g, body, b));
  return finish(g, b);
}

static inline void drop(built *t) {
  cb_state_free(t->start);
  cb_forces_free(t->f);
  cb_system_free(t->s);
  cb_space_free(t->g);
}

static inline void check_separations(built *t, int n, const double *expected, double tolerance) {
  double d[8];
  assert_int_equal(cb_system_bonds(t->s), n);
  check_ok(cb_forces_separations(t->f, t->start->x, d));
  for (int e = 0; e < n; e++) check_near(d[e], expected[e], tolerance);
}

static const double ones[3] = {1, 1, 1};

#define H3_ROD "place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}"
#define S3_ROD "place: {chart: polar, points: [[(pi - 1)/2, pi/2, 0], [(pi + 1)/2, pi/2, 0]]}"
