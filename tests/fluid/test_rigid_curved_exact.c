/* Tests of motions in curved spaces with exact solutions: geodesics, circles, Clifford translations, the stability of a
 * body that moves along its axis, and motion at any place. The fluid has the density 1. The inertias with added mass
 * are closed forms for balls, and were computed with fundamental solutions for quadrics. */
#include "curved_matrices.h"
#include "rigid_curved.h"

/* Balls of radius 1/2 and density 2 in a space of curvature K. J is the moment of inertia, and M the mass plus the
 * added mass. A ball with the speed .25 and the spin 8 moves on a circle; `radius` and `period` are those of this
 * circle. */
static const struct ball {
  double K, J, M, radius, period;
} balls[] = {{-1, 2 * .0589705369080045, 2 * (.550410782851529 + .0589705369080045) + .262811901249877, .414825397607,
              10.727291866285},
             {1, 2 * .0464771270775645, 2 * (.498033589508337 - .0464771270775645) + .252628196135991, .370592534909,
              9.102269723198}};

static void ball_of(const struct ball *of, curved_body *b) {
  curved_diagonal(of->K, (double[6]){of->J, of->J, of->J, of->M, of->M, of->M}, b);
}

/* A ball moves at constant speed along a geodesic, with or without spin about its direction of motion. In the sphere it
 * goes around more than once. */
static void ball_without_spin_across_follows_a_geodesic(void **unused) {
  for (int k = 0; k < 2; k++)
    for (int method = 0; method < 4; method++)
      for (int spin = 0; spin < 2; spin++) {
        curved_body b;
        cb_rigid_state s;
        ball_of(&balls[k], &b);
        const double u[3] = {.6, -.48, .64}, w = spin ? 1.5 : 0;
        check_ok(cb_rigid_start(&b.problem, 0, &base, (double[6]){w * u[0], w * u[1], w * u[2], u[0], u[1], u[2]}, &s));
        for (int n = 0; n < 100; n++) step_by(&b.problem, method, .08, &s);
        double y[4], along = 0, across = 0;
        curved_place(balls[k].K, &s.g, y);
        for (int i = 0; i < 3; i++) along += y[i] * u[i];
        for (int i = 0; i < 3; i++) across = fmax(across, fabs(y[i] - along * u[i]));
        /* with the Cayley map and tln the distance of a step is not exactly the step times the speed, so it is not
         * checked */
        const double far = k ? atan2(along, y[3]) : asinh(along), expected = k ? remainder(8, 2 * M_PI) : 8;
        check_at_most(across, 1e-12 * y[3] * (k ? y[3] : 1) + 1e-12);
        if (method == CB_SE3_EXPONENTIAL || method == RKMK4) check_near(far, expected, 1e-12);
      }
}

/* A ball that spins across its direction of motion moves on a circle. Its path has the geodesic curvature
 * c = J omega/(M v), with the moment of inertia J, the spin omega, the mass M and the speed v. The radius R of the
 * circle is atan(1/c) in S3 and atanh(1/c) in H3. After half a period the ball is 2 R away, and after one period it is
 * back. */
static void spinning_ball_circles(void **unused) {
  for (int k = 0; k < 2; k++) {
    const struct ball *of = &balls[k];
    const double v = .25, spin = 8, curvature = of->J * spin / (of->M * v);
    check_near(k ? atan(1 / curvature) : atanh(1 / curvature), of->radius, 1e-11);
    check_near(2 * M_PI * (k ? sin(of->radius) : sinh(of->radius)) / v, of->period, 1e-10);
    curved_body b;
    ball_of(of, &b);
    const double Y[6] = {0, 0, spin, v, 0, 0};
    cb_rigid_state s;
    check_ok(cb_rigid_start(&b.problem, 0, &base, Y, &s));
    for (int n = 1; n <= 16000; n++) {
      step_by(&b.problem, RKMK4, of->period / 16000, &s);
      if (n == 8000) check_near(sqrt(cb_dot3(s.g.x, s.g.x)), 2 * of->radius, 1e-10);
    }
    print_message("  K %g: returns to %.1e\n", of->K, sqrt(cb_dot3(s.g.x, s.g.x)));
    check_at_most(sqrt(cb_dot3(s.g.x, s.g.x)), 1e-10);
  }
}

/* Computes the inertia K of seven random masses m at points y = (x, w) of the unit sphere: K_ab is the sum of m <X_a,
 * X_b>, where X_a = (omega × x + w v, -v.x) is the velocity of the point under the unit twist a = (omega, v). */
