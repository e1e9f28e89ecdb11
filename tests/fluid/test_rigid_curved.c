/* Tests of steps of a body in the sphere and in hyperbolic space: a motion compared with reference numbers, the order,
 * the energy, conserved quantities, and time reversal. */
#include "rigid_curved.h"

static void start(double K, curved_body *b, double momentum[6]) {
  const double *I = triaxial[K > 0];
  curved_diagonal(K, I, b);
  for (int i = 0; i < 6; i++) momentum[i] = I[i] * triaxial_twist[i];
}

/* Computes the momentum mu and the position y from runs with the steps h, h/2 and h/4. The errors of
 * Hamilton-Pontryagin have even orders, so its results are extrapolated twice. Those of rkmk4 are extrapolated once,
 * with the order 4. */
static void extrapolated(const cb_rigid_problem *p, int method, double time, int steps, double mu[6], double y[4]) {
  double value[3][10];
  for (int k = 0; k < 3; k++) {
    const cb_rigid_state s = run_by(p, method, &base, triaxial_twist, time, steps << k);
    memcpy(value[k], s.momentum, sizeof s.momentum);
    curved_place(p->curvature, &s.g, value[k] + 6);
  }
  const double f = method == RKMK4 ? 16 : 4;
  for (int i = 0; i < 10; i++) {
    const double a = (f * value[1][i] - value[0][i]) / (f - 1), b = (f * value[2][i] - value[1][i]) / (f - 1);
    const double best = method == RKMK4 ? b : (16 * b - a) / 15;
    if (i < 6) mu[i] = best;
    if (i >= 6) y[i - 6] = best;
  }
}

/* The expected momentum and place in H3 were computed from the equations in 4x4 matrices by a Runge-Kutta method of
 * order 8, with ten digits. */
static void triaxial_body_moves_as_printed(void **unused) {
  static const double momentum[6] = {-.0769510786, -.0490948942,  .1763530333,
                                     -.3189329353, -1.5383079928, -1.5018839727},
                      place[4] = {1.8870911335, .7609774776, -3.3600841975, 4.0534387231};
  curved_body b;
  double mu[6], y[4];
  start(-1, &b, mu);
  for (int method = 0; method < 4; method++) {
    extrapolated(&b.problem, method, 10, 4000, mu, y);
    for (int i = 0; i < 6; i++) check_near(mu[i], momentum[i], 1e-9);
    extrapolated(&b.problem, method, 2, 800, mu, y);
    for (int i = 0; i < 4; i++) check_near(y[i], place[i], 1e-9);
  }
}

static void methods_have_their_order(void **unused) {
  for (int space = 0; space < 2; space++) {
    curved_body b;
    double mu[6];
    start(space ? 1 : -1, &b, mu);
    const cb_rigid_state exact = run_by(&b.problem, RKMK4, &base, triaxial_twist, 10, 20000);
    for (int method = 0; method < 4; method++) {
      double last = 0;
      for (int k = 0; k < 3; k++) {
        const cb_rigid_state s = run_by(&b.problem, method, &base, triaxial_twist, 10, 400 << k);
        double error = 0;
        for (int i = 0; i < 6; i++) error = fmax(error, fabs(s.momentum[i] - exact.momentum[i]));
        print_message("  K %g method %d: %.2e, falls by %.2f\n", b.problem.curvature, method, error, last / error);
        if (k > 0 && method != RKMK4) check_near(last / error, 4, .1);
        if (k > 0 && method == RKMK4) check_near(last / error, 14.6, 1.7);
        last = error;
      }
    }
  }
}

static double node_energy(const curved_body *b, const cb_rigid_state *s) {
  double Y[6], sum = 0;
  check_ok(cb_rigid_twist(&b->problem, s, Y));
  for (int i = 0; i < 6; i++) sum += Y[i] * s->momentum[i] / 2;
  return sum;
}

/* The error of the energy in the last quarter of 4000 steps is at most 1.3 times the error in the first quarter. */
static void energy_does_not_drift(void **unused) {
  for (int space = 0; space < 2; space++)
    for (int map = 0; map < 2; map++) {
      curved_body b;
      double mu[6], worst[4] = {0};
      cb_rigid_state s;
      start(space ? 1 : -1, &b, mu);
      check_ok(cb_rigid_start(&b.problem, 0, &base, triaxial_twist, &s));
      const double energy = node_energy(&b, &s);
      for (int n = 0; n < 4000; n++) {
        step_by(&b.problem, map, .1, &s);
        worst[n / 1000] = fmax(worst[n / 1000], fabs(node_energy(&b, &s) - energy));
      }
      print_message("  K %g map %d: %.2e %.2e\n", b.problem.curvature, map, worst[0], worst[3]);
      check_at_most(worst[3], 1.3 * worst[0]);
      check_at_most(worst[0], map == 0 ? 4e-3 : 2e-3);
    }
}

