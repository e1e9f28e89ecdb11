/* Tests of runs of bodies in a fluid. Bodies are independent of each other, restarts repeat the record, steps that fail
 * are halved, and a step allocates no memory. */
#include "count_allocations.h"
#include "memory_sink.h"
#include "run/fluid_private.h"

static const char two[] =
    "curvebody: 1\n"
    "fluid: {medium: {layers: [{below: 0, density: 998}, {density: 1.2}]},\n"
    "        flow: {vortex: {circulation: 0.5, core: 0.2}}, floor: {kind: %s, height: -1}}\n"
    "bodies:\n%s"
    "integrator: {name: %s, step: 0.01}\n"
    "time: {end: 0.6}\n"
    "record: {every: 2, checkpoint: 5}\n";
static const char fish[] =
    "  - {name: fish, shape: {name: fish, resolution: 16}, density: 950,\n"
    "     poses: {y: 'Y + 0.02*sin(9*(X - t))'}, motion: {spin: [1, 2, 3]},\n"
    "     place: {position: [0.1, 0.2, -0.4], rotation: {axis: [1, 2, 3], angle: 1}}}\n";
static const char coin[] =
    "  - {name: coin, shape: {name: cylinder, radius: 0.05, length: 0.01, resolution: 16}, density: 3000,\n"
    "     place: {position: [0, 0.3, 0.1], rotation: {axis: [1, 0, 0], angle: 0.4}},\n"
    "     wrenches: [{name: push, force: [0, '0.01*sin(t)', 0], at: [0, 0, 0.01]}]}\n";
static const char *const methods[] = {"hamilton_pontryagin", "hamilton_pontryagin, map: exponential", "rkmk4"};
static const char *const floors[] = {"stiff", "reflecting"};

static cb_scenario *make(const char *floor, const char *bodies, const char *method) {
  char text[4096];
  snprintf(text, sizeof text, two, floor, bodies, method);
  cb_scenario *s = NULL;
  check_ok(cb_scenario_open_text("bodies", text, NULL, 0, &s));
  return s;
}

static void go(cb_scenario *s, memory_sink *m) {
  cb_sink sink = memory_open(m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
}

static void bodies_do_not_know_of_one_another(void **unused) {
  char both[2048];
  snprintf(both, sizeof both, "%s%s", fish, coin);
  for (size_t i = 0; i < 3; i++) {
    cb_scenario *together = make("stiff", both, methods[i]), *alone = make("stiff", coin, methods[i]);
    memory_sink a, b;
    go(together, &a);
    go(alone, &b);
    assert_int_equal(a.n_rows, 31);
    const char *const fields[] = {"pose", "twist", "body_momentum", "wrench_drag", "wrench_push"};
    const size_t sizes[] = {7, 6, 6, 6, 6};
    for (size_t row = 0; row < a.n_rows; row++)
      for (size_t f = 0; f < 5; f++)
        for (size_t k = 0; k < sizes[f]; k++)
          check_near(memory_value(&a, row, fields[f], sizes[f] + k), memory_value(&b, row, fields[f], k), 0);
    memory_free(&a);
    memory_free(&b);
    cb_scenario_free(together);
    cb_scenario_free(alone);
  }
}

static void a_restart_repeats_the_bytes(void **unused) {
  char both[2048];
  snprintf(both, sizeof both, "%s%s", fish, coin);
  for (size_t i = 0; i < 6; i++) {
    cb_scenario *s = make(floors[i % 2], both, methods[i / 2]);
    memory_sink whole;
    go(s, &whole);
    assert_int_equal(whole.n_checkpoints, 6);
    for (size_t c = 0; c < whole.n_checkpoints; c += 2)
      check_rest(methods[i / 2], &whole, c, make(floors[i % 2], both, methods[i / 2]));
    memory_free(&whole);
    cb_scenario_free(s);
  }
}

/* A step of a run equals the integrator's step from the previous state. */
static void a_step_is_the_method_s(void **unused) {
  cb_scenario *s = make("stiff", coin, methods[0]);
  memory_sink m;
  cb_run *run = cb_scenario_run(s);
  cb_rigid_state state = *cb_run_body(run, 0);
  cb_immersed_workspace *workspace;
  check_ok(cb_immersed_workspace_create(cb_fluid_run_of(run)->start[0].body, &workspace));
  go(s, &m);
  for (int step = 0; step < 60; step++) {
    int iterations;
    check_ok(
        cb_rigid_step_pontryagin(cb_immersed_workspace_problem(workspace), CB_SE3_CAYLEY, 0.01, &state, &iterations));
  }
  const cb_rigid_state *end = cb_run_body(run, 0);
  /* The run computes the time of a step differently from this loop, so the states differ by round-off. */
  for (int i = 0; i < 3; i++) check_near(end->g.x[i], state.g.x[i], 1e-13);
  for (int i = 0; i < 6; i++) check_near(end->momentum[i], state.momentum[i], 1e-13);
  assert_null(cb_run_current(run));
  assert_null(cb_run_body(run, 1));
  assert_int_equal(cb_run_steps(run), 60);
  check_near(cb_run_time(run), 0.6, 1e-15);
  cb_immersed_workspace_free(workspace);
  memory_free(&m);
  cb_scenario_free(s);
}

/* The force is undefined from the time 0.205 on. A full step of rkmk4 and a half step evaluate it there. The run ends
 * with an error that advises a smaller step, and the earlier rows are kept. */
static void a_step_that_fails_is_halved_and_named(void **unused) {
  const char *const body =
      "  - {name: ball, shape: {name: ellipsoid, resolution: 8},\n"
      "     wrenches: [{name: push, force: ['sqrt(0.205 - t)', 0, 0]}]}\n";
  cb_scenario *s = make("stiff", body, "rkmk4, retries: 3");
  memory_sink m;
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  assert_int_equal(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL), CB_ERROR_STEP);
  const char *const parts[] = {"body `ball`", "push", "halved 3 times", "try a smaller integrator.step", "time 0.2"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strstr(cb_error_text(), parts[i])) fail_msg("no `%s` in: %s", parts[i], cb_error_text());
  assert_int_equal(m.n_rows, 11);
  assert_int_equal(m.n_events, 3); /* failures of the full step, of its first half, and of the second half of this
                                    * half */
  for (size_t e = 0; e < 3; e++) assert_int_equal(m.event[e].kind, 3);
  memory_free(&m);
  cb_scenario_free(s);
}

