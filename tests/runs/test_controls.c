/* Tests of the key `controls` in all configuration spaces: a control with a law has the same effect as a caller who
 * sets the control between the steps; values are recorded, held between samples, and a part of the restart state;
 * forces at the start of a step have the new values; energies that controls change are not compared. */
#include "memory_sink.h"
#include "run/run_shared.h"

#define ELLIPSOID(name, axes, more) \
  "  - {name: " name ", shape: {name: ellipsoid, " axes ", resolution: 8}, density: 998" more "}\n"
#define FISH_BODIES                                                                    \
  "bodies:\n" ELLIPSOID("head", "a: 0.08, b: 0.03, c: 0.045", "")                      \
      ELLIPSOID("body", "a: 0.1, b: 0.025, c: 0.04", ", place: {position: [0, 0, 0]}") \
          ELLIPSOID("tail", "a: 0.06, b: 0.006, c: 0.06", "")
#define HINGE(name, of, size, lag)                      \
  "  - {kind: hinge, name: " name ", " of               \
  ", axis: [0, 0, 1],\n"                                \
  "     servo: {position: \"" size "*sin(4*pi*t - " lag \
  ") - turn\", "                                        \
  "kp: 4, kv: 0.05}, effort: [-2, 2]}\n"
#define FISH_JOINTS                                                                                 \
  "joints:\n" HINGE("neck", "of: [head, body], at: [-0.075, 0, 0], in: [0.095, 0, 0]", "0.35", "0") \
      HINGE("peduncle", "of: [body, tail], at: [-0.095, 0, 0], in: [0.065, 0, 0]", "0.6", "2")
#define FISH(controls)                                                                                          \
  "curvebody: 1\nfluid: {medium: water, gravity: [0, 0, 0], parameters: {goal: 0.5}}\n" FISH_BODIES FISH_JOINTS \
  "controls:\n" controls                                                                                        \
  "integrator: {name: hamilton_pontryagin, step: 1/200}\n"                                                      \
  "time: {end: 0.4}\nrecord: {every: 1, checkpoint: 6, observables: [momentum, joints, controls]}\n"
#define FISH_LAWS                                                                                      \
  "  mean: {start: 0.1, law: \"mean + 0.2*(atan2(body.axis_x_y, body.axis_x_x) - mean)\", every: 4}\n" \
  "  turn: {law: \"min(0.3, 0.8*(goal - mean) - 0.02*neck_rate)\", every: 4}\n"

#define SYSTEM(controls, more, integrator)                                    \
  "curvebody: 1\ncontrols: " controls                                         \
  "\nsystem: {coordinates: [a], metric: [[2]], potential: \"-pull*cos(a)\", " \
  "position: [1], velocity: [0.3]" more "}\nintegrator: {name: " integrator ", step: 0.05}\ntime: {end: 2}\n"

#define SNAKE(controls)                                                             \
  "curvebody: 1\nbundle: floating_snake\ncontrols: " controls                       \
  "\nshape: {momentum: [0.1, 0.2, 0.1], "                                           \
  "alpha1: {torque: push, damping: 0.1}, alpha2: {start: 0.5, torque: 0.1*push}}\n" \
  "integrator: {name: hamilton_pontryagin, step: 0.02}\ntime: {end: 2}\n"

#define BALL(controls)                                                                                \
  "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontrols: " controls                      \
  "\nbodies:\n"                                                                                       \
  "  - {name: ball, shape: ball, inertial: {mass: 2, at: [0, 0, 0], inertia: [0.1, 0.1, 0.1]},\n"     \
  "     place: {position: [1, 0, 0]}, wrenches: [{name: pull, force: [push, 0, 0], frame: world}]}\n" \
  "integrator: {name: hamilton_pontryagin, step: 0.05}\ntime: {end: 2}\n"

