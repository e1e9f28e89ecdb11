/* Tests of motions on SE(3), compared with other solutions: the free rigid body (Jacobi's functions), the heavy top
 * (Euler–Poisson equations by GSL's method rk8pd), a fall with an anisotropic added mass (rk8pd on rotation matrices),
 * free fall, and a cat of two links. Source: Landau & Lifshitz, Mechanics, section 37. */
#include "rigid.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_odeiv2.h>
#include <gsl/gsl_sf_elljac.h>

static const cb_pose at_origin = {{1, 0, 0, 0}, {0, 0, 0}};

static body plain_body(double j1, double j2, double j3, double mass) {
  body b = {0};
  const double k[6] = {j1, j2, j3, mass, mass, mass};
  for (int i = 0; i < 6; i++) b.K0[i][i] = k[i];
  return b;
}

static void integrate(gsl_odeiv2_system *ode, double time, double *y) {
  gsl_odeiv2_driver *d = gsl_odeiv2_driver_alloc_y_new(ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-13, 1e-13);
  double t = 0;
  assert_int_equal(gsl_odeiv2_driver_apply(d, &t, time, y), GSL_SUCCESS);
  gsl_odeiv2_driver_free(d);
}

/* The spin of a free rigid body is (A cn, B sn, C dn) with Jacobi's functions and constants A, B and C, if
 * 2 E J3 > M^2 > 2 E J2. E is the energy, M the angular momentum, and J1 < J2 < J3 are the moments of inertia. */
static void free_rigid_body_follows_jacobi(void **unused) {
  const double J[3] = {1, 2, 3.5}, time = 7;
  body b = plain_body(J[0], J[1], J[2], 2);
  const cb_rigid_problem p = free_problem_of(&b);
  const double Y[6] = {0.8, 0, 0.9, 0.1, 0.2, 0.3};
  const double E2 = J[0] * Y[0] * Y[0] + J[2] * Y[2] * Y[2];
  const double M2 = J[0] * J[0] * Y[0] * Y[0] + J[2] * J[2] * Y[2] * Y[2];
  assert_true(M2 > E2 * J[1]);
  const double rate = sqrt((J[2] - J[1]) * (M2 - E2 * J[0]) / (J[0] * J[1] * J[2]));
  const double k2 = (J[1] - J[0]) * (E2 * J[2] - M2) / ((J[2] - J[1]) * (M2 - E2 * J[0]));
  const double B = sqrt((E2 * J[2] - M2) / (J[1] * (J[2] - J[1])));
  double sn, cn, dn, error[4];
  gsl_sf_elljac_e(rate * time, k2, &sn, &cn, &dn);
  const double omega[3] = {Y[0] * cn, B * sn, Y[2] * dn};
  const cb_rigid_state fine = run_by(&p, RKMK4, &at_origin, Y, time, 7000);
  for (int i = 0; i < 3; i++) check_near(fine.Y[i], omega[i], 1e-11);
  for (int map = 0; map < 3; map++) {
    for (int i = 0; i < 4; i++) {
      const cb_rigid_state s = run_by(&p, map, &at_origin, Y, time, 200 << i);
      double node[6];
      check_ok(cb_rigid_twist(&p, &s, node));
      error[i] = 0;
      for (int k = 0; k < 3; k++) error[i] = fmax(error[i], fabs(node[k] - omega[k]));
    }
    check_near(fitted_order(error, 4), 2, 0.05);
    check_at_most(error[3], 2e-4);
  }
  /* the centre of mass moves on a straight line */
  for (int i = 0; i < 3; i++) check_near(fine.g.x[i], Y[3 + i] * time, 1e-9);
}

/* The Euler-Poisson equations, J w' = J w × w + moment × gamma, gamma' = gamma × w, with the moments of inertia J, the
 * spin w and gravity gamma in the body's axes. y = (w, gamma). */
