/* Tests of every class of constraints with every integrator that supports the class. Residuals are round-off after each
 * step, and integrators agree. Further tests: the energy, the work of a prescribed length, and periods of pendulums in
 * closed form.
 */
#include "constrained.h"
#include "linked.h"
#include <gsl/gsl_sf_ellint.h>

typedef enum held {
  HELD_DISTANCE_TO_POINT,
  HELD_PATH_LENGTH,
  HELD_ANGLE,
  HELD_AREA,
  HELD_VOLUME,
  HELD_PIN,
  HELD_SURFACE,
  HELD_LAW,
  HELD_VELOCITY,
  HELD_KNIFE_EDGE,
  HELD
} held;
static const char *const held_names[HELD] = {
    "distance_to_point", "path_length",    "angle",    "area",      "volume", "pin",
    "surface",           "length of time", "velocity", "knife_edge"};

static const char *const spaces[] = {
    "e3", "s3", "h3", "e2", "s2", "h2", "s3 {curvature: 2.3}", "h3 {chart: polar}", "s2 {chart: polar}"};
enum { SPACES = sizeof spaces / sizeof *spaces, BODIES = 5 };

static bool is_velocity(held which) { return which == HELD_VELOCITY || which == HELD_KNIFE_EDGE; }

static bool applies(const char *space, held which) {
  return !(which == HELD_VOLUME && space[1] != '3') && !(which == HELD_KNIFE_EDGE && space[1] != '2');
}

/* The faces of a bipyramid over the triangle 0, 1, 2 with the apexes 3 and 4, oriented outwards. */
static const int bipyramid[6][3] = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {1, 0, 4}, {2, 1, 4}, {0, 2, 4}};

/* Constrains particle 3 to the surface on which x + 0.4 y^2 + 0.3 sin(x y) has the same value as at the given point. x
 * and y are the first two coordinates of the embedding. */
static cb_status hold_to_surface(cb_builder *b, const cb_space *g, const double *x) {
  const cb_chart *chart = cb_chart_find(g, "embedding");
  const char *n0 = chart->coordinates[0], *n1 = chart->coordinates[1];
  char text[256];
  snprintf(text, sizeof text, "%s + 0.4*%s^2 + 0.3*sin(%s*%s) - (%.17g)", n0, n1, n0, n1,
           x[0] + 0.4 * x[1] * x[1] + 0.3 * sin(x[0] * x[1]));
  return cb_builder_surface(b, NULL, 3, "embedding", text);
}

static cb_status hold_velocity(cb_builder *b, const cb_space *g) {
  const cb_chart *chart = cb_chart_find(g, "embedding");
  char text[2 * CB_COORD_MAX][96];
  const char *coefficient[2 * CB_COORD_MAX];
  for (int a = 0; a < 2; a++)
    for (int e = 0; e < chart->size; e++) {
      snprintf(text[a * chart->size + e], sizeof text[0], "%g + 0.4*sin(%s%d + %g*%s%d)", 0.5 - 0.3 * e + 0.2 * a,
               chart->coordinates[e], 1 - a, 1.0 + e, chart->coordinates[0], a);
      coefficient[a * chart->size + e] = text[a * chart->size + e];
    }
  return cb_builder_velocity(b, NULL, 2, (const int[]){4, 1}, "embedding", coefficient, "0.1*cos(2*t)");
}