/* The Casimir functions of the momentum (cb_rigid_casimirs) are constant to 1e-13 over 1e5 steps. In hyperbolic space
 * the body moves thousands of radii away. In the sphere the spatial momentum is constant, too. */
static void casimirs_are_kept_over_1e5_steps(void **unused) {
  for (int space = 0; space < 2; space++)
    for (int method = 0; method < 4; method++) {
      if (method == CB_SE3_TLN) continue;
      const double K = space ? 1 : -1;
      curved_body b;
      double mu[6], first[2], now[2], spatial[6], worst[3] = {0};
      cb_rigid_state s;
      start(K, &b, mu);
      check_ok(cb_rigid_start(&b.problem, 0, &base, triaxial_twist, &s));
      cb_rigid_casimirs(K, s.momentum, first);
      cb_rigid_spatial_momentum(K, &s, spatial);
      for (int n = 0; n < 100000; n++) {
        step_by(&b.problem, method, .05, &s);
        cb_rigid_casimirs(K, s.momentum, now);
        for (int i = 0; i < 2; i++) worst[i] = fmax(worst[i], fabs(now[i] - first[i]));
        double moved[6];
        if (K > 0) cb_rigid_spatial_momentum(K, &s, moved);
        for (int i = 0; K > 0 && i < 6; i++) worst[2] = fmax(worst[2], fabs(moved[i] - spatial[i]));
      }
      print_message("  K %g method %d: Casimirs %.1e %.1e of %.2g %.2g; spatial momentum %.1e; %.3g radii away\n", K,
                    method, worst[0], worst[1], first[0], first[1], worst[2], sqrt(cb_dot3(s.g.x, s.g.x)));
      check_at_most(worst[0], 1e-13);
      check_at_most(worst[1], 1e-13);
      if (K > 0) check_at_most(worst[2], 1e-13);
    }
}

/* While the body moves away, the error of cb_rigid_spatial_momentum stays within the reported error. Beyond 5 radii the
 * result is nan. */
static void spatial_momentum_knows_its_error(void **unused) {
  curved_body b;
  double mu[6], spatial[6], moved[6], error = 0;
  cb_rigid_state s;
  start(-1, &b, mu);
  check_ok(cb_rigid_start(&b.problem, 0, &base, triaxial_twist, &s));
  cb_rigid_spatial_momentum(-1, &s, spatial);
  for (int i = 0; i < 6; i++) check_near(spatial[i], mu[i], 1e-15);
  int within = 0;
  while (cb_dot3(s.g.x, s.g.x) < 25) {
    step_by(&b.problem, 0, .02, &s);
    error = cb_rigid_spatial_momentum(-1, &s, moved);
    for (int i = 0; i < 6 && isfinite(error); i++) {
      check_at_most(fabs(moved[i] - spatial[i]), error);
      within++;
    }
  }
  assert_true(within > 600);
  error = cb_rigid_spatial_momentum(-1, &s, moved);
  assert_true(isnan(moved[0]) && isinf(error));
}

static void steps_run_backwards(void **unused) {
  for (int space = 0; space < 2; space++)
    for (int map = 0; map < 3; map++) {
      curved_body b;
      double mu[6];
      cb_rigid_state s;
      start(space ? 1 : -1, &b, mu);
      check_ok(cb_rigid_start(&b.problem, 0, &base, triaxial_twist, &s));
      for (int n = 0; n < 200; n++) step_by(&b.problem, map, n < 100 ? .05 : -.05, &s);
      for (int i = 0; i < 6; i++) check_near(s.momentum[i], mu[i], 1e-13);
      for (int i = 0; i < 3; i++) check_near(s.g.x[i], 0, 1e-11); /* in H3 round-off grows by a factor of up to e^5 */
      check_near(fabs(s.g.q[0]), 1, 1e-11);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(triaxial_body_moves_as_printed),
      cmocka_unit_test(methods_have_their_order),
      cmocka_unit_test(energy_does_not_drift),
      cmocka_unit_test(casimirs_are_kept_over_1e5_steps),
      cmocka_unit_test(spatial_momentum_knows_its_error),
      cmocka_unit_test(steps_run_backwards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
