/* labels: release
 * Tests that steps above a reflecting floor allocate no memory after the first step, which makes the work arrays: in
 * flight, in bounces, at rest, and if a step fails. */
#include "count_allocations.h"
#include "floor_drop.h"

static void no_step_allocates(void **unused) {
  static const double foot[3][3] = {{0.1, 0, -0.25}, {-0.05, 0.1, -0.25}, {-0.06, -0.09, -0.25}};
  static const cb_pose above = {{1, 0, 0, 0}, {0, 0, 1}};
  static const double rest[6];
  const body b = drop_body(0.02, 0.02, 0.02);
  drop *d = drop_create(&b, 0.5, 3, foot, CB_SE3_CAYLEY);
  for (int run = 0; run < 2; run++) { /* only the second run is counted, because the first step allocates */
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &above, rest, &s));
    if (run) count_from_here();
    for (int n = 0; n < 200; n++) {
      if (drop_try(d, 0.01, &s)) break;
      if (n % 10 == 9) {
        d->fail_at = d->steps + 1;
        drop_try(d, 0.01, &s);
        d->fail_at = 0;
      }
    }
    if (run) assert_int_equal(count_so_far(), 0);
    check_near(s.g.x[2], 0.25, 1e-14);
  }
  assert_true(d->hits > 30);
  drop_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_counter_counts), cmocka_unit_test(no_step_allocates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
