/* Five particles of unequal masses and charges with one kind of force at a time, in every space. */
#pragma once

#include "check_geometry.h"
#include "check_system.h"
#include "geometry/origin.h"
#include <curvebody/pair_potential.h>

enum { N = 5, K = CB_COORD_MAX };

static const char *const force_spaces[] = {
    "{name: e2}",
    "{name: e3}",
    "{name: s2}",
    "{name: s3}",
    "{name: h2}",
    "{name: h3}",
    "{name: s3, curvature: 0.3}",
    "{name: h3, curvature: -2.5}",
    "{name: e3, chart: polar}",
    "{name: s2, chart: polar}",
    "{name: s3, chart: polar}",
    "{name: h3, chart: polar}",
    "{name: h2, curvature: -1.7, chart: polar}",
    "{name: h3, chart: stereographic}",
    "{name: s3, curvature: 0.5, chart: stereographic}",
    "{name: h3, chart: translation}",
    "{name: h2xe}",
    "{name: s2xe, curvature: 0.8}",
};
enum { FORCE_SPACES = sizeof force_spaces / sizeof *force_spaces };

/* clang-format off */
typedef enum force_kind {
  SPRINGS, DAMPED, GRAVITY, COULOMB, LENNARD_JONES, HARMONIC_PAIRS, PAIR_EXPRESSION, CENTRAL_GRAVITY, CENTRAL_HARMONIC,
  CENTRAL_EXPRESSION, FIELD_EMBEDDING, FIELD_POLAR, FIELD_STEREOGRAPHIC, TWO_BODIES, EVERYTHING, DRIVEN,
  FORCE_EMBEDDING, FORCE_POLAR, FORCE_STEREOGRAPHIC, KINDS
} force_kind;

static const char *const kind_names[KINDS] = {
    "springs", "damped springs", "gravity", "coulomb", "lennard-jones", "harmonic pairs", "pair expression",
    "central gravity", "central harmonic", "central expression", "field in the embedding", "field in polar coordinates",
    "field in stereographic coordinates", "gravity between two bodies", "everything",
    "driven springs", "force in the embedding", "force in polar coordinates", "force in stereographic coordinates"};
/* clang-format on */

/* Makes random points of the embedding in a ball of radius .5 around a point off the axes. No two are closer than .2,
 * because differences of a potential that grows like d^-12 would be inaccurate there. */
static inline void random_points(const cb_space *g, uint64_t *seed, double (*x)[K]) {
  double v[K], middle[K];
  check_point_at(g, (double[CB_DIM_MAX]){0.55, 0.65, 0.75}, middle);
  for (int i = 0; i < N + 1;) {
    check_random_short_tangent(g, seed, middle, 0.5, v);
    cb_exp(g, middle, v, x[i], NULL);
    int j = 0;
    while (j < i && cb_distance(g, x[i], x[j]) > 0.2) j++;
    if (j == i) i++;
  }
}

static inline void to_space(const cb_space *g, const double *x, const double *v, double *q, double *u) {
  if (g->chart) {
    check_ok(cb_chart_pull(g, g->chart, x, v, q, u));
  } else {
    memcpy(q, x, (size_t)g->k * sizeof *q);
    memcpy(u, v, (size_t)g->k * sizeof *u);
  }
}

static inline bool has_potential(force_kind which) { return which < FORCE_EMBEDDING; }

/* A force of every coordinate, velocity, m, q and t that has no potential. */
static inline void add_force(cb_builder *b, const cb_space *g, const char *name) {
  const cb_chart *chart = cb_chart_find(g, name);
  char text[K][256];
  const char *force[K];
  size_t at;
  if (!chart) return;
  for (int a = 0; a < chart->size; a++) {
    const char *x = chart->coordinates[a], *y = chart->coordinates[(a + 1) % chart->size];
    snprintf(text[a], sizeof text[a], "-0.3*m*%s_dot*%s + sin(%s*t + %s)*%s_dot^2 + q*cos(%s)*exp(0.2*%s)", x, y, x, y,
             y, y, x);
    force[a] = text[a];
  }
  check_ok(cb_builder_force(b, -1, name, force, &at));
}

static inline void add_driven_springs(cb_builder *b) {
  const cb_target one = {1.3, NULL}, initial = {NAN, NULL}, none = {0, NULL};
  check_ok(cb_builder_driven_spring(b, 0, 1, (cb_target){0, "2*(1 + 0.3*sin(t))"}, initial, (cb_target){0.2, NULL}));
  check_ok(cb_builder_driven_spring(b, 3, 1, one, (cb_target){0, "0.2 + 0.1*cos(3*t)"}, (cb_target){0, "0.1*t^2"}));
  check_ok(cb_builder_spring(b, 1, 2, 1.1, 0.3, 0));
  check_ok(cb_builder_driven_spring(b, 2, 4, (cb_target){0, "exp(-t)"}, (cb_target){0, "0.4*t"}, none));
}

