/* Tests of a million steps h = 0.05 of a tumbling body with a full inertia matrix and without forces. The momentum in
 * the world is constant to 1e-12. The momentum at the end of each step equals node_momentum (rigid.h) up to round-off.
 * The energy does not drift, and the quaternion has length 1. */
#include "rigid.h"

enum { STEPS = 1000000, TENTH = STEPS / 10 };

static void run(int map) {
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  const double h = 0.05;
  cb_rigid_state s;
  double first[6], now[6], node[6], drift = 0, formula = 0, norm = 0;
  double low[10], high[10];
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
  world_momentum(&s, first);
  for (int n = 0; n < STEPS; n++) {
    step_by(&p, map, h, &s);
    const double energy = middle_energy(&s);
    const int tenth = n / TENTH;
    low[tenth] = n % TENTH ? fmin(low[tenth], energy) : energy;
    high[tenth] = n % TENTH ? fmax(high[tenth], energy) : energy;
    if (n % 16) continue;
    world_momentum(&s, now);
    node_momentum((cb_se3_map)map, h, &s, node);
    double q = 0;
    for (int i = 0; i < 4; i++) q += s.g.q[i] * s.g.q[i];
    norm = fmax(norm, fabs(q - 1));
    for (int i = 0; i < 6; i++) {
      drift = fmax(drift, fabs(now[i] - first[i]));
      formula = fmax(formula, fabs(node[i] - s.world[i]));
    }
  }
  double lowest = low[0], highest = high[0];
  for (int i = 1; i < 10; i++) {
    lowest = fmin(lowest, low[i]);
    highest = fmax(highest, high[i]);
  }
  print_message(
      "  map %d: momentum %.1e, formula %.1e, |q|^2 - 1 %.1e, energy in [%.7f, %.7f], first tenth "
      "[%.7f, %.7f], last [%.7f, %.7f], %.0f away\n",
      map, drift, formula, norm, lowest, highest, low[0], high[0], low[9], high[9],
      hypot(hypot(s.g.x[0], s.g.x[1]), s.g.x[2]));
  check_at_most(drift, 1e-12);
  check_at_most(formula, 1e-13);
  check_at_most(norm, 1e-15);
  /* The energy stays within 1.2 times the range that it has in the first tenth. A drift of 1e-9 per step would leave
   * this range. */
  check_at_most(highest - lowest, 1.2 * (high[0] - low[0]));
}

static void cayley_keeps_momentum_over_a_million_steps(void **unused) { run(CB_SE3_CAYLEY); }

static void exponential_keeps_momentum_over_a_million_steps(void **unused) { run(CB_SE3_EXPONENTIAL); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cayley_keeps_momentum_over_a_million_steps),
      cmocka_unit_test(exponential_keeps_momentum_over_a_million_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
