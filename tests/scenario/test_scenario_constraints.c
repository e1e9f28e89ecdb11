/* Tests of `constraints:` and `start:` of a scenario: the rows (scalar equations) of every key, and the line and column
 * of every error. */
#include "check.h"
#include <curvebody/constraint.h>
#include <curvebody/scenario.h>

enum { MOST_ROWS = 16 };

static const char scenario[] =
    "curvebody: 1\nspace: {name: %s}\nbodies:\n"
    "  - {kind: particles, name: a, place: {%s}}\n"
    "  - {kind: triangle, name: tri, place: {at: {point: [%s]}, tangent: [%s]}}\n"
    "integrator: {name: radau_iia, step: 0.01}\ntime: {end: 1}\n"
    "%s";

/* Opens a scenario of four generic particles `a` and a triangle `tri` in a space of two or three dimensions, followed
 * by the lines `more`. */
static cb_status open_with(const char *space, const char *more, cb_scenario **s) {
  const bool plane = space[1] == '2', flat = space[0] == 'e';
  char text[4096];
  snprintf(text, sizeof text, scenario, space,
           plane ? "chart: polar, points: [[.3, .2], [.5, 1.3], [.7, 2.9], [.6, 4.2]]"
                 : "chart: polar, points: [[.3, 1, .2], [.5, 1.5, 1.3], [.7, .7, 2.9], [.6, 2.1, 4.2]]",
           plane  ? flat ? "0, 0" : "0, 0, 1"
           : flat ? "0, 0, 0"
                  : "0, 0, 0, 1",
           plane ? "[.5, .1], [-.3, .4], [.1, -.5]" : "[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3]", more);
  return cb_scenario_open_text("test", text, NULL, 0, s);
}

static cb_scenario *opened(const char *space, const char *more) {
  cb_scenario *s;
  check_ok(open_with(space, more, &s));
  return s;
}

/* Computes the residual g of the positions and the rate of each row, at the given start before it is projected onto the
 * constraints. Returns the number of rows. */
static int rows_at_start(cb_scenario *s, double *g, double *rate) {
  const cb_system *system = cb_scenario_system(s);
  cb_forces *f;
  cb_state *state;
  const int rows = cb_system_constraints(system), n = cb_system_particles(system), k = cb_scenario_space(s)->k;
  assert_in_range(rows, 1, MOST_ROWS);
  check_ok(cb_forces_create(system, &f));
  check_ok(cb_state_create(system, &state));
  check_ok(cb_system_start(system, state));
  check_ok(cb_constraints_eval(cb_forces_constraints(f), 0, state->x, g, NULL));
  for (int i = 0; i < n * k; i++) state->p[i] /= cb_system_masses(system)[i / k];
  check_ok(cb_constraints_rate(cb_forces_constraints(f), 0, state->x, state->p, rate, NULL));
  cb_state_free(state);
  cb_forces_free(f);
  return rows;
}

