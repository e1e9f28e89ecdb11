/* Small bodies in any space, and integrators from their text in a scenario, for the tests of integrators. */
#pragma once

#include "check_spaces.h"
#include "geometry/origin.h"
#include <curvebody/integrator.h>

/* Spaces that most integrators support: quadrics of every class, products, and charts. */
static const char *const every_kind_of_space[] = {"e3",
                                                  "s3",
                                                  "h3",
                                                  "s3 {curvature: 2.3}",
                                                  "h3 {curvature: -0.4}",
                                                  "e2",
                                                  "s2",
                                                  "h2",
                                                  "h2xe",
                                                  "exs2",
                                                  "s3 {chart: polar}",
                                                  "h3 {chart: polar}",
                                                  "e3 {chart: polar}"};
enum { KINDS_OF_SPACE = sizeof every_kind_of_space / sizeof *every_kind_of_space };

/* A body in a space with an integrator: everything that a test needs for steps. */
typedef struct body_case {
  cb_tree *space_tree, *method_tree;
  cb_space *g;
  cb_builder *builder;
  cb_system *system;
  cb_integrator *integrator;
  cb_state *state;
  cb_forces *forces; /* separate from the forces of the integrator */
} body_case;

static inline cb_tree *read_text(const char *text) {
  cb_tree *tree = NULL;
  check_ok(cb_yaml_read_text("test", text, strlen(text), &tree));
  return tree;
}

/* Opens a space and begins a body in it. `space` is a name such as "h3", a name with a map such as
 * "h3 {chart: polar, curvature: -2}", or a metric as text: "metric {metric: [[..]], ..}". */
static inline void open_space(body_case *c, const char *space) {
  char name[32] = "";
  memset(c, 0, sizeof *c);
  sscanf(space, "%31s", name);
  const char *map = strchr(space, '{');
  if (map) c->space_tree = read_text(map);
  const cb_node *node = map ? cb_tree_root(c->space_tree) : NULL;
  if (!strcmp(name, "exs2"))
    check_ok(cb_space_create_class(&check_exs2, node, &c->g));
  else if (!strcmp(name, "metric"))
    check_ok(cb_text_metric_create(node, &c->g));
  else
    check_ok(cb_space_create(name, node, &c->g));
  check_ok(cb_builder_create(c->g, &c->builder));
  int body;
  check_ok(cb_builder_body(c->builder, "body", &body));
}

/* Adds a particle at the point x of the embedding with velocity v. If the space is used in a chart, both are
 * converted. */
static inline void add_particle(body_case *c, double mass, const double *x, const double *v) {
  double q[CB_COORD_MAX], u[CB_COORD_MAX];
  if (c->g->chart) {
    check_ok(cb_chart_pull(c->g, c->g->chart, x, v, q, u));
    check_ok(cb_builder_particle(c->builder, NULL, mass, 0, 0, q, u, NULL));
  } else {
    check_ok(cb_builder_particle(c->builder, NULL, mass, 0, 0, x, v, NULL));
  }
}

/* Computes the isometry that moves the base point to the place where tests put their bodies. This is the base point
 * itself or, in a chart, a point about 1.2 away, because polar coordinates are singular at the base point. */
static inline void aside(const cb_space *g, cb_isometry *move) {
  static const double by[CB_DIM_MAX] = {1.2, 0.3, 0.2}, none[CB_DIM_MAX] = {0};
  double there[CB_COORD_MAX];
  check_point_at(g, g->chart ? by : none, there);
  cb_isometry_to(g, there, move);
}

/* Adds n particles at the corners of a figure and writes their positions to x[n]. The array `corner` has the components
 * of each corner in the frame at the base point; a random number up to `uneven` is added to each component. Then
 * aside() moves the figure to its place. Components of velocities are random, up to `speed`. Masses are random if
 * `mass` is NULL. */
static inline void add_corners(body_case *c, int n, const double (*corner)[CB_DIM_MAX], double uneven, double speed,
                               const double *mass, uint64_t *seed, double (*x)[CB_COORD_MAX]) {
  const cb_space *g = c->g;
  cb_isometry move;
  aside(g, &move);
  for (int a = 0; a < n; a++) {
    double at[CB_DIM_MAX], near[CB_COORD_MAX], v[CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++) at[i] = corner[a][i] + (uneven > 0 ? check_uniform(seed, -uneven, uneven) : 0);
    check_point_at(g, at, near);
    cb_isometry_point(g, &move, near, x[a]);
    check_random_tangent(g, seed, x[a], speed, v);
    add_particle(c, mass ? mass[a] : check_uniform(seed, 0.6, 2.5), x[a], v);
  }
}

