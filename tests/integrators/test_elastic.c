/* The elastic rod and triangle of oracle_elastic.h agree with their exact reduced equations, independently of the
 * distance from the origin, other bodies, isometries, poles and axes. They use the default integrator with 4 stages and
 * h = 0.01.
 *
 * The symmetric motion is unstable: a difference of the two particles grows like exp(t). If the start is asymmetric
 * only in the last bit, the body leaves the symmetric motion by t = 40. So the long cases start from coordinates that
 * are exact mirror images.
 */
#include "check_geometry.h"
#include "oracle_elastic.h"
#include "simulate.h"

static const char *const separation[] = {"separation", NULL};

#define INTEGRATOR "integrator: {name: lobatto, stages: 4, step: 0.01}\n"
#define ROD(space, points, killing)                                                      \
  "curvebody: 1\nspace: " space                                                          \
  "\nbodies:\n  - kind: rod\n    name: a\n    link: {spring: {stiffness: 1, rest: 1}}\n" \
  "    place: {chart: embedding, points: " points "}\n    motion: {killing: " killing ", speed: 1}\n" INTEGRATOR
#define TRIANGLE(space, points, killing)                                         \
  "curvebody: 1\nspace: " space                                                  \
  "\nbodies:\n  - kind: triangle\n    link: {spring: {stiffness: 1, rest: 1}}\n" \
  "    place: {chart: polar, points: " points "}\n    motion: {killing: " killing ", speed: 1}\n" INTEGRATOR

static const char rod_h3[] = ROD("h3", "[[0, sinh(.5), 0, cosh(.5)], [0, -sinh(.5), 0, cosh(.5)]]", "boost_x");
static const char rod_s3[] = ROD("s3", "[[cos(.5), 0, 0, sin(.5)], [cos(.5), 0, 0, -sin(.5)]]", "rotation_z");
static const char polar_rod_h3[] =
    "curvebody: 1\nspace: h3\nbodies:\n  - kind: rod\n    link: {spring: {stiffness: 1, rest: 1}}\n"
    "    place: {chart: polar, points: [[.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]}\n    motion: {killing: boost_x, speed: "
    "1}\n" INTEGRATOR;
static const char polar_rod_s3[] =
    "curvebody: 1\nspace: s3\nbodies:\n  - kind: rod\n    link: {spring: {stiffness: 1, rest: 1}}\n"
    "    place: {chart: polar, points: [[(pi-1)/2, pi/2, 0], [(pi+1)/2, pi/2, 0]]}\n    motion: {killing: rotation_z, "
    "speed: 1}\n" INTEGRATOR;
static const char triangle_h3[] =
    TRIANGLE("h3", "[[acosh(cosh(1)/cosh(.5)), pi/2, 0], [.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]", "boost_x");
static const char triangle_s3[] =
    TRIANGLE("s3", "[[pi/2, pi/2, acos(cos(1)/cos(.5))], [(pi-1)/2, pi/2, 0], [(pi+1)/2, pi/2, 0]]", "rotation_z");

static double worst(const simulation *s, size_t column, const double *exact, size_t first, size_t stride,
                    size_t count) {
  double error = 0;
  for (size_t i = 0; i < count; i++)
    error = fmax(error, fabs(s->value[0][(first + i * stride) * s->width[0] + column] / exact[i] - 1));
  return error;
}

static simulation *every(const char *scenario, const char *end, const char *rows) {
  const char *sets[] = {end, rows};
  return simulate(scenario, sets, 2, separation);
}

static void rod_is_exact_to_1e14(void **unused) {
  const struct {
    const char *text, *name;
    const double *exact;
  } cases[] = {{rod_h3, "H3", oracle_rod_h3},
               {rod_s3, "S3", oracle_rod_s3},
               {polar_rod_h3, "H3 from polar coordinates", oracle_rod_h3},
               {polar_rod_s3, "S3 from polar coordinates", oracle_rod_s3}};
  for (int i = 0; i < 4; i++) {
    simulation *s = every(cases[i].text, "time.end=10", "record.every=100");
    const double error = worst(s, 0, cases[i].exact, 0, 1, 11);
    print_message("%s: separation on [0,10] to %.2g\n", cases[i].name, error);
    check_at_most(error, 1e-14);
    simulation_free(s);
  }
}

