/* Tests that the reason is reported if no gait reaches the target, and that gaits at the boundary of the reachable
 * targets are found. */
#include "models.h"
#include "optimum/find.h"
#include <curvebody/scenario.h>

static void refused(const cb_bundle *b, cb_gait_target target, const double *start_shape, const char *why) {
  const cb_optimum_problem p = {.bundle = b, .target = target, .start_shape = start_shape, .starts = 24, .seed = 1};
  cb_optima *o;
  assert_int_equal(cb_optimum_find(&p, &o), CB_STEP_NO_CONVERGENCE);
  if (!strstr(cb_error_text(), why)) {
    print_error("\"%s\" does not say \"%s\"\n", cb_error_text(), why);
    fail();
  }
}

static cb_gait_target move(double X) { return (cb_gait_target){.kind = CB_GAIT_MOVE, .value = X}; }

static void without_curvature_nothing_is_done(void **state) {
  const double start_shape[2] = {.65, .8};
  cb_bundle *b = model("constant_curvature_swimmer", "space E2");
  refused(b, move(.01), NULL, "the curvature is zero");
  refused(b, move(.01), start_shape, "the curvature is zero");
  cb_bundle_free(b);
  b = model("purcell", "links 2");
  refused(b, move(.01), NULL, "with one shape variable every cycle has zero holonomy");
  cb_bundle_free(b);
}

/* A floating snake rotates around its centre of mass, which does not move. At the shape 0 the centre of mass is the
 * middle of the middle link, so small loops there only rotate the snake: (0, 0, 1). */
static void other_directions_than_the_curvature_spans_are_named(void **state) {
  cb_bundle *b = model("floating_snake", "");
  refused(b, move(.01), NULL, "a move without a turn is outside");
  refused(b, (cb_gait_target){.kind = CB_GAIT_ELEMENT, .element = {0, .1, 0}}, NULL, "v_y is outside");
  const double mean[2] = {-.4, 0}, cosine[2] = {.4, 0}, sine[2] = {0, .3};
  double h[CB_GROUP_DIM * CB_GROUP_DIM];
  int dim;
  cb_gait *loop;
  check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &loop));
  check_ok(cb_holonomy_algebra(b, loop, &dim, h));
  assert_int_equal(dim, 1);
  check_near(h[0], 0, 1e-9);
  check_near(h[1], 0, 1e-9);
  check_near(fabs(h[2]), 1, 1e-9);
  cb_bundle_free(b);
  b = model("purcell", "");
  check_ok(cb_holonomy_algebra(b, loop, &dim, h));
  assert_int_equal(dim, 3);
  cb_bundle_free(b);
  cb_gait_free(loop);
}

/* The cost of the snake on wheels decreases towards its singular shape, where the axes of all wheels are parallel. The
 * cost of PMPY decreases towards small distances l, where the model is not valid. */
static void a_cost_without_a_least_is_told(void **state) {
  cb_bundle *b = model("kinematic_snake", "");
  refused(b, move(.1), NULL, "no minimum of the cost was found: it still decreases towards the shape alpha1 = ");
  cb_bundle_free(b);
  b = model("pmpy", "");
  refused(b, move(.1), NULL, "no minimum of the cost was found: it still decreases towards the shape l = ");
  assert_non_null(strstr(cb_error_text(), "give a start shape or bounds"));
  cb_bundle_free(b);
}

/* Half a turn of a ball has two logarithms. A circle of radius rho makes this turn if pi = 2 pi (sqrt(1 + rho^2) - 1),
 * at the cost E = (2 pi rho)^2. */
static void half_a_turn_is_reached(void **state) {
  cb_bundle *b = model("rolling_ball", "");
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = M_PI}, .starts = 6, .seed = 1};
  cb_optima *o;
  check_ok(cb_optimum_find(&p, &o));
  check_relative(o->item[0].cost, 5 * M_PI * M_PI, 1e-12);
  cb_optima_free(o);
  cb_bundle_free(b);
}