static void every_key_makes_its_rows(void **state) {
  static const struct {
    const char *space, *constraint, *name;
    int rows;
    bool velocity;
  } cases[] = {
      {"h3", "rod: {between: [[a, 0], [tri, 1]]}", "rod a.0 tri.1", 1, false},
      {"s3", "rod: {between: [[a, 1], [a, 0]], name: brace}", "brace", 1, false},
      {"e3", "distance_to_point: {particle: [a, 3], at: {point: [1, 2, 3]}}", "distance_to_point a.3", 1, false},
      {"h3", "distance_to_point: {particle: [a, 3], at: {chart: polar, point: [.9, 2, 3]}, name: leash}", "leash", 1,
       false},
      {"s3", "path_length: {through: [[a, 0], [a, 1], [tri, 0], [a, 2]]}", NULL, 1, false},
      {"h3", "angle: {at: [a, 0], between: [[a, 1], [tri, 2]]}", NULL, 1, false},
      {"h2", "area: {body: tri, name: patch}", "patch", 1, false},
      {"s3", "area: {triangles: [[[a, 0], [a, 1], [a, 2]], [[a, 0], [a, 2], [a, 3]]]}", NULL, 1, false},
      {"e3",
       "volume: {triangles: [[[a, 0], [a, 1], [a, 2]], [[a, 0], [a, 2], [a, 3]], [[a, 0], [a, 3], [a, 1]], [[a, 1], "
       "[a, 3], [a, 2]]]}",
       NULL, 1, false},
      {"h3", "pin: {particle: [tri, 1]}", NULL, 3, false},
      {"s2", "pin: {particle: [tri, 1], name: nail}", "nail x", 2, false},
      {"e3", "velocity: {particles: [[a, 0]], coefficients: [[y0, -x0, 0]]}", NULL, 1, true},
      {"h3", "velocity: {particles: [[a, 0], [a, 1]], chart: polar, coefficients: [[a1, 0, 1], [0, cos(b0), t]]}", NULL,
       1, true},
      {"h2", "knife_edge: {particle: [a, 0], towards: [a, 1]}", NULL, 1, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char more[512];
    double g[MOST_ROWS], rate[MOST_ROWS];
    snprintf(more, sizeof more, "constraints:\n  - %s\n", cases[i].constraint);
    cb_scenario *s = opened(cases[i].space, more);
    const cb_system *system = cb_scenario_system(s);
    assert_int_equal(rows_at_start(s, g, rate), cases[i].rows);
    for (int r = 0; r < cases[i].rows; r++) {
      assert_int_equal(cb_system_constraint_is_velocity(system, r), cases[i].velocity);
      check_near(g[r], 0, 1e-15); /* a target that is not given is the initial value */
      check_near(rate[r], 0, 0);  /* the particles start at rest, so the rates are 0 */
      if (r == 0 && cases[i].name) assert_string_equal(cb_system_constraint_name(system, r), cases[i].name);
    }
    cb_scenario_free(s);
  }
}

/* Returns the residual at the start of a constraint that has only one row. */
static double row_of(const char *space, const char *constraint) {
  char more[512];
  double g[MOST_ROWS], rate[MOST_ROWS];
  snprintf(more, sizeof more, "constraints:\n  - %s\n", constraint);
  cb_scenario *s = opened(space, more);
  assert_int_equal(rows_at_start(s, g, rate), 1);
  cb_scenario_free(s);
  return g[0];
}

static void targets_are_numbers_and_expressions(void **state) {
  /* the positions of a.0 and a.1 in e3, from their polar coordinates */
  const double x[3] = {.3 * sin(1) * cos(.2), .3 * sin(1) * sin(.2), .3 * cos(1)},
               y[3] = {.5 * sin(1.5) * cos(1.3), .5 * sin(1.5) * sin(1.3), .5 * cos(1.5)};
  const double d = sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2));
  check_near(row_of("e3", "rod: {between: [[a, 0], [a, 1]], length: pi/6}"), d - acos(-1) / 6, 1e-15);
  check_near(row_of("e3", "rod: {between: [[a, 0], [a, 1]], length: 0.4 + 0.1*cos(t)}"), d - 0.5, 1e-15);
  check_near(row_of("e3", "distance_to_point: {particle: [a, 0], at: {point: [0, 0, 0]}, length: 1/4}"), 0.05, 1e-15);
  check_near(row_of("e3", "path_length: {through: [[a, 0], [a, 1]], length: .5}"), d - 0.5, 1e-15);
  check_near(row_of("h3", "distance_to_point: {particle: [a, 2], at: {point: [0, 0, 0, 1]}, length: .65}"), 0.05,
             1e-15);
  check_near(row_of("h2", "surface: {particle: [a, 3], chart: polar, value: a - 0.55}"), 0.05, 1e-15);
  check_near(row_of("e3", "surface: {particle: [a, 0], value: x^2 + y^2 + z^2 - 0.08}"), 0.01, 1e-16);
  check_near(row_of("h3", "surface: {particle: [a, 0], value: w - cosh(0.31)}"), cosh(.3) - cosh(.31), 1e-15);
}

