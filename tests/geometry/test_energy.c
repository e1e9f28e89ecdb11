/* Tests of distances d as minima of the discrete energy, against the closed forms of polar charts. */
#include "check.h"
#include "geometry/numeric.h"
#include <curvebody/intrinsic.h>

enum { D = CB_DIM_MAX, PAIRS = 100 };

/* Makes the space in its polar chart, of which the energy uses only the metric. */
static cb_space *polar(const char *name) {
  cb_space *g;
  check_ok(cb_space_create(name, NULL, &g));
  g->chart = cb_chart_find(g, "polar");
  g->k = g->dim;
  return g;
}

static double largest_error(int n, const double *a, const double *b) {
  double error = 0, size = 1;
  for (int i = 0; i < n; i++) {
    error = fmax(error, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return error / size;
}

static void distance_and_derivatives_are_the_closed_ones_or_refused(void **s) {
  static const char *const names[] = {"e3", "s3", "h3", "h2", "s2"};
  uint64_t state = check_seed();
  for (int k = 0; k < 5; k++) {
    cb_space *g = polar(names[k]);
    const int n = g->dim;
    int refused = 0;
    for (int i = 0; i < PAIRS; i++) {
      double q[D], y[D], move[D], u[D], d, e, ga[2 * D], gb[2 * D], ha[4 * D * D], hb[4 * D * D], gij[D * D];
      for (int j = 0; j < n; j++) {
        const double low = j == 0 ? 0.7 : j < n - 1 ? 0.8 : -0.5, high = j == 0 ? 1.5 : j < n - 1 ? 2.3 : 0.5;
        q[j] = check_uniform(&state, low, high);
        y[j] = check_uniform(&state, low, high);
        move[j] = y[j] - q[j];
      }
      check_ok(g->chart->distance(g, q, y, &e, gb, hb));
      if (cb_energy_geodesic(g, q, move, &d, ga, ha, u)) {
        refused++;
        continue;
      }
      check_relative(d, e, 1e-13);
      check_at_most(largest_error(2 * n, ga, gb), 1e-11);
      check_at_most(largest_error(4 * n * n, ha, hb), 1e-8);
      check_ok(g->chart->metric(g, q, gij, NULL, NULL));
      double p[D] = {0}; /* u is -d times the gradient of d, with its index raised */
      for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) p[a] -= gij[a * n + b] * u[b] / e;
      check_at_most(largest_error(n, p, gb), 1e-11);
    }
    check_at_most(refused, PAIRS / 5.0);
    cb_space_free(g);
  }
}

static void what_is_past_a_conjugate_point_is_refused(void **s) {
  cb_space *g = polar("s2");
  const double q[] = {acos(-1) / 2, 0}, most[] = {0, 3}, past[] = {0, 3.3};
  double d = -1;
  check_ok(cb_energy_geodesic(g, q, most, &d, NULL, NULL, NULL));
  check_near(d, 3, 1e-12);
  assert_int_equal(cb_energy_geodesic(g, q, past, &d, NULL, NULL, NULL), CB_ERROR_DOMAIN);
  check_near(d, 3, 1e-12);
  cb_space_free(g);
}

static void coincident_points_are_refused(void **s) {
  cb_space *g = polar("h3");
  const double q[] = {1, 1, 1};
  double d = -1;
  assert_int_equal(cb_energy_distance(g, q, q, &d, NULL, NULL), CB_ERROR_DOMAIN);
  check_near(d, -1, 0);
  cb_space_free(g);
}

/* If the distance that was found is below the injectivity radius, the library does not try the images of the end point
 * under the periods. This test shows that no image is nearer then. */
static void within_the_injectivity_radius_no_image_is_nearer(void **s) {
  static const char *const names[] = {"torus", "ellipsoid"};
  uint64_t state = check_seed();
  for (int k = 0; k < 2; k++) {
    cb_space *g;
    check_ok(cb_space_create(names[k], NULL, &g));
    int near = 0;
    for (int i = 0; i < 30; i++) {
      const double q[] = {check_uniform(&state, -3, 3), check_uniform(&state, -1, 1)};
      const double y[] = {check_uniform(&state, -3, 3), check_uniform(&state, -1, 1)};
      double d, other;
      if (cb_energy_distance(g, q, y, &d, NULL, NULL) || d > g->intrinsic->injectivity) continue;
      near++;
      for (int image = -1; image < 2; image++) {
        const double move[] = {y[0] - q[0] + image * 2 * acos(-1), y[1] - q[1]};
        if (cb_energy_geodesic(g, q, move, &other, NULL, NULL, NULL) == CB_OK) check_at_most(d - other, 1e-12);
      }
    }
    check_at_most(5, near);
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(distance_and_derivatives_are_the_closed_ones_or_refused),
                                     cmocka_unit_test(what_is_past_a_conjugate_point_is_refused),
                                     cmocka_unit_test(coincident_points_are_refused),
                                     cmocka_unit_test(within_the_injectivity_radius_no_image_is_nearer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
