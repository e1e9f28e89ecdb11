/* Bodies with rods and an independent solution, for the tests of Radau IIA. */
#ifndef CB_TESTS_RADAU_H
#define CB_TESTS_RADAU_H

#include "dynamics/gram.h"
#include "integrate.h"
#include "integrators/radau_newton.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

enum { MOST = 64 };

static const char *const spaces[] = {"e3", "s3", "h3", "s3 {curvature: 2.3}", "e2", "h2xe", "exs2", "h3 {chart: polar}",
                                     "s3 {chart: polar}"};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* Positions to the rows and velocities along them. */
static inline void make_consistent(body_case *c) {
  cb_constraints *rows = cb_forces_constraints(c->forces);
  if (!rows) return;
  cb_gram *gram;
  double v[MOST], moved, turned;
  const int k = c->state->k;
  const double *mass = cb_system_masses(c->system);
  check_ok(cb_gram_create(c->forces, rows, &gram));
  for (int a = 0; a < c->state->n; a++) {
    check_ok(cb_geometry_raise(c->g, c->state->x + a * k, c->state->p + a * k, v + a * k));
    for (int e = 0; e < k; e++) v[a * k + e] /= mass[a];
  }
  check_ok(cb_gram_project(gram, c->state->t, c->state->x, v, 0, &moved, &turned, NULL));
  for (int a = 0; a < c->state->n; a++) {
    if (c->g->chart) {
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric metric = cb_chart_metric_in(k, room);
      check_ok(cb_chart_metric_at(c->g, c->state->x + a * k, 0, &metric));
      cb_chart_momentum_of(k, &metric, mass[a], v + a * k, c->state->p + a * k);
    } else {
      for (int e = 0; e < k; e++) c->state->p[a * k + e] = mass[a] * v[a * k + e];
    }
  }
  cb_gram_free(gram);
}

/* Three unequal masses: rods 0-1, 1-2 and 2-0, as many as are asked for, and springs instead of the others; velocities
 * at random. law: of the length of the first rod. stiffness > 0: of the springs, which then begin at rest. */
static inline void open_body(body_case *c, const char *space, int rods, const char *law, double stiffness,
                             double damping, uint64_t *seed) {
  static const double corner[3][3] = {{0.45, 0.1, 0.2}, {-0.35, 0.4, -0.1}, {-0.2, -0.45, 0.15}};
  const double beside[3] = {1.2, 0.3, 0.2};
  open_space(c, space);
  const cb_geometry *g = c->g;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[3][CB_COORD_MAX], v[CB_COORD_MAX];
  double shift[CB_COORD_MAX] = {0}, there[CB_COORD_MAX];
  cb_isometry move;
  cb_geometry_base_point(g, base);
  cb_geometry_frame(g, base, frame);
  for (int i = 0; g->chart && i < g->dim; i++)
    for (int e = 0; e < g->embedding; e++) shift[e] += beside[i] * frame[i * g->embedding + e];
  cb_exp(g, base, shift, there, NULL);
  cb_isometry_to(g, there, &move);
  for (int a = 0; a < 3; a++) {
    double tangent[CB_COORD_MAX] = {0}, near[CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++)
      for (int e = 0; e < g->embedding; e++)
        tangent[e] += (corner[a][i] + check_uniform(seed, -0.05, 0.05)) * frame[i * g->embedding + e];
    cb_exp(g, base, tangent, near, NULL);
    cb_isometry_point(g, &move, near, x[a]);
    check_random_tangent(g, seed, x[a], 0.4, v);
    add_particle(c, (double[]){0.8, 2.3, 1.1}[a], x[a], v);
  }
  for (int a = 0; a < 3; a++) {
    const double length = cb_distance(g, x[a], x[(a + 1) % 3]);
    if (a < rods) check_ok(cb_builder_rod(c->builder, NULL, a, (a + 1) % 3, (cb_target){NAN, a ? NULL : law}));
    else if (stiffness > 0) check_ok(cb_builder_spring(c->builder, a, (a + 1) % 3, stiffness, -1, damping));
    else check_ok(cb_builder_spring(c->builder, a, (a + 1) % 3, 1.7, 0.9 * length, 0.1));
  }
  finish_system(c);
  make_consistent(c);
}