static int top(double t, const double *y, double *dy, void *user) {
  const body *b = user;
  double l[3], turn[3], torque[3];
  for (int i = 0; i < 3; i++) l[i] = b->K0[i][i] * y[i];
  cb_cross3(l, y, turn);
  cb_cross3(b->moment, y + 3, torque);
  for (int i = 0; i < 3; i++) dy[i] = (turn[i] + torque[i]) / b->K0[i][i];
  cb_cross3(y + 3, y, dy + 3);
  return GSL_SUCCESS;
}

static void heavy_top_follows_euler_poisson(void **unused) {
  body b = plain_body(1.3, 1.1, 0.4, 1);
  b.moment[0] = 0.05;
  b.moment[2] = 0.6;
  b.g[2] = -9.81;
  const cb_rigid_problem p = problem_of(&b);
  const double Y[6] = {0.4, -0.2, 9}, time = 3;
  const cb_pose tilted = {{cos(0.3), sin(0.3), 0, 0}, {0, 0, 0}};
  double y[6], r[3][3], error[4];
  memcpy(y, Y, 3 * sizeof *y);
  cb_pose_rotation(&tilted, r);
  cb_apply3_transposed(r, b.g, y + 3);
  gsl_odeiv2_system ode = {top, NULL, 6, &b};
  integrate(&ode, time, y);
  const cb_rigid_state fine = run_by(&p, RKMK4, &tilted, Y, time, 12000);
  double down[3];
  cb_pose_rotation(&fine.g, r);
  cb_apply3_transposed(r, b.g, down);
  for (int i = 0; i < 3; i++) {
    check_near(fine.Y[i], y[i], 2e-9);
    check_near(down[i], y[3 + i], 2e-9);
  }
  for (int map = 0; map < 3; map++) {
    for (int i = 0; i < 4; i++) {
      const cb_rigid_state s = run_by(&p, map, &tilted, Y, time, 1500 << i);
      cb_pose_rotation(&s.g, r);
      cb_apply3_transposed(r, b.g, down);
      error[i] = hypot(hypot(down[0] - y[3], down[1] - y[4]), down[2] - y[5]);
    }
    check_near(fitted_order(error, 4), 2, 0.05);
    print_message("  map %d: gravity's direction to %.1e at h = %.2e\n", map, error[3], time / 12000);
  }
}

/* The equations R' = R hat(w), x' = R v, mu' = ad*_Y mu + F with the rotation R, the position x, the twist Y = (w, v),
 * the momentum mu and the wrench F. y has the 9 numbers of R, then x and mu. */
static int sinking(double t, const double *y, double *dy, void *user) {
  const body *b = user;
  const double *mu = y + 12, *R = y;
  double matrix[36], Y[6], down[3];
  int sign;
  for (int i = 0; i < 36; i++) matrix[i] = b->K0[i / 6][i % 6];
  gsl_matrix_view m = gsl_matrix_view_array(matrix, 6, 6);
  gsl_vector_const_view right = gsl_vector_const_view_array(mu, 6);
  gsl_vector_view solution = gsl_vector_view_array(Y, 6);
  size_t order[6];
  gsl_permutation perm = {6, order};
  gsl_linalg_LU_decomp(&m.matrix, &perm, &sign);
  gsl_linalg_LU_solve(&m.matrix, &perm, &right.vector, &solution.vector);
  const double *w = Y, *v = Y + 3, *l = mu, *p = mu + 3, *c = b->moment;
  for (int i = 0; i < 3; i++) {
    const double *row = R + 3 * i;
    dy[3 * i] = row[1] * w[2] - row[2] * w[1];
    dy[3 * i + 1] = row[2] * w[0] - row[0] * w[2];
    dy[3 * i + 2] = row[0] * w[1] - row[1] * w[0];
    dy[9 + i] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
    down[i] = R[i] * b->g[0] + R[3 + i] * b->g[1] + R[6 + i] * b->g[2];
  }
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, d = (i + 2) % 3;
    dy[12 + i] = l[a] * w[d] - l[d] * w[a] + p[a] * v[d] - p[d] * v[a] + c[a] * down[d] - c[d] * down[a];
    dy[15 + i] = p[a] * w[d] - p[d] * w[a] + b->weight * down[i];
  }
  return GSL_SUCCESS;
}