static void a_surface_holds_all_particles_of_a_body(void **state) {
  double g[MOST_ROWS], rate[MOST_ROWS];
  cb_scenario *s = opened("e3", "constraints:\n  - surface: {body: tri, name: table, value: z - 0.1*x*y}\n");
  assert_int_equal(rows_at_start(s, g, rate), 3);
  assert_string_equal(cb_system_constraint_name(cb_scenario_system(s), 2), "table.2");
  check_near(g[0], -0.1 * .5 * .1, 1e-16);
  check_near(g[1], 0.2 + 0.1 * .3 * .4, 1e-16);
  check_near(g[2], 0.3 + 0.1 * .1 * .5, 1e-16);
  cb_scenario_free(s);
}

static void constraints_of_velocity_have_their_right_side(void **state) {
  double g[MOST_ROWS], rate[MOST_ROWS];
  cb_scenario *s = opened("e3",
                          "constraints:\n  - velocity: {particles: [[a, 0]], coefficients: [[1, 0, 0]], equals: 0.2 "
                          "+ x0*t}\n");
  assert_int_equal(rows_at_start(s, g, rate), 1);
  check_near(rate[0], -0.2, 1e-16);
  /* the start is projected onto the constraint: the momentum of a.0 is then 0.2 along x */
  const cb_state *now = cb_run_current(cb_scenario_run(s));
  check_near(now->p[3 * cb_system_index(cb_scenario_system(s), 0)], 0.2, 1e-15);
  cb_scenario_free(s);
}

static void a_start_off_the_constraints_is_projected_or_refused(void **state) {
  static const char rod[] = "constraints:\n  - rod: {between: [[a, 0], [a, 1]], length: .4}\n";
  char more[512];
  cb_scenario *s = opened("e3", rod);
  const cb_state *now = cb_run_current(cb_scenario_run(s));
  const double *x = now->x + 3 * cb_system_index(cb_scenario_system(s), 0),
               *y = now->x + 3 * cb_system_index(cb_scenario_system(s), 1);
  check_near(cb_distance(cb_scenario_space(s), x, y), 0.4, 1e-15);
  cb_scenario_free(s);
  s = NULL;
  snprintf(more, sizeof more, "%sstart: {project: never}\n", rod);
  check_error_begins(open_with("e3", more, &s), CB_ERROR_INPUT,
                     "test:10:8: error: the start violates constraint `rod a.0 a.1` by 0.0");
  snprintf(more, sizeof more, "%sstart: {project: never, tolerance: 0.2}\n", rod);
  check_ok(open_with("e3", more, &s));
  cb_scenario_free(s);
}

static void what_depends_on_others_is_refused_or_dropped(void **state) {
  static const char twice[] =
      "constraints:\n  - rod: {between: [[a, 0], [a, 1]], name: one}\n"
      "  - rod: {between: [[a, 1], [a, 0]], name: two}\n";
  char more[512];
  cb_scenario *s = NULL;
  cb_status status = open_with("h3", twice, &s);
  assert_int_equal(status, CB_ERROR_INPUT);
  assert_int_equal(strncmp(cb_error_text(), "test:9:3: error: constraint `", 29), 0);
  assert_non_null(strstr(cb_error_text(), "depends on the others"));
  snprintf(more, sizeof more, "%sstart: {redundant: drop}\n", twice);
  check_ok(open_with("h3", more, &s));
  assert_int_equal(cb_system_constraints(cb_scenario_system(s)), 1);
  assert_int_equal(cb_system_bonds(cb_scenario_system(s)), 4);
  cb_scenario_free(s);
}

