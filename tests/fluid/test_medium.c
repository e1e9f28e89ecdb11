/* Tests of the densities of media at places and over faces, of their derivatives, and of errors. */
#include "medium.h"

#include <gsl/gsl_integration.h>

/* --- faces --- */

static void random_face(uint64_t *seed, double x[3][3]) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) x[k][i] = check_uniform(seed, -0.8, 0.8);
}

/* Returns the mean density over a face with corners at the heights h_i. The fraction of a triangle below the level l is
 * sum_i (l - h_i)_+^2/prod_j (h_j - h_i) with j other than i, where ( )_+ is the positive part. */
static double mean_in_layers(const strata *s, const double x[3][3]) {
  double h[3], sum = s->density[s->n];
  for (int i = 0; i < 3; i++) h[i] = cb_dot3(x[i], s->up);
  for (int l = 0; l < s->n; l++)
    for (int i = 0; i < 3; i++) {
      const double d = fmax(s->level[l] - h[i], 0);
      sum += (s->density[l] - s->density[l + 1]) * d * d / ((h[(i + 1) % 3] - h[i]) * (h[(i + 2) % 3] - h[i]));
    }
  return sum;
}

static void check_slope(const cb_medium *m, double x[3][3], double h, double tolerance) {
  double density, slope[1][3][3], alone;
  check_ok(cb_medium_faces(m, 1, (const double(*)[3][3])x, &density, slope));
  check_ok(cb_medium_faces(m, 1, (const double(*)[3][3])x, &alone, NULL));
  check_near(alone, density, 0);
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < 3; i++) {
      const double at = x[c][i];
      double side[2];
      for (int k = 0; k < 2; k++) {
        x[c][i] = at + (k ? h : -h);
        check_ok(cb_medium_faces(m, 1, (const double(*)[3][3])x, &side[k], NULL));
      }
      x[c][i] = at;
      check_near(slope[0][c][i], (side[1] - side[0]) / (2 * h), tolerance);
    }
}

static void mean_density_of_a_face_is_exact_in_layers(void **unused) {
  uint64_t seed = check_seed();
  strata s = sea;
  for (int turn = 0; turn < 300; turn++) {
    double x[3][3], density, h[3], least = 1;
    random_face(&seed, x);
    random_direction(&seed, s.up);
    for (int i = 0; i < 3; i++) h[i] = cb_dot3(x[i], s.up);
    for (int i = 0; i < 3; i++) least = fmin(least, fabs(h[i] - h[(i + 1) % 3]));
    if (least < 0.02) continue; /* mean_in_layers divides by differences of heights, which may be small */
    cb_medium *m = layers_of(&s);
    check_ok(cb_medium_faces(m, 1, (const double(*)[3][3])x, &density, NULL));
    check_near(density, mean_in_layers(&s, (const double(*)[3])x), 1e-12 * 1030 / least);
    check_slope(m, x, 1e-6, 2e-3 * 1030 / least / least * 1e-1); /* the tolerance is the error of the difference
                                                                  * quotients */
    cb_medium_free(m);
  }
}

static void face_in_an_interface_is_above_and_has_no_slope(void **unused) {
  cb_medium *m = layers_of(&sea);
  double density, slope[1][3][3];
  const double height[4] = {-0.5, -0.3, 0.05, 0.4};
  for (int i = 0; i < 4; i++) {
    const double x[1][3][3] = {{{0, 0, height[i]}, {1, 0, height[i]}, {0, 1, height[i]}}};
    double at;
    check_ok(cb_medium_faces(m, 1, x, &density, slope));
    check_ok(cb_medium_at(m, x[0][1], &at));
    check_near(density, sea.density[i], 0);
    check_near(at, sea.density[i], 0);
    for (int k = 0; k < 9; k++) check_near(slope[0][k / 3][k % 3], 0, 0);
  }
  /* faces with an edge in the interface, with a corner in the interface, and nearly parallel to the interface */
  const double x[4][3][3] = {{{0, 0, 0.05}, {1, 0, 0.05}, {0, 1, 0.2}},
                             {{0, 0, 0.05}, {1, 0, 0.05}, {0, 1, -0.2}},
                             {{0, 0, 0.05}, {1, 0, -0.1}, {0, 1, 0.2}},
                             {{0, 0, 0.05 - 1e-16}, {1, 0, 0.05 + 1e-16}, {0, 1, 0.05 + 2e-16}}};
  const double expected[4] = {870, 998, 998 + (870 - 998) / 2., 934};
  for (int i = 0; i < 4; i++) {
    check_ok(cb_medium_faces(m, 1, &x[i], &density, slope));
    check_near(density, expected[i], i == 3 ? 64.1 : 1e-10);
    for (int k = 0; k < 9; k++) assert_true(isfinite(slope[0][k / 3][k % 3]));
  }
  cb_medium_free(m);
}

