/* Tests of the run loop with a sink in memory: rows and checkpoints, retries, restarts, moving origins, and
 * failures. */
#include "memory_sink.h"

#include <float.h>

static const char *const methods[][2] = {
    {"name: h3", "name: lobatto, step: 0.05, solver: fixed-point"},
    {"name: h3", "name: lobatto, step: 0.05, solver: newton"},
    {"name: s3", "name: lobatto, step: 0.05, stages: 2, compensated: false"},
    {"name: h3", "name: gauss, step: 0.05, solver: fixed-point"},
    {"name: s3", "name: gauss, step: 0.05, solver: newton"},
    {"name: s3", "name: gauss, step: 0.05, symmetric: false"},
    {"name: h3, chart: polar", "name: gauss, step: 0.01, solver: fixed-point"},
    {"name: s3, chart: polar", "name: gauss, step: 0.01, solver: newton"},
    {"name: h3, chart: polar", "name: gauss, step: 0.01, form: velocity"},
    {"name: e3", "name: lobatto, step: 0.05"},
    {"name: h3", "name: rk4, step: 0.05"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static double step_of(const char *integrator) { return strtod(strstr(integrator, "step: ") + 6, NULL); }

static void rows_and_checkpoints_fall_on_their_steps(void **unused) {
  cb_scenario *s = rod_scenario("name: h3", "name: lobatto, step: 0.01", 0.5, "every: 3, checkpoint: 4");
  memory_sink m;
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
  static const int steps[] = {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 50};
  assert_int_equal(m.n_rows, sizeof steps / sizeof *steps);
  for (size_t i = 0; i < m.n_rows; i++) {
    check_near(memory_value(&m, i, "step", 0), steps[i], 0);
    check_near(memory_value(&m, i, "time", 0), 0.01 * steps[i], DBL_EPSILON);
    check_near(memory_value(&m, i, "step_size", 0), i ? 0.01 : 0, 0);
    assert_int_equal(memory_value(&m, i, "solver_iterations", 0) > 0, i > 0);
  }
  /* checkpoints are after the rows of steps 0, 12, 24, 36, 48 */
  assert_int_equal(m.n_checkpoints, 5);
  for (size_t i = 0; i < 5; i++) assert_int_equal(m.checkpoint[i].after_rows, i ? 4 * i + 1 : 0);
  assert_int_equal(m.n_events, 0);
  memory_free(&m);
  cb_scenario_free(s);
}

static void the_last_step_is_shortened(void **unused) {
  const struct {
    double step, end;
    int steps;
    double last;
  } cases[] = {{0.03, 1, 34, 0.01}, {0.1, 1, 10, 0.1},      {0.01, 0.07, 7, 0.01},
               {0.3, 0.1, 1, 0.1},  {1. / 3, 1, 3, 1. / 3}, {0.7, 0, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char integrator[64];
    snprintf(integrator, sizeof integrator, "name: lobatto, step: %.17g", cases[i].step);
    cb_scenario *s = rod_scenario("name: s3", integrator, cases[i].end, "every: 1");
    memory_sink m;
    cb_sink sink = memory_open(&m, cb_scenario_run(s));
    check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
    assert_int_equal(m.n_rows, cases[i].steps + 1);
    check_near(memory_value(&m, m.n_rows - 1, "time", 0), cases[i].end, DBL_EPSILON);
    check_near(memory_value(&m, m.n_rows - 1, "step_size", 0), cases[i].last, DBL_EPSILON);
    check_near(cb_run_current(cb_scenario_run(s))->t, cases[i].end, DBL_EPSILON);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

static void a_run_from_a_checkpoint_repeats_the_bytes(void **unused) {
  for (size_t i = 0; i < METHODS; i++) {
    const double end = 57.4 * step_of(methods[i][1]); /* with a shortened last step */
    const char *record =
        "every: 2, checkpoint: 7, observables: [separation, energy, killing_momentum, karcher_mean, coordinates]";
    cb_scenario *whole = rod_scenario(methods[i][0], methods[i][1], end, record);
    memory_sink m;
    cb_sink sink = memory_open(&m, cb_scenario_run(whole));
    check_ok(cb_run_go(cb_scenario_run(whole), &sink, NULL, NULL, NULL));
    assert_int_equal(m.n_checkpoints, 5);
    for (size_t c = 0; c < m.n_checkpoints; c++) {
      char what[160];
      snprintf(what, sizeof what, "%s in %s", methods[i][1], methods[i][0]);
      check_rest(what, &m, c, rod_scenario(methods[i][0], methods[i][1], end, record));
    }
    memory_free(&m);
    cb_scenario_free(whole);
  }
}

/* Opens a scenario of a stiff spring, whose step of 0.5 is too long for the fixed-point iteration. */
static cb_scenario *stiff(int retries, double end) {
  char text[1024];
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: h3\nbodies:\n"
           "  - {kind: rod, name: stiff, masses: [1, 2], link: {spring: {stiffness: 300, rest: 0.5}},\n"
           "     place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}}\n"
           "integrator: {name: lobatto, solver: fixed-point, step: 0.5, retries: %d}\ntime: {end: %.17g}\n",
           retries, end);
  cb_scenario *scenario;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &scenario));
  return scenario;
}

static void a_failed_step_is_retried_by_halves(void **unused) {
  cb_scenario *s = stiff(8, 0.5), *halves = stiff(0, 0.5);
  memory_sink m;
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
  assert_int_equal(m.n_rows, 2);
  assert_true(m.n_events > 0);

  /* Makes the same steps by explicit calls. Each step that an event reports as failed is made in two halves. */
  cb_integrator *in = cb_scenario_integrator(halves);
  cb_state *state;
  check_ok(cb_state_create(cb_scenario_system(halves), &state));
  check_ok(cb_system_start(cb_scenario_system(halves), state));
  double pending[64] = {0.5};
  int n = 1;
  size_t event = 0;
  while (n > 0) {
    const double h = pending[--n];
    cb_integrator_reset(in);
    if (cb_integrator_step(in, state, h) == CB_OK) continue;
    assert_true(event < m.n_events);
    assert_int_equal(m.event[event].kind, 3);
    check_near(m.event[event].time, state->t, 0);
    check_near(m.event[event].gap, h, 0);
    event++;
    pending[n++] = h / 2;
    pending[n++] = h / 2;
  }
  assert_int_equal(event, m.n_events);
  const cb_state *got = cb_run_current(cb_scenario_run(s));
  assert_memory_equal(got->x, state->x, sizeof(double) * (size_t)(state->n * state->k));
  assert_memory_equal(got->p, state->p, sizeof(double) * (size_t)(state->n * state->k));
  check_near(got->t, 0.5, 0);
  check_near(memory_value(&m, 1, "step", 0), 1, 0);
  cb_state_free(state);
  memory_free(&m);
  cb_scenario_free(s);
  cb_scenario_free(halves);
}

/* Opens a scenario of a particle that leaves the domain of its potential, sqrt(1 - x). */
static cb_scenario *edge(int retries, double end) {
  char text[1024];
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: e3\nbodies:\n"
           "  - {kind: particles, name: far, place: {points: [[-9, 1, 0]]}}\n"
           "  - {kind: particles, name: stone, place: {points: [[-3, 0, 0], [0, 0, 0]]}, motion: {killing: "
           "translation_x, speed: 0.5}}\n"
           "potentials: [expression: {value: \"sqrt(1 - x)\"}]\n"
           "integrator: {name: lobatto, step: 0.01, retries: %d}\ntime: {end: %.17g}\nrecord: {checkpoint: 10}\n",
           retries, end);
  cb_scenario *scenario;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &scenario));
  return scenario;
}