/* A particle and a rigid body, which are coupled points, and a spring whose numbers are controls. */
#define POINTS                                                                             \
  "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontrols: {pull: 2, len: 1}\n" \
  "bodies:\n"                                                                              \
  "  - {kind: particles, name: p, mass: 1, place: {points: [[0.3, 0, 0]]}}\n"              \
  "  - {name: b, shape: ball, mass: 1, place: {position: [3, 0.2, 0]}}\n"                  \
  "interactions: [{spring: {between: [[p, 0], [b, 0]], stiffness: pull, rest: len}}]\n"    \
  "integrator: {name: hamilton_pontryagin, step: 0.05}\ntime: {end: 2}\n"
#define SPRINGS(bodies, more)                                                        \
  "curvebody: 1\nspace: e3\ncontrols: {pull: 2, len: 0.8, c: 0.1}\nbodies: [" bodies \
  ", motion: {velocities: [[0, 0.1, 0], [0, 0, 0.2]]}}]\n" more                      \
  "integrator: {name: lobatto, step: 0.05}\ntime: {end: 2}\n"

static cb_scenario *open_text(const char *text) {
  cb_scenario *s;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  return s;
}

static double *control(cb_scenario *s, const char *name) {
  const char *const *names;
  double *value;
  const size_t n = cb_scenario_controls(s, &names, &value);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return value + i;
  fail_msg("no control `%s`", name);
  return NULL;
}

/* Evaluates the observables of the present state and returns the field `name`, valid until the next step or call. */
static const double *observed(cb_scenario *s, const char *name) {
  const void *const *row;
  const cb_record_layout *layout = cb_run_layout(cb_scenario_run(s));
  check_ok(cb_run_evaluate(cb_scenario_run(s), &row));
  for (size_t f = 0; f < layout->n_fields; f++)
    if (!strcmp(layout->fields[f].name, name)) return row[f];
  fail_msg("no field `%s`", name);
  return NULL;
}

static void advance(cb_scenario *s, int64_t steps) {
  check_ok(cb_run_advance(cb_scenario_run(s), NULL, steps, 0, NULL));
}

/* Sets the controls of a scenario from its state. */
typedef void loop(cb_scenario *s);

/* Runs the scenario `inside`, whose controls follow laws, and the scenario `outside`, whose controls are set by the
 * function `give` before every `every`-th step. Returns the largest difference between their fields at the end. *effect
 * becomes the largest difference between `inside` and a run of `outside` with constant controls. */
static double compare(const char *inside, const char *outside, int every, loop *give, const char *field, int count,
                      double *effect) {
  cb_scenario *s[3] = {open_text(inside), open_text(outside), open_text(outside)};
  double out = 0;
  advance(s[0], INT64_MAX);
  advance(s[2], INT64_MAX);
  for (advance(s[1], 0); !cb_run_ended(cb_scenario_run(s[1])); advance(s[1], every)) give(s[1]);
  *effect = 0;
  for (int i = 0; i < count; i++) {
    const double a = observed(s[0], field)[i];
    out = fmax(out, fabs(a - observed(s[1], field)[i]));
    *effect = fmax(*effect, fabs(a - observed(s[2], field)[i]));
  }
  for (int k = 0; k < 3; k++) cb_scenario_free(s[k]);
  return out;
}

