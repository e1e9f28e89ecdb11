/* Tests of runs of a gait in a bundle: the end, the order of convergence, the record, and a restart from a
 * checkpoint. */
#include "scenario/bundle_scenario.h"
#include "memory_sink.h"
#include "run/bundle_run.h"

static const char *const circle = "gait: {fourier: {mean: [0.1, 0], cosine: [[1, 0]], sine: [[0, 0.8]]}}\n",
                         *const rectangle =
                             "gait: {polygon: {corners: [[1, 0.7], [-0.9, 1], [-1, -0.6], [0.8, -1]]}}\n",
                         *const paced =
                             "gait: {expressions: {alpha1: \"cos(tau*t)\", alpha2: \"sin(tau*t)^3\"}, start: 0.3,\n"
                             "       pace: \"t + 0.1*sin(2*pi*t)\", period: 2}\n";

static cb_scenario *open_scenario(const char *bundle, const char *gait, const char *integrator, const char *rest) {
  char text[2048];
  cb_scenario *s;
  snprintf(text, sizeof text, "curvebody: 1\nbundle: %s\n%sintegrator: {name: magnus, %s}\n%s", bundle, gait,
           integrator, rest);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  return s;
}

/* Runs to the end, and returns the state there. *m receives the record, which the caller frees. */
static const cb_bundle_state *run_to_end(cb_scenario *s, memory_sink *m) {
  cb_run *run = cb_scenario_run(s);
  cb_sink sink = memory_open(m, run);
  check_ok(cb_run_go(run, &sink, NULL, NULL, NULL));
  return cb_run_bundle(run);
}