static cb_status hold(body_case *c, held which, double (*x)[CB_COORD_MAX], const double *centre) {
  cb_builder *b = c->builder;
  char law[64];
  switch (which) {
    case HELD_DISTANCE_TO_POINT: return cb_builder_distance_to_point(b, NULL, 2, centre, as_it_starts);
    case HELD_PATH_LENGTH: return cb_builder_path_length(b, NULL, 4, (const int[]){0, 3, 1, 4}, as_it_starts);
    case HELD_ANGLE: return cb_builder_angle(b, NULL, 0, 3, 1, as_it_starts);
    case HELD_AREA: return cb_builder_area(b, NULL, 2, (const int[2][3]){{0, 1, 2}, {2, 1, 4}}, as_it_starts);
    case HELD_VOLUME: return cb_builder_volume(b, NULL, 6, bipyramid, as_it_starts);
    case HELD_PIN: return cb_builder_pin(b, NULL, 1, NULL);
    case HELD_SURFACE: return hold_to_surface(b, c->g, x[3]);
    case HELD_LAW:
      snprintf(law, sizeof law, "%.17g + 0.1*sin(2*t)", cb_distance(c->g, x[0], x[1]));
      return cb_builder_rod(b, NULL, 0, 1, (cb_target){0, law});
    case HELD_VELOCITY: return hold_velocity(b, c->g);
    case HELD_KNIFE_EDGE: return cb_builder_knife_edge(b, NULL, 3, 1);
    default: return CB_ERROR_ARGUMENT;
  }
}

/* Makes five unequal particles at the corners of an irregular bipyramid, with one constraint. Springs join all pairs,
 * so that the figure keeps its shape. */
static void open_held(body_case *c, const char *space, held which, uint64_t *seed) {
  static const double corner[BODIES][CB_DIM_MAX] = {
      {0.5, 0.1, 0.05}, {-0.2, 0.45, -0.05}, {-0.3, -0.4, 0.1}, {0.15, 0.1, 0.5}, {0.2, -0.25, -0.4}};
  static const double aside[CB_DIM_MAX] = {0.9, 0.3, 0.2};
  open_space(c, space);
  const cb_space *g = c->g;
  const int k = g->embedding;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[BODIES][CB_COORD_MAX], v[CB_COORD_MAX],
      shift[CB_COORD_MAX] = {0}, there[CB_COORD_MAX], centre[CB_COORD_MAX];
  cb_isometry move;
  cb_space_base_point(g, base);
  cb_space_frame(g, base, frame);
  for (int i = 0; i < g->dim; i++)
    for (int e = 0; e < k; e++) shift[e] += aside[i] * frame[i * k + e];
  cb_exp(g, base, shift, there, NULL);
  cb_isometry_to(g, there, &move);
  for (int a = 0; a < BODIES; a++) {
    double tangent[CB_COORD_MAX] = {0}, near[CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++) {
      const double along = corner[a][i] + check_uniform(seed, -0.05, 0.05);
      for (int e = 0; e < k; e++) tangent[e] += along * frame[i * k + e];
    }
    cb_exp(g, base, tangent, near, NULL);
    cb_isometry_point(g, &move, near, x[a]);
    check_random_tangent(g, seed, x[a], 0.15, v);
    for (int i = 0; i < g->n_killing; i++) { /* adds a common motion of all particles */
      double w[CB_COORD_MAX];
      cb_killing_at(g, i, x[a], w);
      for (int e = 0; e < k; e++) v[e] += (i % 2 ? -0.2 : 0.3) * w[e];
    }
    add_particle(c, check_uniform(seed, 0.6, 2.5), x[a], v);
  }
  if (g->chart)
    check_ok(g->chart->from_point(g, base, centre));
  else
    memcpy(centre, base, sizeof base);
  if (g->chart) { /* in a chart the centre is away from the singular points of polar coordinates */
    double half[CB_COORD_MAX];
    for (int e = 0; e < k; e++) half[e] = 1.7 * shift[e];
    cb_exp(g, base, half, there, NULL);
    check_ok(g->chart->from_point(g, there, centre));
  }
  for (int a = 0; a < BODIES; a++)
    for (int b = 0; b < a; b++) check_ok(cb_builder_spring(c->builder, a, b, 5, 0.95 * cb_distance(g, x[a], x[b]), 0));
  check_ok(hold(c, which, x, centre));
  finish_system(c);
  constrained_project(c, c->state);
}

static void advance_once(body_case *c, double h) {
  check_ok(cb_integrator_step(c->integrator, c->state, h));
  recentre(c);
  check_ok(cb_forces_set_origins(c->forces, c->state->origin));
}

typedef struct stepped {
  const char *method;
  double h, near; /* the step, and the maximum difference from the first integrator of the list */
  bool velocity;  /* whether the integrator supports constraints of velocities */
} stepped;

