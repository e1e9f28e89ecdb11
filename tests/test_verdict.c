/* What is said of gaits that were not searched for.
 * labels: medium */
#include "check.h"
#include "gaits.h"
#include "optimum/verdict.h"

static cb_bundle *bundle(const char *name) {
  cb_bundle *b;
  check_ok(cb_bundle_create(name, NULL, &b));
  return b;
}

/* The cost at the same target is the least that a search finds; a step saves less than all of what is to be had. */
static void a_circle_is_not_optimal_for_purcell(void **state) {
  (void)state;
  cb_bundle *b = bundle("purcell");
  cb_gait *gait = circle(0, 0, .6);
  cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_MOVE}};
  cb_verdict v;
  cb_optima *o;
  check_ok(cb_verdict_of(&p, gait, &v));
  assert_false(v.stationary);
  check_at_least(v.slope, .1);
  check_near(v.amount, hypot(v.g[0], v.g[1]), 1e-12);
  p.target.value = v.amount;
  p.start = gait;
  check_ok(cb_optimum_find(&p, &o));
  const double least = o->item[0].cost;
  check_at_least(v.gain, 1e-3);
  check_at_most(v.gain, (v.cost - least) / v.cost);
  check_ok(cb_verdict_of(&p, o->item[0].gait, &v));
  assert_true(v.stationary);
  check_at_most(v.slope, 1e-8);
  check_at_most(v.gain, 1e-12);
  check_relative(v.wong, least, 1e-10);
  assert_int_equal(v.index, 0);
  cb_optima_free(o);
  cb_gait_free(gait);
  cb_bundle_free(b);
}

/* Circles through a base lift to their area; with other areas of one sign they are the only minima, and twice round is
 * a saddle: its first conjugate time is half of it. */
static void a_circle_twice_round_is_a_saddle(void **state) {
  (void)state;
  cb_bundle *b = bundle("heisenberg");
  const double base[2] = {.7, 0}, mean[2] = {.2, 0};
  cb_verdict v;
  for (int turns = 1; turns <= 2; turns++) {
    const double cosine[4] = {turns == 1 ? .5 : 0, 0, turns == 2 ? .5 : 0, 0};
    const double sine[4] = {0, turns == 1 ? .5 : 0, 0, turns == 2 ? .5 : 0};
    cb_gait *gait;
    check_ok(cb_gait_fourier(2, 2, mean, cosine, sine, &gait));
    const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}, .base = base};
    check_ok(cb_verdict_of(&p, gait, &v));
    assert_true(v.stationary);
    assert_int_equal(v.flat > 0, 1); /* turned about its base it is another */
    assert_int_equal(v.index > 0, turns == 2);
    check_relative(v.cost, 4 * M_PI * fabs(v.g[0]) * turns, 1e-12);
    cb_gait_free(gait);
  }
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_circle_is_not_optimal_for_purcell),
                                     cmocka_unit_test(a_circle_twice_round_is_a_saddle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