static void the_resolved_scenario_reads_back_the_same(void **state) {
  cb_scenario *s = opened("h3",
                          "constraints:\n"
                          "  - rod: {between: [[a, 0], [tri, 1]], length: '0.9 + 0.1*sin(t)', name: one}\n"
                          "  - pin: {particle: [a, 3]}\n"
                          "  - surface: {particle: [a, 1], chart: polar, value: a - 0.5 - 0.1*t^2}\n");
  static const char start[] = "start:\n  project: auto\n  redundant: refuse\n  tolerance: 0\n";
  assert_non_null(strstr(cb_scenario_resolved(s), start));
  assert_non_null(strstr(cb_scenario_resolved(s), "length: 0.9 + 0.1*sin(t)\n"));
  cb_scenario *again;
  check_ok(cb_scenario_open_text("resolved", cb_scenario_resolved(s), NULL, 0, &again));
  assert_string_equal(cb_scenario_resolved(again), cb_scenario_resolved(s));
  assert_int_equal(cb_system_constraints(cb_scenario_system(again)), 5);
  cb_scenario_free(again);
  const char *const sets[] = {"constraints.0.rod.length=1.25", "start.project=never", "start.tolerance=10"};
  check_ok(cb_scenario_open_text("resolved", cb_scenario_resolved(s), sets, 3, &again));
  assert_non_null(strstr(cb_scenario_resolved(again), "length: 1.25\n"));
  assert_non_null(strstr(cb_scenario_resolved(again), "project: never\n"));
  cb_scenario_free(again);
  cb_scenario_free(s);
  /* a scenario without constraints has no `start` */
  s = opened("h3", "");
  assert_null(strstr(cb_scenario_resolved(s), "start:\n"));
  cb_scenario_free(s);
}

static void bodies_with_rods_read_back_the_same(void **state) {
  static const char text[] =
      "curvebody: 1\nspace: h3\nbodies:\n"
      "  - {kind: rod, link: rod, place: {chart: polar, points: [[.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]}}\n"
      "  - {kind: triangle, link: [rod, {rod: {length: .7}}, {spring: {stiffness: 2}}],\n"
      "     place: {at: {point: [0, 0, 0, 1]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3]]}}\n"
      "  - {kind: truss, place: {at: {point: [0, 0, 0, 1]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3]]}}\n"
      "  - {kind: chain, count: 5, length: 1, fixed: first}\n"
      "  - {kind: chain, place: {at: {point: [0, 0, 0, 1]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3]]}}\n"
      "  - {kind: pendulum, pivot: {point: [0, 0, 0, 1]}, tangent: [0, .3, .4]}\n"
      "  - {kind: network, lattice: {size: [2, 2]}, link: {spring: {stiffness: 5}}}\n"
      "integrator: {name: lobatto, step: 0.01}\ntime: {end: 1}\n";
  cb_scenario *s, *again;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  check_ok(cb_scenario_open_text("resolved", cb_scenario_resolved(s), NULL, 0, &again));
  assert_string_equal(cb_scenario_resolved(again), cb_scenario_resolved(s));
  assert_int_equal(cb_system_constraints(cb_scenario_system(again)), 1 + 2 + 3 + (4 + 3) + 2 + 1);
  assert_int_equal(cb_system_constraints(cb_scenario_system(s)), 16);
  cb_scenario_free(again);
  cb_scenario_free(s);
}

/* A constraint among the interactions is a potential of the constrained value s and adds no row. Its energy is compared
 * with that of a distance which is computed separately. */