static void rod_is_exact_to_2e13_for_a_thousand_units_of_time(void **unused) {
  const struct {
    const char *text, *name;
    const double *exact;
  } cases[] = {{rod_h3, "H3", oracle_rod_h3_long}, {rod_s3, "S3", oracle_rod_s3_long}};
  for (int i = 0; i < 2; i++) {
    simulation *s = every(cases[i].text, "time.end=1000", "record.every=10000");
    const double error = worst(s, 0, cases[i].exact, 1, 1, 10);
    print_message("%s: separation at 100, 200 ... 1000 to %.2g\n", cases[i].name, error);
    check_at_most(error, 2e-13);
    simulation_free(s);
  }
}

static void triangle_is_exact_to_1e13(void **unused) {
  const struct {
    const char *text, *name;
    const double *s12, *s23;
  } cases[] = {{triangle_h3, "H3", oracle_triangle_h3_s12, oracle_triangle_h3_s23},
               {triangle_s3, "S3", oracle_triangle_s3_s12, oracle_triangle_s3_s23}};
  for (int i = 0; i < 2; i++) {
    simulation *s = every(cases[i].text, "time.end=10", "record.every=100");
    double error[3];
    int a, b;
    for (int k = 0; k < 3; k++) {
      cb_system_bond(cb_scenario_system(s->scenario), k, &a, &b);
      error[k] = worst(s, (size_t)k, a == 0 || b == 0 ? cases[i].s12 : cases[i].s23, 0, 1, 11);
    }
    print_message("%s triangle: sides to %.2g %.2g %.2g\n", cases[i].name, error[0], error[1], error[2]);
    for (int k = 0; k < 3; k++) check_at_most(error[k], 1e-13);
    simulation_free(s);
  }
}

static void a_rod_in_flat_space_stands_still(void **unused) {
  simulation *s =
      simulate(ROD("e3", "[[0, .5, 0], [0, -.5, 0]]", "translation_x") "time: {end: 10}\n", NULL, 0, separation);
  for (size_t r = 0; r < s->rows; r++) check_near(s->value[0][r], 1, 1e-15);
  simulation_free(s);
}

static void a_rod_300_units_away_does_what_a_rod_at_the_origin_does(void **unused) {
  static const char *const moves[] = {
      "[{killing: boost_x, by: 300}]", "[{killing: boost_z, by: 300}]",
      "[{killing: rotation_y, by: 0.7}, {killing: boost_y, by: 300}, {killing: rotation_z, by: 1.1}]"};
  simulation *here = every(polar_rod_h3, "time.end=10", "record.every=10");
  for (int i = 0; i < 3; i++) {
    char set[160];
    snprintf(set, sizeof set, "bodies.0.place.move=%s", moves[i]);
    const char *sets[] = {"time.end=10", "record.every=10", set};
    simulation *there = simulate(polar_rod_h3, sets, 3, separation);
    double error = 0;
    for (size_t r = 0; r < here->rows; r++) error = fmax(error, fabs(here->value[0][r] - there->value[0][r]));
    print_message("moved by %s: separations differ by %.2g\n", moves[i], error);
    check_at_most(error, 1e-12);
    simulation_free(there);
  }
  simulation_free(here);
}

