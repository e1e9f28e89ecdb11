/* Tests of properties of steps on SE(3): momenta without forces, a bounded energy, time reversal, the orientation of a
 * glide, and a copied state, which continues bit for bit. (Motions with a known solution: test_rigid_motion.c; long
 * ones: test_rigid_long.c.) */
#include "rigid.h"

static void without_forces_momentum_is_kept_and_energy_is_bounded(void **unused) {
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  const double h = 0.05;
  for (int map = 0; map < 2; map++) {
    cb_rigid_state s;
    double first[6], now[6], node[6], low = INFINITY, high = 0;
    check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
    world_momentum(&s, first);
    for (int n = 0; n < 10000; n++) {
      step_by(&p, map, h, &s);
      world_momentum(&s, now);
      node_momentum((cb_se3_map)map, h, &s, node);
      for (int i = 0; i < 6; i++) {
        check_near(now[i], first[i], 1e-12);
        check_near(node[i], s.world[i], 2e-14);
      }
      low = fmin(low, middle_energy(&s));
      high = fmax(high, middle_energy(&s));
    }
    check_at_most(high - low, 0.01 * high); /* the error is of order 2 in the step and does not drift */
    print_message("  map %d: energy in [%.6f, %.6f], x to %.0f\n", map, low, high, fabs(s.g.x[0]));
  }
}

/* tln conserves the linear momentum, but not the angular momentum. */
static void tln_keeps_the_linear_momentum_only(void **unused) {
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  cb_rigid_state s;
  double first[6], now[6];
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
  world_momentum(&s, first);
  double drift = 0;
  for (int n = 0; n < 1000; n++) {
    step_by(&p, CB_SE3_TLN, 0.05, &s);
    world_momentum(&s, now);
    for (int i = 0; i < 3; i++) {
      check_near(now[3 + i], first[3 + i], 1e-13);
      drift = fmax(drift, fabs(now[i] - first[i]));
    }
  }
  check_at_least(drift, 1e-5);
  check_at_most(drift, 1e-1);
}

/* 100 steps forward and 100 steps with -h return to the start. The drag is 0, because drag is not reversible. */
static void symmetric_in_time(void **unused) {
  body b = driven_body();
  memset(b.drag, 0, sizeof b.drag);
  const cb_rigid_problem p = problem_of(&b);
  for (int map = 0; map < 3; map++) {
    cb_rigid_state first, s;
    check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &first));
    s = first;
    for (int n = 0; n < 100; n++) step_by(&p, map, 0.0625, &s);
    check_at_least(state_distance(&s, &first), 0.1);
    for (int n = 0; n < 100; n++) step_by(&p, map, -0.0625, &s);
    check_at_most(state_distance(&s, &first), 1e-11);
  }
}

/* In a glide without spin Hamilton-Pontryagin does not rotate the body; rkmk4 rotates it by O(h^5) in a step of the
 * length h. */
static void a_glide_without_spin_is_turned_by_rkmk4_only(void **unused) {
  body b = free_body();
  b.weight = 2;
  b.g[2] = -10;
  for (int i = 0; i < 36; i++) b.K0[i / 6][i % 6] = i % 7 ? 0 : i < 21 ? .1 : 2;
  const cb_rigid_problem p = free_problem_of(&b);
  cb_rigid_problem falling = p;
  falling.wrench = body_wrench;
  double turned[4];
  for (int method = 0; method < 4; method++)
    for (int i = 0; i < 4; i++) {
      const double h = .1 / (1 << i);
      cb_rigid_state s;
      check_ok(cb_rigid_start(&falling, 0, &(cb_pose){{1, 0, 0, 0}, {0}}, (double[6]){0, 0, 0, 3, 1, 2}, &s));
      step_by(&falling, method, h, &s);
      turned[i] = 2 * sqrt(cb_dot3(s.g.q + 1, s.g.q + 1));
      if (method == RKMK4) continue;
      check_at_most(turned[i], 1e-16);
      check_near(s.g.x[0], 3 * h, 1e-15);
      check_near(s.g.x[1], h, 1e-15);
      check_near(s.g.x[2], 2 * h - 5 * h * h, 1e-15);
    }
  print_message("  rkmk4 turns by %.1e .. %.1e\n", turned[0], turned[3]);
  check_near(fitted_order(turned, 4), 5, 0.3);
}

static void a_copy_of_the_state_repeats_the_bits(void **unused) {
  body b = driven_body();
  const cb_rigid_problem p = problem_of(&b);
  for (int method = 0; method < 4; method++) {
    cb_rigid_state s, saved;
    check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
    for (int n = 0; n < 30; n++) step_by(&p, method, 0.03, &s);
    memcpy(&saved, &s, sizeof s);
    for (int n = 0; n < 50; n++) step_by(&p, method, 0.03, &s);
    for (int n = 0; n < 50; n++) step_by(&p, method, 0.03, &saved);
    assert_memory_equal(&s, &saved, sizeof s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_forces_momentum_is_kept_and_energy_is_bounded),
      cmocka_unit_test(tln_keeps_the_linear_momentum_only),
      cmocka_unit_test(symmetric_in_time),
      cmocka_unit_test(a_glide_without_spin_is_turned_by_rkmk4_only),
      cmocka_unit_test(a_copy_of_the_state_repeats_the_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
