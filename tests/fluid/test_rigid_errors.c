/* Tests of steps on SE(3) that are rejected and leave the state unchanged: a start that is not finite, an impossible
 * inertia, a rotation by half a turn or more in a step, and wrenches that fail. */
#include "rigid.h"

static double edge_K[6][6], edge_mu0[6];
static cb_status edge_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  memcpy(K, edge_K, sizeof edge_K);
  memcpy(mu0, edge_mu0, sizeof edge_mu0);
  return CB_OK;
}

static void a_start_that_is_not_finite_is_refused(void **unused) {
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
    check_error(
        cb_rigid_start(&p, 2, &generic_pose, rest, &s), CB_STEP_NOT_FINITE,
        "the momentum of the body at its start, t = 2, is not finite: expected smaller velocities or a finite mass");
    assert_true(s.t == 7);
  }
}

/* Solves K Y = momentum with other units of angle and length: a diagonal matrix D changes K to D K D, the momentum to D
 * momentum, and the solution to D^-1 Y. */
static void a_singular_inertia_is_seen_in_any_units(void **unused) {
  static const double zero[6], units[][2] = {{1, 1}, {1e-12, 1}, {1, 1e-12}, {1e-9, 1e-6}, {1e60, 1e-60}};
  double momentum[6], Y[6], expected[6];
  for (int i = 0; i < 6; i++) expected[i] = generic_twist[i];
  for (int u = 0; u < 5; u++) {
    double D[6], K[6][6];
    for (int i = 0; i < 6; i++) D[i] = units[u][i / 3];
    /* if `needle` is 1, two moments of inertia are about 1e12 times the third one */
    for (int needle = 0; needle < 2; needle++) {
      generic_tensor(K);
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) K[i][j] *= (needle && i == 1 ? 1e-6 : 1) * (needle && j == 1 ? 1e-6 : 1);
      for (int i = 0; i < 6; i++) {
        momentum[i] = 0;
        for (int j = 0; j < 6; j++) momentum[i] += D[i] * K[i][j] * expected[j];
      }
      for (int i = 0; i < 36; i++) K[i / 6][i % 6] *= D[i / 6] * D[i % 6];
      check_ok(cb_rigid_velocity(K, momentum, zero, Y));
      /* the component of the momentum that belongs to the small moment of inertia has the round-off of the large
       * ones */
      for (int i = 0; i < 6; i++) check_near(Y[i] * D[i], expected[i], needle && i == 1 ? 1e-8 : 1e-13);
    }
    for (int axis = 0; axis < 6; axis++) {
      for (int i = 0; i < 36; i++) K[i / 6][i % 6] = i % 7 ? 0 : D[i / 7] * D[i / 7] * (i / 7 == axis ? 1e-300 : 1);
      assert_int_equal(cb_rigid_velocity(K, momentum, zero, Y), CB_STEP_SINGULAR);
      generic_tensor(K); /* one row and column are combinations of two others, up to round-off */
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
  check_error(cb_rigid_velocity(K, momentum, zero, Y), CB_STEP_NOT_FINITE,
              "the twist of the body is not finite: try a smaller step");
}

/* rkmk4 rejects a step that rotates the body by more than half a turn. Without this limit a rotation of 6 rad per step
 * would give a twist that grows without bound. */
static void a_stage_of_rkmk4_turns_by_less_than_half_a_turn(void **unused) {
  body b = free_body();
  for (int i = 0; i < 36; i++) b.K0[i / 6][i % 6] = i % 7 ? 0 : 1 + i / 7; /* diag(1, 2 .. 6) */
  const cb_rigid_problem p = free_problem_of(&b);
  cb_rigid_state s, kept;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, (double[6]){.01, 6, .02}, &s));
  kept = s;
  check_error(cb_rigid_step_rkmk4(&p, 1, &s), CB_STEP_NO_CONVERGENCE,
              "a step of 1 at t = 0 turns the body by 6.00046 rad, more than half a turn: try a smaller step");
  assert_memory_equal(&s, &kept, sizeof s);
  check_ok(cb_rigid_step_rkmk4(&p, .5, &s));
  s = kept;
  assert_int_equal(cb_rigid_step_rkmk4(&p, -.53, &s), CB_STEP_NO_CONVERGENCE);
  assert_int_equal(cb_rigid_step_rkmk4(&p, 2 * 3.14159265 / 6, &s), CB_STEP_NO_CONVERGENCE); /* a complete turn */
  assert_memory_equal(&s, &kept, sizeof s);
}