/* If a flow becomes undefined or a volume vanishes, the run ends with the cause, and without the advice to take a
 * shorter step. */
static void what_no_step_is_short_enough_for_is_said_without_advice(void **unused) {
  static const struct {
    const char *fluid, *body, *cause;
  } cases[] = {{"flow: {velocity: ['sqrt(0.205 - t)', 0, 0]}", "", "flow at ("},
               {"flow: {velocity: [0, 0, 0]}", ", poses: {z: 'Z*(1 - t/0.205)'}", "part `body` has the volume "}};
  static const char *const methods[] = {"hamilton_pontryagin", "rkmk4"};
  for (size_t i = 0; i < 4; i++) {
    char text[1024];
    cb_scenario *s;
    memory_sink m;
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: water, %s}\nbodies:\n"
             "  - {name: ball, shape: {name: ellipsoid, resolution: 8}%s}\n"
             "integrator: {name: %s, step: 0.01, retries: 3}\ntime: {end: 1}\n",
             cases[i / 2].fluid, cases[i / 2].body, methods[i % 2]);
    check_ok(cb_scenario_open_text("end", text, NULL, 0, &s));
    cb_sink sink = memory_open(&m, cb_scenario_run(s));
    assert_int_equal(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL), CB_ERROR_STEP);
    const char *const parts[] = {"stage outside the domain at time 0.2", "body `ball`", cases[i / 2].cause};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
      if (!strstr(cb_error_text(), parts[k])) fail_msg("no `%s` in: %s", parts[k], cb_error_text());
    if (strstr(cb_error_text(), "smaller")) fail_msg("%s", cb_error_text());
    memory_free(&m);
    cb_scenario_free(s);
  }
}

static void a_reflection_is_an_event(void **unused) {
  const char *const text =
      "curvebody: 1\n"
      "fluid: {medium: none, floor: {kind: reflecting, restitution: 0.5}}\n"
      "bodies:\n"
      "  - {name: ball, shape: {name: ellipsoid, a: 0.1, b: 0.1, c: 0.1, resolution: 8},\n"
      "     place: {position: [0, 0, 1.1]}}\n"
      "integrator: {step: 0.01}\n"
      "time: {end: 1}\n";
  cb_scenario *s;
  check_ok(cb_scenario_open_text("ball", text, NULL, 0, &s));
  memory_sink m;
  go(s, &m);
  /* A fall of 1 m takes the time sqrt(2/g). The ball then rises with half the speed, so that the next flight takes the
   * same time. */
  const double fall = sqrt(2 / 9.81), speed = sqrt(2 * 9.81);
  assert_int_equal(m.n_events, 2);
  for (int e = 0; e < 2; e++) {
    const cb_event_row *event = &m.event[e];
    assert_int_equal(event->kind, 0);
    assert_int_equal(event->particle, 0);
    assert_int_equal(event->wall, 0);
    check_near(event->time, fall * (e ? 2 : 1), 1e-12);
    check_near(event->speed_before, -speed * (e ? 0.5 : 1), 1e-11);
    check_near(event->speed_after, speed * (e ? 0.25 : 0.5), 1e-11);
  }
  memory_free(&m);
  cb_scenario_free(s);
}

static void a_body_below_the_floor_is_refused(void **unused) {
  const char *const text =
      "curvebody: 1\n"
      "fluid: {medium: none, floor: {kind: reflecting}}\n"
      "bodies: [{name: ball, shape: ellipsoid}]\n"
      "integrator: {step: 0.01}\n"
      "time: {end: 1}\n";
  cb_scenario *s = NULL;
  assert_int_equal(cb_scenario_open_text("ball", text, NULL, 0, &s), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "ball:3:"));
  assert_non_null(strstr(cb_error_text(), "body `ball`"));
  assert_non_null(strstr(cb_error_text(), "below the floor"));
}

static void a_warm_step_allocates_nothing(void **unused) {
  char both[2048];
  snprintf(both, sizeof both, "%s%s", fish, coin);
  for (size_t i = 0; i < 6; i++) {
    cb_scenario *s = make(floors[i % 2], both, methods[i / 2]);
    cb_run *run = cb_scenario_run(s);
    const cb_sink sink = {0};
    cb_sink quiet = sink;
    for (int step = 0; step < 30; step++) check_ok(run->motion->step(run, &quiet, 0.01));
    count_from_here();
    for (int step = 0; step < 5; step++) check_ok(run->motion->step(run, &quiet, 0.01));
    const char *what;
    check_ok(cb_run_measure(run, &what));
    assert_int_equal(count_so_far(), 0);
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(bodies_do_not_know_of_one_another),
      cmocka_unit_test(a_restart_repeats_the_bytes),
      cmocka_unit_test(a_step_is_the_method_s),
      cmocka_unit_test(a_step_that_fails_is_halved_and_named),
      cmocka_unit_test(what_no_step_is_short_enough_for_is_said_without_advice),
      cmocka_unit_test(a_reflection_is_an_event),
      cmocka_unit_test(a_body_below_the_floor_is_refused),
      cmocka_unit_test(a_warm_step_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
