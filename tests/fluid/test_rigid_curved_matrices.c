/* Tests of steps in curved spaces. They are compared with solutions by GSL's Dormand-Prince 8(7) of the equations in
 * 4x4 matrices, g' = g hat(Y), mu' = ad*_Y mu + F, mu = K(t) Y + mu0(t). g is the pose, Y the twist, mu the momentum, F
 * the wrench, K(t) the inertia and mu0(t) the momentum of the changing shape. Further tests: Newton's matrix, the limit
 * of flat space, errors, and steps without allocation of memory. */
#include "count_allocations.h"
#include "rigid_curved.h"
#include <curvebody/integrator.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

extern const cb_integrator_class cb_integrator_mujoco_rk4;

static const double curvatures[] = {1, -1, .4, -2};

/* Computes a pose from its matrix m, which is given by rows: the normal coordinates x of the point in its last column,
 * and the rotation q = T(-x) m, where T(x) is the transvection to x. */
static void pose_of_matrix(double K, const double m[16], cb_pose *out) {
  const double p[3] = {m[3], m[7], m[11]}, w = m[15], s = sqrt(cb_dot3(p, p)), root = sqrt(fabs(K));
  const double r = K > 0 ? atan2(root * s, w) / root : asinh(root * s) / root;
  double R[3][3];
  for (int i = 0; i < 3; i++) out->x[i] = s > 0 ? r / s * p[i] : p[i];
  for (int j = 0; j < 3; j++) { /* T(-x) maps a column (a, b) to (1 - K p p^T/(1 + w)) a - p b in its first rows */
    const double a[3] = {m[j], m[4 + j], m[8 + j]}, along = K * cb_dot3(p, a) / (1 + w) + m[12 + j];
    for (int i = 0; i < 3; i++) R[i][j] = a[i] - along * p[i];
  }
  const double scale = sqrt(1 + R[0][0] + R[1][1] + R[2][2]) / 2; /* all rotations here are by less than half a turn */
  out->q[0] = scale;
  for (int i = 0; i < 3; i++) out->q[1 + i] = (R[(i + 2) % 3][(i + 1) % 3] - R[(i + 1) % 3][(i + 2) % 3]) / (4 * scale);
}

static int rates(double t, const double *z, double *dz, void *user) {
  const cb_rigid_problem *p = user;
  const double K = p->curvature, *mu = z + 16;
  double I[6][6], mu0[6], Y[6], F[6] = {0}, star[6], lv[3];
  cb_pose g;
  pose_of_matrix(K, z, &g);
  if (p->inertia(p->self, t, &g, I, mu0) || cb_rigid_velocity(I, mu, mu0, Y)) return GSL_EBADFUNC;
  if (p->wrench && p->wrench(p->self, t, &g, Y, F, NULL)) return GSL_EBADFUNC;
  cb_se3_ad_star(Y, mu, star);
  cb_cross3(mu, Y + 3, lv);
  for (int i = 0; i < 3; i++) star[3 + i] += K * lv[i];
  for (int i = 0; i < 6; i++) dz[16 + i] = star[i] + F[i];
  for (int i = 0; i < 4; i++) {
    const double *row = z + 4 * i;
    double turned[3];
    cb_cross3(row, Y, turned); /* the row times hat(omega) is row × omega */
    for (int j = 0; j < 3; j++) dz[4 * i + j] = turned[j] - row[3] * K * Y[3 + j];
    dz[4 * i + 3] = cb_dot3(row, Y + 3);
  }
  return GSL_SUCCESS;
}

static void reference(const cb_rigid_problem *p, const double Y[6], double time, cb_rigid_state *out) {
  double z[22] = {0};
  check_ok(cb_rigid_start(p, 0, &base, Y, out));
  for (int i = 0; i < 4; i++) z[5 * i] = 1;
  memcpy(z + 16, out->momentum, sizeof out->momentum);
  cb_rigid_problem problem = *p;
  gsl_odeiv2_system ode = {rates, NULL, 22, &problem};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-14, 1e-14);
  double t = 0;
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, time, z), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
  pose_of_matrix(p->curvature, z, &out->g);
  memcpy(out->momentum, z + 16, sizeof out->momentum);
}

