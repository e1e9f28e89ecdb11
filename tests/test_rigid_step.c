/* Steps on SE(3): what is kept without forces, orders, symmetry in time, Newton's method, the forms of the paper that
 * fail, restart, failures. (Motions with a known solution: test_rigid_motion.c.) */
#include "check_error.h"
#include "fluid/rigid_step_private.h"
#include "rigid.h"

static void without_forces_momentum_is_kept_and_energy_is_bounded(void **unused) {
  (void)unused;
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
    check_at_most(high - low, 0.01 * high); /* O(h^2), no drift */
    print_message("  map %d: energy in [%.6f, %.6f], x to %.0f\n", map, low, high, fabs(s.g.x[0]));
  }
}

static void second_order_and_rkmk4_fourth_without_forces(void **unused) {
  (void)unused;
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  const cb_rigid_state exact = run_by(&p, RKMK4, &generic_pose, generic_twist, 4, 8000);
  for (int map = 0; map < 3; map++) check_near(order_of(&p, map, &exact, generic_twist, 4, 80, 5), 2, 0.05);
  check_near(order_of(&p, RKMK4, &exact, generic_twist, 4, 40, 4), 4, 0.15);
}

static void second_order_and_rkmk4_fourth_with_forces_and_a_moving_shape(void **unused) {
  (void)unused;
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

/* The twist at the nodes, K^-1 (p - mu0), is second order too: no oscillation of O(h). */
static void twist_at_a_node_is_second_order(void **unused) {
  (void)unused;
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

/* There and back with -h; the drag is put to 0, for it does not turn round. */
static void symmetric_in_time(void **unused) {
  (void)unused;
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

/* tln does not keep the angular momentum, and keeps the linear. */
static void tln_keeps_the_linear_momentum_only(void **unused) {
  (void)unused;
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

/* --- the forms printed in the paper --- */

/* Line 7 of algorithm 1 with dtau^-1_{-hY} on the left too: (dtau^-1_{-hY})^T K Y = (dtau^-1_{-hY_k})^T K Y_k. Newton's
 * method from beside Y_k goes back to Y_k: the twist is constant for ever. */
static void with_the_printed_sign_nothing_tumbles(void **unused) {
  (void)unused;
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  const double h = 0.01;
  const cb_rigid_state exact = run_by(&p, RKMK4, &generic_pose, generic_twist, 3, 3000);
  double moved = 0, Y[6], right[6] = {0}, node[6];
  for (int i = 0; i < 6; i++) moved = fmax(moved, fabs(exact.Y[i] - generic_twist[i]));
  check_at_least(moved, 0.3);
  memcpy(Y, generic_twist, sizeof Y);
  for (int n = 0; n < 300; n++) {
    for (int newton = 0; newton < 6; newton++) {
      double back[6], A[6][6], D[6][6], J[6][6], mu[6], residual[6];
      for (int i = 0; i < 6; i++) {
        if (newton == 1) Y[i] += 1e-3 * (i + 1);
        back[i] = -h * Y[i];
      }
      cb_apply6(b.K0, Y, mu);
      cb_se3_dtau_inverse(CB_SE3_CAYLEY, back, A);
      cb_se3_dtau_inverse_transpose_derivative(CB_SE3_CAYLEY, back, mu, D);
      for (int i = 0; i < 6; i++) {
        residual[i] = 0;
        for (int k = 0; k < 6; k++) residual[i] += A[k][i] * mu[k];
        for (int j = 0; j < 6; j++) {
          J[i][j] = -h * D[i][j];
          for (int k = 0; k < 6; k++) J[i][j] += A[k][i] * b.K0[k][j];
        }
      }
      if (newton == 0) memcpy(right, residual, sizeof right); /* of the step before: the same expression */
      for (int i = 0; i < 6; i++) residual[i] = right[i] - residual[i];
      assert_true(cb_solve6(J, 1, residual));
      for (int i = 0; i < 6; i++) Y[i] += residual[i];
    }
    for (int i = 0; i < 6; i++) check_near(Y[i], generic_twist[i], 1e-12);
  }
  const cb_rigid_state here = run_by(&p, CB_SE3_CAYLEY, &generic_pose, generic_twist, 3, 300);
  check_ok(cb_rigid_twist(&p, &here, node));
  for (int i = 0; i < 6; i++) check_near(node[i], exact.Y[i], 1e-3);
}

/* Appendix B's translation lacks w (w.v)/4: the momentum of the poses it makes drifts. */
static void without_the_omega_omega_v_term_momentum_drifts(void **unused) {
  (void)unused;
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  const double h = 0.05;
  cb_rigid_state s;
  double first[6], world[6], p_node[6], drift = 0, kept = 0;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
  cb_pose printed = s.g, right = s.g;
  cb_se3_momentum_to_world(&s.g, s.momentum, first);
  for (int n = 0; n < 400; n++) {
    step_by(&p, CB_SE3_CAYLEY, h, &s);
    double hY[6], A[6][6];
    cb_pose move;
    for (int i = 0; i < 6; i++) hY[i] = -h * s.Y[i], p_node[i] = 0;
    cb_se3_dtau_inverse(CB_SE3_CAYLEY, hY, A);
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) p_node[i] += A[k][i] * s.mu[k];
    for (int i = 0; i < 6; i++) hY[i] = h * s.Y[i];
    cb_se3_tau(CB_SE3_CAYLEY, hY, &move);
    cb_pose_multiply(&right, &move, &right);
    const double wv = cb_dot3(hY, hY + 3), ww = cb_dot3(hY, hY);
    for (int i = 0; i < 3; i++) move.x[i] -= 4 / (4 + ww) * hY[i] * wv / 4;
    cb_pose_multiply(&printed, &move, &printed);
    cb_se3_momentum_to_world(&printed, p_node, world);
    for (int i = 0; i < 6; i++) drift = fmax(drift, fabs(world[i] - first[i]));
    cb_se3_momentum_to_world(&right, p_node, world);
    for (int i = 0; i < 6; i++) kept = fmax(kept, fabs(world[i] - first[i]));
  }
  print_message("  drift %.1e with the printed translation, %.1e with its term\n", drift, kept);
  check_at_least(drift, 1e-4);
  check_at_most(kept, 1e-12);
}

/* Y_0 = Y(0) as the twist of a step before: p_0 = (dtau^-1_{-hY(0)})^T K Y(0). */
static void starting_with_the_twist_itself_is_first_order(void **unused) {
  (void)unused;
  body b = free_body();
  const cb_rigid_problem p = free_problem_of(&b);
  const cb_rigid_state exact = run_by(&p, RKMK4, &generic_pose, generic_twist, 2, 4000);
  double error[5];
  for (int i = 0; i < 5; i++) {
    const int steps = 40 << i;
    const double h = 2.0 / steps;
    cb_rigid_state s;
    check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
    node_momentum(CB_SE3_CAYLEY, h, &s, s.world);
    double r[3][3];
    cb_pose_rotation(&s.g, r);
    cb_apply3_transposed(r, s.world, s.momentum);
    cb_apply3_transposed(r, s.world + 3, s.momentum + 3);
    for (int n = 0; n < steps; n++) step_by(&p, CB_SE3_CAYLEY, h, &s);
    error[i] = state_distance(&s, &exact);
  }
  check_near(fitted_order(error, 5), 1, 0.1);
}

/* --- Newton's method --- */

/* h^2 k/4m = 25: a fixed-point treatment of the pose would diverge; the exact matrix converges at once. */
static void newton_is_exact_for_a_stiff_spring(void **unused) {
  (void)unused;
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

/* Turns by more than a radian in a step, forces that depend on all: still quadratic. */
static void newton_is_exact_for_large_turns(void **unused) {
  (void)unused;
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
  (void)unused;
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

/* --- the rest of the contract --- */

static int residuals, matrices;
static cb_status counted(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  residuals++;
  matrices += dF != NULL;
  return body_wrench(self, t, g, Y, F, dF);
}

static int residuals_of(double h, bool guess, cb_rigid_state *s) {
  body b = driven_body();
  cb_rigid_problem p = problem_of(&b);
  p.wrench = counted;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, s));
  residuals = matrices = 0;
  for (int n = 0; n < 1000; n++) {
    if (!guess) s->known = 0;
    step_by(&p, CB_SE3_CAYLEY, h, s);
  }
  assert_in_range(matrices, 1000, 1003);
  step_by(&p, CB_SE3_CAYLEY, h / 2, s);
  check_near(s->known, 1, 0); /* a step of another length begins anew */
  return residuals;
}

static void smooth_motion_takes_one_matrix_and_two_residuals_a_step(void **unused) {
  (void)unused;
  cb_rigid_state with, without;
  const int guessed = residuals_of(0.005, true, &with), not = residuals_of(0.005, false, &without);
  print_message("  %.2f residuals a step, %.2f without the guess\n", guessed / 1000., not / 1000.);
  check_at_most(guessed, 2100);
  check_at_least(not, 1.2 * guessed);
  check_at_most(state_distance(&with, &without), 1e-12);
}

static void a_copy_of_the_state_repeats_the_bits(void **unused) {
  (void)unused;
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

static cb_status no_mass(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  (void)self, (void)t, (void)g;
  memset(K, 0, 36 * sizeof(double));
  memset(mu0, 0, 6 * sizeof(double));
  return CB_OK;
}

static cb_status refuse(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  (void)self, (void)t, (void)g, (void)Y, (void)F, (void)dF;
  return cb_fail(CB_STEP_DOMAIN, "outside");
}

static cb_status endless(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  (void)self, (void)t, (void)g, (void)Y;
  F[0] = INFINITY;
  if (dF) dF[0][0] = 0;
  return CB_OK;
}

/* A turn of 6 a step came out as a twist that grows beyond all bounds. */
static void a_stage_of_rkmk4_turns_by_less_than_half_a_turn(void **unused) {
  (void)unused;
  body b = free_body();
  for (int i = 0; i < 36; i++) b.K0[i / 6][i % 6] = i % 7 ? 0 : 1 + i / 7; /* diag(1, 2 .. 6) */
  const cb_rigid_problem p = free_problem_of(&b);
  cb_rigid_state s, kept;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, (double[6]){.01, 6, .02}, &s));
  kept = s;
  check_error(cb_rigid_step_rkmk4(&p, 1, &s), CB_STEP_NO_CONVERGENCE,
              "a step of 1 at t = 0 turns the body by 6.00046, more than half a turn");
  assert_memory_equal(&s, &kept, sizeof s);
  check_ok(cb_rigid_step_rkmk4(&p, .5, &s));
  s = kept;
  assert_int_equal(cb_rigid_step_rkmk4(&p, -.53, &s), CB_STEP_NO_CONVERGENCE);
  assert_int_equal(cb_rigid_step_rkmk4(&p, 2 * 3.14159265 / 6, &s), CB_STEP_NO_CONVERGENCE); /* a whole turn */
  assert_memory_equal(&s, &kept, sizeof s);
}

/* Gliding without spin: Hamilton-Pontryagin does not turn the body, rkmk4 by O(h^5) a step. */
static void a_glide_without_spin_is_turned_by_rkmk4_only(void **unused) {
  (void)unused;
  body b = free_body();
  b.weight = 2, b.g[2] = -10;
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

/* --- inertia that is none --- */

static double edge_K[6][6], edge_mu0[6];
static cb_status edge_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  (void)self, (void)t, (void)g;
  memcpy(K, edge_K, sizeof edge_K);
  memcpy(mu0, edge_mu0, sizeof edge_mu0);
  return CB_OK;
}

static void a_start_that_is_not_finite_is_refused(void **unused) {
  (void)unused;
  const cb_rigid_problem p = {.inertia = edge_inertia};
  static const double rest[6];
  cb_rigid_state s = {.t = 7};
  for (int bad = 0; bad < 4; bad++) {
    generic_tensor(edge_K);
    memset(edge_mu0, 0, sizeof edge_mu0);
    if (bad == 0) edge_mu0[4] = NAN;
    if (bad == 1) edge_mu0[1] = INFINITY;
    if (bad == 2) edge_K[2][3] = NAN;
    if (bad == 3) edge_K[5][5] = INFINITY;
    check_error(cb_rigid_start(&p, 2, &generic_pose, rest, &s), CB_STEP_NOT_FINITE,
                "the momentum of the body at its start, t = 2, is not finite");
    assert_true(s.t == 7);
  }
}

/* Y of K Y = momentum, K in other units of angle and length: D K D and D momentum for D^-1 Y. */
static void a_singular_inertia_is_seen_in_any_units(void **unused) {
  (void)unused;
  static const double zero[6], units[][2] = {{1, 1}, {1e-12, 1}, {1, 1e-12}, {1e-9, 1e-6}, {1e60, 1e-60}};
  double momentum[6], Y[6], expected[6];
  for (int i = 0; i < 6; i++) expected[i] = generic_twist[i];
  for (int u = 0; u < 5; u++) {
    double D[6], K[6][6];
    for (int i = 0; i < 6; i++) D[i] = units[u][i / 3];
    for (int needle = 0; needle < 2; needle++) { /* moments about two axes a million times those about the third */
      generic_tensor(K);
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) K[i][j] *= (needle && i == 1 ? 1e-6 : 1) * (needle && j == 1 ? 1e-6 : 1);
      for (int i = 0; i < 6; i++) {
        momentum[i] = 0;
        for (int j = 0; j < 6; j++) momentum[i] += D[i] * K[i][j] * expected[j];
      }
      for (int i = 0; i < 36; i++) K[i / 6][i % 6] *= D[i / 6] * D[i % 6];
      check_ok(cb_rigid_velocity(K, momentum, zero, Y));
      /* what the small axis has of a momentum is known to round-off of the large ones */
      for (int i = 0; i < 6; i++) check_near(Y[i] * D[i], expected[i], needle && i == 1 ? 1e-8 : 1e-13);
    }
    for (int axis = 0; axis < 6; axis++) {
      for (int i = 0; i < 36; i++) K[i / 6][i % 6] = i % 7 ? 0 : D[i / 7] * D[i / 7] * (i / 7 == axis ? 1e-300 : 1);
      assert_int_equal(cb_rigid_velocity(K, momentum, zero, Y), CB_STEP_SINGULAR);
      generic_tensor(K); /* one axis the sum of two others, to round-off */
      const int a = (axis + 1) % 6, b = (axis + 2) % 6;
      for (int j = 0; j < 6; j++) K[axis][j] = K[a][j] / 3 + K[b][j] / 7;
      for (int j = 0; j < 6; j++) K[j][axis] = K[j][a] / 3 + K[j][b] / 7;
      for (int i = 0; i < 36; i++) K[i / 6][i % 6] *= D[i / 6] * D[i % 6];
      assert_int_equal(cb_rigid_velocity(K, momentum, zero, Y), CB_STEP_SINGULAR);
    }
  }
  double K[6][6];
  generic_tensor(K);
  momentum[2] = 1e308;
  for (int i = 0; i < 36; i++) K[i / 6][i % 6] *= 1e-3;
  check_error(cb_rigid_velocity(K, momentum, zero, Y), CB_STEP_NOT_FINITE, "the twist of the body is not finite");
}

static void failures_leave_the_state(void **unused) {
  (void)unused;
  body b = free_body();
  cb_rigid_problem p = free_problem_of(&b);
  cb_rigid_state s, kept;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
  kept = s;
  assert_int_equal(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 0, &s, NULL), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_rigid_step_rkmk4(&p, NAN, &s), CB_ERROR_ARGUMENT);
  check_ok(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 4, &s, NULL)); /* any turn, by tan(angle/2) */
  s = kept;
  assert_int_equal(cb_rigid_step_pontryagin(&p, CB_SE3_EXPONENTIAL, 4, &s, NULL), CB_STEP_NO_CONVERGENCE);
  p.wrench = refuse;
  assert_int_equal(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 0.1, &s, NULL), CB_STEP_DOMAIN);
  assert_int_equal(cb_rigid_step_rkmk4(&p, 0.1, &s), CB_STEP_DOMAIN);
  p.wrench = endless;
  assert_int_equal(cb_rigid_step_pontryagin(&p, CB_SE3_EXPONENTIAL, 0.1, &s, NULL), CB_STEP_NOT_FINITE);
  assert_true(cb_rigid_step_rkmk4(&p, 0.1, &s) > 0);
  p.wrench = NULL;
  p.inertia = no_mass;
  assert_int_equal(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 0.1, &s, NULL), CB_STEP_SINGULAR);
  assert_int_equal(cb_rigid_step_rkmk4(&p, 0.1, &s), CB_STEP_SINGULAR);
  assert_memory_equal(&s, &kept, sizeof s);
  assert_int_equal(cb_rigid_start(&p, 0, &(cb_pose){{1, 1, 0, 0}, {0}}, generic_twist, &s), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_rigid_start(&p, NAN, &generic_pose, generic_twist, &s), CB_ERROR_ARGUMENT);
  assert_memory_equal(&s, &kept, sizeof s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_forces_momentum_is_kept_and_energy_is_bounded),
      cmocka_unit_test(second_order_and_rkmk4_fourth_without_forces),
      cmocka_unit_test(second_order_and_rkmk4_fourth_with_forces_and_a_moving_shape),
      cmocka_unit_test(twist_at_a_node_is_second_order),
      cmocka_unit_test(symmetric_in_time),
      cmocka_unit_test(tln_keeps_the_linear_momentum_only),
      cmocka_unit_test(with_the_printed_sign_nothing_tumbles),
      cmocka_unit_test(without_the_omega_omega_v_term_momentum_drifts),
      cmocka_unit_test(starting_with_the_twist_itself_is_first_order),
      cmocka_unit_test(newton_is_exact_for_a_stiff_spring),
      cmocka_unit_test(newton_is_exact_for_large_turns),
      cmocka_unit_test(few_iterations_and_the_same_step_without_the_pose_derivative),
      cmocka_unit_test(smooth_motion_takes_one_matrix_and_two_residuals_a_step),
      cmocka_unit_test(a_copy_of_the_state_repeats_the_bits),
      cmocka_unit_test(a_stage_of_rkmk4_turns_by_less_than_half_a_turn),
      cmocka_unit_test(a_glide_without_spin_is_turned_by_rkmk4_only),
      cmocka_unit_test(a_start_that_is_not_finite_is_refused),
      cmocka_unit_test(a_singular_inertia_is_seen_in_any_units),
      cmocka_unit_test(failures_leave_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