static void two_rods_300_units_apart_each_keep_their_own_separation(void **unused) {
  /* The two rods move in opposite directions. After t = 150 they are 300 units apart. */
  static const char both[] =
      "curvebody: 1\nspace: h3\nbodies:\n"
      "  - kind: rod\n    name: a\n    link: {spring: {stiffness: 1, rest: 1}}\n"
      "    place: {chart: embedding, points: [[0, sinh(.5), 0, cosh(.5)], [0, -sinh(.5), 0, cosh(.5)]]}\n    motion: "
      "{killing: boost_x, speed: 1}\n"
      "  - kind: rod\n    name: b\n    link: {spring: {stiffness: 1, rest: 1}}\n"
      "    place: {chart: embedding, points: [[0, 0, sinh(.5), cosh(.5)], [0, 0, -sinh(.5), cosh(.5)]]}\n    motion: "
      "{killing: boost_x, speed: -1}\n" INTEGRATOR;
  simulation *lone = every(rod_h3, "time.end=150", "record.every=100"),
             *pair = every(both, "time.end=150", "record.every=100");
  double error[2] = {0, 0};
  for (size_t r = 0; r < lone->rows; r++)
    for (int k = 0; k < 2; k++) error[k] = fmax(error[k], fabs(pair->value[0][2 * r + k] - lone->value[0][r]));
  const cb_state *state = cb_run_current(cb_scenario_run(pair->scenario));
  assert_int_equal(state->n_components, 2);
  print_message("origins at %.3g and %.3g; separations differ by %.2g and %.2g\n", state->origin[0].length,
                state->origin[1].length, error[0], error[1]);
  check_at_least(state->origin[0].length + state->origin[1].length, 200);
  for (int k = 0; k < 2; k++) check_at_most(error[k], 1e-12);
  simulation_free(lone);
  simulation_free(pair);
}

static void moving_the_scenario_by_an_isometry_moves_the_result(void **unused) {
  uint64_t seed = check_seed();
  static const char *const fields[] = {"separation", "position", "origin", NULL};
  static const char base[] =
      "curvebody: 1\nbodies:\n  - kind: triangle\n    masses: [1, 2.7, 0.6]\n    link: {spring: {stiffness: 1.3, rest: "
      ".9}}\n"
      "    place: {at: {chart: polar, point: [.4, 1, .3]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [0, -.5, .1]]}\n"
      "    motion: {chart: polar, velocities: [[.1, .2, .3], [-.2, .1, .3], [.3, 0, -.2]]}\n" INTEGRATOR
      "time: {end: 10}\nrecord: {every: 10}\n";
  static const char *const spaces[] = {"space=h3", "space=s3", "space=e3"};
  for (int i = 0; i < 3; i++) {
    simulation *at_rest = simulate(base, &spaces[i], 1, fields);
    const cb_space *g = cb_scenario_space(at_rest->scenario);
    char set[512] = "bodies.0.place.move=[", one[96];
    cb_isometry whole;
    cb_isometry_identity(g, &whole);
    for (int k = 0; k < g->n_killing; k++) {
      const double by = check_uniform(&seed, -1, 1);
      cb_isometry flow;
      cb_isometry_flow(g, k, by, &flow);
      cb_isometry_compose(g, &flow, &whole, &whole);
      snprintf(one, sizeof one, "%s{killing: %s, by: %.17g}", k ? ", " : "", g->killing[k].name, by);
      strcat(set, one);
    }
    strcat(set, "]");
    const char *sets[] = {spaces[i], set};
    simulation *moved = simulate(base, sets, 2, fields);
    double error = 0, place = 0;
    for (size_t r = 0; r < moved->rows; r++)
      for (int k = 0; k < 3; k++) error = fmax(error, fabs(moved->value[0][3 * r + k] - at_rest->value[0][3 * r + k]));
    const size_t last = moved->rows - 1, width = moved->width[1];
    for (int p = 0; p < 3; p++) {
      double a[CB_COORD_MAX], b[CB_COORD_MAX], image[CB_COORD_MAX];
      cb_origin_world_point(g, (const cb_origin *)(at_rest->value[2] + last * at_rest->width[2]),
                            at_rest->value[1] + last * width + (size_t)p * g->k, a);
      cb_origin_world_point(g, (const cb_origin *)(moved->value[2] + last * moved->width[2]),
                            moved->value[1] + last * width + (size_t)p * g->k, b);
      cb_isometry_point(g, &whole, a, image);
      double size = 1;
      for (int e = 0; e < g->k; e++) size = fmax(size, fabs(b[e]));
      place = fmax(place, check_distance_max(g->k, image, b) / size);
    }
    print_message("%s: separations change by %.2g, places by %.2g\n", spaces[i], error, place);
    check_at_most(error, 1e-12);
    check_at_most(place, 1e-12);
    simulation_free(at_rest);
    simulation_free(moved);
  }
}