static void expressions_of_faces_are_of_degree_five(void **unused) {
  uint64_t seed = check_seed();
  cb_medium *m, *smooth;
  const double up[3] = {0, 0, 1};
  check_ok(cb_medium_expression("5 + x^5 + x^2*y^2*z", 0, NULL, NULL, up, NULL, &m));
  check_ok(cb_medium_expression("2 + sin(3*x)*exp(y) + z^2", 0, NULL, NULL, up, NULL, &smooth));
  gsl_integration_glfixed_table *gauss = gsl_integration_glfixed_table_alloc(4);
  for (int turn = 0; turn < 20; turn++) {
    double x[3][3], density, exact = 0;
    random_face(&seed, x);
    for (size_t p = 0; p < 16; p++) {
      double u, v, wu, wv, y[3];
      gsl_integration_glfixed_point(0, 1, p / 4, &u, &wu, gauss);
      gsl_integration_glfixed_point(0, 1, p % 4, &v, &wv, gauss);
      for (int i = 0; i < 3; i++) y[i] = x[0][i] + u * (x[1][i] - x[0][i]) + v * (1 - u) * (x[2][i] - x[0][i]);
      exact += 2 * wu * wv * (1 - u) * (5 + pow(y[0], 5) + y[0] * y[0] * y[1] * y[1] * y[2]);
    }
    check_ok(cb_medium_faces(m, 1, (const double(*)[3][3])x, &density, NULL));
    check_near(density, exact, 2e-14);
    check_slope(m, x, 1e-4, 1e-7);
    check_slope(smooth, x, 1e-4, 1e-7);
  }
  gsl_integration_glfixed_table_free(gauss);
  cb_medium_free(m);
  cb_medium_free(smooth);
}

/* --- errors --- */

static void what_is_wrong_is_told(void **unused) {
  cb_medium *m = NULL;
  size_t at = 99;
  const double up[3] = {0, 0, 1}, level[2] = {1, 1}, density[3] = {1, -2, 3}, good[3] = {1, 2, 3};
  check_error(cb_medium_uniform(-1, &m), CB_ERROR_ARGUMENT, "density is -1: expected a number >= 0");
  check_error(cb_medium_uniform(NAN, &m), CB_ERROR_ARGUMENT, "density is nan: expected a number >= 0");
  check_error(cb_medium_layers(2, level, density, up, &m), CB_ERROR_ARGUMENT,
              "density of layer 2 is -2: expected a number >= 0");
  check_error(cb_medium_layers(2, level, good, up, &m), CB_ERROR_ARGUMENT,
              "level 2 between layers is 1: expected finite levels that ascend");
  check_error(cb_medium_layers(2, level, good, (const double[3]){0}, &m), CB_ERROR_ARGUMENT,
              "up is (0, 0, 0): expected a direction");
  check_error_begins(cb_medium_expression("1 + rho", 0, NULL, NULL, up, &at, &m), CB_ERROR_INPUT, "unknown");
  assert_int_equal(at, 4);
  check_error(cb_medium_expression("1 - 3", 0, NULL, NULL, up, &at, &m), CB_ERROR_INPUT,
              "density '1 - 3' is -2: expected a number >= 0");
  assert_int_equal(at, 0);
  assert_null(m);
  check_ok(cb_medium_expression("2*pi", 0, NULL, NULL, up, NULL, &m));
  assert_true(cb_medium_is_uniform(m));
  cb_medium_free(m);
  check_ok(cb_medium_expression("1 - z", 0, NULL, NULL, up, NULL, &m));
  double value = 7, moment[3];
  const double x[1][3][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 6}}};
  check_ok(cb_medium_at(m, (const double[3]){0, 0, -1}, &value));
  check_near(value, 2, 0);
  check_error(cb_medium_at(m, (const double[3]){0, 5, 3}, &value), CB_STEP_NOT_FINITE,
              "density at (0, 5, 3) is -2: expected a number >= 0");
  check_error_begins(cb_medium_faces(m, 1, x, &value, NULL), CB_STEP_NOT_FINITE,
                     "density at (0.333333, 0.333333, 2) is");
  check_error_begins(cb_medium_displaced(m, 1, x, NULL, &value, moment, NULL), CB_STEP_NOT_FINITE,
                     "density at (0.333333, ");
  check_near(value, 2, 0);
  cb_medium_free(m);
  check_ok(cb_medium_expression("sqrt(x)", 0, NULL, NULL, up, NULL, &m));
  const double flat[1][3][3] = {{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  double slope[1][3][3];
  check_ok(cb_medium_faces(m, 1, flat, &value, NULL));
  check_error_begins(cb_medium_faces(m, 1, flat, &value, slope), CB_STEP_NOT_FINITE, "gradient of the density at (0, ");
  cb_medium_free(m);
  check_ok(cb_medium_uniform(1, &m));
  const double broken[1][3][3] = {{{0, 0, 0}, {1, NAN, 0}, {0, 1, 6}}};
  check_error_begins(cb_medium_displaced(m, 1, broken, NULL, &value, moment, NULL), CB_STEP_NOT_FINITE,
                     "the displaced mass of a surface at (0, 0, 0) is nan: expected a finite number");
  cb_medium_free(m);
  cb_medium_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mean_density_of_a_face_is_exact_in_layers),
      cmocka_unit_test(face_in_an_interface_is_above_and_has_no_slope),
      cmocka_unit_test(expressions_of_faces_are_of_degree_five),
      cmocka_unit_test(what_is_wrong_is_told),
  };
  return cmocka_run_group_tests_name("medium", tests, NULL, NULL);
}