static void steer_fish(cb_scenario *s) {
  const double rate = observed(s, "rate")[0], *q = observed(s, "pose") + 7 + 3;
  const double heading = atan2(2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
  double *mean = control(s, "mean");
  *mean += 0.2 * (heading - *mean);
  *control(s, "turn") = fmin(0.3, 0.8 * (0.5 - *mean) - 0.02 * rate);
}

/* The law in the scenario and the loop from outside compute the same controls, up to the round-off of the heading. This
 * round-off grows little in the 80 steps, because the fluid has drag. */
static void a_sampled_law_of_a_robot_fish_equals_the_loop_from_outside(void **state) {
  (void)state;
  double effect;
  const double off = compare(FISH(FISH_LAWS), FISH("  mean: 0.1\n  turn: 0\n"), 4, steer_fish, "pose", 21, &effect);
  print_message("fish: off %.2e, effect %.2e\n", off, effect);
  check_at_most(off, 1e-10);
  check_at_least(effect, 1e-3);
}

static void steer_system(cb_scenario *s) {
  const double a = observed(s, "position")[0], p = observed(s, "momentum")[0];
  *control(s, "pull") = 2 + sin(a) + 0.1 * p / 2; /* the velocity is half of the momentum */
}

static void a_sampled_law_of_a_system_equals_the_loop_from_outside(void **state) {
  (void)state;
  double effect;
  const double off = compare(SYSTEM("{pull: {law: 2 + sin(a) + 0.1*a_dot, every: 3}}", "", "lobatto"),
                             SYSTEM("{pull: 0}", "", "lobatto"), 3, steer_system, "position", 1, &effect);
  print_message("system: off %.2e, effect %.2e\n", off, effect);
  check_at_most(off, 1e-13);
  check_at_least(effect, 1e-2);
}

static void steer_snake(cb_scenario *s) {
  const double r = observed(s, "shape")[0], rate = observed(s, "shape_rate")[1], x = observed(s, "group")[0];
  *control(s, "push") = 0.1 - 0.5 * r - 0.3 * rate + 0.1 * x;
}

static void a_sampled_law_of_a_shape_equals_the_loop_from_outside(void **state) {
  (void)state;
  double effect;
  const double off = compare(SNAKE("{push: {law: 0.1 - 0.5*alpha1 - 0.3*alpha2_rate + 0.1*group.x, every: 5}}"),
                             SNAKE("{push: 0}"), 5, steer_snake, "shape", 2, &effect);
  print_message("shape: off %.2e, effect %.2e\n", off, effect);
  check_at_most(off, 1e-12);
  check_at_least(effect, 1e-2);
}

static void steer_ball(cb_scenario *s) {
  const double x = observed(s, "pose")[0], v = observed(s, "twist")[3]; /* the ball does not turn */
  *control(s, "push") = -2 * x - v;
}

static void a_sampled_law_of_a_wrench_equals_the_loop_from_outside(void **state) {
  (void)state;
  double effect;
  const double off =
      compare(BALL("{push: {law: -2*ball.x - ball.velocity_x}}"), BALL("{push: 0}"), 1, steer_ball, "pose", 7, &effect);
  print_message("wrench: off %.2e, effect %.2e\n", off, effect);
  check_at_most(off, 1e-13);
  check_at_least(effect, 0.1);
}

static void values_are_recorded_and_held_between_samples(void **state) {
  (void)state;
  memory_sink m;
  cb_scenario *s = memory_go(&m, FISH(FISH_LAWS));
  check_near(memory_field(&m, 0, "control")[0], 0.1, 0);
  check_near(memory_field(&m, 0, "control")[1], 0, 0);
  for (size_t row = 1; row < m.n_rows; row++) {
    const double mean = memory_field(&m, row, "control")[0], before = memory_field(&m, row - 1, "control")[0];
    if (row % 4 == 1)
      assert_true(mean != before);
    else
      check_near(mean, before, 0);
  }
  memory_free(&m);
  cb_scenario_free(s);
}

/* Checkpoints after 6, 12, .. steps are mostly between samples. */
static void a_restart_between_samples_gives_the_same_bytes(void **state) {
  (void)state;
  memory_sink m;
  cb_scenario *s = memory_go(&m, FISH(FISH_LAWS));
  assert_true(m.n_checkpoints > 3);
  for (size_t c = 0; c < 4; c++) check_rest("fish", &m, c, open_text(FISH(FISH_LAWS)));
  memory_free(&m);
  cb_scenario_free(s);
}

static void copy_state(cb_scenario *from, cb_scenario *to) {
  size_t n;
  const cb_blob *a = cb_run_checkpoint(cb_scenario_run(from), &n);
  cb_blob *b = cb_run_state(cb_scenario_run(to), &n);
  for (size_t i = 0; i < n; i++) memcpy(b[i].data, a[i].data, a[i].count * type_bytes(a[i].type));
  check_ok(cb_run_restore(cb_scenario_run(to)));
}

/* When a control jumps between two steps, the run continues like a run that begins there with the new value. So no
 * force that was computed with the old value is used again. */
static void a_new_value_acts_from_the_start_of_the_next_step(void **state) {
  (void)state;
  static const char *const texts[] = {SYSTEM("{pull: 2}", "", "lobatto"),   SYSTEM("{pull: 2}", "", "gauss"),
                                      SYSTEM("{pull: 2}", "", "radau_iia"), SYSTEM("{pull: 2}", "", "rk4"),
                                      SYSTEM("{pull: 2}", "", "ida"),       POINTS};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cb_scenario *going = open_text(texts[i]), *before = open_text(texts[i]), *anew = open_text(texts[i]);
    advance(going, 10);
    advance(before, 10);
    copy_state(before, anew);
    *control(going, "pull") = *control(anew, "pull") = 5;
    advance(going, 10);
    advance(anew, 10);
    const double a = observed(going, "position")[0], p = observed(going, "momentum")[0];
    check_near(a, observed(anew, "position")[0], 0);
    check_near(p, observed(anew, "momentum")[0], 0);
    cb_scenario_free(going);
    cb_scenario_free(before);
    cb_scenario_free(anew);
  }
}

