/* Tests of the key `optimum` of a scenario, which requests an optimal gait. */
#include "check.h"
#include "scenario/bundle_scenario.h"
#include "scenario/private.h"

static const char swimmer[] =
    "curvebody: 1\n"
    "bundle: {name: purcell, links: 4}\n"
    "gait: {polygon: {corners: [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}}\n"
    "integrator: {step: .1}\n"
    "optimum:\n"
    "  target: {turn: -pi/6}\n"
    "  start_shape: [1/2, 0.25, 0.75]\n"
    "  bounds: {alpha3: [-pi/2, ~], alpha1: [~, 2*pi/3]}\n"
    "  no_crossing: true\n"
    "  starts: 7\n"
    "  seed: 11\n";

static cb_scenario *opened(const char *text, const char *const *sets, size_t n) {
  cb_scenario *s = NULL;
  check_ok(cb_scenario_open_text("optimum.yaml", text, sets, n, &s));
  return s;
}

static const cb_optimum_problem *problem_of(const cb_scenario *s) {
  const cb_optimum_scenario *o = cb_bundle_scenario_of(s)->optimum;
  assert_non_null(o);
  return &o->problem;
}

static void check_swimmer(const cb_scenario *s) {
  const cb_optimum_problem *p = problem_of(s);
  const double start_shape[3] = {.5, .25, .75}, lower[3] = {-INFINITY, -INFINITY, -M_PI / 2},
               upper[3] = {2 * M_PI / 3, INFINITY, INFINITY};
  assert_ptr_equal(p->bundle, cb_bundle_scenario_of(s)->bundle);
  assert_ptr_equal(p->start, cb_bundle_scenario_of(s)->gait);
  assert_int_equal(p->target.kind, CB_GAIT_TURN);
  assert_true(p->target.value == -M_PI / 6);
  assert_int_equal(p->objective, CB_OBJECTIVE_COST);
  assert_true(p->no_crossing);
  assert_int_equal(p->starts, 7);
  assert_int_equal(p->seed, 11);
  for (int i = 0; i < 3; i++) {
    assert_true(p->start_shape[i] == start_shape[i]);
    assert_true(p->lower[i] == lower[i]);
    assert_true(p->upper[i] == upper[i]);
  }
}

static void what_is_asked_is_read_and_shown(void **state) {
  cb_scenario *s = opened(swimmer, NULL, 0), *again;
  check_swimmer(s);
  const char *text = cb_scenario_resolved(s);
  assert_non_null(strstr(text, "objective: cost"));
  assert_non_null(strstr(text, "starts: 7"));
  again = opened(text, NULL, 0);
  check_swimmer(again);
  cb_scenario_free(again);
  cb_scenario_free(s);
}

/* Records store their scenario with the names that were valid when they were written. A user's scenario must have the
 * new names. */
static void a_record_may_have_former_names(void **state) {
  static const char text[] =
      "curvebody: 1\n"
      "bundle: {name: purcell, links: 4}\n"
      "gait: {polygon: {corners: [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}}\n"
      "integrator: {step: .1}\n"
      "optimum:\n"
      "  target: {turn: -pi/6}\n"
      "  seek: cost\n"
      "  base: [1/2, 0.25, 0.75]\n"
      "  bounds: {alpha3: [-pi/2, ~], alpha1: [~, 2*pi/3]}\n"
      "  apart: true\n"
      "  starts: 7\n"
      "  seed: 11\n";
  cb_scenario *s = NULL;
  check_error_begins(cb_scenario_open_text("optimum.yaml", text, NULL, 0, &s), CB_ERROR_INPUT,
                     "optimum.yaml:7:3: error: seek was renamed to objective");
  check_ok(cb_scenario_open_record("optimum.h5", text, NULL, 0, &s));
  check_swimmer(s);
  cb_scenario_free(s);
}

static void what_is_not_said_has_its_default(void **state) {
  const char *const sets[] = {"optimum={target: {move: 0.01}}"};
  cb_scenario *s = opened(swimmer, sets, 1);
  const cb_optimum_problem *p = problem_of(s);
  assert_int_equal(p->target.kind, CB_GAIT_MOVE);
  assert_true(p->target.value == .01);
  assert_int_equal(p->objective, CB_OBJECTIVE_COST);
  assert_null(p->start_shape);
  assert_null(p->lower);
  assert_null(p->upper);
  assert_false(p->no_crossing);
  assert_int_equal(p->starts, 24);
  assert_int_equal(p->seed, 1);
  cb_scenario_free(s);
}

