/* Bodies that move by the isometries of S^3 and H^3: known states, circles, Clifford translations, stability, Casimirs over
 * many steps, places far out, and poses against matrices.
 *
 * timeout: 300
 * labels: medium
 */
#include "check.h"

#include "fluid/rigid_curved.h"
#include "numerics/curved.h"
#include "numerics/pose_curved.h"
#include "numerics/vec6.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef cb_status step_of(const cb_rigid_problem *p, double h, cb_rigid_state *s);

static cb_status pontryagin(const cb_rigid_problem *p, double h, cb_rigid_state *s) {
  return cb_rigid_step_pontryagin(p, CB_SE3_CAYLEY, h, s, NULL);
}

static cb_status inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const cb_rigid_constant *c = self;
  (void)t, (void)g;
  memcpy(K, c->K, sizeof c->K);
  memcpy(mu0, c->mu0, sizeof c->mu0);
  return CB_OK;
}

static cb_rigid_problem problem_of(const double diagonal[6], double K, cb_rigid_constant *c) {
  double tensor[6][6] = {{0}}, zero[6] = {0};
  for (int i = 0; i < 6; i++) tensor[i][i] = diagonal[i];
  check_ok(cb_rigid_constant_of((const double(*)[6])tensor, zero, c));
  return (cb_rigid_problem){.self = c, .inertia = inertia, .constant = c, .curvature = K};
}

static cb_rigid_state begin_at(const cb_rigid_problem *p, const double x[3], const double Y[6]) {
  cb_rigid_state s;
  cb_pose g = {.q = {1}};
  if (x) memcpy(g.x, x, sizeof g.x);
  check_ok(cb_rigid_start(p, 0, &g, Y, &s));
  return s;
}

static void run(const cb_rigid_problem *p, step_of *step, int n, double h, cb_rigid_state *s) {
  for (int i = 0; i < n; i++) check_ok(step(p, h, s));
}

static double apart(const double *a, const double *b, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* --- a triaxial body --- */

static const double triaxial[2][6] = {
    {.153152374963, .225957875295, .253728968099, 1.800765700651, 1.980288469072, 2.235983633676},
    {.052880001815, .065195767598, .072921764525, .855772377550, .887035036068, .955726559202}};
static const double thrown[6] = {.7, -.4, .5, .6, .3, -.8};

/* H^3: mu(10) and the place at 2 by an independent program, of inertia with 12 digits. */
static void a_body_in_h3_comes_to_its_known_state(void **unused) {
  static const double known[6] = {-.0769510786, -.0490948942, .1763530333, -.3189329353, -1.5383079928, -1.5018839727},
                      place[4] = {1.8870911335, .7609774776, -3.3600841975, 4.0534387231};
  cb_rigid_constant c;
  (void)unused;
  const cb_rigid_problem p = problem_of(triaxial[0], -1, &c);
  cb_rigid_state s = begin_at(&p, NULL, thrown);
  double y[4];
  run(&p, cb_rigid_step_rkmk4, 2000, 1e-3, &s);
  cb_pose_place_in(-1, &s.g, y);
  check_near(apart(y, place, 4), 0, 1e-8);
  run(&p, cb_rigid_step_rkmk4, 8000, 1e-3, &s);
  check_near(apart(s.momentum, known, 6), 0, 1e-8);
}

/* To one limit, by the orders 2 and 4. */
static void methods_have_their_orders(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    cb_rigid_constant c;
    const cb_rigid_problem p = problem_of(triaxial[k], k ? 1 : -1, &c);
    cb_rigid_state exact = begin_at(&p, NULL, thrown);
    run(&p, cb_rigid_step_rkmk4, 4000, 1e-3, &exact);
    for (int method = 0; method < 2; method++) {
      double error[2];
      for (int l = 0; l < 2; l++) {
        cb_rigid_state s = begin_at(&p, NULL, thrown);
        run(&p, method ? cb_rigid_step_rkmk4 : pontryagin, 160 << l, .025 / (1 << l), &s);
        error[l] = apart(s.momentum, exact.momentum, 6) + apart(s.g.x, exact.g.x, 3);
      }
      print_message("K %2d, %s: %.2e %.2e, %.2f\n", k ? 1 : -1, method ? "rkmk4" : "hamilton_pontryagin", error[0],
                    error[1], error[0] / error[1]);
      check_near(log2(error[0] / error[1]), method ? 4 : 2, .2);
    }
  }
}