static void points_tensor(uint64_t *seed, double K[6][6]) {
  memset(K, 0, 36 * sizeof **K);
  for (int n = 0; n < 7; n++) {
    double y[4], norm = 0, X[6][4] = {{0}};
    const double mass = check_uniform(seed, .2, 1);
    for (int i = 0; i < 4; i++) {
      y[i] = check_uniform(seed, -1, 1);
      norm += y[i] * y[i];
    }
    for (int i = 0; i < 4; i++) y[i] /= sqrt(norm);
    for (int i = 0; i < 3; i++) {
      double e[3] = {0};
      e[i] = 1;
      cb_cross3(e, y, X[i]);
      X[3 + i][i] = y[3];
      X[3 + i][3] = -y[i];
    }
    for (int a = 0; a < 6; a++)
      for (int c = 0; c < 6; c++)
        for (int i = 0; i < 4; i++) K[a][c] += mass * X[a][i] * X[c][i];
  }
}

/* If omega = v or omega = -v for the twist (omega, v), all points of a rigid body move along great circles, so the
 * twist is constant in a vacuum. */
static void clifford_translation_is_free_in_vacuum(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 24; n++) {
    double K[6][6], Y[6], now[6];
    curved_body b;
    cb_rigid_state s;
    points_tensor(&seed, K);
    curved_body_of(1, K, &b);
    for (int i = 0; i < 3; i++) {
      Y[i] = check_uniform(&seed, -1, 1);
      Y[3 + i] = n % 2 ? Y[i] : -Y[i];
    }
    check_ok(cb_rigid_start(&b.problem, 0, &base, Y, &s));
    for (int k = 0; k < 1000; k++) {
      step_by(&b.problem, n % 4, .05, &s);
      check_ok(cb_rigid_twist(&b.problem, &s, now));
      for (int i = 0; i < 6; i++) check_near(now[i], Y[i], 1e-10);
    }
  }
}

/* In a fluid the triaxial body with a twist Y = (v, v) tumbles. The largest rate |Y'_i| at the start is .29. */
static void clifford_translation_tumbles_in_a_fluid(void **unused) {
  curved_body b;
  cb_rigid_state s;
  double now[6], change = 0, worst = 0;
  const double Y[6] = {.3, .5, -.4, .3, .5, -.4};
  curved_diagonal(1, triaxial[1], &b);
  check_ok(cb_rigid_start(&b.problem, 0, &base, Y, &s));
  for (int n = 0; n < 1000; n++) {
    step_by(&b.problem, RKMK4, .01, &s);
    check_ok(cb_rigid_twist(&b.problem, &s, now));
    for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(now[i] - Y[i]));
    if (n == 0) change = worst / .01;
  }
  print_message("  |xi'| = %.4f, up to %.2f off\n", change, worst);
  check_near(change, .29, .005);
  check_at_least(worst, .5);
}

/* A quadric with the half axes (1.2, .5, .5) in the sphere: its added masses k1 and k3 along the axes 1 and 3, its
 * added moment of inertia `spin` about axis 2 or 3, its moments of inertia J1 and J3 for density 1, and its volume. */
static const double k1 = .1725701538, k3 = .4776929955, spin = .0264079975, J1 = .057789324, J3 = .1214426882,
                    volume = .7250795757;

/* Returns the transverse momentum M_3 v_3 at time t, relative to its value at the start, of a body that moves along its
 * first axis with the speed 1 and a small transverse speed. *square becomes Omega^2, where Omega is the angular
 * frequency of the transverse motion: Omega^2 = V^2 (M_1 - M_3)(M_1 - K J_2)/(J_2 M_3), with the speed V = 1, the
 * curvature K = 1, the masses M_i and the moments of inertia J_i. */
static double across(double density, double t, double *square) {
  const double J = density * J3 + spin, M1 = density * (volume - J1) + k1, M3 = density * (volume - J3) + k3;
  const double small = 1e-6;
  curved_body b;
  cb_rigid_state s;
  curved_diagonal(1, (double[6]){density * J1, J, J, M1, M3, M3}, &b);
  check_ok(cb_rigid_start(&b.problem, 0, &base, (double[6]){0, 0, 0, 1, 0, small / M3}, &s));
  const int steps = (int)ceil(t / .01);
  for (int n = 0; n < steps; n++) step_by(&b.problem, RKMK4, t / steps, &s);
  *square = (M1 - M3) * (M1 - J) / (J * M3);
  return s.momentum[5] / small;
}

/* A small transverse motion oscillates if Omega^2 > 0 and grows if Omega^2 < 0. Omega is defined in the comment of
 * `across`. */