static void sets_take_the_place_of_keys(void **state) {
  const char *const sets[] = {"optimum.target={parts: {theta: 0, y: 0.02}}", "optimum.objective=target",
                              "optimum.length=0.5", "optimum.bounds=[-2, 2]", "optimum.starts=0"};
  cb_scenario *s = opened(swimmer, sets, 5);
  const cb_optimum_problem *p = problem_of(s);
  assert_int_equal(p->target.kind, CB_GAIT_PARTS);
  assert_false(p->target.asked[0]);
  assert_true(p->target.asked[1] && p->target.asked[2]);
  assert_true(p->target.element[1] == .02 && p->target.element[2] == 0);
  assert_int_equal(p->objective, CB_OBJECTIVE_TARGET);
  assert_true(p->length == .5);
  assert_int_equal(p->starts, 0);
  for (int i = 0; i < 3; i++) assert_true(p->lower[i] == -2 && p->upper[i] == 2);
  assert_true(p->start_shape[0] == .5);
  cb_scenario_free(s);
}

static void metric_at(const char *metric, double *M) {
  const double r[3] = {.4, .3, -.2};
  double A[9];
  char text[256];
  const char *const sets[] = {"optimum={target: {move: 0.01}}", text};
  snprintf(text, sizeof text, "optimum.%s", metric);
  cb_scenario *s = opened(swimmer, sets, 2);
  check_ok(cb_bundle_connection(problem_of(s)->bundle, r, A, NULL, M, NULL));
  cb_scenario_free(s);
}

/* The metrics at the shape (.4, .3, -.2) agree with the closed form to round-off. */
static void metrics_are_weighed(void **state) {
  double own[9], M[9];
  metric_at("metric=bundle", own);
  metric_at("metric=identity", M);
  for (int k = 0; k < 9; k++) assert_true(M[k] == (k % 4 == 0));
  metric_at("metric=[[2, 0, 0], [0, 1 + alpha1^2, 0], [0, 0, 3]]", M);
  for (int k = 0; k < 9; k++) check_near(M[k], k == 0 ? 2 : k == 4 ? 1.16 : k == 8 ? 3 : 0, 1e-15);
  metric_at("add=[0.5, 0.25, cos(alpha3)]", M);
  for (int k = 0; k < 9; k++) check_near(M[k], own[k] + (k == 0 ? .5 : k == 4 ? .25 : k == 8 ? cos(.2) : 0), 1e-15);
}

/* Quaternions that are rounded in the text are projected back onto the group. */
static void elements_are_of_the_group(void **state) {
  const char *const sets[] = {"bundle={name: rolling_ball}", "gait={polygon: {corners: [[1, 1], [0, 1], [0, 0]]}}",
                              "optimum={target: {element: [0.7071068, 0, 0.7071068, 0]}}"};
  cb_scenario *s = opened(swimmer, sets, 3);
  const cb_optimum_problem *p = problem_of(s);
  assert_int_equal(p->target.kind, CB_GAIT_ELEMENT);
  check_near(p->target.element[0], sqrt(.5), 1e-15);
  check_near(p->target.element[2], sqrt(.5), 1e-15);
  cb_scenario_free(s);
}

/* A gait from a search touches its bounds, up to the tolerance of the search, so such a gait is a valid start. A
 * search ignores a gait that is farther outside. If only the optimality of this gait is tested (starts: 0), it is an
 * error. */
static void a_gait_may_touch_its_bounds(void **state) {
  const char *const touching[] = {"optimum.bounds={alpha1: [1e-8, 1]}"}, *const beyond[] = {
                                                                             "optimum.bounds={alpha1: [1e-3, 1]}",
                                                                             "optimum.starts=0"};
  cb_scenario *s = opened(swimmer, touching, 1);
  assert_non_null(problem_of(s)->start);
  cb_scenario_free(s);
  s = opened(swimmer, beyond, 1);
  assert_null(problem_of(s)->start);
  cb_scenario_free(s);
  s = NULL;
  check_error(cb_scenario_open_text("optimum.yaml", swimmer, beyond, 2, &s), CB_ERROR_INPUT,
              "--set optimum.bounds={alpha1: [1e-3, 1]}:1:25: error: alpha1: expected bounds that contain the gait, "
              "whose value "
              "is 0; found the lower bound 0.001");
}

static void none_is_asked_where_there_is_no_key(void **state) {
  char text[sizeof swimmer];
  strcpy(text, swimmer);
  *strstr(text, "optimum:") = 0;
  cb_scenario *s = opened(text, NULL, 0);
  assert_null(cb_bundle_scenario_of(s)->optimum);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_asked_is_read_and_shown),
      cmocka_unit_test(what_is_not_said_has_its_default),
      cmocka_unit_test(a_record_may_have_former_names),
      cmocka_unit_test(sets_take_the_place_of_keys),
      cmocka_unit_test(metrics_are_weighed),
      cmocka_unit_test(elements_are_of_the_group),
      cmocka_unit_test(a_gait_may_touch_its_bounds),
      cmocka_unit_test(none_is_asked_where_there_is_no_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