static void a_run_that_fails_says_when_where_and_why(void **unused) {
  for (int retries = 0; retries <= 3; retries++) {
    cb_scenario *s = edge(retries, 5);
    memory_sink m;
    cb_sink sink = memory_open(&m, cb_scenario_run(s));
    assert_int_equal(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL), CB_ERROR_STEP);
    const cb_state *state = cb_run_current(cb_scenario_run(s));
    char at[64], halved[64];
    snprintf(at, sizeof at, " at time %.17g, step %lld, ", state->t, (long long)state->step);
    snprintf(halved, sizeof halved, "(step 0.01, halved %d times); try a smaller integrator.step", retries);
    assert_non_null(strstr(cb_error_text(), at));
    assert_non_null(strstr(cb_error_text(), "body `stone`, particle `stone.1`"));
    assert_non_null(strstr(cb_error_text(), halved));
    assert_int_equal(m.n_events, retries);

    /* All rows before the failure are present, and the state is the one after the last successful step. */
    assert_int_equal(m.n_rows, state->step + 1);
    cb_scenario *good = edge(retries, state->t);
    memory_sink g;
    cb_sink to = memory_open(&g, cb_scenario_run(good));
    check_ok(cb_run_go(cb_scenario_run(good), &to, NULL, NULL, NULL));
    assert_int_equal(g.n_rows, m.n_rows);
    for (size_t row = 0; row < g.n_rows; row++) assert_memory_equal(g.rows[row], m.rows[row], m.row_bytes);
    assert_memory_equal(cb_run_current(cb_scenario_run(good))->x, state->x,
                        sizeof(double) * (size_t)(state->n * state->k));
    assert_memory_equal(cb_run_current(cb_scenario_run(good))->p, state->p,
                        sizeof(double) * (size_t)(state->n * state->k));
    memory_free(&m);
    memory_free(&g);
    cb_scenario_free(s);
    cb_scenario_free(good);
  }
}