static void casimirs_and_energy_stay(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    cb_rigid_constant c;
    const double K = k ? 1 : -1;
    const cb_rigid_problem p = problem_of(triaxial[k], K, &c);
    cb_rigid_state s = begin_at(&p, NULL, thrown);
    double first[2], last[2], energy[2] = {0};
    cb_rigid_casimirs(K, s.momentum, first);
    for (int half = 0; half < 2; half++)
      for (int i = 0; i < 50000; i++) {
        check_ok(pontryagin(&p, .02, &s));
        double Y[6], T = 0;
        check_ok(cb_rigid_twist(&p, &s, Y));
        for (int j = 0; j < 6; j++) T += s.momentum[j] * Y[j] / 2;
        energy[half] = fmax(energy[half], T);
      }
    cb_rigid_casimirs(K, s.momentum, last);
    print_message("K %2g: Casimirs %.1e %.1e, greatest energy %.9f %.9f, out to %g\n", K, last[0] / first[0] - 1,
                  last[1] / first[1] - 1, energy[0], energy[1], sqrt(cb_dot3(s.g.x, s.g.x)));
    /* 1e5 products, each of round-off that has no sign */
    for (int i = 0; i < 2; i++) check_relative(last[i], first[i], 1e-12);
    check_relative(energy[1], energy[0], 1e-4); /* symplectic: it does not grow */
  }
}

/* A ball of a = .5 and density 2 that spins across its way: kappa = K J w/(M v). */
static void a_spinning_ball_circles(void **unused) {
  static const struct {
    double K, J, M, period;
  } ball[] = {{-1, 2 * .0589705369080045, 2 * .550410782851529 + 2 * .0589705369080045 + .262811901249877, 10.727291866285},
              {1, 2 * .0464771270775645, 2 * .498033589508337 - 2 * .0464771270775645 + .252628196135991, 9.102269723198}};
  (void)unused;
  for (int k = 0; k < 2; k++) {
    const double K = ball[k].K, J = ball[k].J, M = ball[k].M, v = .25, w = 8, kappa = fabs(J * w / (M * v)),
                 radius = K < 0 ? atanh(1 / kappa) : atan(1 / kappa), Y[6] = {0, 0, w, v, 0, 0};
    cb_rigid_constant c;
    const cb_rigid_problem p = problem_of((double[6]){J, J, J, M, M, M}, K, &c);
    cb_rigid_state s = begin_at(&p, NULL, Y);
    double most = 0;
    const int n = 20000;
    for (int i = 0; i < n; i++) {
      check_ok(cb_rigid_step_rkmk4(&p, ball[k].period / n, &s));
      most = fmax(most, sqrt(cb_dot3(s.g.x, s.g.x)));
    }
    print_message("K %2g: radius %.12f, back to %.1e\n", K, most / 2, sqrt(cb_dot3(s.g.x, s.g.x)));
    check_relative(most, 2 * radius, 1e-7); /* the greatest of 20000 points */
    check_near(sqrt(cb_dot3(s.g.x, s.g.x)), 0, 1e-10);
  }
}