/* Bodies with all wrenches of tests/rigid.h, which depend on the pose, t and Y, and with an inertia and a shape that
 * change, move as in the equations in matrices. */
static void generic_bodies_move_as_their_matrices(void **unused) {
  body b = driven_body();
  for (int k = 0; k < 4; k++) {
    cb_rigid_problem p = problem_of(&b);
    cb_rigid_state exact;
    p.pose_derivative = NULL;
    p.curvature = curvatures[k];
    const double Y[6] = {.4, -.2, .5, .3, .4, -.2};
    reference(&p, Y, 1.5, &exact);
    for (int method = 0; method < 4; method++) {
      double error[3];
      for (int i = 0; i < 3; i++) {
        const cb_rigid_state s = run_by(&p, method, &base, Y, 1.5, 100 << i);
        error[i] = state_distance(&s, &exact);
      }
      print_message("  K %g method %d: %.1e, falls by %.2f, %.2f\n", p.curvature, method, error[2], error[0] / error[1],
                    error[1] / error[2]);
      check_at_most(error[2], method == RKMK4 ? 1e-8 : 1e-4);
      check_near(error[1] / error[2], method == RKMK4 ? 16 : 4, method == RKMK4 ? 1.5 : .05);
    }
  }
}

/* Computes the derivatives of the wrench at the poses g exp(xi) with respect to xi by differences, with errors of
 * 1e-10. */
static cb_status along_pose(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                            double dF[6][6]) {
  const double K = ((const body *)self)->K1[0][1], h = 1e-5; /* these bodies use K1 only to store K */
  for (int j = 0; j < 6; j++) {
    double xi[6] = {0}, F[2][6];
    for (int side = 0; side < 2; side++) {
      cb_pose move;
      xi[j] = side ? -h : h;
      cb_pose_tau_in(CB_SE3_EXPONENTIAL, K, xi, &move);
      cb_pose_multiply_in(K, g, &move, &move);
      body_wrench(self, t, &move, Y, F[side], NULL);
    }
    for (int i = 0; i < 6; i++) dF[i][j] += (F[0][i] - F[1][i]) / (2 * h);
  }
  return CB_OK;
}

static cb_status still_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const body *b = self;
  memcpy(K, b->K0, sizeof b->K0);
  memcpy(mu0, b->shape, sizeof b->shape);
  return CB_OK;
}

/* The springs are so stiff and the steps so large that Newton's method would diverge without the derivative by the
 * pose. */
static void newton_is_exact_for_places_and_turns(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 60; n++) {
    body b = driven_body();
    b.K1[0][1] = curvatures[n % 4];
    b.spring = 500;
    cb_rigid_problem p = {.self = &b,
                          .inertia = still_inertia,
                          .wrench = body_wrench,
                          .pose_derivative = along_pose,
                          .curvature = curvatures[n % 4]};
    int most = 0, total = 0;
    double Y[6];
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -.5, .5);
    cb_rigid_state s;
    check_ok(cb_rigid_start(&p, 0, &(cb_pose){{1, 0, 0, 0}, {-.4, .3, -.59}}, Y, &s));
    for (int k = 0; k < 40; k++) {
      int count;
      check_ok(cb_rigid_step_pontryagin(&p, (cb_se3_map)(n / 4 % 3), .1, &s, &count));
      most = count > most ? count : most;
      total += count;
    }
    if (n < 12) print_message("  K %g map %d: at most %d iterations\n", p.curvature, n / 4 % 3, most);
    check_at_most(most, 8);
  }
}

static cb_status steady(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  static const double wrench[6] = {9, -30, 12, 21, 15, -27};
  memcpy(F, wrench, sizeof wrench);
  return CB_OK;
}

/* A strong wrench is constant in the axes of the body. A step transports it from its start to its end, and only this
 * rotation depends on the twist Y. Newton's method contains the derivative of the rotation, so it converges
 * quadratically. */
