/* Systems of five particles with unequal masses and charges, and with one kind of force, in every space. */
#pragma once

#include "check_geometry.h"
#include "check_system.h"
#include "geometry/origin.h"
#include <curvebody/constraint.h>
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
  CENTRAL_EXPRESSION, FIELD_EMBEDDING, FIELD_POLAR, FIELD_STEREOGRAPHIC, TWO_BODIES, EVERYTHING, DRIVEN, ANGLES, PATHS,
  AREAS, VOLUMES, FOUR_POINTS, POINT_DISTANCE, SURFACES, PRODUCTS, FORCE_EMBEDDING, FORCE_POLAR, FORCE_STEREOGRAPHIC, KINDS
} force_kind;

static const char *const kind_names[KINDS] = {
    "springs", "damped springs", "gravity", "coulomb", "lennard-jones", "harmonic pairs", "pair expression",
    "central gravity", "central harmonic", "central expression", "field in the embedding", "field in polar coordinates",
    "field in stereographic coordinates", "gravity between two bodies", "everything", "driven springs", "angles",
    "lengths of paths", "areas", "volumes", "a class of four points on jets", "distance to a point", "surfaces",
    "a class of places on jets", "force in the embedding", "force in polar coordinates",
    "force in stereographic coordinates"};
/* clang-format on */

/* Returns whether z is at least 0.2 away from x and y, and the three points are not nearly on one geodesic. The second
 * condition is that a triangle with these sides in the Euclidean plane has a height of more than 0.05. */
static inline bool well_apart(const cb_space *g, const double *x, const double *y, const double *z) {
  const double a = cb_distance(g, x, y), b = cb_distance(g, y, z), c = cb_distance(g, z, x), s = (a + b + c) / 2;
  const double height = 2 * sqrt(fmax(0, s * (s - a) * (s - b) * (s - c))) / fmax(a, fmax(b, c));
  return b > 0.2 && c > 0.2 && height > 0.05;
}

/* Makes N + 1 random points of the embedding in a ball of radius .5 around a point off the axes. No two points are
 * closer than .2: difference quotients would be inaccurate there, because a potential may grow like (distance)^-12. No
 * three are nearly on one geodesic, because angles and areas have a kink there. */
