/* Tests of flows that are given by formulas. Uniform flow, shear, expressions and the vortex are compared with closed
 * forms, their gradients and rates with differences. Other tests evaluate many places in one call, and check errors. */
#include "core/threads.h"
#include "flow_slopes.h"

/* --- uniform, shear, expressions --- */

static void uniform_flow_and_shear_are_what_they_say(void **unused) {
  const vec u = {1, -2, 0.5}, x = {0.3, 0.2, -0.7};
  const mat G = {{0.1, 0.2, 0.3}, {-1, 2, 0}, {0, 0, 4}};
  cb_flow *f;
  vec found;
  check_ok(cb_flow_uniform(u, &f));
  assert_true(cb_flow_is_uniform(f) && cb_flow_is_steady(f));
  at(f, 3, x, found, NULL, NULL);
  for (int i = 0; i < 3; i++) check_near(found[i], u[i], 0);
  check_slopes(f, 3, x, 0.1, 1e-14);
  cb_flow_free(f);
  check_ok(cb_flow_shear(u, G, &f));
  assert_true(!cb_flow_is_uniform(f) && cb_flow_is_steady(f));
  at(f, 3, x, found, NULL, NULL);
  for (int i = 0; i < 3; i++) check_near(found[i], u[i] + G[i][0] * x[0] + G[i][1] * x[1] + G[i][2] * x[2], 1e-15);
  check_slopes(f, 3, x, 0.1, 1e-13);
  cb_flow_free(f);
}

static void expressions_have_exact_derivatives(void **unused) {
  const char *const names[] = {"k"}, *const text[3] = {"sin(k*y)*cos(t)", "x*y*z + t^2", "exp(-x^2)*k"};
  const double k = 2;
  cb_flow *f;
  vec u, x;
  uint64_t seed = check_seed();
  check_ok(cb_flow_expressions(text, 1, names, &k, NULL, NULL, &f));
  assert_true(!cb_flow_is_uniform(f) && !cb_flow_is_steady(f));
  for (int i = 0; i < 20; i++) {
    random_place(&seed, 1, x);
    at(f, 0.4, x, u, NULL, NULL);
    check_near(u[0], sin(k * x[1]) * cos(0.4), 1e-15);
    check_near(u[1], x[0] * x[1] * x[2] + 0.16, 1e-15);
    check_near(u[2], exp(-x[0] * x[0]) * k, 1e-15);
    check_slopes(f, 0.4, x, 1e-3, 1e-10);
  }
  cb_flow_free(f);
  check_ok(cb_flow_expressions((const char *const[3]){"x", "0", "0"}, 0, NULL, NULL, NULL, NULL, &f));
  assert_true(!cb_flow_is_uniform(f) && cb_flow_is_steady(f));
  cb_flow_free(f);
  check_ok(cb_flow_expressions((const char *const[3]){"cos(t)", "0", "0"}, 0, NULL, NULL, NULL, NULL, &f));
  assert_true(!cb_flow_is_uniform(f) && !cb_flow_is_steady(f));
  cb_flow_free(f);
  check_ok(cb_flow_expressions((const char *const[3]){"k", "0", "1/3"}, 1, names, &k, NULL, NULL, &f));
  assert_true(cb_flow_is_uniform(f) && cb_flow_is_steady(f));
  cb_flow_free(f);
}

/* --- the vortex --- */

static const vec centre = {0.3, -0.2, 1}, axis = {1, 2, -2};
static const double circulation = 1.7, core = 0.4;

/* Computes the place x at the distance r from the axis, at `angle` around the axis and shifted by `along`, and the unit
 * vector `tangent` of the circle around the axis. */
static void about_axis(double r, double angle, double along, vec x, vec tangent) {
  const vec k = {1. / 3, 2. / 3, -2. / 3}, a = {2. / 3, 1. / 3, 2. / 3}, b = {2. / 3, -2. / 3, -1. / 3}; /* a × b = k */
  for (int i = 0; i < 3; i++) {
    x[i] = centre[i] + r * (cos(angle) * a[i] + sin(angle) * b[i]) + along * k[i];
    tangent[i] = -sin(angle) * a[i] + cos(angle) * b[i];
  }
}

static void vortex_is_that_of_lamb_and_oseen(void **unused) {
  cb_flow *f;
  check_ok(cb_flow_vortex(centre, axis, circulation, core, &f));
  assert_true(!cb_flow_is_uniform(f) && cb_flow_is_steady(f));
  uint64_t seed = check_seed();
  /* Near and far radii; at r^2 = core^2/2 the library changes from a series to the closed form. */
  const double radius[] = {0,   1e-9, 1e-3, 0.1, 0.2, core * sqrt(0.5) * (1 - 1e-12), core * sqrt(0.5) * (1 + 1e-12),
                           0.5, 2,    30,   1e4};
  for (size_t n = 0; n < sizeof radius / sizeof *radius; n++) {
    vec x, tangent, u;
    mat g;
    const double r = radius[n], along = check_uniform(&seed, -1, 1), s = r * r / (core * core);
    about_axis(r, check_uniform(&seed, 0, 2 * PI), along, x, tangent);
    at(f, 0, x, u, g, NULL);
    const double speed = r > 0 ? circulation / (2 * PI * r) * -expm1(-s) : 0;
    for (int i = 0; i < 3; i++) check_near(u[i], speed * tangent[i], 2e-15 * (1 + fabs(r)));
    check_near(g[0][0] + g[1][1] + g[2][2], 0, 1e-14);
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      check_near(g[k][j] - g[j][k], circulation / (PI * core * core) * exp(-s) * axis[i] / 3, 2e-14);
    }
  }
  for (int i = 0; i < 30; i++) {
    vec x, tangent;
    about_axis(i * 0.05, i, 0.1 * i, x, tangent);
    check_slopes(f, 0, x, 1e-3, 2e-9);
  }
  cb_flow_free(f);
}