/* Every rigid body in vacuum keeps w = v in S^3; in the fluid it does not. */
static void clifford_translations_are_free_in_vacuum(void **unused) {
  const double J[3] = {.0521, .0626, .0724}, m = .7646, v[3] = {.3, -.2, .5};
  double I[6], Y[6];
  cb_rigid_constant c;
  (void)unused;
  for (int i = 0; i < 3; i++) I[i] = J[i], I[3 + i] = m - J[i], Y[i] = Y[3 + i] = v[i];
  cb_rigid_problem p = problem_of(I, 1, &c);
  for (int method = 0; method < 2; method++) {
    cb_rigid_state s = begin_at(&p, NULL, Y);
    run(&p, method ? cb_rigid_step_rkmk4 : pontryagin, 10000, .01, &s);
    double now[6];
    check_ok(cb_rigid_twist(&p, &s, now));
    check_near(apart(now, Y, 6), 0, 1e-11);
  }
  p = problem_of(triaxial[1], 1, &c);
  cb_rigid_state s = begin_at(&p, NULL, Y);
  run(&p, cb_rigid_step_rkmk4, 1000, .01, &s);
  double now[6];
  check_ok(cb_rigid_twist(&p, &s, now));
  check_at_least(apart(now, Y, 6), .01);
}

/* Along axis 1: Omega^2 = V^2 (M1 - M3)(M1 - K J2)/(J2 M3), of totals. */
static void axis_first_flight_has_its_frequency(void **unused) {
  (void)unused;
  const double k[2] = {.1725701538, .4776929955}, J[2] = {.057789324, .1214426882}, kw = .0264079975,
               volume = .7250795757, critical = (k[1] - k[0]) / (J[1] - J[0]);
  check_relative(critical, 4.7935069, 1e-7);
  for (int i = 0; i < 4; i++) {
    const double share[4] = {.5, .9, 1.1, 2}, rho = share[i] * critical, V = .7, e = 1e-7;
    const double M1 = rho * (volume - J[0]) + k[0], M3 = rho * (volume - J[1]) + k[1], J2 = rho * J[1] + kw;
    const double square = V * V * (M1 - M3) * (M1 - J2) / (J2 * M3), T = 3;
    cb_rigid_constant c;
    const cb_rigid_problem p = problem_of((double[6]){rho * J[0], J2, J2, M1, M3, M3}, 1, &c);
    const double Y[6] = {0, 0, e, V, 0, 0};
    cb_rigid_state s = begin_at(&p, NULL, Y);
    double now[6];
    run(&p, cb_rigid_step_rkmk4, 3000, T / 3000, &s);
    check_ok(cb_rigid_twist(&p, &s, now));
    const double law = square > 0 ? cos(sqrt(square) * T) : cosh(sqrt(-square) * T);
    assert_true((square > 0) == (share[i] > 1));
    check_near(now[2] / e, law, 1e-7); /* what is of order e^2, and round-off over e */
  }
}

/* --- places --- */

static void matrix_of(double K, const cb_pose *g, double m[4][4]) {
  double y[4], r[3][3];
  cb_pose_place_in(K, g, y);
  cb_pose_rotation(g, r);
  const double back[4] = {-y[0], -y[1], -y[2], y[3]};
  for (int j = 0; j < 4; j++) {
    const double e[4] = {j < 3 ? r[0][j] : 0, j < 3 ? r[1][j] : 0, j < 3 ? r[2][j] : 0, j == 3};
    double out[4];
    cb_curved_towards(K, back, e, out);
    for (int i = 0; i < 4; i++) m[i][j] = out[i];
  }
}

static cb_pose random_pose(double K, double far, uint64_t *seed) {
  cb_pose g;
  double size = 0;
  for (int i = 0; i < 4; i++) g.q[i] = check_uniform(seed, -1, 1), size += g.q[i] * g.q[i];
  for (int i = 0; i < 4; i++) g.q[i] /= sqrt(size);
  for (int i = 0; i < 3; i++) g.x[i] = check_uniform(seed, -far, far);
  (void)K;
  return g;
}

