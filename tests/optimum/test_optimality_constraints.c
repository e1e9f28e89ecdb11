/* Tests of the optimality of given gaits that are at bounds or whose links touch. */
#include "gaits.h"
#include "numerics/small.h"
#include "optimum/reduced.h"
#include "optimum/find.h"

static cb_bundle *bundle(const char *name) {
  cb_bundle *b;
  check_ok(cb_bundle_create(name, NULL, &b));
  return b;
}

/* Checks the projection x = A^T z - g of -g onto the cone A x >= 0: x is in the cone, and z > 0 only for rows with
 * A x = 0. */
static void a_projection_has_its_complements(void **state) {
  enum { N = 12, ROWS = 30 };
  uint64_t seed = 7;
  print_message("seed %llu\n", (unsigned long long)seed);
  double A[ROWS * N], g[N], z[ROWS], y[ROWS], x[N];
  for (int k = 0; k < ROWS * N; k++) A[k] = check_uniform(&seed, -1, 1) + (k % N == 0);
  for (int k = 0; k < N; k++) A[(ROWS - 1) * N + k] = A[k] + A[N + k]; /* the last row is the sum of the first two */
  for (int k = 0; k < N; k++) g[k] = check_uniform(&seed, -1, 1) + (k == 0);
  const double size = sqrt(cb_dot(N, g, g));
  for (int k = 0; k < N; k++) g[k] /= size;
  check_ok(cb_cone_projection(ROWS, N, A, g, z, y));
  for (int i = 0; i < N; i++) {
    x[i] = -g[i];
    for (int k = 0; k < ROWS; k++) x[i] += A[k * N + i] * z[k];
  }
  double pressing = 0;
  for (int k = 0; k < ROWS; k++) {
    const double s = cb_dot(N, A + k * N, x);
    check_near(s, y[k], 1e-10);
    check_at_least(s, -1e-10);
    check_at_least(z[k], 0);
    check_at_most(s * z[k], 1e-12);
    pressing += z[k] > 1e-3;
  }
  check_at_least(pressing, 1);
}

/* Returns a square of half width 1 whose corners are quarter circles of the radii rho[4], joined by sides of the
 * square. If all radii are equal to rho, it is the shortest loop in the square that encloses its area, which is
 * 4 - (4 - pi) rho^2. */
static cb_gait *rounded_square(const double *rho) {
  enum { DEGREE = 24, ARCS = 8 };
  double ends[ARCS + 1] = {0}, value[ARCS * (DEGREE + 1) * 2], length = 0;
  for (int a = 0; a < ARCS; a++) {
    const double side = 2 - rho[a / 2] - rho[(a / 2 + 1) % 4];
    ends[a + 1] = length += a % 2 ? side : M_PI / 2 * rho[a / 2];
    for (int j = 0; j <= DEGREE; j++) {
      const double u = pow(sin(M_PI * j / (2 * DEGREE)), 2), turn = M_PI / 2 * (a / 2), r = rho[a / 2];
      const double angle = turn + (a % 2 ? M_PI / 2 : M_PI / 2 * u), along = a % 2 ? side * u : 0;
      const double corner = turn + M_PI / 4, away = M_SQRT2 * (1 - r);
      double *at = value + (a * (DEGREE + 1) + j) * 2;
      at[0] = away * cos(corner) + r * cos(angle) - along * sin(angle);
      at[1] = away * sin(corner) + r * sin(angle) + along * cos(angle);
    }
  }
  for (int a = 1; a <= ARCS; a++) ends[a] /= length;
  ends[ARCS] = 1;
  cb_gait *g;
  check_ok(cb_gait_arcs(2, ARCS, ends, DEGREE, value, &g));
  return g;
}

static const double low[2] = {-1, -1}, high[2] = {1, 1};

/* The rounded square is a minimum. It has the length L and is run through in the time 1, so its speed is L. The force
 * that curves the corners is L^2/rho. On a straight side of length l the bound balances this force for the time l/L.
 * So the impulse of each bound is L l/rho. */
static void a_rounded_square_presses_on_its_walls(void **state) {
  cb_bundle *b = bundle("heisenberg");
  const double r = .4, rho[4] = {r, r, r, r}, L = 8 - (8 - 2 * M_PI) * r, side = 2 - 2 * r;
  cb_gait *gait = rounded_square(rho);
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}, .lower = low, .upper = high};
  cb_optimum_problem free_of_walls = p;
  free_of_walls.lower = free_of_walls.upper = NULL;
  cb_optimality v;
  check_ok(cb_optimality_of(&p, gait, &v));
  assert_true(v.stationary);
  check_at_most(v.slope, 1e-9);
  check_relative(v.cost, L * L, 1e-12);
  check_relative(fabs(v.lambda[0]), L / r, 1e-8);
  assert_int_equal(v.index, 0);
  assert_int_equal(v.flat, 0);
  assert_int_equal(v.loose, 0);
  assert_int_equal(v.active_constraints, 4);
  for (int k = 0; k < 4; k++) {
    check_relative(v.active_constraint[k].impulse, L * side / r, 1e-6);
    check_relative(v.active_constraint[k].to - v.active_constraint[k].from, side / L, 1e-9);
  }
  check_ok(cb_optimality_of(&free_of_walls, gait, &v));
  assert_false(v.stationary);
  assert_int_equal(v.active_constraints, 0);
  cb_gait_free(gait);
  cb_bundle_free(b);
}

