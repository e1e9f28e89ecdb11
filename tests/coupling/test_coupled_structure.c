/* Tests that coupled steps are reversible and symplectic, and that a run continues from a checkpoint with identical
 * bits. */
#include "memory_sink.h"

#include "coupling/coupled.h"
#include "dynamics/builder_points.h"
#include "fluid/rigid_step.h"
#include <curvebody/constraint.h>
#include <curvebody/pair_potential.h>
#include <curvebody/pose.h>
#include <curvebody/space.h>

enum { BODIES = 2, PARTICLES = 2, COORDINATES = 6 * BODIES + 3 * PARTICLES };

/* Two bodies without symmetry and two particles. Springs and a pair potential act on them, and optionally two rods. */
typedef struct world {
  cb_space *space;
  cb_builder *builder;
  cb_system *system;
  cb_coupled *coupled;
  cb_rigid_constant inertia[BODIES];
  cb_rigid_problem problem[BODIES];
  cb_rigid_state state[BODIES];
  cb_particles_in_fluid fluid;
} world;

static const double whole = 1;

static const cb_rigid_problem *problem_of(void *self, int body) { return &((world *)self)->problem[body]; }

static cb_status drift(void *self, double h, int *failed) {
  world *w = self;
  cb_status status = CB_OK;
  for (int b = 0; b < BODIES && !status; b++) {
    *failed = b;
    status = cb_rigid_step_pontryagin(&w->problem[b], CB_SE3_CAYLEY, h, &w->state[b], NULL);
  }
  return status;
}

static cb_status inertia_of(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const cb_rigid_constant *c = self;
  memcpy(K, c->K, sizeof c->K);
  memcpy(mu0, c->mu0, sizeof c->mu0);
  return CB_OK;
}

static void create(world *w, bool rods, double damping) {
  static const double at[BODIES][3] = {{0, 0, 0}, {1.2, 0.3, -0.2}},
                      spin[BODIES][6] = {{0.3, -0.5, 0.8, 0.1, 0, 0.2}, {-0.4, 0.2, 0.1, 0, 0.3, 0}};
  static const double x[PARTICLES][3] = {{0.4, 0.9, 0.2}, {1.1, -0.8, 0.5}},
                      v[PARTICLES][3] = {{0.1, 0, 0}, {0, 0.2, 0}};
  static const double arm[BODIES][3] = {{0.3, 0.1, 0}, {-0.2, 0, 0.1}};
  cb_body_point point[BODIES + 2];
  int index[BODIES + PARTICLES + 2];
  memset(w, 0, sizeof *w);
  check_ok(cb_space_create("e3", NULL, &w->space));
  check_ok(cb_builder_create(w->space, &w->builder));
  cb_builder_couple(w->builder, true);
  for (int b = 0; b < BODIES; b++) {
    double K[6][6] = {{0}}, mu0[6] = {0};
    for (int i = 0; i < 3; i++) {
      K[i][i] = 0.4 + 0.2 * i + 0.3 * b;
      K[3 + i][3 + i] = 2 + b + 0.3 * i; /* as with an added mass that depends on the direction */
    }
    K[0][4] = K[4][0] = 0.1;
    check_ok(cb_rigid_constant_of((const double(*)[6])K, mu0, &w->inertia[b]));
    w->problem[b] =
        (cb_rigid_problem){.self = &w->inertia[b], .inertia = inertia_of, .constant = &w->inertia[b], .exact = true};
    cb_pose g = {.q = {cos(0.3), sin(0.3) * 0.6, 0, sin(0.3) * 0.8}, .x = {at[b][0], at[b][1], at[b][2]}};
    check_ok(cb_rigid_start(&w->problem[b], 0, &g, spin[b], &w->state[b]));
    check_ok(cb_builder_body(w->builder, b ? "b" : "a", NULL));
    check_ok(cb_builder_particle(w->builder, NULL, 2, 0, 0, at[b], NULL, &index[b]));
    point[b] = (cb_body_point){.particle = index[b], .body = b};
  }
  check_ok(cb_builder_body(w->builder, "p", NULL));
  for (int p = 0; p < PARTICLES; p++)
    check_ok(cb_builder_particle(w->builder, NULL, 0.5 + p, 0, 0, x[p], v[p], &index[BODIES + p]));
  for (int b = 0; b < BODIES; b++) {
    double place[3];
    cb_pose_point(&w->state[b].g, arm[b], place);
    check_ok(cb_builder_auxiliary(w->builder, b, "arm", 0, place, &index[BODIES + PARTICLES + b]));
    point[BODIES + b] =
        (cb_body_point){index[BODIES + PARTICLES + b], b, {arm[b][0], arm[b][1], arm[b][2]}, .auxiliary = true};
  }
  check_ok(cb_builder_interaction(w->builder, 0, 1, "gravity", &(cb_pair_parameters){.strength = 0.1}));
  check_ok(cb_builder_spring(w->builder, index[4], index[2], 3, 0.5, damping));
  check_ok(cb_builder_spring(w->builder, index[2], index[3], 2, 1, damping));
  check_ok(cb_builder_spring(w->builder, index[0], index[5], 4, 0.9, 0));
  if (rods) {
    check_ok(cb_builder_rod(w->builder, NULL, index[4], index[5], (cb_target){NAN, NULL}));
    check_ok(cb_builder_rod(w->builder, NULL, index[3], index[5], (cb_target){NAN, NULL}));
  }
  check_ok(cb_builder_finish(w->builder, &w->system));
  const cb_coupled_bodies bodies = {.n = BODIES,
                                    .state = w->state,
                                    .self = w,
                                    .problem = problem_of,
                                    .drift = drift,
                                    .substeps = 1,
                                    .substep = &whole};
  check_ok(cb_coupled_create(w->system, BODIES + 2, point, &bodies, &w->fluid, &w->coupled));
  check_ok(cb_coupled_start(w->coupled, 0, true, 1e-9));
}