static void a_constant_control_equals_a_number(void **state) {
  (void)state;
  cb_scenario *s = open_text(SYSTEM("{pull: 2}", "", "lobatto")),
              *number = open_text(SYSTEM("{other: 0}", ", parameters: {pull: 2}", "lobatto"));
  advance(s, INT64_MAX);
  advance(number, INT64_MAX);
  const double a = observed(s, "position")[0];
  check_near(a, observed(number, "position")[0], 0);
  /* the energy is conserved, but a control could change it at any time */
  assert_true(isnan(cb_run_changes(cb_scenario_run(s)).energy));
  assert_false(isnan(cb_run_changes(cb_scenario_run(number)).energy));
  cb_scenario_free(s);
  cb_scenario_free(number);
}

static void energies_that_a_control_has_changed_give_no_warning(void **state) {
  (void)state;
  const cb_run_warning *list;
  cb_scenario *s = open_text(SYSTEM("{pull: {law: 5*sin(8*t)}}", "", "lobatto"));
  advance(s, INT64_MAX);
  assert_int_equal(cb_run_warnings(cb_scenario_run(s), &list), 0);
  assert_true(isnan(cb_run_changes(cb_scenario_run(s)).energy));
  cb_scenario_free(s);
  s = open_text(BALL("{push: {law: 5*sin(8*t)}}"));
  advance(s, INT64_MAX);
  assert_int_equal(cb_run_warnings(cb_scenario_run(s), &list), 0);
  assert_true(isnan(cb_run_changes(cb_scenario_run(s)).energy));
  cb_scenario_free(s);
}

/* The potential energy depends on the control, which is therefore a part of the state in a row. */
static void a_row_restores_the_controls(void **state) {
  (void)state;
  cb_scenario *s = open_text(SYSTEM("{pull: 2}", "", "lobatto")),
              *other = open_text(SYSTEM("{pull: 2}", "", "lobatto"));
  cb_run *run = cb_scenario_run(s);
  const char *const *name = cb_run_state_fields(run);
  const double *field[8];
  advance(s, 10);
  *control(s, "pull") = 3;
  advance(s, 10);
  const double energy = observed(s, "potential_energy")[0];
  size_t n = 0;
  for (; name[n]; n++) field[n] = observed(s, name[n]);
  assert_string_equal(name[n - 1], "control");
  check_ok(cb_run_restore_row(cb_scenario_run(other),
                              &(cb_row_state){cb_run_time(run), cb_run_steps(run), (const double *const *)field}));
  check_near(*control(other, "pull"), 3, 0);
  check_near(observed(other, "potential_energy")[0], energy, 1e-15);
  cb_scenario_free(s);
  cb_scenario_free(other);
}