static const stepped methods[] = {{"radau_iia {stages: 4}", 0.02, 0, true},
                                  {"radau_iia {stages: 3}", 0.02, 1e-7, true},
                                  {"radau_iia {stages: 2, constraints: velocity}", 0.01, 1e-4, true},
                                  {"ida {rtol: 1e-11, atol: 1e-13}", 0.1, 1e-8, true},
                                  {"lobatto {stages: 4}", 0.02, 1e-8, false},
                                  {"lobatto {stages: 3}", 0.02, 1e-6, false},
                                  {"lobatto {stages: 3, solver: newton}", 0.02, 1e-6, false}};
enum { METHODS = sizeof methods / sizeof *methods };

static void every_kind_is_kept_and_methods_agree(void **unused) {
  uint64_t seed = check_seed();
  double most[METHODS] = {0}, off_most = 0;
  for (int i = 0; i < SPACES; i++)
    for (held which = 0; which < HELD; which++) {
      double x[METHODS][MOST], v[METHODS][MOST];
      for (int j = 0; j < METHODS; j++) {
        body_case c;
        uint64_t own = seed + (uint64_t)(i * HELD + which);
        if (!applies(spaces[i], which) || (is_velocity(which) && !methods[j].velocity)) continue;
        open_held(&c, spaces[i], which, &own);
        use_method(&c, methods[j].method);
        const double start = energy(&c);
        double off = 0;
        const long steps = lround(1 / methods[j].h);
        for (long step = 0; step < steps; step++) {
          const cb_status status = cb_integrator_step(c.integrator, c.state, methods[j].h);
          if (status) print_error("%s, %s, %s, step %ld\n", spaces[i], held_names[which], methods[j].method, step);
          check_ok(status);
          off = fmax(off, residual(&c));
        }
        const int count = c.state->n * c.state->k;
        memcpy(x[j], c.state->x, sizeof(double) * (size_t)count);
        velocities(&c, v[j]);
        const double apart = fmax(check_distance_max(count, x[j], x[0]), check_distance_max(count, v[j], v[0]));
        off_most = fmax(off_most, off);
        most[j] = fmax(most[j], apart);
        const double drift = fabs(energy(&c) - start);
        const bool keeps = j >= 4 && which != HELD_LAW;
        if (getenv("CB_TEST_VERBOSE") || !(off <= 5e-14 && apart <= methods[j].near && (!keeps || drift <= 1e-6)))
          print_error("%s, %s, %s: rows off by %.2g, apart %.2g, energy %.2g\n", spaces[i], held_names[which],
                      methods[j].method, off, apart, drift);
        check_at_most(off, 5e-14);
        check_at_most(apart, methods[j].near);
        if (keeps) check_at_most(drift, 1e-6);
        close_case(&c);
      }
    }
  print_message("rows off by %.2g; apart from %s:", off_most, methods[0].method);
  for (int j = 1; j < METHODS; j++) print_message("  %s %.2g", methods[j].method, most[j]);
  print_message("\n");
}

static void lobatto_refuses_rows_of_velocity_by_name(void **unused) {
  uint64_t seed = check_seed();
  static const char *const where[] = {"h2", "s2 {chart: polar}"};
  for (int i = 0; i < 2; i++)
    for (held which = HELD_VELOCITY; which <= HELD_KNIFE_EDGE; which++) {
      body_case c;
      open_held(&c, where[i], which, &seed);
      assert_int_equal(cb_integrator_create("lobatto", NULL, c.system, &c.integrator), CB_ERROR_UNSUPPORTED);
      assert_non_null(strstr(cb_error_text(), "lobatto"));
      assert_non_null(strstr(cb_error_text(), cb_system_constraint_name(c.system, 0)));
      assert_non_null(strstr(cb_error_text(), "`radau_iia`"));
      close_case(&c);
    }
}