static inline void random_points(const cb_space *g, uint64_t *seed, double (*x)[K]) {
  double v[K], middle[K];
  check_point_at(g, (double[CB_DIM_MAX]){0.55, 0.65, 0.75}, middle);
  for (int i = 0, tries = 0; i < N + 1; tries++) {
    check_random_short_tangent(g, seed, middle, 0.5, v);
    cb_exp(g, middle, v, x[i], NULL);
    bool apart = i != 1 || cb_distance(g, x[0], x[1]) > 0.2;
    for (int j = 0; j < i && apart; j++)
      for (int k = 0; k < j && apart; k++) apart = well_apart(g, x[k], x[j], x[i]);
    if (apart) i++;
    if (tries % 1000 == 999) i = 0; /* begins again, because there may be no room for another point */
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

static cb_status unread(const cb_constraint_entry *e, const void *params) { return CB_ERROR_UNSUPPORTED; }

/* The function a d(0, 1) + d(1, 2) d(2, 3) + d(0, 3) on jets. d(i, j) is the distance of the points i and j, and the
 * number a is the parameter of the class. */
static cb_status four_points_value(const cb_space *g, const void *params, const cb_jet *const *x, const cb_jet *t,
                                   cb_jet *value) {
  static const int ends[4][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  cb_jet d[4];
  for (int e = 0; e < 4; e++) {
    const cb_status status = cb_constraint_distance(g, x[ends[e][0]], x[ends[e][1]], &d[e]);
    if (status) return status;
  }
  const cb_jet product = cb_jet_mul(&d[1], &d[2]), first = cb_jet_scale(&d[0], *(const double *)params),
               sum = cb_jet_add(&first, &product);
  *value = cb_jet_add(&sum, &d[3]);
  return CB_OK;
}

/* The function x(0) y(1) + y(0) sin(t x(1)) on jets, where x(i) and y(i) are the first two coordinates of point i in
 * the world. */
static cb_status product_value(const cb_space *g, const void *params, const cb_jet *const *x, const cb_jet *t,
                               cb_jet *value) {
  const cb_jet first = cb_jet_mul(&x[0][0], &x[1][1]), turn = cb_jet_mul(t, &x[1][0]), sine = cb_jet_sin(&turn),
               second = cb_jet_mul(&x[0][1], &sine);
  *value = cb_jet_add(&first, &second);
  return CB_OK;
}

static const cb_constraint_class four_points = {.name = "four_points",
                                                .title = "of distances",
                                                .doc = "",
                                                .params_size = sizeof(double),
                                                .read = unread,
                                                .points = 4,
                                                .on_jets = four_points_value},
                                 product = {.name = "product",
                                            .title = "of places",
                                            .doc = "",
                                            .read = unread,
                                            .points = 2,
                                            .on_jets = product_value,
                                            .timed = true,
                                            .per_world = true};

/* Adds potentials that are functions of the values of constraints. `which` chooses the class of the constraints; other
 * kinds of forces add nothing here. */
static inline void add_values(cb_builder *b, const cb_space *g, force_kind which, const double *centre) {
  static const int tetrahedron[4][3] = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {1, 0, 2}};
  const cb_target start = {.value = NAN}, law = {.expression = "1.3 + 0.4*sin(2*t)"};
  const int first = cb_builder_constraints(b);
  const char *energy = NULL;
  switch (which) {
    case ANGLES: /* the energies use cos s, which is smooth at 0 and pi, unlike the angle s */
      check_ok(cb_builder_angle(b, NULL, 0, 1, 2, start));
      check_ok(cb_builder_potentials_of(b, first, 1, NULL, "(cos(s) - 2)^2*sin(s)^2*t"));
      check_ok(cb_builder_angle(b, NULL, 2, 3, 4, start));
      check_ok(cb_builder_potentials_of(b, first + 1, 1, NULL, "1 + cos(s)"));
      return;
    case PATHS: check_ok(cb_builder_path_length(b, NULL, 5, (const int[]){0, 1, 2, 3, 1}, law)); break;
    case AREAS:
      if (g->n_factors == 1) check_ok(cb_builder_area(b, NULL, 2, (const int[2][3]){{0, 1, 2}, {2, 1, 4}}, start));
      energy = "s^2*cos(t)";
      break;
    case VOLUMES:
      if (g->n_factors == 1 && g->dim == 3) check_ok(cb_builder_volume(b, NULL, 4, tetrahedron, start));
      break;
    case FOUR_POINTS:
      check_ok(cb_builder_constraint(b, &four_points, &(double){1.7}, NULL, 1, (const int[]){4, 0, 3, 1}, law));
      break;
    case POINT_DISTANCE: check_ok(cb_builder_distance_to_point(b, NULL, 2, centre, start)); break;
    case SURFACES: check_ok(cb_builder_surface(b, NULL, 3, "embedding", "x^2*y + exp(y)*t")); break;
    case PRODUCTS:
      check_ok(cb_builder_constraint(b, &product, NULL, NULL, 1, (const int[]){4, 2}, (cb_target){.value = 0.3}));
      break;
    default: return;
  }
  check_ok(cb_builder_potentials_of(b, first, 1.6, NULL, energy));
}

static inline bool has_potential(force_kind which) { return which < FORCE_EMBEDDING; }

/* Adds a force without a potential. It depends on all coordinates and velocities, the mass m, the charge q and the time
 * t. `name` is the chart of its expressions; in a space without this chart nothing is added. */
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
  add_values(b, g, which, centre);
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
  double v[N * K]; /* velocities of the particles, in their order in the state */
} force_setup;

/* Creates five particles of unequal masses and charges in two bodies, with the forces of one kind. Their positions are
 * relative to `origin` (NULL: the world). centre_in_world is the fixed point of central forces (NULL: a random
 * point). */
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

/* Projects the forces on n particles orthogonally onto the tangent spaces at their positions x. Only for spaces of one
 * factor. */
static inline void tangential(const cb_space *g, int n, const double *x, double *force) {
  if (g->factor[0].curvature == 0) return;
  for (int i = 0; i < n; i++) {
    double normal = g->factor[0].curvature * cb_inner(g, x + i * g->k, force + i * g->k);
    for (int a = 0; a < g->k; a++) force[i * g->k + a] -= normal * x[i * g->k + a];
  }
}