/* The rest length of a spring between two bodies is a control. The bodies move as with a spring whose rest length is a
 * number, until the control gets another value. */
static void an_interaction_of_points_uses_controls(void **state) {
  (void)state;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontrols: {muscle: 1}\nbodies:\n"
      "  - {name: a, shape: ball, mass: 1, place: {position: [0, 0, 0]}}\n"
      "  - {name: b, shape: ball, mass: 1, place: {position: [3, 0, 0]}}\n"
      "interactions: [{expression: (d - muscle)^2, between: [a, b]}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.02}\ntime: {end: 1}\n";
  const char *const number[] = {"interactions=[{expression: (d - 1)^2, between: [a, b]}]"};
  cb_scenario *s = open_text(text), *same;
  check_ok(cb_scenario_open_text("test", text, number, 1, &same));
  advance(s, 20);
  advance(same, 20);
  const double x = observed(s, "pose")[0];
  check_near(x, observed(same, "pose")[0], 1e-15);
  *control(s, "muscle") = 5;
  advance(s, 20);
  advance(same, 20);
  const double far = observed(s, "pose")[0];
  check_at_least(fabs(far - observed(same, "pose")[0]), 0.1);
  assert_true(isnan(cb_run_changes(cb_scenario_run(s)).energy));
  cb_scenario_free(s);
  cb_scenario_free(same);
}

/* The numbers of springs are controls or, in the second run, expressions of t with the same values. */
static void springs_of_bodies_and_interactions_use_controls(void **state) {
  (void)state;
#define SPRING "stiffness: pull, rest: len, damping: c*pull"
#define NUMBERS "stiffness: 2 + 0*t, rest: 0.8 + 0*t, damping: 0.2 + 0*t"
#define PAIR "kind: particles, name: a, place: {points: [[1, 0, 0], [2, 0, 0]]}"
#define ROD(spring) "{kind: rod, name: a, link: {spring: {" spring "}}, place: {points: [[1, 0, 0], [2, 0, 0]]}"
#define NETWORK(spring) \
  "{kind: network, name: a, springs: [{between: [0, 1], " spring "}], place: {points: [[1, 0, 0], [2, 0, 0]]}"
#define BETWEEN(spring) "interactions: [{spring: {between: [[a, 0], [a, 1]], " spring "}}]\n"
  static const char *const texts[][2] = {{SPRINGS("{" PAIR, BETWEEN(SPRING)), SPRINGS("{" PAIR, BETWEEN(NUMBERS))},
                                         {SPRINGS(ROD(SPRING), ""), SPRINGS(ROD(NUMBERS), "")},
                                         {SPRINGS(NETWORK(SPRING), ""), SPRINGS(NETWORK(NUMBERS), "")}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cb_scenario *s = open_text(texts[i][0]), *number = open_text(texts[i][1]);
    advance(s, 20);
    advance(number, 20);
    for (int k = 0; k < 6; k++) {
      const double momentum = observed(s, "momentum")[k];
      check_near(momentum, observed(number, "momentum")[k], 0);
    }
    *control(s, "len") = 2;
    advance(s, 10);
    advance(number, 10);
    const double x = observed(s, "position")[0];
    check_at_least(fabs(x - observed(number, "position")[0]), 0.1);
    assert_true(isnan(cb_run_changes(cb_scenario_run(s)).energy));
    cb_scenario_free(s);
    cb_scenario_free(number);
  }
}

/* The law of the control is evaluated at the start t_n of each step, and the force keeps this value during the step. So
 * the momentum is the sum of h t_n over the steps of length h. */
