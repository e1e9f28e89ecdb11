/* Trees of joined bodies by rkmk4, in coordinates of joints: against independent equations of motion, and against the
 * variational steps of order 4. */
#include "joined_oracles.h"

static void run_rkmk4(joined *s, double h) {
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) {
    int failed;
    check_ok(cb_mechanism_step_rkmk4(s->mechanism, &s->bodies, s->t, h, &failed));
    s->t = (i + 1) * h;
  }
}

static void check_joints(const joined *s) {
  const double *gap = cb_mechanism_gaps(s->mechanism, &s->bodies);
  for (int j = 0; j < s->joints; j++) check_at_most(gap[j], 1e-15);
}

static double run(void (*start)(joined *s), double (*error)(const joined *s), double h) {
  joined s;
  start(&s);
  run_rkmk4(&s, h);
  check_joints(&s);
  const double out = error(&s);
  cb_mechanism_free(s.mechanism);
  return out;
}

static void check_order_4(void (*start)(joined *s), double (*error)(const joined *s), double h) {
  const double coarse = run(start, error, h), fine = run(start, error, h / 2);
  print_message("%.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 4, .15);
}

static void steps_are_of_order_4(void **unused) {
  (void)unused;
  check_order_4(start_double_pendulum, double_pendulum_error, .005);
  check_order_4(start_chain_of_balls, chain_of_balls_error, .005);
  check_order_4(start_acrobot, acrobot_error, .005);
  const double a = run(start_double_pendulum, double_pendulum_error, 1. / 4000),
               b = run(start_chain_of_balls, chain_of_balls_error, 1. / 800),
               c = run(start_acrobot, acrobot_error, 1. / 1000);
  print_message("%.3g %.3g %.3g\n", a, b, c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_of_order_4)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
