/* Tests of the orders of the steps on SE(3), compared with rkmk4 with small steps. The order is 2 for
 * Hamilton-Pontryagin with each map, and 4 for rkmk4, with and without forces. A further test is of an inertia that is
 * declared constant. */
#include "rigid.h"

static void second_order_and_rkmk4_fourth_without_forces(void **unused) {
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  const cb_rigid_state exact = run_by(&p, RKMK4, &generic_pose, generic_twist, 4, 8000);
  for (int map = 0; map < 3; map++) check_near(order_of(&p, map, &exact, generic_twist, 4, 80, 5), 2, 0.05);
  check_near(order_of(&p, RKMK4, &exact, generic_twist, 4, 40, 4), 4, 0.15);
}

static void second_order_and_rkmk4_fourth_with_forces_and_a_moving_shape(void **unused) {
  body b = driven_body();
  const cb_rigid_problem p = problem_of(&b);
  static const double rest[6];
  const cb_rigid_state exact = run_by(&p, RKMK4, &generic_pose, generic_twist, 3, 12000);
  const cb_rigid_state released = run_by(&p, RKMK4, &generic_pose, rest, 3, 12000);
  for (int map = 0; map < 3; map++) {
    check_near(order_of(&p, map, &exact, generic_twist, 3, 100, 5), 2, 0.05);
    check_near(order_of(&p, map, &released, rest, 3, 100, 5), 2, 0.05);
  }
  check_near(order_of(&p, RKMK4, &exact, generic_twist, 3, 60, 4), 4, 0.2);
}

/* The twist at the end of a step, K^-1 (p - mu0) with the inertia K, the momentum p and the momentum mu0 of the shape,
 * is also of second order. */
static void twist_at_a_node_is_second_order(void **unused) {
  body b = driven_body();
  const cb_rigid_problem p = problem_of(&b);
  const cb_rigid_state exact = run_by(&p, RKMK4, &generic_pose, generic_twist, 2, 8000);
  double error[4];
  for (int i = 0; i < 4; i++) {
    const cb_rigid_state s = run_by(&p, CB_SE3_CAYLEY, &generic_pose, generic_twist, 2, 100 << i);
    double Y[6];
    check_ok(cb_rigid_twist(&p, &s, Y));
    error[i] = 0;
    for (int k = 0; k < 6; k++) error[i] = fmax(error[i], fabs(Y[k] - exact.Y[k]));
  }
  check_near(fitted_order(error, 4), 2, 0.05);
}

/* With every integrator, an inertia that is declared constant gives the same result as an inertia that is evaluated at
 * each step. A singular inertia is rejected. */
static void a_constant_inertia_may_be_told(void **unused) {
  body b = driven_body();
  memset(b.K1, 0, sizeof b.K1);
  memset(b.shape, 0, sizeof b.shape);
  cb_rigid_constant constant;
  cb_rigid_problem asked = problem_of(&b), told = asked;
  check_ok(cb_rigid_constant_of((const double(*)[6])b.K0, b.shape, &constant));
  told.constant = &constant;
  for (int method = 0; method <= RKMK4; method++) {
    const cb_rigid_state s = run_by(&asked, method, &generic_pose, generic_twist, 2, 400),
                         t = run_by(&told, method, &generic_pose, generic_twist, 2, 400);
    check_near(state_distance(&s, &t), 0, 1e-12); /* round-off of 400 steps */
  }
  memset(b.K0[5], 0, sizeof b.K0[5]);
  assert_int_equal(cb_rigid_constant_of((const double(*)[6])b.K0, b.shape, &constant), CB_STEP_SINGULAR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(second_order_and_rkmk4_fourth_without_forces),
      cmocka_unit_test(second_order_and_rkmk4_fourth_with_forces_and_a_moving_shape),
      cmocka_unit_test(twist_at_a_node_is_second_order),
      cmocka_unit_test(a_constant_inertia_may_be_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