static void an_interrupted_run_ends_after_the_step_in_hand(void **unused) {
  cb_scenario *s = rod_scenario("name: h3", "name: lobatto, step: 0.01", 1, "every: 2, checkpoint: 3");
  memory_sink m;
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  m.interrupt_after = 12;
  assert_int_equal(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, &m.stop), CB_ERROR_INTERRUPTED);
  assert_int_equal(m.n_rows, 12);
  assert_int_equal(cb_run_current(cb_scenario_run(s))->step, 22);
  assert_int_equal(m.n_checkpoints, 4); /* checkpoints are at the steps 0, 6, 12, 18 */
  memory_free(&m);
  cb_scenario_free(s);
}

static cb_status count_warning(void *count, double time, const char *text) {
  assert_non_null(strstr(text, "the energy has changed"));
  check_near(time, 35, 1e-12);
  ++*(int *)count;
  return CB_OK;
}

static void an_interrupted_advance_continues_with_the_rows_and_warnings_of_a_whole_run(void **unused) {
  cb_scenario *s[2];
  memory_sink m[2];
  int warnings[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    s[i] = rod_scenario("name: e3", "name: rk4, step: 0.7", 35, "every: 1");
    cb_run *run = cb_scenario_run(s[i]);
    cb_sink sink = memory_open(&m[i], run);
    check_ok(cb_run_on_warning(run, count_warning, &warnings[i]));
    m[i].interrupt_after = i ? 12 : 0;
    if (i) {
      assert_int_equal(cb_run_advance(run, &sink, INT64_MAX, 0, &m[i].stop), CB_ERROR_INTERRUPTED);
      assert_int_equal(m[i].n_rows, 12);
      check_error(cb_run_advance(run, &sink, -1, 0, NULL), CB_ERROR_ARGUMENT,
                  "expected a number of steps >= 0, found -1");
      check_ok(cb_run_advance(run, &sink, INT64_MAX, 0, NULL));
    } else {
      check_ok(cb_run_go(run, &sink, NULL, NULL, NULL));
    }
  }
  assert_int_equal(warnings[0], 1);
  assert_int_equal(warnings[1], 1);
  assert_int_equal(m[0].n_rows, m[1].n_rows);
  for (size_t row = 0; row < m[0].n_rows; row++) assert_memory_equal(m[0].rows[row], m[1].rows[row], m[0].row_bytes);
  for (int i = 0; i < 2; i++) {
    memory_free(&m[i]);
    cb_scenario_free(s[i]);
  }
}

static void what_the_sink_refuses_ends_the_run(void **unused) {
  cb_scenario *s = rod_scenario("name: h3", "name: lobatto, step: 0.01", 1, "every: 1");
  memory_sink m;
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  m.fail_after = 5;
  assert_int_equal(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL), CB_ERROR_FILE);
  assert_string_equal(cb_error_text(), "the sink is full");
  assert_int_equal(m.n_rows, 5);
  memory_free(&m);
  cb_scenario_free(s);
}

/* In H3, round-off of the coordinates at the distance a from the base point is multiplied by about exp(2 a) in
 * distances. In the first 250 steps the rod moves only 2 units, so that steps without a moving origin are still
 * accurate. */