static void axis_first_flight_is_stable_above_a_density(void **unused) {
  const double critical = (k3 - k1) / (J3 - J1);
  check_near(critical, 4.7935069, 1e-6);
  for (int i = 0; i < 4; i++) {
    const double density = critical * (double[]){.5, .9, 1.1, 2}[i];
    double square, sum;
    across(density, .01, &square);
    const double time = 2 / sqrt(fabs(square)), grown = across(density, time, &square);
    sum = square > 0 ? acos(grown) / time : acosh(grown) / time;
    print_message("  %.1f of the critical density: Omega^2 = %.9f, of the motion %.9f\n", density / critical, square,
                  copysign(sum * sum, square));
    assert_int_equal(square > 0, i > 1);
    check_relative(sum * sum, fabs(square), 1e-8);
  }
  /* the secant method, from a and b, finds the density at which the transverse momentum is constant */
  double a = 4.6, b = 5, square;
  double fa = across(a, 3, &square) - 1, fb = across(b, 3, &square) - 1;
  for (int n = 0; n < 8 && fabs(b - a) > 1e-9; n++) {
    const double c = b - fb * (b - a) / (fb - fa);
    a = b;
    fa = fb;
    b = c;
    fb = across(b, 3, &square) - 1;
  }
  check_near(b, critical, 1e-6);
}

/* A wrench whose components in the body's axes depend only on t and Y. */
static cb_status own_wrench(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  for (int i = 0; i < 6; i++) {
    F[i] = .2 * sin(t + i) - .1 * Y[i];
    if (dF) dF[i][i] = -.1;
  }
  return CB_OK;
}

/* Isometries map motions to motions. So bodies 300 and 1e5 radii away, and bodies that pass through the antipode, move
 * as the body at the base point does, up to the round-off of 200 steps in the frame of the body. */
static void a_body_anywhere_is_the_body_at_the_base_point(void **unused) {
  uint64_t seed = check_seed();
  double worst[2] = {0};
  for (int n = 0; n < 160; n++) {
    const double K = (n / 4 % 2 ? 1 : -1) * (n / 8 % 2 ? 1 : .3), root = sqrt(fabs(K));
    double I[6][6], Y[6];
    curved_body b;
    generic_tensor(I);
    curved_body_of(K, I, &b);
    if (n / 16 % 2) b.problem.wrench = own_wrench;
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -1, 1);
    cb_rigid_state here = run_by(&b.problem, n % 4, &base, Y, 3, 100);
    cb_pose g = generic_pose, back;
    if (K > 0) { /* the body is near the antipode of the base point after 100 of 200 steps */
      const cb_pose pole = {{.5, .5, -.5, .5}, {.6 * M_PI / root, 0, -.8 * M_PI / root}};
      cb_pose_inverse(&here.g, &back);
      cb_pose_multiply_in(K, &pole, &back, &g);
    } else {
      const double far = (n / 32 % 2 ? 300 : 1e5) / root;
      g.x[0] = .48 * far;
      g.x[1] = -.6 * far;
      g.x[2] = .64 * far;
    }
    here = run_by(&b.problem, n % 4, &base, Y, 6, 200);
    const cb_rigid_state there = run_by(&b.problem, n % 4, &g, Y, 6, 200);
    double first[2], last[2];
    cb_rigid_casimirs(K, here.momentum, first);
    cb_rigid_casimirs(K, there.momentum, last);
    for (int i = 0; i < 6; i++) {
      worst[0] = fmax(worst[0], fabs(here.momentum[i] - there.momentum[i]));
      worst[0] = fmax(worst[0], fabs(here.Y[i] - there.Y[i]));
    }
    for (int i = 0; i < 2; i++) worst[0] = fmax(worst[0], fabs(first[i] - last[i]));
    if (K < 0) continue;
    const lie_matrix to = curved_matrix(K, &g), at = curved_matrix(K, &here.g), product = lie_product(&to, &at),
                     found = curved_matrix(K, &there.g);
    worst[1] = fmax(worst[1], lie_distance(&product, &found));
  }
  print_message("  in the body %.1e, its place %.1e\n", worst[0], worst[1]);
  check_at_most(worst[0], 1e-12);
  check_at_most(worst[1], 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_without_spin_across_follows_a_geodesic),
      cmocka_unit_test(spinning_ball_circles),
      cmocka_unit_test(clifford_translation_is_free_in_vacuum),
      cmocka_unit_test(clifford_translation_tumbles_in_a_fluid),
      cmocka_unit_test(axis_first_flight_is_stable_above_a_density),
      cmocka_unit_test(a_body_anywhere_is_the_body_at_the_base_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