static void sinking_with_anisotropic_added_mass_follows_rk8pd(void **unused) {
  body b = free_body(); /* its inertia stands for that of the body and the fluid */
  b.weight = 0.8;
  b.moment[0] = 0.1;
  b.moment[1] = -0.2;
  b.moment[2] = 0.3; /* mass times its centre, minus displaced mass times its centre */
  b.g[2] = -9.81;
  const cb_rigid_problem p = problem_of(&b);
  double y[18] = {0}, r[3][3], error[4];
  cb_pose_rotation(&generic_pose, r);
  for (int i = 0; i < 9; i++) y[i] = r[i / 3][i % 3];
  for (int i = 0; i < 3; i++) y[9 + i] = generic_pose.x[i];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) y[12 + i] += b.K0[i][j] * generic_twist[j];
  gsl_odeiv2_system ode = {sinking, NULL, 18, &b};
  integrate(&ode, 3, y);
  const cb_rigid_state fine = run_by(&p, RKMK4, &generic_pose, generic_twist, 3, 6000);
  cb_pose_rotation(&fine.g, r);
  for (int i = 0; i < 9; i++) check_near(r[i / 3][i % 3], y[i], 1e-9);
  for (int i = 0; i < 3; i++) check_near(fine.g.x[i], y[9 + i], 1e-9);
  for (int i = 0; i < 6; i++) check_near(fine.momentum[i], y[12 + i], 1e-8);
  for (int i = 0; i < 4; i++) {
    const cb_rigid_state s = run_by(&p, CB_SE3_CAYLEY, &generic_pose, generic_twist, 3, 500 << i);
    error[i] = 0;
    for (int k = 0; k < 3; k++) error[i] = fmax(error[i], fabs(s.g.x[k] - y[9 + k]));
    /* the linear momentum in the axes of the world changes by the weight times the time */
    double first[3];
    cb_pose_rotation(&generic_pose, r);
    double mu[6] = {0};
    for (int k = 0; k < 36; k++) mu[k / 6] += b.K0[k / 6][k % 6] * generic_twist[k % 6];
    cb_apply3(r, mu + 3, first);
    for (int k = 0; k < 3; k++) check_near(s.world[3 + k], first[k] + 3 * b.weight * b.g[k], 1e-12);
  }
  check_near(fitted_order(error, 4), 2, 0.05);
}

/* Hamilton-Pontryagin computes free fall exactly. */
static void free_fall_is_exact(void **unused) {
  body b = plain_body(1, 2, 3, 2);
  b.weight = 2;
  b.g[2] = -9.81;
  const cb_rigid_problem p = problem_of(&b);
  const double Y[6] = {0, 0, 0, 1, 0, 5};
  for (int map = 0; map < 3; map++) {
    const cb_rigid_state s = run_by(&p, map, &at_origin, Y, 2, 64);
    check_near(s.g.x[0], 2, 1e-13);
    check_near(s.g.x[2], 10 - 9.81 * 2, 1e-13);
    check_near(s.momentum[5], 2 * (5 - 9.81 * 2), 1e-13);
  }
}

/* --- a cat of two links in a plane; the frame of the body is that of link 1, with the origin in its centre and the
 * joint at (a1, 0) --- */

typedef struct cat {
  double m1, m2, I1, I2, a1, a2;
} cat;

static double angle(double t) { return 1.3 * sin(t) + 0.4; }
static double angle_rate(double t) { return 1.3 * cos(t); }