static inline void add_forces(cb_builder *b, const cb_space *g, force_kind which, const double *centre) {
  static const int ends[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {1, 3}, {4, 0}};
  double damping = which == DAMPED || which == EVERYTHING ? 0.3 : 0;
  bool all = which == EVERYTHING;
  if (which == SPRINGS || which == DAMPED || all)
    for (int e = 0; e < 6; e++)
      check_ok(cb_builder_spring(b, ends[e][0], ends[e][1], 1 + 0.3 * e, e % 2 ? 0.2 * e : -1, e % 3 ? damping : 0));
  if (which == GRAVITY || all)
    check_ok(cb_builder_interaction(b, -1, -1, "gravity", &(cb_pair_parameters){0.7, 0, NULL}));
  if (which == COULOMB || all)
    check_ok(cb_builder_interaction(b, 0, 0, "coulomb", &(cb_pair_parameters){0.4, 0, NULL}));
  if (which == LENNARD_JONES)
    check_ok(cb_builder_interaction(b, -1, -1, "lennard_jones", &(cb_pair_parameters){0.01, 0.15, NULL}));
  if (which == HARMONIC_PAIRS || all)
    check_ok(cb_builder_interaction(b, 0, 1, "harmonic", &(cb_pair_parameters){0.4, 0.3, NULL}));
  if (which == PAIR_EXPRESSION || all)
    check_ok(cb_builder_interaction(b, 0, 1, "expression",
                                    &(cb_pair_parameters){.expression = "exp(-d)/d*m1*m2^2 + q1*q2*d^3*cos(t)"}));
  if (which == TWO_BODIES) check_ok(cb_builder_interaction(b, 1, 0, "gravity", &(cb_pair_parameters){0.7, 0, NULL}));
  if (which == CENTRAL_GRAVITY || all)
    check_ok(cb_builder_central(b, -1, "gravity", &(cb_pair_parameters){3, 0, NULL}, centre));
  if (which == CENTRAL_HARMONIC || all)
    check_ok(cb_builder_central(b, 0, "harmonic", &(cb_pair_parameters){2, 0.2, NULL}, centre));
  if (which == CENTRAL_EXPRESSION)
    check_ok(cb_builder_central(b, 1, "expression", &(cb_pair_parameters){.expression = "d^2*m + sin(d*t)*q"}, centre));
  if (which == FIELD_EMBEDDING || all)
    check_ok(cb_builder_potential(b, -1, NULL,
                                  g->dim == 2 ? "m*9.8*y + exp(x)*x*y*q" : "m*9.8*z + exp(x)*sin(y*z*t) + x^3*q"));
  if (which == FIELD_POLAR || all) {
    const cb_chart *chart = cb_chart_find(g, "polar");
    char text[200];
    snprintf(text, sizeof text, "m*%s^2 + cos(%s)*%s*t*q", chart->coordinates[0], chart->coordinates[1],
             chart->coordinates[0]);
    check_ok(cb_builder_potential(b, -1, "polar", text));
  }
  if (which == FIELD_STEREOGRAPHIC && cb_chart_find(g, "stereographic")) {
    const cb_chart *chart = cb_chart_find(g, "stereographic");
    char text[200];
    snprintf(text, sizeof text, "m*exp(%s)*%s + %s^2", chart->coordinates[0], chart->coordinates[1],
             chart->coordinates[1]);
    check_ok(cb_builder_potential(b, -1, "stereographic", text));
  }
}

static inline void add_driven(cb_builder *b, const cb_space *g, force_kind which) {
  if (which == DRIVEN) add_driven_springs(b);
  if (which == FORCE_EMBEDDING) add_force(b, g, "embedding");
  if (which == FORCE_POLAR) add_force(b, g, "polar");
  if (which == FORCE_STEREOGRAPHIC) add_force(b, g, "stereographic");
}

typedef struct force_setup {
  cb_space *g;
  cb_system *s;
  cb_forces *f;
  cb_state *state;
  double v[N * K]; /* velocities in the state's order */
} force_setup;

/* Creates five particles of unequal masses and charges in two bodies. `origin` is the origin to which their positions
 * are relative; NULL: the world's. */
static inline force_setup make_at(cb_space *g, uint64_t *seed, force_kind which, const cb_origin *origin,
                                  const double *centre_in_world) {
  force_setup t = {.g = g};
  double x[N + 1][K], centre[K], none[K] = {0}, q[N][K], u[N][K], unused[K];
  cb_builder *b;
  random_points(g, seed, x);
  to_space(g, x[N], none, centre, unused);
  check_ok(cb_builder_create(g, &b));
  if (origin) check_ok(cb_builder_origin(b, origin));
  for (int i = 0; i < N; i++) {
    double v[K];
    if (i == 0) check_ok(cb_builder_body(b, "a", NULL));
    if (i == 3) check_ok(cb_builder_body(b, "b", NULL));
    check_random_tangent(g, seed, x[i], 1, v);
    to_space(g, x[i], v, q[i], u[i]);
    check_ok(cb_builder_particle(b, NULL, 0.5 + 0.4 * i, 0.7 - 0.4 * i, 0, q[i], u[i], NULL));
  }
  add_forces(b, g, which, centre_in_world ? centre_in_world : centre);
  add_driven(b, g, which);
  check_ok(cb_builder_finish(b, &t.s));
  cb_builder_free(b);
  check_ok(cb_forces_create(t.s, &t.f));
  check_ok(cb_state_create(t.s, &t.state));
  check_ok(cb_system_start(t.s, t.state));
  for (int i = 0; i < N; i++) memcpy(t.v + cb_system_index(t.s, i) * g->k, u[i], (size_t)g->k * sizeof(double));
  return t;
}

static inline force_setup make(const char *space, uint64_t *seed, force_kind which) {
  return make_at(check_space(space), seed, which, NULL, NULL);
}

static inline void drop(force_setup *t, bool space) {
  cb_state_free(t->state);
  cb_forces_free(t->f);
  cb_system_free(t->s);
  if (space) cb_space_free(t->g);
}

static inline double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static const double time_now = 0.37;

/* Projects the forces on n particles orthogonally onto the tangent spaces, in spaces of one factor. */
static inline void tangential(const cb_space *g, int n, const double *x, double *force) {
  if (g->factor[0].curvature == 0) return;
  for (int i = 0; i < n; i++) {
    double normal = g->factor[0].curvature * cb_inner(g, x + i * g->k, force + i * g->k);
    for (int a = 0; a < g->k; a++) force[i * g->k + a] -= normal * x[i * g->k + a];
  }
}