static double difference(const cb_group *G, const double *a, const double *b) {
  double most = 0;
  for (int k = 0; k < G->size; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

static void a_run_ends_where_the_holonomy_does(void **state) {
  static const struct {
    const char *bundle, *gait;
  } cases[] = {{"purcell", circle},
               {"purcell", rectangle},
               {"purcell", paced},
               {"{name: purcell, links: 3, ratio: 1.6}", paced},
               {"rolling_ball", "gait: {fourier: {cosine: [[0.5, 0]], sine: [[0, 0.5]]}}\n"},
               {"{name: falling_cat}", "gait: {fourier: {cosine: [[1]]}, offset: [0.3]}\n"},
               {"pmpy", "gait: {polygon: {corners: [[4, 2], [8, 2], [8, 6], [4, 6]]}, reversed: true}\n"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    /* no corner of a polygon is at a multiple of this step */
    cb_scenario *s = open_scenario(cases[c].bundle, cases[c].gait, "step: 0.0437, error: 1e-13", "");
    const cb_bundle_scenario *l = cb_bundle_scenario_of(s);
    memory_sink m;
    double g[CB_GROUP_SIZE], length, cost;
    const cb_bundle_state *end = run_to_end(s, &m);
    check_ok(cb_holonomy(l->bundle, l->gait, 0, g, &length, &cost));
    check_near(end->t, l->period, 1e-15);
    check_at_most(difference(l->bundle->group, end->g, g), 1e-11);
    check_near(end->length, length, 1e-11 * fmax(1, length));
    check_near(end->cost, cost / l->period, 1e-11 * fmax(1, cost));
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* Returns the error of the group element g at the end of a run with `steps` steps of constant size, compared with
 * cb_holonomy. */
static double error_of(const char *gait, int order, int steps) {
  char integrator[64];
  snprintf(integrator, sizeof integrator, "order: %d, step: 1/%d", order, steps);
  cb_scenario *s = open_scenario("purcell", gait, integrator, "");
  const cb_bundle_scenario *l = cb_bundle_scenario_of(s);
  memory_sink m;
  double g[CB_GROUP_SIZE];
  const cb_bundle_state *end = run_to_end(s, &m);
  check_ok(cb_holonomy(l->bundle, l->gait, 0, g, NULL, NULL));
  const double error = difference(l->bundle->group, end->g, g);
  memory_free(&m);
  cb_scenario_free(s);
  return error;
}

/* Returns the order of convergence: minus the slope of log(error) against log(steps), by least squares. The first run
 * has `first` steps; each later one has 1.5 times as many. */
static double order_by_fit(const char *gait, int order, int first) {
  enum { RUNS = 4 };
  double x[RUNS], y[RUNS], mx = 0, my = 0, xy = 0, xx = 0;
  for (int k = 0; k < RUNS; k++) {
    const int steps = (int)lround(first * pow(1.5, k));
    x[k] = log(steps);
    y[k] = log(error_of(gait, order, steps));
    mx += x[k] / RUNS;
    my += y[k] / RUNS;
  }
  for (int k = 0; k < RUNS; k++) {
    xy += (x[k] - mx) * (y[k] - my);
    xx += (x[k] - mx) * (x[k] - mx);
  }
  return -xy / xx;
}

/* For a smooth periodic gait the error would decrease faster than any power of the step. This gait is not smooth where
 * its end meets its start, so that the order of the method is visible. */
static void the_order_of_a_step_is_that_of_the_method(void **state) {
  static const char *const bent =
      "gait: {expressions: {alpha1: \"t*(1 - t)*exp(t)*4\", alpha2: \"sin(pi*t)*(1 - 2*t^2)\"}}\n";
  check_near(order_by_fit(bent, 4, 12), 4, 0.25);
  check_near(order_by_fit(bent, 6, 8), 6, 0.4);
}

static void the_order_is_kept_at_corners_within_steps(void **state) {
  check_near(order_by_fit(rectangle, 4, 13), 4, 0.5);
  check_near(order_by_fit(rectangle, 6, 13), 6, 0.8);
}

static void three_cycles_are_the_cube_of_one(void **state) {
  char gait[512];
  snprintf(gait, sizeof gait, "gait: {polygon: {corners: [[1, 0.7], [-0.9, 1], [-1, -0.6], [0.8, -1]]}, repeat: 3}\n");
  cb_scenario *s = open_scenario("purcell", gait, "step: 0.01", "start: {group: [0.3, -2, pi/3]}\n");
  const cb_bundle_scenario *l = cb_bundle_scenario_of(s);
  const cb_group *G = l->bundle->group;
  memory_sink m;
  double g[CB_GROUP_SIZE], all[CB_GROUP_SIZE] = {0.3, -2, M_PI / 3};
  const cb_bundle_state *end = run_to_end(s, &m);
  check_ok(cb_holonomy(l->bundle, l->gait, 0, g, NULL, NULL));
  for (int k = 0; k < 3; k++) G->multiply(G, all, g, all);
  check_near(end->t, 3, 1e-14);
  check_at_most(difference(G, end->g, all), 1e-11);
  memory_free(&m);
  cb_scenario_free(s);
}

static void the_record_has_a_row_for_every_so_many_steps(void **state) {
  cb_scenario *s = open_scenario("purcell", circle, "step: 0.03", "record: {every: 5}\n");
  memory_sink m;
  run_to_end(s, &m); /* the run has 33 steps and a shorter one */
  assert_int_equal(m.n_rows, 1 + 34 / 5 + 1);
  for (size_t row = 0; row + 1 < m.n_rows; row++) {
    check_near(memory_value(&m, row, "time", 0), 0.15 * (double)row, 1e-14);
    check_near(memory_value(&m, row, "step", 0), 5 * (double)row, 0);
  }
  check_near(memory_value(&m, m.n_rows - 1, "time", 0), 1, 1e-15);
  memory_free(&m);
  cb_scenario_free(s);
}

static void rows_hold_shape_velocity_and_cost(void **state) {
  cb_scenario *s =
      open_scenario("purcell", "gait: {fourier: {mean: [0.1, 0], cosine: [[1, 0]], sine: [[0, 0.8]]}, period: 4}\n",
                    "step: 0.02", "record: {observables: [connection, curvature, metric, power]}\n");
  const cb_bundle_scenario *l = cb_bundle_scenario_of(s);
  memory_sink m;
  double mean = 0, B[3], A[6], M[4];
  const cb_bundle_state *end = run_to_end(s, &m);
  for (size_t row = 0; row < m.n_rows; row++) {
    const double t = memory_value(&m, row, "time", 0), turn = 2 * M_PI / 4;
    const double r[] = {0.1 + cos(turn * t), 0.8 * sin(turn * t)},
                 rate[] = {-turn * sin(turn * t), 0.8 * turn * cos(turn * t)};
    check_ok(cb_bundle_connection(l->bundle, r, A, NULL, M, NULL));
    check_ok(cb_bundle_curvatures(l->bundle, r, B));
    double power = 0;
    for (size_t i = 0; i < 2; i++) {
      check_near(memory_value(&m, row, "shape", i), r[i], 1e-14);
      check_near(memory_value(&m, row, "shape_rate", i), rate[i], 1e-13);
      for (size_t j = 0; j < 2; j++) power += M[2 * i + j] * rate[i] * rate[j];
    }
    for (size_t k = 0; k < 3; k++) {
      check_near(memory_value(&m, row, "body_velocity", k), -A[2 * k] * rate[0] - A[2 * k + 1] * rate[1], 1e-13);
      check_near(memory_value(&m, row, "curvature", k), B[k], 1e-13);
      check_near(memory_value(&m, row, "connection", 2 * k + 1), A[2 * k + 1], 1e-13);
    }
    check_near(memory_value(&m, row, "metric", 3), M[3], 1e-14);
    check_near(memory_value(&m, row, "power", 0), power, 1e-14);
    if (row) mean += power / (double)(m.n_rows - 1);
  }
  /* the error of the mean of a smooth periodic function over evenly spaced points decreases exponentially with their
   * number */
  check_near(end->cost, 4 * mean, 1e-12);
  memory_free(&m);
  cb_scenario_free(s);
}

static void a_run_goes_on_from_a_checkpoint_to_the_same_bytes(void **state) {
  static const char *const methods[] = {"step: 0.013", "order: 4, step: 0.013", "error: 1e-9, step: 0.1"};
  static const char *const rest =
      "time: {end: 2.2}\nrecord: {every: 2, checkpoint: 3, observables: [power, curvature]}\n";
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
    for (int broken = 0; broken < 2; broken++) {
      cb_scenario *s = open_scenario("purcell", broken ? rectangle : circle, methods[k], rest);
      memory_sink m;
      run_to_end(s, &m);
      assert_true(m.n_checkpoints > 3);
      for (size_t c = 0; c < m.n_checkpoints; c++)
        check_rest(methods[k], &m, c, open_scenario("purcell", broken ? rectangle : circle, methods[k], rest));
      memory_free(&m);
      cb_scenario_free(s);
    }
}

static void a_backward_gait_takes_it_back(void **state) {
  cb_scenario *s =
      open_scenario("purcell",
                    "gait: {sequence: [{polygon: {corners: [[1, 0.7], [-0.9, 1], [0.8, -1]]}},\n"
                    "                  {polygon: {corners: [[1, 0.7], [-0.9, 1], [0.8, -1]]}, reversed: true}]}\n",
                    "step: 0.01", "start: {group: [0.3, -2, 1]}\n");
  const double start[] = {0.3, -2, 1};
  memory_sink m;
  const cb_bundle_state *end = run_to_end(s, &m);
  check_at_most(difference(cb_bundle_scenario_of(s)->bundle->group, end->g, start), 1e-13);
  memory_free(&m);
  cb_scenario_free(s);
}

static void a_momentum_that_is_conserved_stays_zero(void **state) {
  cb_scenario *s = open_scenario(
      "{name: links, of: inertia, shape: [a, b], links: [{length: 1}, {length: 1, parent: 0, "
      "at: 1, angle: a}, {length: 1, parent: 1, at: 1, angle: b}]}",
      "gait: {fourier: {cosine: [[1, 0]], sine: [[0, 1]]}}\n", "step: 0.02", "record: {observables: [momentum]}\n");
  memory_sink m;
  run_to_end(s, &m);
  for (size_t row = 0; row < m.n_rows; row++)
    for (size_t k = 0; k < 3; k++) check_near(memory_value(&m, row, "momentum", k), 0, 1e-12);
  assert_true(m.n_rows == 51);
  memory_free(&m);
  cb_scenario_free(s);
}

static void a_singular_shape_ends_the_run_with_time_step_and_shape(void **state) {
  cb_scenario *s = open_scenario("kinematic_snake", "gait: {polygon: {corners: [[1, 0], [1, 2], [2, 2], [2, 0]]}}\n",
                                 "step: 0.05, error: 1e-10", "");
  cb_run *run = cb_scenario_run(s);
  memory_sink m;
  cb_sink sink = memory_open(&m, run);
  assert_int_equal(cb_run_go(run, &sink, NULL, NULL, NULL), CB_ERROR_STEP);
  const char *text = cb_error_text();
  assert_non_null(strstr(text, "at time 0.15"));
  assert_non_null(strstr(text, "step 3"));
  assert_non_null(strstr(text, "bundle kinematic_snake at alpha1 = 1"));
  assert_non_null(strstr(text, "try a gait that keeps away from this shape"));
  assert_int_equal(m.n_rows, 4);
  memory_free(&m);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_ends_where_the_holonomy_does),
      cmocka_unit_test(the_order_of_a_step_is_that_of_the_method),
      cmocka_unit_test(the_order_is_kept_at_corners_within_steps),
      cmocka_unit_test(three_cycles_are_the_cube_of_one),
      cmocka_unit_test(the_record_has_a_row_for_every_so_many_steps),
      cmocka_unit_test(rows_hold_shape_velocity_and_cost),
      cmocka_unit_test(a_run_goes_on_from_a_checkpoint_to_the_same_bytes),
      cmocka_unit_test(a_backward_gait_takes_it_back),
      cmocka_unit_test(a_momentum_that_is_conserved_stays_zero),
      cmocka_unit_test(a_singular_shape_ends_the_run_with_time_step_and_shape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