static void destroy(world *w) {
  cb_coupled_free(w->coupled);
  cb_system_free(w->system);
  cb_builder_free(w->builder);
  cb_space_free(w->space);
}

static void step(world *w, double t, double h) {
  const char *stop;
  int body, iterations;
  check_ok(cb_coupled_step(w->coupled, t, &h, &stop, &body, &iterations));
}

static double difference(const world *a, const world *b) {
  const cb_state *s = cb_coupled_state(a->coupled), *o = cb_coupled_state(b->coupled);
  double worst = 0;
  for (int k = 0; k < BODIES; k++) {
    for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(a->state[k].g.x[i] - b->state[k].g.x[i]));
    for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(a->state[k].g.q[i] - b->state[k].g.q[i]));
    for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(a->state[k].momentum[i] - b->state[k].momentum[i]));
  }
  for (int i = 0; i < s->n * s->k; i++) worst = fmax(worst, fmax(fabs(s->x[i] - o->x[i]), fabs(s->p[i] - o->p[i])));
  return worst;
}

/* Steps forwards and then backwards return to the start. This holds with and without rods, and with damping, whose
 * force is explicit at one end of a step and implicit at the other. */
static void steps_are_reversible(void **unused) {
  for (int k = 0; k < 3; k++) {
    world w, start;
    create(&w, k == 1, k == 2 ? 0.3 : 0);
    create(&start, k == 1, k == 2 ? 0.3 : 0);
    const int n = k == 2 ? 20 : 200; /* few steps with damping, because backwards in time a damped motion grows */
    for (int i = 0; i < n; i++) step(&w, 0.01 * i, 0.01);
    assert_true(difference(&w, &start) > 1e-2);
    for (int i = n; i > 0; i--) step(&w, 0.01 * i, -0.01);
    print_message("reversal, case %d: %.1e\n", k, difference(&w, &start));
    check_at_most(difference(&w, &start), 1e-11); /* the motion magnifies the round-off of up to 400 steps */
    destroy(&w);
    destroy(&start);
  }
}

/* Changes component c of the state by `by`. The first COORDINATES components are positions: 6 for each body, which form
 * a twist that moves its frame, then 3 for each particle. The others are the momenta in the same order. */
