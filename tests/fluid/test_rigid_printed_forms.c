/* Tests that show the effect of errors in the printed Hamilton-Pontryagin step of the paper ("Going with the Flow"): a
 * sign in line 7 of algorithm 1, a term of appendix B, and the first twist. */
#include "rigid.h"

/* Line 7 of algorithm 1 is (dtau^-1_{-hY})^T K Y = (dtau^-1_{-hY_k})^T K Y_k, with the same sign of h on both sides.
 * Y_k is the twist of the previous step, and a solution of this equation. Newton's method starts near Y_k, so it
 * converges to Y_k, and the twist never changes. */
static void with_the_printed_sign_nothing_tumbles(void **unused) {
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
      if (newton == 0)
        memcpy(right, residual, sizeof right); /* the right side of line 7, because here Y still is Y_k */
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

/* The translation in appendix B lacks the term w (w.v)/4, where (w, v) is h times the twist. With the poses of this
 * translation the momentum drifts. */
static void without_the_omega_omega_v_term_momentum_drifts(void **unused) {
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
    for (int i = 0; i < 6; i++) {
      hY[i] = -h * s.Y[i];
      p_node[i] = 0;
    }
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

/* If the twist Y(0) at the start is used as the twist of a previous step, the momentum at the start is
 * (dtau^-1_{-hY(0)})^T K Y(0) instead of K Y(0). The run is then only of first order. */
static void starting_with_the_twist_itself_is_first_order(void **unused) {
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_the_printed_sign_nothing_tumbles),
      cmocka_unit_test(without_the_omega_omega_v_term_momentum_drifts),
      cmocka_unit_test(starting_with_the_twist_itself_is_first_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