static void a_force_on_coupled_points_is_that_of_the_present_step(void **state) {
  (void)state;
  cb_scenario *s = open_text(
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontrols: {push: {law: t}}\nbodies:\n"
      "  - {kind: particles, name: p, mass: 1, place: {points: [[0, 0, 1]]}}\n"
      "  - {name: b, shape: ball, mass: 1, place: {position: [50, 0, 0]}}\n"
      "forces: [{force: [push, 0, 0], body: p}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.1}\ntime: {end: 1}\n");
  advance(s, 10);
  check_near(observed(s, "momentum")[0], 0.45, 1e-15);
  cb_scenario_free(s);
}

static void controls_are_recorded_if_no_observables_are_named(void **state) {
  (void)state;
  memory_sink m;
  cb_scenario *s = memory_go(&m, SYSTEM("{pull: 2, other: 7}", "", "lobatto"));
  check_near(memory_field(&m, m.n_rows - 1, "control")[1], 7, 0);
  memory_free(&m);
  cb_scenario_free(s);
  s = open_text(SYSTEM("{pull: 2}", "", "lobatto") "record: {observables: [energy]}\n");
  assert_null(cb_run_state_fields(cb_scenario_run(s)));
  for (size_t f = 0; f < cb_run_layout(cb_scenario_run(s))->n_fields; f++)
    assert_string_not_equal(cb_run_layout(cb_scenario_run(s))->fields[f].name, "control");
  cb_scenario_free(s);
}

static void a_value_that_is_not_finite_ends_the_run(void **state) {
  (void)state;
  cb_scenario *s = open_text(SYSTEM("{pull: 2}", "", "lobatto"));
  advance(s, 2);
  *control(s, "pull") = NAN;
  check_error(cb_run_advance(cb_scenario_run(s), NULL, 1, 0, NULL), CB_ERROR_STEP,
              "at time 0.10000000000000001, step 2: control `pull`: expected a finite number, found nan");
  cb_scenario_free(s);
}

/* All lanes would use the expressions, and so the values of the controls, of one scenario. Therefore runs with controls
 * do not run in lanes. */
static void runs_with_controls_are_not_stepped_in_lanes(void **state) {
  (void)state;
  cb_scenario *s = rod_scenario("name: h3", "name: lobatto, step: 0.01", 1, "every: 1");
  assert_true(cb_batch_width(cb_scenario_run(s)) > 1);
  cb_scenario_free(s);
  s = rod_scenario("name: h3", "name: lobatto, step: 0.01", 1, "every: 1}\ncontrols: {a: 1");
  assert_int_equal(cb_batch_width(cb_scenario_run(s)), 1);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sampled_law_of_a_robot_fish_equals_the_loop_from_outside),
      cmocka_unit_test(a_sampled_law_of_a_system_equals_the_loop_from_outside),
      cmocka_unit_test(a_sampled_law_of_a_shape_equals_the_loop_from_outside),
      cmocka_unit_test(a_sampled_law_of_a_wrench_equals_the_loop_from_outside),
      cmocka_unit_test(values_are_recorded_and_held_between_samples),
      cmocka_unit_test(a_restart_between_samples_gives_the_same_bytes),
      cmocka_unit_test(a_new_value_acts_from_the_start_of_the_next_step),
      cmocka_unit_test(a_constant_control_equals_a_number),
      cmocka_unit_test(energies_that_a_control_has_changed_give_no_warning),
      cmocka_unit_test(a_row_restores_the_controls),
      cmocka_unit_test(an_interaction_of_points_uses_controls),
      cmocka_unit_test(springs_of_bodies_and_interactions_use_controls),
      cmocka_unit_test(a_force_on_coupled_points_is_that_of_the_present_step),
      cmocka_unit_test(controls_are_recorded_if_no_observables_are_named),
      cmocka_unit_test(a_value_that_is_not_finite_ends_the_run),
      cmocka_unit_test(runs_with_controls_are_not_stepped_in_lanes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
