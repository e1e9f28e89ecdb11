/* Tests of Newton's method in the steps on SE(3). Its matrix is exact for stiff springs and large rotations. With soft
 * forces the step is the same without the derivative by the pose. The numbers of residuals and matrices per step are
 * small. */
#include "rigid.h"

/* The spring is so stiff that the pose could not be found by fixed-point iteration. With the exact matrix Newton's
 * method needs at most 9 iterations. Without the derivative by the pose the step fails. */
static void newton_is_exact_for_a_stiff_spring(void **unused) {
  body b = driven_body();
  b.spring = 1e5;
  cb_rigid_problem p = problem_of(&b);
  for (int map = 0; map < 3; map++) {
    cb_rigid_state s;
    int most = 0, count;
    check_ok(cb_rigid_start(&p, 0, &(cb_pose){{1, 0, 0, 0}, {-.4, .3, -.59}}, generic_twist, &s));
    for (int n = 0; n < 100; n++) {
      check_ok(cb_rigid_step_pontryagin(&p, (cb_se3_map)map, 0.05, &s, &count));
      most = count > most ? count : most;
    }
    print_message("  map %d: at most %d iterations\n", map, most);
    check_at_most(most, 9);
  }
  cb_rigid_state s, kept;
  p.pose_derivative = NULL;
  check_ok(cb_rigid_start(&p, 0, &(cb_pose){{1, 0, 0, 0}, {-.4, .3, -.59}}, generic_twist, &s));
  kept = s;
  assert_true(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 0.05, &s, NULL) > 0);
  assert_memory_equal(&s, &kept, sizeof s);
}

/* The convergence is quadratic also for rotations by more than a radian per step and for forces that depend on all
 * variables. */
static void newton_is_exact_for_large_turns(void **unused) {
  uint64_t seed = check_seed();
  body b = driven_body();
  b.spring = 30;
  const cb_rigid_problem p = problem_of(&b);
  for (int map = 0; map < 3; map++) {
    int most = 0, total = 0;
    for (int n = 0; n < 200; n++) {
      double Y[6];
      int count;
      cb_rigid_state s;
      for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -3, 3);
      check_ok(cb_rigid_start(&p, 0, &generic_pose, Y, &s));
      check_ok(cb_rigid_step_pontryagin(&p, (cb_se3_map)map, 0.3, &s, &count));
      most = count > most ? count : most;
      total += count;
    }
    print_message("  map %d: %.2f iterations, at most %d\n", map, total / 200.0, most);
    check_at_most(most, 8);
  }
}

static void few_iterations_and_the_same_step_without_the_pose_derivative(void **unused) {
  body b = driven_body();
  cb_rigid_problem p = problem_of(&b), q = p;
  q.pose_derivative = NULL;
  cb_rigid_state s, other;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
  other = s;
  for (int n = 0; n < 200; n++) {
    int exact, quasi;
    check_ok(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 0.02, &s, &exact));
    check_ok(cb_rigid_step_pontryagin(&q, CB_SE3_CAYLEY, 0.02, &other, &quasi));
    check_at_most(exact, 4);
    check_at_most(state_distance(&s, &other), 1e-12);
  }
}

static int residuals, matrices;
static cb_status counted(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  residuals++;
  matrices += dF != NULL;
  return body_wrench(self, t, g, Y, F, dF);
}

static int residuals_of(double h, bool guess, bool exact, cb_rigid_state *s) {
  body b = driven_body();
  cb_rigid_problem p = problem_of(&b);
  p.wrench = counted;
  p.exact = exact;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, s));
  residuals = matrices = 0;
  for (int n = 0; n < 1000; n++) {
    if (!guess) s->known = 0;
    step_by(&p, CB_SE3_CAYLEY, h, s);
  }
  assert_in_range(matrices, 1000, 1003);
  step_by(&p, CB_SE3_CAYLEY, h / 2, s);
  check_near(s->known, 1, 0); /* after a step of another length, earlier twists are not used */
  return residuals;
}

static void smooth_motion_takes_one_matrix_and_two_residuals_a_step(void **unused) {
  cb_rigid_state with, without;
  const int guessed = residuals_of(0.005, true, false, &with), not = residuals_of(0.005, false, false, &without);
  print_message("  %.2f residuals a step, %.2f without the guess\n", guessed / 1000., not / 1000.);
  check_at_most(guessed, 2100);
  check_at_least(not, 1.2 * guessed);
  check_at_most(state_distance(&with, &without), 1e-12);
}

static void exact_derivatives_save_the_second_residual(void **unused) {
  cb_rigid_state two, one;
  const int twice = residuals_of(0.005, true, false, &two), once = residuals_of(0.005, true, true, &one);
  print_message("  %.2f residuals a step, %.2f with exact derivatives\n", twice / 1000., once / 1000.);
  check_at_most(once, 1100);
  check_at_most(state_distance(&one, &two), 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(newton_is_exact_for_a_stiff_spring),
      cmocka_unit_test(newton_is_exact_for_large_turns),
      cmocka_unit_test(few_iterations_and_the_same_step_without_the_pose_derivative),
      cmocka_unit_test(smooth_motion_takes_one_matrix_and_two_residuals_a_step),
      cmocka_unit_test(exact_derivatives_save_the_second_residual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