/* Hamilton-Pontryagin rejects a step h if h times the spin at the start, here 5 rad, is more than half a turn, also for
 * a body that falls. */
static void a_step_turns_by_less_than_half_a_turn(void **unused) {
  body b = free_body();
  for (int i = 0; i < 36; i++) b.K0[i / 6][i % 6] = i % 7 ? 0 : 1;
  const cb_rigid_problem p = free_problem_of(&b);
  for (int map = 0; map < 3; map++)
    for (int falls = 0; falls < 2; falls++) {
      cb_rigid_state s, kept;
      check_ok(cb_rigid_start(&p, 0, &generic_pose, (double[6]){10, 0, 0, 0, falls ? 5 : 0, 0}, &s));
      kept = s;
      assert_int_equal(cb_rigid_step_pontryagin(&p, (cb_se3_map)map, 0.5, &s, NULL), CB_STEP_NO_CONVERGENCE);
      if (map == CB_SE3_CAYLEY)
        check_error(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 0.5, &s, NULL), CB_STEP_NO_CONVERGENCE,
                    "a step of 0.5 at t = 0 turns the body by 5 rad, more than half a turn: try a smaller step");
      assert_memory_equal(&s, &kept, sizeof s);
      assert_int_equal(cb_rigid_step_pontryagin(&p, (cb_se3_map)map, 0.315, &s, NULL), CB_STEP_NO_CONVERGENCE);
      check_ok(cb_rigid_step_pontryagin(&p, (cb_se3_map)map, 0.313, &s, NULL));
      check_near(s.turn, 3.13, 1e-12);
      s = kept;
      check_ok(cb_rigid_step_pontryagin(&p, (cb_se3_map)map, -0.01, &s, NULL));
      check_near(s.turn, 0.1, 1e-2); /* the estimated rotation in the step, which is accurate if it is small */
    }
}

static cb_status no_mass(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  memset(K, 0, 36 * sizeof(double));
  memset(mu0, 0, 6 * sizeof(double));
  return CB_OK;
}

static cb_status refuse(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  return cb_fail(CB_STEP_DOMAIN, "outside");
}

static cb_status endless(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  F[0] = INFINITY;
  if (dF) dF[0][0] = 0;
  return CB_OK;
}

static void failures_leave_the_state(void **unused) {
  body b = free_body();
  cb_rigid_problem p = free_problem_of(&b);
  cb_rigid_state s, kept;
  check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
  kept = s;
  assert_int_equal(cb_rigid_step_pontryagin(&p, CB_SE3_CAYLEY, 0, &s, NULL), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_rigid_step_rkmk4(&p, NAN, &s), CB_ERROR_ARGUMENT);
  for (int map = 0; map < 3; map++)
    assert_int_equal(cb_rigid_step_pontryagin(&p, (cb_se3_map)map, 4, &s, NULL), CB_STEP_NO_CONVERGENCE);
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
      cmocka_unit_test(a_start_that_is_not_finite_is_refused),
      cmocka_unit_test(a_singular_inertia_is_seen_in_any_units),
      cmocka_unit_test(a_stage_of_rkmk4_turns_by_less_than_half_a_turn),
      cmocka_unit_test(a_step_turns_by_less_than_half_a_turn),
      cmocka_unit_test(failures_leave_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