static void perturb(world *w, int c, double by) {
  const int n = COORDINATES;
  cb_state *s = cb_coupled_state(w->coupled);
  if (c % n >= 6 * BODIES) {
    const int at = c % n - 6 * BODIES, place = cb_system_index(w->system, BODIES + at / 3);
    (c < n ? s->x : s->p)[place * 3 + at % 3] += by;
    return;
  }
  cb_rigid_state *b = &w->state[c % n / 6];
  double twist[6] = {0}, r[3][3];
  twist[c % 6] = by;
  if (c < n) {
    cb_pose move, moved;
    cb_se3_tau(CB_SE3_EXPONENTIAL, twist, &move);
    cb_pose_multiply_in(0, &b->g, &move, &moved);
    b->g = moved;
  } else {
    b->momentum[c % 6] += by;
  }
  cb_pose_rotation(&b->g, r);
  for (int part = 0; part < 2; part++)
    for (int i = 0; i < 3; i++) {
      b->world[3 * part + i] = 0;
      for (int j = 0; j < 3; j++) b->world[3 * part + i] += r[i][j] * b->momentum[3 * part + j];
    }
}

/* Writes the derivative of the state after a step h with respect to component c of the state before it, by differences
 * of fourth order. out[2 * COORDINATES] has the same order as the components of `perturb`; twists of bodies refer to
 * their final frames. If h = 0, there is no step. */
static void tangent(int c, double h, double *out) {
  static const double eps = 1e-3, weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
  const int n = COORDINATES;
  world base;
  create(&base, false, 0);
  if (h != 0) step(&base, 0, h);
  memset(out, 0, 2 * (size_t)n * sizeof *out);
  for (int q = 0; q < 4; q++) {
    world w;
    create(&w, false, 0);
    perturb(&w, c, at[q] * eps);
    cb_coupled_restored(w.coupled);
    if (h != 0) step(&w, 0, h);
    for (int b = 0; b < BODIES; b++) {
      cb_pose back, move;
      double log[3], twist[6];
      cb_pose_inverse(&base.state[b].g, &back);
      cb_pose_multiply_in(0, &back, &w.state[b].g, &move);
      /* The first order of the logarithm suffices: the differences are exact for the terms of second to fourth order in
       * eps, and the derivatives of these terms at eps = 0 are 0. */
      for (int i = 0; i < 3; i++) log[i] = 2 * move.q[1 + i] / move.q[0];
      for (int i = 0; i < 3; i++) {
        twist[i] = log[i];
        twist[3 + i] = move.x[i];
      }
      for (int i = 0; i < 6; i++) {
        out[6 * b + i] += weight[q] * twist[i] / (12 * eps);
        out[n + 6 * b + i] += weight[q] * w.state[b].momentum[i] / (12 * eps);
      }
    }
    const cb_state *s = cb_coupled_state(w.coupled);
    for (int p = 0; p < PARTICLES; p++)
      for (int i = 0; i < 3; i++) {
        const int place = 3 * cb_system_index(w.system, BODIES + p) + i;
        out[6 * BODIES + 3 * p + i] += weight[q] * s->x[place] / (12 * eps);
        out[n + 6 * BODIES + 3 * p + i] += weight[q] * s->p[place] / (12 * eps);
      }
    destroy(&w);
  }
  destroy(&base);
}

/* Returns the canonical symplectic form of two tangent vectors a and b. A body with momentum mu contributes <eta_1,
 * nu_2> - <eta_2, nu_1> + <mu, [eta_1, eta_2]>, where eta are the twists and nu the changes of mu, all in the body's
 * frame. A particle contributes dx_1.dp_2 - dx_2.dp_1 with the changes dx and dp of its position and momentum. */
static double form(const double mu[BODIES][6], const double *a, const double *b) {
  const int n = COORDINATES;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[n + i] - b[i] * a[n + i];
  for (int k = 0; k < BODIES; k++) {
    double star[6];
    cb_se3_ad_star(a + 6 * k, mu[k], star); /* <ad*_eta mu, xi> = <mu, [eta, xi]> */
    for (int i = 0; i < 6; i++) sum += star[i] * b[6 * k + i];
  }
  return sum;
}