static void poses_are_matrices(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int n = 0; n < 60; n++) {
    const double K = (double[3]){-1, 1, .3}[n % 3];
    const cb_pose a = random_pose(K, 1.5, &seed), b = random_pose(K, 1.5, &seed);
    cb_pose ab, back, one, half, twice;
    double A[4][4], B[4][4], AB[4][4], H[4][4], T[4][4], sum = 0;
    cb_pose_multiply_in(K, &a, &b, &ab);
    matrix_of(K, &a, A), matrix_of(K, &b, B), matrix_of(K, &ab, AB);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        double product = 0;
        for (int l = 0; l < 4; l++) product += A[i][l] * B[l][j];
        check_near(AB[i][j], product, 1e-12 * (1 + fabs(product)) * (K < 0 ? 30 : 1));
      }
    cb_pose_inverse_in(K, &a, &back);
    cb_pose_multiply_in(K, &a, &back, &one);
    for (int i = 0; i < 3; i++) sum += fabs(one.x[i]) + fabs(one.q[1 + i]);
    check_near(sum, 0, 1e-12);
    cb_pose_half_in(K, &a, &half);
    cb_pose_multiply_in(K, &half, &half, &twice);
    matrix_of(K, &twice, T), matrix_of(K, &a, H);
    check_near(apart(T[0], H[0], 16), 0, 1e-11);
  }
}

/* exp and the Cayley map agree to third order, and dtau^-1 with differences. */
static void maps_and_their_differentials_agree(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int n = 0; n < 30; n++) {
    const double K = (double[3]){-1, 1, .3}[n % 3];
    double Y[6], Z[6], A[6][6], by_series[6];
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -.3, .3), Z[i] = check_uniform(&seed, -1, 1);
    cb_dcayley_inverse_in(K, Y, A);
    cb_dexp_inverse_in(K, Y, Z, by_series);
    /* d/de tau(Y + e D) = tau' : right-trivialised, tau(Y + e D) tau(Y)^-1 = 1 + e Z, D = dtau^-1 Z */
    for (int map = 0; map < 2; map++) {
      double D[6];
      cb_apply6((const double(*)[6])A, Z, D);
      if (map) memcpy(D, by_series, sizeof D);
      double found[6];
      cb_pose at[2], moved;
      for (int k = 0; k < 2; k++) {
        double of[6];
        for (int i = 0; i < 6; i++) of[i] = Y[i] + (k ? -1e-5 : 1e-5) * D[i];
        (map ? cb_pose_exp_in : cb_pose_cayley_in)(K, of, &at[k]);
      }
      cb_pose back;
      cb_pose_inverse_in(K, &at[1], &back);
      cb_pose_multiply_in(K, &at[0], &back, &moved);
      const double sign = moved.q[0] < 0 ? -1 : 1;
      double turn[3], bent[3]; /* the logarithm of T(x) R to second order: (w, x - w × x/2) */
      for (int i = 0; i < 3; i++) turn[i] = sign * 2 * moved.q[1 + i];
      cb_cross3(turn, moved.x, bent);
      for (int i = 0; i < 3; i++) found[i] = turn[i] / 2e-5, found[3 + i] = (moved.x[i] - bent[i] / 2) / 2e-5;
      check_near(apart(found, Z, 6), 0, 1e-8); /* differences of order 2 */
    }
  }
}

/* A body at the distance d moves as one at the base point. */
static void far_out_is_as_here(void **unused) {
  (void)unused;
  for (int n = 0; n < 2; n++) {
    const double d = n ? 1e5 : 300, x[3] = {.6 * d, 0, .8 * d};
    cb_rigid_constant c;
    const cb_rigid_problem p = problem_of(triaxial[0], -1, &c);
    cb_rigid_state here = begin_at(&p, NULL, thrown), there = begin_at(&p, x, thrown);
    run(&p, pontryagin, 1000, .01, &here);
    run(&p, pontryagin, 1000, .01, &there);
    assert_memory_equal(here.momentum, there.momentum, sizeof here.momentum);
    assert_memory_equal(here.Y, there.Y, sizeof here.Y);
    const double way = sqrt(cb_dot3(here.g.x, here.g.x)), out = sqrt(cb_dot3(there.g.x, there.g.x));
    assert_true(fabs(out - d) <= way * (1 + 1e-9));
  }
}