/* Rods 0-1 and 1-2, a spring 0-2. */
static inline void open_chain(body_case *c, const char *space, int rods, const char *law, uint64_t *seed) {
  open_body(c, space, rods, law, 0, 0, seed);
}

static inline void use_radau(body_case *c, const char *method) {
  use_method(c, method);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
}

/* --- an independent solution: GSL's Dormand-Prince 8(7) on the equations reduced to index 1 --- */
typedef struct reduced {
  body_case *c;
  cb_gram *gram;
} reduced;

static int reduced_rhs(double t, const double *z, double *dz, void *user) {
  const reduced *r = user;
  const int count = r->c->state->n * r->c->state->k;
  double lambda[MOST];
  memcpy(dz, z + count, (size_t)count * sizeof *dz);
  return cb_gram_multipliers(r->gram, t, z, z + count, lambda, dz + count) ? GSL_EBADFUNC : GSL_SUCCESS;
}

static inline void velocities(const body_case *c, double *v) {
  const int k = c->state->k;
  for (int a = 0; a < c->state->n; a++) {
    check_ok(cb_geometry_raise(c->g, c->state->x + a * k, c->state->p + a * k, v + a * k));
    for (int e = 0; e < k; e++) v[a * k + e] /= cb_system_masses(c->system)[a];
  }
}

/* Positions, velocities and multipliers after `end`. */
static inline void reduced_solution(body_case *c, double end, double *x, double *v, double *lambda) {
  const size_t count = (size_t)(c->state->n * c->state->k);
  reduced r = {c, NULL};
  double z[2 * MOST];
  check_ok(cb_gram_create(c->forces, cb_forces_constraints_with_space(c->forces), &r.gram));
  memcpy(z, c->state->x, count * sizeof *z);
  velocities(c, z + count);
  gsl_odeiv2_system ode = {reduced_rhs, NULL, 2 * count, &r};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-14, 1e-14);
  double time = 0;
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &time, end, z), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
  memcpy(x, z, count * sizeof *x);
  memcpy(v, z + count, count * sizeof *v);
  check_ok(cb_gram_multipliers(r.gram, end, x, v, lambda, NULL));
  cb_gram_free(r.gram);
}

/* Errors in x, v and lambda after `end` in n steps. */
static inline void errors(body_case *c, const cb_state *start, int n, double end, const double *x, const double *v,
                   const double *lambda, double error[3]) {
  double u[MOST];
  const int count = c->state->n * c->state->k;
  cb_state_copy(c->state, start);
  cb_integrator_reset(c->integrator);
  for (int i = 0; i < n; i++) check_ok(cb_integrator_step(c->integrator, c->state, end / n));
  velocities(c, u);
  error[0] = check_distance_max(count, c->state->x, x);
  error[1] = check_distance_max(count, u, v);
  error[2] = check_distance_max(cb_system_constraints(c->system), c->integrator->multipliers, lambda);
}

/* Orders of x, v and lambda by the last halving that stands clear of round-off. */
static inline void fit(body_case *c, int first, double order[3]) {
  double x[MOST], v[MOST], lambda[MOST], error[4][3];
  cb_state *start = clone_state(c);
  reduced_solution(c, 1, x, v, lambda);
  for (int level = 0; level < 4; level++) {
    errors(c, start, first << level, 1, x, v, lambda, error[level]);
    for (int what = 0; level > 0 && what < 3; what++)
      if (level == 1 || error[level][what] > (what < 2 ? (first < 4 ? 1e-11 : 3e-13) : 1e-10))
        order[what] = log2(error[level - 1][what] / error[level][what]);
  }
  cb_state_copy(c->state, start);
  cb_state_free(start);
}

#endif