static void steps_are_symplectic(void **unused) {
  enum { N = COORDINATES };
  static double before[2 * N][2 * N], after[2 * N][2 * N];
  double mu[2][BODIES][6], worst = 0;
  const double h = 0.05;
  world w;
  create(&w, false, 0);
  for (int b = 0; b < BODIES; b++) memcpy(mu[0][b], w.state[b].momentum, sizeof mu[0][b]);
  step(&w, 0, h);
  for (int b = 0; b < BODIES; b++) memcpy(mu[1][b], w.state[b].momentum, sizeof mu[1][b]);
  destroy(&w);
  for (int c = 0; c < 2 * N; c++) {
    tangent(c, 0, before[c]);
    tangent(c, h, after[c]);
  }
  for (int i = 0; i < 2 * N; i++)
    for (int j = 0; j < i; j++)
      worst = fmax(worst, fabs(form((const double(*)[6])mu[1], after[i], after[j]) -
                               form((const double(*)[6])mu[0], before[i], before[j])));
  print_message("change of the canonical form: %.1e\n", worst);
  check_at_most(worst,
                1e-9); /* the differences have errors of eps^4 = 1e-12 times fifth derivatives, and about 1e-13/eps */
}

/* A scenario with all items whose state a restart needs. */
static const char scenario[] =
    "curvebody: 1\nfluid: {medium: 1000, gravity: [0, 0, -1], added_mass: ellipsoid, particles: {viscosity: "
    "0.01}}\nbodies:\n"
    "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, density: 900, motion: {spin: [0, 0, 1]},\n"
    "     spheres: [{at: [0.1, 0, 0], radius: 0.1}]}\n"
    "  - {name: b, shape: {name: ellipsoid, a: 0.1, b: 0.2, c: 0.25}, density: 1200, drag: false,\n"
    "     place: {position: [1, 0.2, 0.1]}, spheres: [{at: [0, 0, 0], radius: 0.1}]}\n"
    "  - {kind: particles, name: p, mass: 0.2, radius: 0.02, place: {points: [[0.3, 0.4, 0.1], [0.2, -0.3, 0]]}}\n"
    "  - {kind: particles, name: dye, mass: 0, place: {points: [[0, 0, 0.5]]}}\n"
    "interactions:\n"
    "  - {spring: {between: [{body: a, at: [0, 0.1, 0]}, [p, 0]], stiffness: 5, damping: 0.2}}\n"
    "  - {spring: {between: [[p, 1], [p, 0]], stiffness: 5 + sin(3*t), rest: 0.4}}\n"
    "constraints:\n  - {rod: {between: [{body: a, at: [0.2, 0, 0]}, {body: b, at: [0, 0.1, 0.1]}]}}\n"
    "contacts: {}\nwalls:\n  - {plane: {at: {point: [0, 0, -0.4]}, normal: [0, 0, 1]}}\n"
    "events:\n  - {expression: {particle: [p, 0], value: z, action: mark}}\n"
    "integrator: {name: hamilton_pontryagin, step: 0.01%s}\ntime: {end: 2}\nrecord: {every: 5, checkpoint: 6}\n";

static void resumed_runs_have_the_same_bits(void **unused) {
  static const char *const more[] = {"", ", order: 4"};
  for (int k = 0; k < 2; k++) {
    char text[4096];
    cb_scenario *s, *rest;
    memory_sink m;
    snprintf(text, sizeof text, scenario, more[k]);
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
    cb_sink sink = memory_open(&m, cb_scenario_run(s));
    check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
    assert_true(m.n_events > 0 && m.n_checkpoints > 3);
    for (size_t c = 0; c < m.n_checkpoints; c += 2) {
      check_ok(cb_scenario_open_text("test", text, NULL, 0, &rest));
      check_rest("coupled", &m, c, rest);
    }
    memory_free(&m);
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_reversible), cmocka_unit_test(steps_are_symplectic),
                                     cmocka_unit_test(resumed_runs_have_the_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
