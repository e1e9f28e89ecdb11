/* Linked bodies for the tests of methods that take constraints: an uneven figure with links of several kinds, the rigid
 * rod and triangle of the thesis, and how far a state is from its rows. */
#ifndef CB_TESTS_LINKED_H
#define CB_TESTS_LINKED_H

#include "dynamics/gram.h"
#include "integrate.h"
#include <curvebody/constraint.h>

enum { MOST = 64 * CB_COORD_MAX };
static const cb_target as_it_starts = {NAN, NULL};

static inline void velocities(const body_case *c, double *v) {
  const double *mass = cb_system_masses(c->system);
  for (int a = 0; a < c->state->n; a++) {
    const int at = a * c->state->k;
    check_ok(cb_geometry_raise(c->g, c->state->x + at, c->state->p + at, v + at));
    for (int e = 0; e < c->state->k; e++) v[at + e] /= mass[a];
  }
}

/* Largest |g| and |rate| of the rows. */
static inline double residual(const body_case *c) {
  double v[MOST], g[MOST], rate[MOST], most = 0;
  cb_constraints *rows = cb_forces_constraints_with_space(c->forces);
  velocities(c, v);
  check_ok(cb_constraints_eval(rows, c->state->t, c->state->x, g, NULL));
  check_ok(cb_constraints_rate(rows, c->state->t, c->state->x, v, rate, NULL));
  for (int r = 0; r < cb_constraints_rows(rows)->rows; r++) most = fmax(most, fmax(fabs(g[r]), fabs(rate[r])));
  return most;
}

/* Particles of unequal masses at the corners of an uneven figure, moving at random velocities that its links allow. */
typedef enum links { NONE, RODS, RODS_AND_SPRING, BREATHING, DAMPED } links;

static inline void open_figure(body_case *c, const char *space, int n, links kind, double speed, uint64_t *seed) {
  static const double corner[4][CB_DIM_MAX] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1}, {0.1, 0.2, 0.7}};
  static const double aside[CB_DIM_MAX] = {1.2, 0.3, 0.2};
  open_space(c, space);
  const cb_geometry *g = c->g;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[4][CB_COORD_MAX], v[CB_COORD_MAX], there[CB_COORD_MAX],
      shift[CB_COORD_MAX] = {0};
  cb_isometry move;
  cb_geometry_base_point(g, base);
  cb_geometry_frame(g, base, frame);
  for (int i = 0; i < g->dim; i++)
    for (int e = 0; e < g->embedding; e++) shift[e] += (g->chart ? aside[i] : 0) * frame[i * g->embedding + e];
  cb_exp(g, base, shift, there, NULL);
  cb_isometry_to(g, there, &move);
  for (int a = 0; a < n; a++) {
    double tangent[CB_COORD_MAX] = {0}, near[CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++)
      for (int e = 0; e < g->embedding; e++) tangent[e] += corner[a][i] * frame[i * g->embedding + e];
    cb_exp(g, base, tangent, near, NULL);
    cb_isometry_point(g, &move, near, x[a]);
    check_random_tangent(g, seed, x[a], speed, v);
    add_particle(c, check_uniform(seed, 0.6, 2.5), x[a], v);
  }
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
  /* velocities that the rows allow */
  cb_gram *gram;
  double u[MOST];
  velocities(c, u);
  if (!cb_forces_constraints(c->forces)) return;
  check_ok(cb_gram_create(c->forces, cb_forces_constraints(c->forces), &gram));
  check_ok(cb_gram_project(gram, 0, c->state->x, u, 0, NULL, NULL, NULL));
  cb_gram_free(gram);
  const double *mass = cb_system_masses(c->system);
  for (int a = 0; a < n; a++) {
    double metric[CB_DIM_MAX * CB_DIM_MAX];
    const int k = g->k, at = a * k;
    if (g->chart) check_ok(g->chart->metric(g, c->state->x + at, metric, NULL, NULL));
    for (int i = 0; i < k; i++) {
      double sum = g->chart ? 0 : u[at + i];
      for (int j = 0; g->chart && j < k; j++) sum += metric[i * k + j] * u[at + j];
      c->state->p[at + i] = mass[a] * sum;
      c->state->x_low[at + i] = c->state->p_low[at + i] = 0;
    }
  }
}

static inline void advance(body_case *c, double h, int steps) {
  for (int i = 0; i < steps; i++) check_ok(cb_integrator_step(c->integrator, c->state, h));
}

/* Largest difference of positions and velocities from (x, v). */
static inline double miss(const body_case *c, const double *x, const double *v) {
  double u[MOST];
  velocities(c, u);
  const int count = c->state->n * c->state->k;
  return fmax(check_distance_max(count, c->state->x, x), check_distance_max(count, u, v));
}

/* The rigid rod and triangle of figures 2.16, 2.20 and 2.21, all parameters 1. */
static inline void open_rigid(body_case *c, const char *space, bool triangle) {
  static const double a = 0.5;
  const bool hyperbolic = space[0] == 'h', flat = space[0] == 'e';
  double x[3][CB_COORD_MAX] = {{0}}, v[CB_COORD_MAX];
  open_space(c, space);
  const double top = flat ? sqrt(0.75) : hyperbolic ? acosh(cosh(1) / cosh(a)) : acos(cos(1) / cos(a));
  if (hyperbolic) {
    x[0][0] = sinh(top), x[0][3] = cosh(top);
    x[1][1] = sinh(a), x[1][3] = cosh(a);
    x[2][1] = -sinh(a), x[2][3] = cosh(a);
  } else if (flat) {
    x[0][0] = top;
    x[1][1] = a, x[2][1] = -a;
  } else {
    x[0][0] = cos(top), x[0][1] = sin(top);
    x[1][0] = cos(a), x[1][3] = sin(a);
    x[2][0] = cos(a), x[2][3] = -sin(a);
  }
  const int killing = cb_killing_find(c->g, hyperbolic ? "boost_x" : flat ? "translation_x" : "rotation_z");
  for (int i = triangle ? 0 : 1; i < 3; i++) {
    cb_killing_at(c->g, killing, x[i], v);
    add_particle(c, 1, x[i], v);
  }
  for (int i = 0; i < (triangle ? 3 : 1); i++)
    check_ok(cb_builder_rod(c->builder, NULL, triangle ? i : 0, triangle ? (i + 1) % 3 : 1, (cb_target){1, NULL}));
  finish_system(c);
}

#endif
