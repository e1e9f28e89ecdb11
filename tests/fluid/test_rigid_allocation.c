/* labels: release
 * A step on SE(3) allocates nothing: every call of the allocator is counted while bodies step and fail to step. */
#include "count_allocations.h"
#include "rigid.h"

static void no_step_allocates(void **unused) {
  (void)unused;
  body b = driven_body();
  const cb_rigid_problem p = problem_of(&b);
  for (int method = 0; method < 4; method++) {
    cb_rigid_state s;
    check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
    count_from_here();
    for (int n = 0; n < 100; n++) {
      if (method == RKMK4)
        cb_rigid_step_rkmk4(&p, n % 4 == 3 ? NAN : 0.02, &s);
      else
        cb_rigid_step_pontryagin(&p, (cb_se3_map)method, n % 4 == 3 ? 1e9 : 0.02, &s, NULL);
    }
    assert_int_equal(count_so_far(), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_counter_counts), cmocka_unit_test(no_step_allocates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