static void a_constraint_among_the_interactions_is_a_potential(void **state) {
  static const struct {
    const char *entry;
    double at_zero, slope, curvature; /* the energy at the distance d is at_zero + slope d + curvature d^2 */
  } cases[] = {
      {"{rod: {between: [[a, 0], [a, 1]]}, stiffness: 3, rest: 0.1}", 0.015, -0.3, 1.5},
      {"{rod: {between: [[a, 0], [a, 1]], length: 0.1}, stiffness: 3}", 0.015, -0.3, 1.5},
      {"{path_length: {through: [[a, 0], [a, 1]]}, rest: 0.2 + t}", 0.02, -0.2, 0.5},
      {"{rod: {between: [[a, 0], [a, 1]], name: band}, expression: 2 + 3*s}", 2, 3, 0},
      {"{rod: {between: [[a, 0], [a, 1]]}}", 0, 0, 0},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
    for (int space = 0; space < 3; space++) {
      char more[512];
      cb_forces *f;
      cb_state *at;
      double v, d;
      snprintf(more, sizeof more, "interactions: [%s]", cases[n].entry);
      cb_scenario *s = opened((const char *const[]){"e3", "s3", "h3"}[space], more);
      const cb_system *system = cb_scenario_system(s);
      const int k = cb_scenario_space(s)->k;
      assert_int_equal(cb_system_constraints(system), 0);
      check_ok(cb_forces_create(system, &f));
      check_ok(cb_state_create(system, &at));
      check_ok(cb_system_start(system, at));
      check_ok(cb_forces_potential(f, 0, at->x, &v));
      d = cb_distance(cb_scenario_space(s), at->x + cb_system_index(system, 0) * k,
                      at->x + cb_system_index(system, 1) * k);
      check_near(v, cases[n].at_zero + cases[n].slope * d + cases[n].curvature * d * d, 1e-15);
      cb_state_free(at);
      cb_forces_free(f);
      cb_scenario_free(s);
    }
}

static void what_is_wrong_is_told_with_its_place(void **state) {
  /* line 8 is `constraints:`, line 9 the entry */
  static const struct {
    const char *space, *entry, *text;
  } cases[] = {
      {"e3", "rdo: {}", "9:5: error: unknown constraint 'rdo', did you mean 'rod'?"},
      {"e3", "glue: {}", "9:5: error: unknown constraint 'glue', expected one of: angle, area, "},
      {"e3", "rod", "9:5: error: expected a constraint: a map with one key"},
      {"e3", "{rod: {}, pin: {}}", "9:5: error: expected a constraint: a map with one key"},
      {"e3", "rod: 3", "9:10: error: expected a map"},
      {"e3", "rod: {}", "9:10: error: missing key 'between': expected a value: two particles"},
      {"e3", "rod: {betwen: [[a, 0], [a, 1]]}", "9:11: error: unknown key 'betwen', did you mean 'between'?"},
      {"e3", "rod: {between: [[a, 0]]}", "9:20: error: between: expected 2 particles, such as [[a, 0], [a, 1]]"},
      {"e3", "rod: {between: [[a, 0], 1]}", "9:29: error: expected a particle [body, number], found '1'"},
      {"e3", "rod: {between: [[a, 0], [a, 4]]}", "9:33: error: body `a`: expected a particle from 0 to 3, found 4"},
      {"e3", "rod: {between: [[a, 0], [a, x]]}", "9:33: error: "},
      {"e3", "rod: {between: [[a, 0], [ti, 1]]}", "9:30: error: unknown body 'ti', did you mean 'tri'?"},
      {"e3", "rod: {between: [[a, 0], [rocket, 1]]}", "9:30: error: unknown body 'rocket', expected one of: a, tri"},
      {"e3", "rod: {between: [[a, 1], [a, 1]]}", "9:29: error: between: expected different particles"},
      {"e3", "rod: {between: [[a, 0], [a, 1]], length: 0}",
       "9:46: error: length: expected a number > 0, or an expression of t, found '0'"},
      {"e3", "rod: {between: [[a, 0], [a, 1]], length: 1 + u}", "9:50: error: length: "},
      {"e3", "rod: {between: [[a, 0], [a, 1]], name: [x]}", "9:44: error: "},
      {"e3", "distance_to_point: {particle: [a, 0]}",
       "9:24: error: missing key 'at': expected a value: {chart: .., point: [..]}"},
      {"e3", "distance_to_point: {at: {point: [1, 2, 3]}}",
       "9:24: error: missing key 'particle': expected a value: [body, number]"},
      {"e3", "distance_to_point: {particle: [a, 0], at: {chart: pola, point: [1, 2, 3]}}",
       "9:55: error: unknown chart 'pola', did you mean 'polar'?"},
      {"e3", "distance_to_point: {particle: [a, 0], at: {point: [1, 2]}}", "9:55: error: "},
      {"e3", "distance_to_point: {particle: [a, 0], at: {point: [1, 2, 3]}, length: -2}", "9:75: error: length: "},
      {"e3", "path_length: {through: [[a, 0]]}", "9:28: error: through: expected 2 or more particles"},
      {"e3", "path_length: {through: a}", "9:28: error: through: expected 2 or more particles"},
      {"e3", "angle: {at: [a, 0], between: [[a, 1], [a, 2]], angle: -1}", "9:59: error: angle: expected a number > 0"},
      {"e3", "angle: {at: [a, 0], between: [[a, 1], [a, 2]], angle: 4}", "9:12: error: angle"},
      {"e3", "angle: {at: [a, 1], between: [[a, 1], [a, 2]]}", "9:12: error: angle: expected different particles"},
      {"e3", "area: {area: 1}", "9:11: error: missing key 'body': expected a body with triangles, or `triangles`"},
      {"e3", "area: {body: tri, triangles: [[[a, 0], [a, 1], [a, 2]]]}",
       "9:34: error: `triangles` next to `body`: expected only one of them"},
      {"e3", "area: {body: a}", "9:18: error: body `a` has no triangles: expected a mesh with faces, or a triangle"},
      {"e3", "area: {triangles: [[a, 0], [a, 1], [a, 2]]}", "9:24: error: triangles: expected 3 particles"},
      {"e3", "area: {triangles: [[[a, 0], [a, 1], [a, 0]]]}", "9:41: error: triangles: expected different particles"},
      {"e3", "area: {body: tri, area: -2}", "9:29: error: area: expected a number > 0"},
      {"h2", "volume: {body: tri}", "9:13: error: volume"},
      {"e3", "pin: {}", "9:10: error: missing key 'particle'"},
      {"e3", "pin: {particle: [a, 0], at: [1, 2, 3]}", "9:33: error: expected a map"},
      {"s3", "pin: {particle: [a, 0], at: {point: [1, 1, 0, 0]}}", "9:41: error: "},
      {"e3", "surface: {value: x}",
       "9:14: error: missing key 'particle': expected a particle [body, number], or `body`"},
      {"e3", "surface: {particle: [a, 0], body: a, value: x}",
       "9:39: error: `body` next to `particle`: expected only one of them"},
      {"e3", "surface: {particle: [a, 0]}", "9:14: error: missing key 'value'"},
      {"e3", "surface: {particle: [a, 0], value: x + u}", "9:44: error: "},
      {"e3", "surface: {particle: [a, 0], chart: plar, value: x}",
       "9:40: error: unknown chart 'plar', did you mean 'polar'?"},
      {"e3", "velocity: {particles: [], coefficients: []}", "9:27: error: particles: expected 1 to 4 particles"},
      {"e3", "velocity: {particles: [[a, 0], [a, 0]], coefficients: []}",
       "9:36: error: particles: expected different particles"},
      {"e3", "velocity: {particles: [[a, 0]]}", "9:15: error: missing key 'coefficients'"},
      {"e3", "velocity: {particles: [[a, 0]], coefficients: []}",
       "9:51: error: coefficients: expected 1 lists, one per particle"},
      {"e3", "velocity: {particles: [[a, 0]], coefficients: [[1, 2]]}",
       "9:52: error: coefficients: expected 3 expressions, one per coordinate of the chart"},
      {"e3", "velocity: {particles: [[a, 0]], coefficients: [[1, x0 + y, 0]]}", "9:61: error: "},
      {"e3", "velocity: {particles: [[a, 0]], coefficients: [[1, 0, 0]], equals: 2*}", "9:74: error: "},
      {"e3", "knife_edge: {particle: [a, 0], towards: [a, 1]}", "9:17: error: knife_edge"},
      {"e2", "knife_edge: {particle: [a, 0]}", "9:17: error: missing key 'towards'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char more[512], expected[512];
    cb_scenario *s = NULL;
    snprintf(more, sizeof more, "constraints:\n  - %s\n", cases[i].entry);
    snprintf(expected, sizeof expected, "test:%s", cases[i].text);
    check_case_begins(cases[i].entry, open_with(cases[i].space, more, &s), CB_ERROR_INPUT, expected);
  }
  static const char *const others[][2] = {
      {"constraints: {rod: {}}", "test:8:14: error: constraints: expected a list"},
      {"start: {project: allways}", "test:8:18: error: project: expected one of auto, never, found 'allways'"},
      {"start: {projct: auto}", "test:8:9: error: unknown key 'projct', did you mean 'project'?"},
      {"start: {redundant: dropp}",
       "test:8:20: error: redundant: expected one of refuse, drop, found 'dropp', did you mean 'drop'?"},
      {"start: {tolerance: -1}", "test:8:20: error: tolerance: expected a dimensionless number >= 0, found '-1'"},
      {"constraint: []", "test:8:1: error: unknown key 'constraint', did you mean 'constraints'?"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    cb_scenario *s = NULL;
    check_error_begins(open_with("e3", others[i][0], &s), CB_ERROR_INPUT, others[i][1]);
  }
}

static void wrong_potentials_are_told_with_their_place(void **state) {
  static const char *const cases[][2] = {
      {"interactions: [{angl: {at: [a, 0], between: [[a, 1], [a, 2]]}}]",
       "test:8:17: error: unknown key 'angl', did you mean 'angle'?"},
      {"interactions: [{angle: {at: [a, 0], between: [[a, 1], [a, 9]]}}]",
       "test:8:59: error: body `a`: expected a particle from 0 to 3, found 9"},
      {"interactions: [{angle: {at: [a, 0], between: [[a, 1], [a, 2]]}, stifness: 2}]",
       "test:8:65: error: unknown key 'stifness', did you mean 'stiffness'?"},
      {"interactions: [{angle: {at: [a, 0], between: [[a, 1], [a, 2]]}, rod: {between: [[a, 1], [a, 2]]}}]",
       "test:8:65: error: unknown key 'rod'"},
      {"interactions: [{angle: {at: [a, 0], between: [[a, 1], [a, 2]]}, rest: 2*}]", "test:8:73: error: rest: "},
      {"interactions: [{angle: {at: [a, 0], between: [[a, 1], [a, 2]]}, expression: s*u}]",
       "test:8:79: error: unknown name `u`: the variables here are: s, t"},
      {"interactions: [{rod: {between: [[a, 1], [a, 2]]}, expression: s^2, stiffness: 2}]",
       "test:8:63: error: `expression` next to `stiffness`: expected only one of them"},
      {"interactions: [{rod: {between: [[a, 1], [a, 2]], length: 2}, rest: 1}]",
       "test:8:22: error: rod: a target next to `rest`: expected only one of them"},
      {"interactions: [{velocity: {particles: [[a, 0]], coefficients: [[1, 0, 0]]}}]",
       "test:8:27: error: velocity: expected a function of positions, found an equation of velocities"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_scenario *s = NULL;
    check_error_begins(open_with("e3", cases[i][0], &s), CB_ERROR_INPUT, cases[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_makes_its_rows),
      cmocka_unit_test(targets_are_numbers_and_expressions),
      cmocka_unit_test(a_surface_holds_all_particles_of_a_body),
      cmocka_unit_test(constraints_of_velocity_have_their_right_side),
      cmocka_unit_test(a_start_off_the_constraints_is_projected_or_refused),
      cmocka_unit_test(what_depends_on_others_is_refused_or_dropped),
      cmocka_unit_test(the_resolved_scenario_reads_back_the_same),
      cmocka_unit_test(bodies_with_rods_read_back_the_same),
      cmocka_unit_test(a_constraint_among_the_interactions_is_a_potential),
      cmocka_unit_test(what_is_wrong_is_told_with_its_place),
      cmocka_unit_test(wrong_potentials_are_told_with_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