/* Over long times the energy error of a symplectic integrator neither grows nor drifts. */
static void lobatto_keeps_the_energy_with_every_kind(void **unused) {
  uint64_t seed = check_seed();
  double most = 0;
  for (int i = 0; i < 6; i++)
    for (held which = 0; which < HELD_VELOCITY; which++) {
      if (which == HELD_LAW || !applies(spaces[i], which)) continue;
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      open_held(&c, spaces[i], which, &own);
      use_method(&c, "lobatto {stages: 4}");
      const double start = energy(&c);
      double half[2] = {0};
      for (int step = 0; step < 500; step++) {
        advance_once(&c, 0.02);
        half[step >= 250] = fmax(half[step >= 250], fabs(energy(&c) - start) / start);
      }
      if (!(half[1] <= 1e-8))
        print_error("%s, %s: energy %.2g, %.2g\n", spaces[i], held_names[which], half[0], half[1]);
      check_at_most(half[1], 1e-8);
      most = fmax(most, half[1]);
      close_case(&c);
    }
  print_message("energy to %.2g\n", most);
}

/* A rod whose length D(t) changes does the work -int lambda D' dt, where lambda is its multiplier. */
static void a_prescribed_length_does_the_work_that_the_energy_gains(void **unused) {
  static const char *const some[] = {"radau_iia {stages: 4}", "lobatto {stages: 4}", "ida {rtol: 1e-11, atol: 1e-13}"};
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int j = 0; j < 3; j++) {
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      cb_gram *gram;
      double v[MOST], lambda[8], work = 0, most = 0;
      open_held(&c, spaces[i], HELD_LAW, &own);
      use_method(&c, some[j]);
      check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
      const double start = energy(&c), h = 0.01;
      for (int step = 0; step <= 200; step++) {
        if (step) advance_once(&c, h);
        velocities(&c, v);
        check_ok(cb_gram_multipliers(gram, c.state->t, c.state->x, v, lambda, NULL));
        const double power = -lambda[0] * 0.2 * cos(2 * c.state->t);
        const int weight = step == 0 || step == 200 ? 1 : step % 2 ? 4 : 2; /* Simpson's rule */
        work += weight * h / 3 * power;
        most = fmax(most, fabs(energy(&c) - start));
      }
      check_at_least(most, 0.005);
      check_near(energy(&c) - start, work, 5e-9); /* tolerance for the errors of Simpson's rule and of IDA */
      cb_gram_free(gram);
      close_case(&c);
    }
}

/* --- pendulums --- */

/* Opens a pendulum of mass m: a rod of length L joins it to the base point. Its potential is m G X, where G is
 * `gravity` and X the coordinate along the first vector of the frame at the base point. On the circle of radius L,
 * X = -l cos(angle) with l = sin(sqrt(K) L)/sqrt(K) for the curvature K. So the pendulum swings like one of length l in
 * Euclidean space under gravity G. *length becomes l. `aside` is the speed perpendicular to the plane of the swing. */
static void open_pendulum(body_case *c, const char *space, double L, double gravity, double angle, double aside,
                          double *length) {
  open_space(c, space);
  const cb_space *g = c->g;
  const int k = g->embedding;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], u[CB_COORD_MAX], x[CB_COORD_MAX], v[CB_COORD_MAX] = {0};
  const double K = g->factor[0].curvature, r = sqrt(fabs(K));
  *length = K == 0 ? L : K > 0 ? sin(r * L) / r : sinh(r * L) / r;
  cb_space_base_point(g, base);
  cb_space_frame(g, base, frame);
  int axis = 0;
  while (fabs(frame[axis]) < 0.5) axis++;
  assert_true(fabs(frame[axis]) == 1 && base[axis] == 0);
  const double sign = frame[axis];
  /* the lowest position is in the direction of decreasing X */
  for (int e = 0; e < k; e++) u[e] = L * (-cos(angle) * frame[e] + sin(angle) * frame[k + e]);
  cb_exp(g, base, u, x, NULL);
  for (int e = 0; e < k && aside != 0; e++) v[e] = aside * frame[2 * k + e];
  add_particle(c, 1.7, x, v);
  char field[96];
  snprintf(field, sizeof field, "%.17g*m*%s", sign * gravity, cb_chart_find(g, "embedding")->coordinates[axis]);
  check_ok(cb_builder_potential(c->builder, -1, "embedding", field));
  check_ok(cb_builder_distance_to_point(c->builder, NULL, 0, base, as_it_starts));
  finish_system(c);
}