static cb_status cat_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const cat *c = self;
  const double al = angle(t), da = angle_rate(t);
  const double x[3] = {c->a1 + c->a2 * cos(al), c->a2 * sin(al), 0}, v[3] = {-x[1] * da, c->a2 * cos(al) * da, 0};
  double upper[3][3] = {{0}};
  memset(K, 0, 36 * sizeof(double));
  cb_add_hat3(upper, c->m2, x);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      K[i][j] = -c->m2 * x[i] * x[j];
      K[i][j + 3] = upper[i][j];
      K[j + 3][i] = upper[i][j];
    }
    K[i][i] += c->I1 + c->I2 + c->m2 * cb_dot3(x, x);
    K[i + 3][i + 3] = c->m1 + c->m2;
  }
  cb_cross3(x, v, mu0);
  for (int i = 0; i < 3; i++) {
    mu0[i] *= c->m2;
    mu0[3 + i] = c->m2 * v[i];
  }
  mu0[2] += c->I2 * da;
  return CB_OK;
}

static double cat_turns(const cat *c, double t) {
  const double m = c->m1 * c->m2 / (c->m1 + c->m2), ca = cos(angle(t));
  return -(c->I2 + m * c->a2 * c->a2 + m * c->a1 * c->a2 * ca) /
         (c->I1 + c->I2 + m * (c->a1 * c->a1 + c->a2 * c->a2 + 2 * c->a1 * c->a2 * ca)) * angle_rate(t);
}

static void a_cat_without_momentum_turns_by_its_shape(void **unused) {
  cat c = {1.3, 0.7, 0.4, 0.2, 0.5, 0.8};
  const cb_rigid_problem p = {.self = &c, .inertia = cat_inertia};
  const double time = 2.5;
  double turned = 0, rest[6], K[6][6], mu0[6], error[4]; /* turned: the exact rotation, by Simpson's rule */
  for (int i = 0; i <= 2000; i++)
    turned += (i == 0 || i == 2000 ? 1 : i % 2 ? 4 : 2) * cat_turns(&c, time * i / 2000) * time / 6000;
  /* `rest` is the twist Y at the start for momentum 0, K Y + mu0 = 0 */
  check_ok(cat_inertia(&c, 0, &at_origin, K, mu0));
  double matrix[36], minus[6];
  for (int i = 0; i < 36; i++) matrix[i] = K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) minus[i] = -mu0[i];
  gsl_matrix_view m = gsl_matrix_view_array(matrix, 6, 6);
  gsl_vector_view right = gsl_vector_view_array(minus, 6), solution = gsl_vector_view_array(rest, 6);
  gsl_linalg_HH_solve(&m.matrix, &right.vector, &solution.vector);
  check_near(rest[2], cat_turns(&c, 0), 1e-14);
  for (int map = 0; map < 3; map++) {
    for (int i = 0; i < 4; i++) {
      const cb_rigid_state s = run_by(&p, map, &at_origin, rest, time, 50 << i);
      double Y[6];
      check_ok(cb_rigid_twist(&p, &s, Y));
      check_near(Y[2], cat_turns(&c, time), 1e-12);
      for (int k = 0; k < 6; k++) check_near(s.momentum[k], 0, 1e-13);
      error[i] = fabs(2 * atan2(s.g.q[3], s.g.q[0]) - turned);
    }
    check_near(fitted_order(error, 4), 2, 0.05);
  }
  const cb_rigid_state s = run_by(&p, RKMK4, &at_origin, rest, time, 2000);
  check_near(2 * atan2(s.g.q[3], s.g.q[0]), turned, 1e-11);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_rigid_body_follows_jacobi),
      cmocka_unit_test(heavy_top_follows_euler_poisson),
      cmocka_unit_test(sinking_with_anisotropic_added_mass_follows_rk8pd),
      cmocka_unit_test(free_fall_is_exact),
      cmocka_unit_test(a_cat_without_momentum_turns_by_its_shape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