static inline void finish_system(body_case *c) {
  check_ok(cb_builder_finish(c->builder, &c->system));
  check_ok(cb_state_create(c->system, &c->state));
  check_ok(cb_system_start(c->system, c->state));
  check_ok(cb_forces_create(c->system, &c->forces));
  check_ok(cb_forces_set_origins(c->forces, c->state->origin));
}

/* Uses an integrator such as "gauss {stages: 2}" in place of the previous one. */
static inline void use_method(body_case *c, const char *method) {
  char name[32] = "";
  cb_integrator_free(c->integrator);
  cb_tree_free(c->method_tree);
  c->integrator = NULL;
  c->method_tree = NULL;
  sscanf(method, "%31s", name);
  const char *map = strchr(method, '{');
  if (map) c->method_tree = read_text(map);
  check_ok(cb_integrator_create(name, map ? cb_tree_root(c->method_tree) : NULL, c->system, &c->integrator));
}

static inline void advance(body_case *c, double h, int steps) {
  for (int i = 0; i < steps; i++) check_ok(cb_integrator_step(c->integrator, c->state, h));
}

static inline void close_case(body_case *c) {
  cb_integrator_free(c->integrator);
  cb_tree_free(c->method_tree);
  cb_state_free(c->state);
  cb_forces_free(c->forces);
  cb_system_free(c->system);
  cb_builder_free(c->builder);
  cb_space_free(c->g);
  cb_tree_free(c->space_tree);
}

static inline cb_state *clone_state(const body_case *c) {
  cb_state *state;
  check_ok(cb_state_create(c->system, &state));
  cb_state_copy(state, c->state);
  return state;
}

/* Moves the origin to the mean position of the particles, as a run does, if this is more than 1 away from the base
 * point. Does nothing in charts, in products, and in spaces without moving origins. */
static inline void recentre(body_case *c) {
  if (c->g->chart || c->g->n_factors > 1 || !cb_origin_moves(c->g)) return;
  cb_state *s = c->state;
  double base[CB_COORD_MAX], mean[CB_COORD_MAX] = {0};
  cb_space_base_point(c->g, base);
  for (int a = 0; a < s->n; a++)
    for (int e = 0; e < s->k; e++) mean[e] += s->x[a * s->k + e] / s->n;
  const double square = c->g->factor[0].curvature * cb_inner(c->g, mean, mean);
  for (int e = 0; square > 0.5 && e < s->k; e++) mean[e] /= sqrt(square);
  cb_space_project_point(c->g, mean);
  if (cb_distance(c->g, base, mean) <= 1) return;
  cb_isometry isometry;
  check_ok(cb_origin_recentre(c->g, &s->origin[0], mean, &(cb_local_points){s->n, s->x, s->x_low, s->p, s->p_low},
                              &isometry));
  check_ok(cb_integrator_moved(c->integrator, s, 0, &isometry));
}

/* Creates the two particles of the rod or the three particles of the triangle, with sides 1, of figures 2.13 to 2.21 of
 * the thesis that analysis/README.md names. They move along a Killing field across the rod. The text `space` begins
 * with h3, s3 or e3. */
static inline void open_figure_2(body_case *c, const char *space, bool triangle) {
  static const double a = 0.5;
  const bool hyperbolic = space[0] == 'h', flat = space[0] == 'e';
  const double top = flat ? sqrt(0.75) : hyperbolic ? acosh(cosh(1) / cosh(a)) : acos(cos(1) / cos(a));
  double x[3][CB_COORD_MAX] = {{0}}, v[CB_COORD_MAX];
  open_space(c, space);
  if (hyperbolic) {
    x[0][0] = sinh(top);
    x[0][3] = cosh(top);
    x[1][1] = sinh(a);
    x[1][3] = cosh(a);
    x[2][1] = -sinh(a);
    x[2][3] = cosh(a);
  } else if (flat) {
    x[0][0] = top;
    x[1][1] = a;
    x[2][1] = -a;
  } else {
    x[0][0] = cos(top);
    x[0][1] = sin(top);
    x[1][0] = cos(a);
    x[1][3] = sin(a);
    x[2][0] = cos(a);
    x[2][3] = -sin(a);
  }
  const int killing = cb_killing_find(c->g, hyperbolic ? "boost_x" : flat ? "translation_x" : "rotation_z");
  for (int i = triangle ? 0 : 1; i < 3; i++) {
    cb_killing_at(c->g, killing, x[i], v);
    add_particle(c, 1, x[i], v);
  }
}