static void the_moving_origin_follows_and_changes_nothing(void **unused) {
  cb_scenario *s = rod_scenario("name: h3", "name: lobatto, step: 0.01", 12, "every: 10");
  memory_sink m;
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  cb_state *still;
  check_ok(cb_state_create(cb_scenario_system(s), &still));
  check_ok(cb_system_start(cb_scenario_system(s), still));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
  const cb_state *end = cb_run_current(cb_scenario_run(s));
  assert_true(end->origin[0].length > 9);
  for (int a = 0; a < end->n; a++) check_at_most(end->x[a * end->k + 3], cosh(2.5)); /* the rod stays near its origin */
  /* All momenta are conserved although the rod is about 10 units away, where coordinates are like exp(10). */
  for (size_t k = 0; k < 6; k++)
    check_near(memory_value(&m, m.n_rows - 1, "killing_momentum", k), memory_value(&m, 0, "killing_momentum", k), 1e-9);

  cb_scenario *fixed = rod_scenario("name: h3", "name: lobatto, step: 0.01", 12, "every: 10");
  cb_integrator *in = cb_scenario_integrator(fixed);
  bool moved = false;
  for (int step = 1; step <= 250; step++) {
    check_ok(cb_integrator_step(in, still, 0.01));
    if (step % 10) continue;
    const double d = cb_distance(cb_scenario_space(s), still->x, still->x + still->k);
    check_near(memory_value(&m, (size_t)step / 10, "separation", 0), d, 3e-13);
    moved = moved || memory_value(&m, (size_t)step / 10, "origin", 0) > 0.9;
    /* the plot shows positions in the world, wherever the moving origin is */
    check_near(memory_value(&m, (size_t)step / 10, "plot_position", 0),
               still->x[cb_system_index(cb_scenario_system(s), 0) * 4] /
                   (1 + still->x[cb_system_index(cb_scenario_system(s), 0) * 4 + 3]),
               1e-12);
  }
  assert_true(moved);
  cb_state_free(still);
  memory_free(&m);
  cb_scenario_free(s);
  cb_scenario_free(fixed);
}

static void options_out_of_range_are_refused(void **unused) {
  cb_scenario *s = rod_scenario("name: h3", "name: lobatto, step: 0.01", 1, "every: 1");
  const cb_run_options good = {.end = 1, .step = 0.01, .every = 1};
  static const char *const unknown[] = {"enrgy", NULL}, *const coordinates[] = {"coordinates", NULL};
  cb_run_options bad[10];
  for (int i = 0; i < 10; i++) bad[i] = good;
  bad[0].step = 0;
  bad[1].step = -1;
  bad[2].step = NAN;
  bad[3].end = -1;
  bad[4].end = INFINITY;
  bad[5].every = 0;
  bad[6].checkpoint = -1;
  bad[7].retries = -1;
  bad[8].observables = unknown;
  bad[9].observables = coordinates; /* the space has no chart */
  for (int i = 0; i < 10; i++) {
    cb_run *run = (cb_run *)&bad;
    assert_int_equal(cb_run_create(cb_scenario_system(s), cb_scenario_integrator(s), &bad[i], &run), CB_ERROR_ARGUMENT);
    assert_ptr_equal(run, &bad);
    assert_true(*cb_error_text());
  }
  cb_run *run;
  check_ok(cb_run_create(cb_scenario_system(s), cb_scenario_integrator(s), &good, &run));
  cb_run_free(run);
  cb_run_free(NULL);
  cb_scenario_free(s);
}

static void stop_at_first(void *user, const cb_progress *p) {
  memory_sink *m = user;
  assert_true(p->start == 0 && p->end == 1e5 && p->time > 0 && p->time <= 1e5 && p->step > 0 && p->steps_a_second > 0);
  assert_false(m->stop);
  m->stop = 1;
}

static void progress_is_told(void **unused) {
  cb_scenario *s = rod_scenario("name: s3", "name: lobatto, step: 0.01", 1e5, "every: 100000");
  memory_sink m;
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  assert_int_equal(cb_run_go(cb_scenario_run(s), &sink, stop_at_first, &m, &m.stop), CB_ERROR_INTERRUPTED);
  memory_free(&m);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_and_checkpoints_fall_on_their_steps),
      cmocka_unit_test(the_last_step_is_shortened),
      cmocka_unit_test(a_run_from_a_checkpoint_repeats_the_bytes),
      cmocka_unit_test(a_failed_step_is_retried_by_halves),
      cmocka_unit_test(a_run_that_fails_says_when_where_and_why),
      cmocka_unit_test(an_interrupted_run_ends_after_the_step_in_hand),
      cmocka_unit_test(an_interrupted_advance_continues_with_the_rows_and_warnings_of_a_whole_run),
      cmocka_unit_test(what_the_sink_refuses_ends_the_run),
      cmocka_unit_test(the_moving_origin_follows_and_changes_nothing),
      cmocka_unit_test(options_out_of_range_are_refused),
      cmocka_unit_test(progress_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
