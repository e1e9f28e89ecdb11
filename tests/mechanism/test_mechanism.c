/* Joined bodies against independent equations of motion, solved to the digits of two tolerances and two formulations. */
#include "joined_oracles.h"

static double run_double_pendulum(double h, int order) {
  joined s;
  start_double_pendulum(&s);
  for (int i = 0; i < (int)lround(1 / h); i++) check_ok(joined_step(&s, h, order));
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies), error = double_pendulum_error(&s);
  check_at_most(fmax(gap[0], gap[1]), 1e-14);
  cb_mechanism_free(s.mechanism);
  return error;
}

static void skew_hinges_fall_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  double coarse, fine;
  coarse = run_double_pendulum(.01, 2), fine = run_double_pendulum(.005, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  coarse = run_double_pendulum(.01, 4), fine = run_double_pendulum(.005, 4);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 4, .1);
  check_at_most(run_double_pendulum(1. / 4000, 4), 1e-10);
}

static double run_chain_of_balls(double h, int order) {
  joined s;
  double momentum[6], before[6], potential, kinetic;
  start_chain_of_balls(&s);
  static const double right[6] = {.1078034622998,  -.0584873866363, .0967359958532,
                                  -.0101778142619, .1058043646642,  .0698742558211};
  total_momentum(&s, before);
  for (int i = 0; i < 6; i++) check_near(before[i], right[i], 2e-13);
  cb_mechanism_energies(s.mechanism, &potential, &kinetic);
  check_near(kinetic_energy(&s), .0618097275646, 1e-12);
  check_near(potential, .0745, 1e-15);
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  const double error = chain_of_balls_error(&s);
  total_momentum(&s, momentum);
  for (int i = 0; i < 6; i++) check_near(momentum[i], before[i], 1e-15);
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies);
  for (int i = 0; i < s.joints; i++) check_at_most(gap[i], 1e-15);
  cb_mechanism_free(s.mechanism);
  return error;
}

static void balls_with_springs_move_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  const double coarse = run_chain_of_balls(.02, 2), fine = run_chain_of_balls(.01, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  const double coarse4 = run_chain_of_balls(.02, 4), fine4 = run_chain_of_balls(.01, 4);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse4, fine4, log2(coarse4 / fine4));
  check_near(log2(coarse4 / fine4), 4, .1);
  check_at_most(run_chain_of_balls(1. / 1600, 4), 1e-9);
}

/* --- an acrobot under water --- */

static double run_acrobot(double h, int order) {
  joined s;
  start_acrobot(&s);
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  const double error = acrobot_error(&s);
  cb_mechanism_free(s.mechanism);
  return error;
}

static void driven_and_damped_hinges_move_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  const double coarse = run_acrobot(.01, 2), fine = run_acrobot(.005, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  const double coarse4 = run_acrobot(.01, 4), fine4 = run_acrobot(.005, 4);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse4, fine4, log2(coarse4 / fine4));
  check_near(log2(coarse4 / fine4), 4, .1);
  check_at_most(run_acrobot(1. / 1000, 4), 1e-10);
}

/* --- a four-bar linkage in water, closed by a hinge --- */

static double run_four_bar(double h, int order) {
  static const double length[] = {.4, .9, .7}, axis[3] = {0, -1, 0}, start[] = {.9, -.459371301925, -2.101086990839},
                      right[] = {2.666403104151, -2.327008707854, -1.100148089463,
                                 3.035394496,    -2.609005372,    .989283666};
  joined s = {.t = 0};
  double n[3][2], angle = 0;
  for (int i = 0; i < 3; i++) {
    joined_add(&s, (double[]){length[i] / 2, .04, .03}, 1400, 1000, -9.81);
    joined_hold(&s, "hinge", i - 1, (double[]){i ? length[i - 1] / 2 : 0, 0, 0}, axis, i,
                (double[]){-length[i] / 2, 0, 0}, axis);
    angle += start[i];
    n[i][0] = -length[i] * sin(angle);
    n[i][1] = length[i] * cos(angle);
  }
  joined_hold(&s, "hinge", 2, (double[]){.35, 0, 0}, axis, -1, (double[]){1, 0, 0}, axis);
  /* the angular velocities w of the bars: sum_i w_i n_i = 0 */
  const double det = n[1][0] * n[2][1] - n[1][1] * n[2][0], a = -2 * n[0][0], b = -2 * n[0][1],
               w[] = {2, (a * n[2][1] - b * n[2][0]) / det, (n[1][0] * b - n[1][1] * a) / det};
  for (int i = 0; i < 3; i++) {
    const double rate = i ? w[i] - w[i - 1] : w[0];
    joined_place(&s, &s.joint[i], &start[i], &rate, 0);
  }
  joined_start(&s, NULL);
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  double error = 0;
  for (int i = 0; i < 3; i++) {
    error = fmax(error, fabs(cb_mechanism_q(s.mechanism)[i] - right[i]));
    error = fmax(error, .1 * fabs(cb_mechanism_rates(s.mechanism)[i] - right[3 + i])); /* given to nine decimals */
  }
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies);
  for (int i = 0; i < s.joints; i++) check_at_most(gap[i], 1e-14);
  cb_mechanism_free(s.mechanism);
  return error;
}

static void closed_loop_moves_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  const double coarse = run_four_bar(.005, 2), fine = run_four_bar(.0025, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  const double coarse4 = run_four_bar(.01, 4), fine4 = run_four_bar(.005, 4);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse4, fine4, log2(coarse4 / fine4));
  check_near(log2(coarse4 / fine4), 4, .1);
  print_message("%.3g\n", run_four_bar(1. / 1000, 4));
  check_at_most(run_four_bar(1. / 1000, 4), 1e-10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_loop_moves_as_the_equations_of_motion_say),
                                     cmocka_unit_test(skew_hinges_fall_as_the_equations_of_motion_say),
                                     cmocka_unit_test(balls_with_springs_move_as_the_equations_of_motion_say),
                                     cmocka_unit_test(driven_and_damped_hinges_move_as_the_equations_of_motion_say)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