/* A run moves the origin when a body is at the distance 1 or 2 from it. The bodies of this test are there after a whole
 * number of steps, so changes of the speed by some 1e-15 make the run move the origin one step earlier or later. The
 * recorded positions and origins must not depend on this. */
static void roundoff_does_not_change_when_a_body_is_brought_back(void **unused) {
  static const char *const fields[] = {"position", "origin", NULL};
  static const char rod_e3[] = ROD("e3", "[[0, .5, 0], [0, -.5, 0]]", "translation_x");
  static const struct {
    const char *text, *more;
    double speed;
  } cases[] = {{triangle_h3, "bodies.0.link={rod: {length: 1}}", 1},
               {triangle_h3, "bodies.0.link={rod: {length: 1}}", 2},
               {rod_e3, "space=e3", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    simulation *first = NULL;
    double error = 0;
    for (int k = 0; k < 9; k++) {
      char set[96];
      snprintf(set, sizeof set, "bodies.0.motion.speed=%.17g", cases[i].speed + (k + 1) / 2 * (k % 2 ? 2e-15 : -2e-15));
      const char *sets[] = {cases[i].more, set, "time.end=3"};
      simulation *s = simulate(cases[i].text, sets, 3, fields);
      if (!first) first = s;
      for (int f = 0; f < s->n_fields; f++)
        for (size_t at = 0; at < s->rows * s->width[f]; at++)
          error = fmax(error, fabs(s->value[f][at] - first->value[f][at]));
      if (s != first) simulation_free(s);
    }
    print_message("%s, speed %g: coordinates about the origin change by %.2g\n", cases[i].more, cases[i].speed, error);
    check_at_most(error, 1e-12); /* round-off of the start and of 300 steps, times exp(3) */
    simulation_free(first);
  }
}

static void nothing_happens_at_the_poles_and_axes_of_s3(void **unused) {
  /* The rod is moved so that it passes both poles (0,0,0,+-1) of the polar chart and its axis. Its separations are
   * those of the rod without this move. */
  simulation *plain = every(polar_rod_s3, "time.end=10", "record.every=1");
  const char *through[] = {"bodies.0.place.move=[{killing: rotation_wx, by: pi/2}]",
                           "bodies.0.place.move=[{killing: rotation_y, by: pi/2}]",
                           "bodies.0.place.move=[{killing: rotation_wy, by: pi/2}, {killing: rotation_x, by: pi/2}]"};
  for (int i = 0; i < 3; i++) {
    const char *sets[] = {"time.end=10", through[i]};
    simulation *s = simulate(polar_rod_s3, sets, 2, separation);
    double error = 0;
    for (size_t r = 0; r < s->rows; r++) error = fmax(error, fabs(s->value[0][r] - plain->value[0][r]));
    check_at_most(error, 1e-12);
    simulation_free(s);
  }
  simulation_free(plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rod_is_exact_to_1e14),
      cmocka_unit_test(rod_is_exact_to_2e13_for_a_thousand_units_of_time),
      cmocka_unit_test(triangle_is_exact_to_1e13),
      cmocka_unit_test(a_rod_in_flat_space_stands_still),
      cmocka_unit_test(a_rod_300_units_away_does_what_a_rod_at_the_origin_does),
      cmocka_unit_test(two_rods_300_units_apart_each_keep_their_own_separation),
      cmocka_unit_test(moving_the_scenario_by_an_isometry_moves_the_result),
      cmocka_unit_test(roundoff_does_not_change_when_a_body_is_brought_back),
      cmocka_unit_test(nothing_happens_at_the_poles_and_axes_of_s3),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