/* A geodesic through the antipode of the base point, which is hit, and once round. */
static void spheres_are_gone_round(void **unused) {
  cb_rigid_constant c;
  (void)unused;
  const cb_rigid_problem p = problem_of((double[6]){1, 1, 1, 2, 2, 2}, 1, &c);
  const double Y[6] = {0, 0, 0, .6, 0, .8};
  for (int n = 0; n < 2; n++) {
    const int steps = n ? 1001 : 1000;
    cb_rigid_state s = begin_at(&p, NULL, Y);
    run(&p, cb_rigid_step_rkmk4, steps, 2 * pi / steps, &s);
    check_near(sqrt(cb_dot3(s.g.x, s.g.x)), 0, 1e-11);
    check_near(fabs(s.g.q[0]), 1, 1e-11);
  }
}

/* With a wrench that depends on pose and twist, both methods have one limit; steps back return. */
static cb_status push(void *self, double t, const cb_pose *g, const double Y[6], double F[6], double dF[6][6]) {
  (void)self, (void)dF;
  for (int i = 0; i < 3; i++) F[i] = -.02 * Y[i] + .01 * g->x[i], F[3 + i] = .03 * sin(t + i) - .01 * Y[3 + i];
  return CB_OK;
}

static void wrenches_are_felt_alike(void **unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    cb_rigid_constant c;
    cb_rigid_problem p = problem_of(triaxial[k], k ? 1 : -1, &c);
    p.wrench = push;
    double found[3][6];
    for (int l = 0; l < 3; l++) {
      cb_rigid_state s = begin_at(&p, NULL, thrown);
      const int n = l == 1 ? 200 : 100;
      run(&p, l == 2 ? cb_rigid_step_rkmk4 : pontryagin, n, 1. / n, &s);
      memcpy(found[l], s.momentum, sizeof found[l]);
      if (l == 2) continue;
      cb_rigid_state back = s;
      run(&p, pontryagin, n, -1. / n, &back);
      check_near(sqrt(cb_dot3(back.g.x, back.g.x)), 0, 1e-12);
    }
    for (int i = 0; i < 6; i++) found[0][i] = (4 * found[1][i] - found[0][i]) / 3;
    check_near(apart(found[0], found[2], 6), 0, 1e-7); /* h^4 = 1e-8 */
  }
}

static void what_is_for_flat_space_is_refused(void **unused) {
  cb_rigid_constant c;
  (void)unused;
  cb_rigid_problem p = problem_of(triaxial[0], -1, &c);
  cb_rigid_state s = begin_at(&p, NULL, thrown);
  assert_int_equal(cb_rigid_step_pontryagin(&p, CB_SE3_EXPONENTIAL, .1, &s, NULL), CB_ERROR_UNSUPPORTED);
  assert_int_equal(cb_rigid_step_rkmk4(&p, 0, &s), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_rigid_step_rkmk4(&p, 40, &s), CB_STEP_NO_CONVERGENCE);
  p.pose_dependent = true;
  assert_int_equal(cb_rigid_step_rkmk4(&p, .1, &s), CB_ERROR_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(poses_are_matrices),
      cmocka_unit_test(maps_and_their_differentials_agree),
      cmocka_unit_test(a_body_in_h3_comes_to_its_known_state),
      cmocka_unit_test(methods_have_their_orders),
      cmocka_unit_test(casimirs_and_energy_stay),
      cmocka_unit_test(a_spinning_ball_circles),
      cmocka_unit_test(clifford_translations_are_free_in_vacuum),
      cmocka_unit_test(axis_first_flight_has_its_frequency),
      cmocka_unit_test(far_out_is_as_here),
      cmocka_unit_test(spheres_are_gone_round),
      cmocka_unit_test(wrenches_are_felt_alike),
      cmocka_unit_test(what_is_for_flat_space_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