/* Creates the elastic rod or triangle of figures 2.13 to 2.19 of the thesis (open_figure_2), with all parameters 1. */
static inline void open_thesis(body_case *c, const char *space, bool triangle) {
  open_figure_2(c, space, triangle);
  for (int i = 0; i < (triangle ? 3 : 1); i++)
    check_ok(cb_builder_spring(c->builder, i, triangle ? (i + 1) % 3 : 1, 1, 1, 0));
  finish_system(c);
}

/* Returns the distance of the particles i and j, numbered in the order in which they were added. */
static inline double separation(const body_case *c, int i, int j) {
  double x[2][CB_COORD_MAX];
  const int at[2] = {cb_system_index(c->system, i), cb_system_index(c->system, j)};
  for (int b = 0; b < 2; b++) {
    const double *from = c->state->x + at[b] * c->state->k;
    if (c->g->chart)
      check_ok(c->g->chart->to_point(c->g, from, x[b], NULL));
    else
      memcpy(x[b], from, (size_t)c->state->k * sizeof(double));
  }
  return cb_distance(c->g, x[0], x[1]);
}

/* Creates n particles of unequal masses in a ball of this radius, with random velocities. Springs of unequal strength
 * join them into a closed chain (two particles: one spring). The centre of the ball is the place given by aside(). */
static inline void open_random(body_case *c, const char *space, int n, double radius, double speed, double stiffness,
                               double damping, uint64_t *seed) {
  open_space(c, space);
  double x[16][CB_COORD_MAX], v[CB_COORD_MAX];
  cb_isometry move;
  aside(c->g, &move);
  for (int i = 0; i < n; i++) {
    bool apart;
    do {
      double near[CB_COORD_MAX];
      check_random_point(c->g, seed, radius, near);
      cb_isometry_point(c->g, &move, near, x[i]);
      apart = true;
      for (int j = 0; j < i; j++) apart = apart && cb_distance(c->g, x[i], x[j]) > 0.3 * radius;
    } while (!apart);
    check_random_tangent(c->g, seed, x[i], speed, v);
    add_particle(c, check_uniform(seed, 0.5, 3), x[i], v);
  }
  for (int i = 0; i < n - (n == 2); i++) {
    const int j = (i + 1) % n;
    const double d = cb_distance(c->g, x[i], x[j]);
    check_ok(cb_builder_spring(c->builder, i, j, stiffness * check_uniform(seed, 0.5, 2),
                               d * check_uniform(seed, 0.8, 1.2), damping));
  }
  finish_system(c);
}

/* Returns the energy of the state, in the embedding or in a chart. */
static inline double energy(const body_case *c) {
  const double *mass = cb_system_masses(c->system);
  const cb_state *s = c->state;
  double sum = 0, potential;
  for (int a = 0; a < s->n; a++) {
    const double *p = s->p + a * s->k;
    if (c->g->chart) {
      double g[9], u[3];
      check_ok(c->g->chart->metric(c->g, s->x + a * s->k, g, NULL, NULL));
      /* solves g u = p for the velocity u by elimination, with a metric g of up to 3x3 numbers */
      const int d = s->k;
      double m[3][4];
      for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) m[i][j] = g[i * d + j];
        m[i][d] = p[i];
      }
      for (int k = 0; k < d; k++)
        for (int i = 0; i < d; i++) {
          if (i == k) continue;
          const double factor = m[i][k] / m[k][k];
          for (int j = k; j <= d; j++) m[i][j] -= factor * m[k][j];
        }
      for (int i = 0; i < d; i++) {
        u[i] = m[i][d] / m[i][i];
        sum += p[i] * u[i] / (2 * mass[a]);
      }
    } else {
      sum += cb_inner(c->g, p, p) / (2 * mass[a]);
    }
  }
  check_ok(cb_forces_potential(c->forces, s->t, s->x, &potential));
  return sum + potential;
}