/* The curvature B = 1 - |r|^2 is 0 on the unit circle in the plane of the shapes r = (x, y). Of all nearby loops the
 * circle has the maximum turn, int B dx dy = pi/2. At this maximum the first variation of the turn is 0, so the circle
 * is an extremal for every cost. */
static cb_status near_the_unit_circle(const char *turn, cb_optima **o, cb_scenario **s) {
  static const char text[] =
      "curvebody: 1\n"
      "bundle: {name: expressions, group: so2, shape: [x, y], M: [[1], [0, 1]],\n"
      "  A: [[\"-y*(1/2 - (x^2 + y^2)/4)\", \"x*(1/2 - (x^2 + y^2)/4)\"]]}\n"
      "gait: {fourier: {mean: [0, 0], cosine: [[1.02, 0]], sine: [[0, -.97]]}}\n"
      "optimum: {target: {turn: 1}, starts: 0}\n";
  char path[] = "/tmp/circle-XXXXXX", set[64];
  const char *sets[] = {set};
  FILE *f = fdopen(mkstemp(path), "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  snprintf(set, sizeof set, "optimum.target.turn=%s", turn);
  check_ok(cb_scenario_open_bundle(path, sets, 1, s));
  remove(path);
  return cb_optimum_find(cb_scenario_optimum(*s), o);
}

static void an_abnormal_extremal_is_named_and_beyond_it_the_most_is_told(void **state) {
  cb_scenario *s;
  cb_optima *o;
  check_ok(near_the_unit_circle("pi/2", &o, &s));
  assert_true(o->item[0].abnormal);
  /* The error of the cost is the square root of the tolerance to which the search satisfies the target. */
  check_relative(o->item[0].cost, 4 * M_PI * M_PI, 1e-7);
  cb_optima_free(o);
  cb_scenario_free(s);
  check_ok(near_the_unit_circle("1.57", &o, &s));
  assert_false(o->item[0].abnormal);
  check_at_most(o->item[0].cost, 4 * M_PI * M_PI);
  cb_optima_free(o);
  cb_scenario_free(s);
  assert_int_equal(near_the_unit_circle("1.6", &o, &s), CB_STEP_NO_CONVERGENCE);
  assert_non_null(
      strstr(cb_error_text(), "they stopped at gaits that reach at most 1.57079633, which is not a proven bound"));
  cb_scenario_free(s);
}

/* Purcell's swimmer has bounds for its shape. A search from the given loop fails while the amount of the loop is above
 * that of the target. */
static void a_start_that_is_stuck_beyond_the_target_does_not_say_that_it_falls_short(void **state) {
  static const double lower[2] = {.2, .2}, upper[2] = {2, 2}, mean[2] = {1.1, 1.1}, cosine[2] = {.6, 0},
                      sine[2] = {0, .6};
  cb_bundle *b = model("purcell", "links 3");
  cb_optima *o;
  cb_gait *loop;
  check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &loop));
  const cb_optimum_problem p = {
      .bundle = b, .target = move(.01), .start = loop, .lower = lower, .upper = upper, .starts = 0};
  if (cb_optimum_find(&p, &o)) {
    assert_null(strstr(cb_error_text(), "they stopped at"));
    assert_non_null(strstr(cb_error_text(), "no gait was found that reaches the target, from 1 start: "));
  } else
    cb_optima_free(o);
  cb_gait_free(loop);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_curvature_nothing_is_done),
      cmocka_unit_test(other_directions_than_the_curvature_spans_are_named),
      cmocka_unit_test(a_cost_without_a_least_is_told),
      cmocka_unit_test(half_a_turn_is_reached),
      cmocka_unit_test(an_abnormal_extremal_is_named_and_beyond_it_the_most_is_told),
      cmocka_unit_test(a_start_that_is_stuck_beyond_the_target_does_not_say_that_it_falls_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