static const char *const quadrics[] = {"e2", "s2", "h2", "e3", "s3", "h3", "s3 {curvature: 0.6}", "h2 {curvature: -2}"};
static const char *const swinging[] = {"lobatto {stages: 4}", "radau_iia {stages: 4}",
                                       "ida {rtol: 1e-12, atol: 1e-14}"};

/* The period of a pendulum is 4 sqrt(l/G) F(sin(angle/2)), where F(k) is the complete elliptic integral of the first
 * kind with the modulus k. l and G are defined in the comment of open_pendulum. */
static void pendulums_swing_with_their_period(void **unused) {
  static const double angles[] = {1e-3, 0.5, 2.5};
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 3; j++)
      for (int a = 0; a < 3; a++) {
        body_case c;
        double l, start[CB_COORD_MAX];
        open_pendulum(&c, quadrics[i], 0.8, 2.3, angles[a], 0, &l);
        use_method(&c, swinging[j]);
        memcpy(start, c.state->x, sizeof(double) * (size_t)c.g->k);
        const double period = 4 * sqrt(l / 2.3) * gsl_sf_ellint_Kcomp(sin(angles[a] / 2), GSL_PREC_DOUBLE);
        const int steps = 400;
        double far = 0;
        for (int step = 0; step < 2 * steps; step++) {
          advance_once(&c, period / steps);
          far = fmax(far, check_distance_max(c.g->k, c.state->x, start));
        }
        check_at_least(far, fmin(angles[a], 1) * l); /* the pendulum reaches the opposite side */
        const double error = check_distance_max(c.g->k, c.state->x, start);
        const double near = j == 2 ? 1e-8 : 1e-11;
        if (!(error <= near)) print_error("%s, %s, angle %g: %g\n", quadrics[i], swinging[j], angles[a], error);
        check_at_most(error, near);
        close_case(&c);
      }
}

/* A pendulum moves on a cone with the half angle a if the square of its angular speed is G/(l cos a). l and G are
 * defined in the comment of open_pendulum. */
static void spherical_pendulums_go_around_a_cone(void **unused) {
  static const char *const where[] = {"e3", "s3", "h3", "h3 {curvature: -0.4}"};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++) {
      body_case c;
      double l, start[CB_COORD_MAX], h, low, lowest = INFINITY, highest = -INFINITY;
      const double angle = 0.7, G = 2.3;
      open_pendulum(&c, where[i], 0.8, G, angle, 0, &l);
      close_case(&c);
      const double speed = sqrt(G / (l * cos(angle)));
      open_pendulum(&c, where[i], 0.8, G, angle, speed * l * sin(angle), &l);
      use_method(&c, swinging[j]);
      memcpy(start, c.state->x, sizeof(double) * (size_t)c.g->k);
      check_ok(cb_forces_potential(c.forces, 0, start, &low));
      h = 2 * acos(-1) / speed / 400;
      for (int step = 0; step < 400; step++) {
        double V;
        advance_once(&c, h);
        check_ok(cb_forces_potential(c.forces, 0, c.state->x, &V));
        lowest = fmin(lowest, V);
        highest = fmax(highest, V);
      }
      const double near = j == 2 ? 1e-8 : 1e-11;
      check_near(lowest, low, near);
      check_near(highest, low, near);
      check_near(check_distance_max(c.g->k, c.state->x, start), 0, near);
      close_case(&c);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_kept_and_methods_agree),
      cmocka_unit_test(lobatto_refuses_rows_of_velocity_by_name),
      cmocka_unit_test(lobatto_keeps_the_energy_with_every_kind),
      cmocka_unit_test(a_prescribed_length_does_the_work_that_the_energy_gains),
      cmocka_unit_test(pendulums_swing_with_their_period),
      cmocka_unit_test(spherical_pendulums_go_around_a_cone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