static void newton_knows_how_wrenches_turn(void **unused) {
  uint64_t seed = check_seed();
  int most = 0;
  for (int n = 0; n < 90; n++) {
    body b = free_body();
    cb_rigid_problem p = {.self = &b, .inertia = still_inertia, .wrench = steady, .curvature = n % 2 ? -8 : 8};
    double Y[6];
    int count;
    cb_rigid_state s;
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -1, 1);
    check_ok(cb_rigid_start(&p, 0, &base, Y, &s));
    check_ok(cb_rigid_step_pontryagin(&p, (cb_se3_map)(n / 2 % 3), .1, &s, &count));
    most = count > most ? count : most;
  }
  print_message("  at most %d iterations\n", most);
  check_at_most(most, 7);
}

/* For a small curvature K bodies move nearly as in flat space. The difference is K times a number of order 1, plus
 * round-off. */
static void flat_space_is_the_limit_from_either_side(void **unused) {
  body b = driven_body();
  for (int method = 0; method < 4; method++) {
    cb_rigid_problem p = problem_of(&b);
    const cb_rigid_state flat = run_by(&p, method, &base, generic_twist, 1, 100);
    for (int side = -1; side <= 1; side += 2)
      for (double size = 1e-6; size > 1e-13; size /= 1e3) {
        p.curvature = side * size;
        const cb_rigid_state s = run_by(&p, method, &base, generic_twist, 1, 100);
        check_at_most(state_distance(&s, &flat), 5 * size + 1e-13);
        if (size > 1e-7) check_at_least(state_distance(&s, &flat), size / 100);
      }
  }
}

static void what_has_no_meaning_there_is_refused(void **unused) {
  curved_body b;
  cb_rigid_state s, kept;
  curved_diagonal(1, triaxial[1], &b);
  assert_int_equal(cb_rigid_start(&b.problem, 0, &(cb_pose){{1, 0, 0, 0}, {2, 2, 2}}, triaxial_twist, &s),
                   CB_ERROR_ARGUMENT);
  check_ok(cb_rigid_start(&b.problem, 0, &base, triaxial_twist, &s));
  kept = s;
  cb_integrator in = {.problem = &b.problem};
  assert_int_equal(cb_integrator_mujoco_rk4.step(&in, &s, .1), CB_ERROR_UNSUPPORTED);
  assert_non_null(strstr(cb_error_text(), "mujoco_rk4"));
  assert_int_equal(cb_rigid_step_rkmk4(&b.problem, 10, &s), CB_STEP_NO_CONVERGENCE);
  assert_true(cb_rigid_step_pontryagin(&b.problem, CB_SE3_CAYLEY, 10, &s, NULL) > 0);
  b.problem.pose_dependent = true;
  assert_int_equal(cb_rigid_step_rkmk4(&b.problem, .1, &s), CB_ERROR_UNSUPPORTED);
  assert_int_equal(cb_rigid_step_pontryagin(&b.problem, CB_SE3_CAYLEY, .1, &s, NULL), CB_ERROR_UNSUPPORTED);
  assert_int_equal(cb_rigid_start(&b.problem, 0, &base, triaxial_twist, &s), CB_ERROR_UNSUPPORTED);
  assert_memory_equal(&s, &kept, sizeof s);
}

static void no_step_allocates(void **unused) {
  body b = driven_body();
  for (int k = -1; k < 2; k++)
    for (int method = 0; method < 4; method++) {
      cb_rigid_problem p = problem_of(&b);
      cb_rigid_state s;
      if (k >= 0) {
        p.pose_derivative = NULL;
        p.curvature = curvatures[k];
      } /* k < 0: flat space */
      check_ok(cb_rigid_start(&p, 0, &generic_pose, generic_twist, &s));
      count_from_here();
      for (int n = 0; n < 100; n++) {
        if (method == RKMK4)
          cb_rigid_step_rkmk4(&p, n % 4 == 3 ? NAN : 0.02, &s);
        else
          cb_rigid_step_pontryagin(&p, (cb_se3_map)method, n % 4 == 3 ? 1e9 : 0.02, &s, NULL);
      }
      assert_int_equal(count_so_far(), 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generic_bodies_move_as_their_matrices),
      cmocka_unit_test(newton_is_exact_for_places_and_turns),
      cmocka_unit_test(newton_knows_how_wrenches_turn),
      cmocka_unit_test(flat_space_is_the_limit_from_either_side),
      cmocka_unit_test(what_has_no_meaning_there_is_refused),
      cmocka_unit_test(no_step_allocates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