/* A rounded square whose corners have unequal radii, and a square with sharp corners, are not optimal. */
static void walls_do_not_hold_what_is_not_least(void **state) {
  cb_bundle *b = bundle("heisenberg");
  const double rho[4] = {.3, .5, .3, .5};
  const double square[8] = {1, 1, -1, 1, -1, -1, 1, -1}, wide[2] = {-INFINITY, -1}, far[2] = {INFINITY, 1};
  cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}, .lower = low, .upper = high};
  cb_gait *gait = rounded_square(rho);
  cb_optimality v;
  check_ok(cb_optimality_of(&p, gait, &v));
  assert_false(v.stationary);
  const double r = sqrt((.09 + .25) / 2), least = 8 - (8 - 2 * M_PI) * r;
  check_at_least(v.gain, 1e-5);
  check_at_most(v.gain, 1 - least * least / v.cost);
  cb_gait_free(gait);
  /* Between two walls, two half circles and two sides l with pi + 2 l = 4 enclose the same area as the square. */
  check_ok(cb_gait_polygon(2, 4, square, &gait));
  p.lower = wide;
  p.upper = far;
  check_ok(cb_optimality_of(&p, gait, &v));
  assert_false(v.stationary);
  assert_int_equal(v.active_constraints, 2);
  check_at_least(v.slope, .05);
  check_at_least(v.gain, 1e-3);
  check_at_most(v.gain, 1 - pow(2 * M_PI + 4 - M_PI, 2) / 64);
  cb_gait_free(gait);
  cb_bundle_free(b);
}

/* A circle touches constraints that exert no force on it. The result is the same as without constraints. */
static void a_touch_without_force_changes_nothing(void **state) {
  cb_bundle *b = bundle("heisenberg");
  cb_gait *gait = circle(0, 0, 1);
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}, .lower = low, .upper = high};
  cb_optimality v;
  check_ok(cb_optimality_of(&p, gait, &v));
  assert_true(v.stationary);
  assert_int_equal(v.active_constraints, 4);
  for (int k = 0; k < 4; k++) check_at_most(v.active_constraint[k].impulse, 1e-6);
  assert_int_equal(v.index, 0);
  assert_int_equal(v.loose, 0);
  cb_gait_free(gait);
  cb_bundle_free(b);
}

/* A gait of a search within bounds is stationary there. If all bounds move outwards by da, half the cost changes by -da
 * times the sum of the impulses. */
static void impulses_are_derivatives_in_bounds(void **state) {
  cb_bundle *b = bundle("purcell");
  const double h = 2e-4;
  double cost[3], sum = 0;
  cb_gait *start = circle(0, 0, .6);
  for (int k = 0; k < 3; k++) {
    const double a = .7 + (k - 1) * h, lower[2] = {-a, -a}, upper[2] = {a, a};
    const cb_optimum_problem p = {
        .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper, .start = start};
    cb_optima *o;
    check_ok(cb_optimum_find(&p, &o));
    cost[k] = o->item[0].cost;
    if (k == 1) {
      cb_optimality v;
      check_ok(cb_optimality_of(&p, o->item[0].gait, &v));
      assert_true(v.stationary);
      assert_int_equal(v.index, 0);
      assert_int_equal(v.active_constraints, 4);
      check_relative(v.wong, cost[1], 1e-10);
      check_relative(hypot(v.lambda[0], v.lambda[1]), 4.33272289, 1e-6);
      for (int c = 0; c < 4; c++) sum += v.active_constraint[c].impulse;
    }
    cb_optima_free(o);
  }
  /* the tolerance is the error of the central difference */
  check_relative(-2 * sum, (cost[2] - cost[0]) / (2 * h), 2e-5);
  cb_gait_free(start);
  cb_bundle_free(b);
}

/* A gait rotates the body by .1 at the lowest cost. At a corner of its loop, two tips of the swimmer touch. The gait is
 * stationary only under the constraint that the links must not cross. */
static void tips_that_meet_hold_a_gait(void **state) {
  cb_bundle *b = bundle("purcell");
  cb_gait *start = circle(2, 2, .6);
  cb_optimum_problem p = {
      .bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .no_crossing = true, .start = start};
  cb_optima *o;
  cb_optimality v;
  check_ok(cb_optimum_find(&p, &o));
  check_ok(cb_optimality_of(&p, o->item[0].gait, &v));
  assert_true(v.stationary);
  check_relative(v.cost, .034983464790, 1e-10);
  assert_int_equal(v.index, 0);
  assert_int_equal(v.active_constraints, 1);
  check_at_least(v.active_constraint[0].impulse, 1e-4);
  p.no_crossing = false;
  check_ok(cb_optimality_of(&p, o->item[0].gait, &v));
  assert_false(v.stationary);
  cb_optima_free(o);
  cb_gait_free(start);
  cb_bundle_free(b);
}

static void a_gait_that_passes_a_wall_is_refused(void **state) {
  cb_bundle *b = bundle("heisenberg"), *s = bundle("purcell");
  cb_gait *gait = circle(0, 0, 1.1), *large = circle(2, 2, 1);
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}, .lower = low, .upper = high};
  const cb_optimum_problem q = {.bundle = s, .target = {.kind = CB_GAIT_ELEMENT}, .no_crossing = true};
  cb_optimality v;
  assert_int_equal(cb_optimality_of(&p, gait, &v), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "violates a constraint"));
  assert_int_equal(cb_optimality_of(&q, large, &v), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "lines 0 and 2 apart"));
  cb_gait_free(gait);
  cb_gait_free(large);
  cb_bundle_free(b);
  cb_bundle_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_projection_has_its_complements),    cmocka_unit_test(a_rounded_square_presses_on_its_walls),
      cmocka_unit_test(walls_do_not_hold_what_is_not_least), cmocka_unit_test(a_touch_without_force_changes_nothing),
      cmocka_unit_test(impulses_are_derivatives_in_bounds),  cmocka_unit_test(tips_that_meet_hold_a_gait),
      cmocka_unit_test(a_gait_that_passes_a_wall_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
