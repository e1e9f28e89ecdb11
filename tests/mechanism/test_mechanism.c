/* Tests of joined bodies against independent equations of motion. The expected numbers have the digits on which two
 * tolerances and two formulations agree. */
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
  coarse = run_double_pendulum(.01, 2);
  fine = run_double_pendulum(.005, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  coarse = run_double_pendulum(.01, 4);
  fine = run_double_pendulum(.005, 4);
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
  /* n_i is the vector along bar i, rotated by a right angle. The chain is closed, so the angular velocities w_i of the
   * bars satisfy sum_i w_i n_i = 0. */
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
    /* The expected rates have only nine decimals. */
    error = fmax(error, .1 * fabs(cb_mechanism_rates(s.mechanism)[i] - right[3 + i]));
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

/* --- a long chain --- */

/* A chain of hinges about different axes that begins to fall. dead: its weights are declared as constant forces. */
static void start_long_chain(joined *s, bool dead) {
  for (int i = 0; i < JOINED_BODIES; i++) {
    const double axis[3] = {.2 + .1 * (i % 4), .9, .3 * (i % 2)}, q = .1 * i, rate = 0;
    joined_add(s, (double[]){.30, .12 + .01 * (i % 3), .08}, 1000, 0, -9.81);
    s->body[i].problem.dead_load = dead;
    const cb_joint *j =
        joined_hold(s, "hinge", i - 1, (double[]){i ? .32 : 0, 0, 0}, axis, i, (double[]){-.32, 0, .01}, axis);
    joined_place(s, j, &q, &rate, 0);
  }
  joined_start(s, NULL);
}

/* The chain has 40 links of .64 m. The round-off of its positions, divided by the step of 1 ms, is 1e-13 m/s. In the
 * first steps this is more than 1e-15 of the small speeds. The iterations must end nevertheless, with closed joints.
 * After 30 steps the extrapolation is so good that one iteration is enough. */
static void long_chains_take_few_iterations(void **unused) {
  static joined s;
  (void)unused;
  int iterations = 0, failed;
  start_long_chain(&s, true);
  for (int i = 0; i < 30; i++) {
    for (int b = 0; b < s.n; b++) s.state[b].t = s.t;
    const cb_mechanism_step step = {CB_SE3_CAYLEY, false, s.t, 1e-3};
    check_ok(cb_mechanism_drift(s.mechanism, &s.bodies, &step, &failed, &iterations));
    s.t += 1e-3;
    check_ok(cb_mechanism_settle(s.mechanism, &s.bodies, s.t, &failed));
    check_at_most(iterations, 4);
  }
  assert_int_equal(iterations, 1);
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies);
  for (int i = 0; i < s.joints; i++) check_at_most(gap[i], 2e-15);
  cb_mechanism_free(s.mechanism);
}

/* The derivative of a weight may be left out, because it does not change Newton's matrix. The positions of the bodies,
 * up to 25 m away, are then the same up to round-off. */
static void a_weight_needs_no_derivative(void **unused) {
  static joined a, b;
  (void)unused;
  start_long_chain(&a, true);
  start_long_chain(&b, false);
  for (int i = 0; i < 20; i++) {
    check_ok(joined_step(&a, 5e-3, 2));
    check_ok(joined_step(&b, 5e-3, 2));
  }
  for (int i = 0; i < a.n; i++)
    for (int k = 0; k < 3; k++) check_near(a.state[i].g.x[k], b.state[i].g.x[k], 1e-12);
  cb_mechanism_free(a.mechanism);
  cb_mechanism_free(b.mechanism);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_loop_moves_as_the_equations_of_motion_say),
                                     cmocka_unit_test(skew_hinges_fall_as_the_equations_of_motion_say),
                                     cmocka_unit_test(balls_with_springs_move_as_the_equations_of_motion_say),
                                     cmocka_unit_test(driven_and_damped_hinges_move_as_the_equations_of_motion_say),
                                     cmocka_unit_test(long_chains_take_few_iterations),
                                     cmocka_unit_test(a_weight_needs_no_derivative)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