/* The integral of the velocity along a circle of radius r about the axis is the circulation times (1 - exp(-r^2/a^2)),
 * where a is the radius of the core. Along a circle that does not enclose the axis it is 0. */
static void circulation_of_the_vortex_is_as_given(void **unused) {
  cb_flow *f;
  check_ok(cb_flow_vortex(centre, axis, circulation, core, &f));
  for (int away = 0; away < 2; away++) {
    double sum = 0;
    const double r = 3;
    for (int i = 0; i < 256; i++) {
      vec x, tangent, u;
      about_axis(r, 2 * PI * i / 256, 0.3, x, tangent);
      if (away) {
        x[0] += 8;
        x[1] -= 4;
      } /* the shift is perpendicular to the axis */
      at(f, 0, x, u, NULL, NULL);
      for (int k = 0; k < 3; k++) sum += u[k] * tangent[k] * r * 2 * PI / 256;
    }
    check_near(sum, away ? 0 : circulation, 1e-13);
  }
  cb_flow_free(f);
}

/* --- many places --- */

static void many_places_give_the_same_bits_with_any_threads(void **unused) {
  enum { N = 2 * CB_THREADS_MIN_ELEMENTS };
  const char *const text[3] = {"sin(y)", "sqrt(x)", "z*t"};
  cb_flow *f;
  vec *x = malloc(sizeof *x * N), *u[2] = {malloc(sizeof **u * N), malloc(sizeof **u * N)};
  uint64_t seed = check_seed();
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) x[i][k] = check_uniform(&seed, 0, 2);
  check_ok(cb_flow_expressions(text, 0, NULL, NULL, NULL, NULL, &f));
  for (int threads = 1; threads <= 3; threads++) {
    cb_threads_set(threads);
    check_ok(cb_flow_at(f, 1.5, N, (const vec *)x, u[threads > 1], NULL, NULL));
    assert_memory_equal(u[threads > 1], u[0], sizeof **u * N);
  }
  x[N - 5][0] = -2;
  x[N / 3][0] = -1; /* this is the first place with an error, so its error is reported */
  check_error_begins(cb_flow_at(f, 1.5, N, (const vec *)x, u[0], NULL, NULL), CB_STEP_NOT_FINITE, "flow at (-1, ");
  cb_threads_set(0);
  cb_flow_free(f);
  free(x);
  free(u[0]);
  free(u[1]);
}

/* --- errors --- */

static void what_is_wrong_is_told(void **unused) {
  cb_flow *f = NULL;
  size_t which = 9, where = 9;
  check_error(cb_flow_uniform((const vec){0, NAN, 0}, &f), CB_ERROR_ARGUMENT,
              "flow: velocity y is nan: expected a finite number");
  check_error(cb_flow_shear((const vec){0}, (const mat){{0}, {0, 0, INFINITY}}, &f), CB_ERROR_ARGUMENT,
              "flow: du_y/dz is inf: expected a finite number");
  check_error(cb_flow_vortex(centre, (const vec){0}, 1, 1, &f), CB_ERROR_ARGUMENT,
              "vortex: axis is (0, 0, 0): expected a direction");
  check_error(cb_flow_vortex(centre, axis, 1, 0, &f), CB_ERROR_ARGUMENT, "vortex: core is 0: expected a radius > 0");
  check_error(cb_flow_vortex(centre, axis, NAN, 1, &f), CB_ERROR_ARGUMENT,
              "vortex: circulation is nan: expected a finite number");
  const char *const misspelt[3] = {"0", "x + siin(y)", "0"};
  check_error_begins(cb_flow_expressions(misspelt, 0, NULL, NULL, &which, &where, &f), CB_ERROR_INPUT, "unknown");
  assert_int_equal(which, 1);
  assert_int_equal(where, 4);
  assert_null(f);
  vec u;
  mat g;
  check_ok(cb_flow_expressions((const char *const[3]){"0", "1/x", "0"}, 0, NULL, NULL, NULL, NULL, &f));
  check_error(cb_flow_at(f, 2, 1, (const vec[]){{0, 1, 3}}, &u, NULL, NULL), CB_STEP_NOT_FINITE,
              "flow at (0, 1, 3), t = 2: velocity (0, inf, 0): expected finite numbers");
  cb_flow_free(f);
  check_ok(cb_flow_expressions((const char *const[3]){"0", "sqrt(y)", "0"}, 0, NULL, NULL, NULL, NULL, &f));
  check_ok(cb_flow_at(f, 2, 1, (const vec[]){{0, 0, 3}}, &u, NULL, NULL));
  check_error(cb_flow_at(f, 2, 1, (const vec[]){{0, 0, 3}}, &u, &g, NULL), CB_STEP_NOT_FINITE,
              "flow at (0, 0, 3), t = 2: velocity (0, 0, 0), its derivatives are not finite: expected finite numbers");
  cb_flow_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uniform_flow_and_shear_are_what_they_say),
      cmocka_unit_test(expressions_have_exact_derivatives),
      cmocka_unit_test(vortex_is_that_of_lamb_and_oseen),
      cmocka_unit_test(circulation_of_the_vortex_is_as_given),
      cmocka_unit_test(many_places_give_the_same_bits_with_any_threads),
      cmocka_unit_test(what_is_wrong_is_told),
  };
  return cmocka_run_group_tests_name("flow_formulas", tests, NULL, NULL);
}
