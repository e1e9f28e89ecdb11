/* Tests that the state of a body above a floor determines its next step. Failures leave the state unchanged, and a copy
 * of the state continues bit for bit. */
#include "floor_bodies.h"

static void failures_leave_the_state_untouched(void **unused) {
  drop *d = ball(0.5, CB_SE3_CAYLEY);
  static const double rest[6];
  cb_rigid_state s, before;
  check_ok(cb_rigid_start(&d->p, 0, &upright, rest, &s));
  for (int n = 0; n < 38; n++) check_ok(drop_try(d, 0.01, &s));
  before = s;
  const int steps = d->steps;
  check_ok(drop_try(d, 0.01, &s));
  const int needed = d->steps - steps, hits = d->hits;
  const cb_rigid_state after = s;
  assert_int_equal(hits, 1);
  for (int k = 1; k <= needed; k++) { /* trial k of this step fails */
    s = before;
    d->fail_at = d->steps + k;
    assert_int_equal(drop_try(d, 0.01, &s), CB_STEP_DOMAIN);
    assert_memory_equal(&s, &before, sizeof s);
    assert_int_equal(d->hits, hits); /* no impact is reported */
  }
  d->fail_at = 0;
  check_ok(drop_try(d, 0.01, &s));
  assert_memory_equal(&s, &after, sizeof s);
  for (int k = 0; k < 3; k++) {
    s = before;
    assert_int_equal(drop_try(d, (double[]){0, -0.01, NAN}[k], &s), CB_ERROR_ARGUMENT);
    assert_memory_equal(&s, &before, sizeof s);
  }
  d->x[3][0] = NAN;
  assert_int_equal(drop_try(d, 0.01, &s), CB_STEP_NOT_FINITE);
  assert_memory_equal(&s, &before, sizeof s);
  drop_free(d);
}

/* A copy of the state with other work arrays continues bit for bit. */
static void a_copy_continues_with_the_same_bits(void **unused) {
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  const body b = tumbling_body();
  const cb_pose g = unit_pose(tilted);
  drop *d = drop_create(&b, 0.5, 8, (const double(*)[3])x, CB_SE3_CAYLEY);
  cb_rigid_state s, copy;
  check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
  s.g.x[2] = 2;
  for (int n = 0; n < 150; n++) check_ok(drop_try(d, 0.01, &s));
  copy = s;
  for (int n = 0; n < 150; n++) check_ok(drop_try(d, 0.01, &s));
  drop *other = drop_create(&b, 0.5, 8, (const double(*)[3])x, CB_SE3_CAYLEY);
  for (int n = 0; n < 150; n++) check_ok(drop_try(other, 0.01, &copy));
  assert_memory_equal(&s, &copy, sizeof s);
  drop_free(d);
  drop_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(failures_leave_the_state_untouched),
      cmocka_unit_test(a_copy_continues_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
