/* Tests of metric, distance, geodesics and transport in every space of the registry and in other products, and of
 * errors for wrong input. x: point of the embedding; K: curvature of a factor. */
#include "check_spaces.h"

enum { TRIALS = 50, K = CB_COORD_MAX };

static double norm(const cb_space *g, const double *v) { return sqrt(fmax(0, cb_inner(g, v, v))); }

static void two_points(const cb_space *g, uint64_t *state, double *x, double *y) {
  check_random_point(g, state, check_radius(g), x);
  check_random_point(g, state, check_radius(g), y);
}

/* --- metric, points, frames --- */

static void frame_is_orthonormal(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], e[CB_DIM_MAX * K], v[K], w[K];
    check_random_point(g, state, 2, x);
    check_ok(cb_space_check_point(g, x, 1e-14));
    cb_space_frame(g, x, e);
    for (int i = 0; i < g->dim; i++) {
      memcpy(v, e + i * g->embedding, sizeof(double) * (size_t)g->embedding);
      cb_space_project_tangent(g, x, v);
      check_at_most(check_distance_max(g->embedding, v, e + i * g->embedding), 1e-14 * 30);
      for (int j = 0; j < g->dim; j++) /* a few times the round-off of cosh(2)^2 */
        check_near(cb_inner(g, e + i * g->embedding, e + j * g->embedding), i == j, 3e-14);
    }
    check_random_tangent(g, state, x, 1, v);
    check_random_tangent(g, state, x, 1, w);
    check_at_least(cb_inner(g, v, v), 0);
    check_near(cb_inner(g, v, w), cb_inner(g, w, v), 0);
  }
}
static void metric_is_positive_and_frames_are_orthonormal(void **s) { check_every_space(frame_is_orthonormal); }

/* --- geodesics --- */

/* Computes the derivative dz of z = (x, x', u), which RK4 integrates. In each factor, with its curvature c,
 * x'' = -c <x',x'> x, and a transported vector u has u' = -c <u,x'> x. */
static void rate(const cb_space *g, const double *z, double *dz) {
  memcpy(dz, z + K, sizeof(double) * K);
  memset(dz + K, 0, sizeof(double) * 2 * K);
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    double speed = 0, along = 0;
    for (int a = factor.offset; a < factor.offset + factor.count; a++) {
      speed += g->form[a] * z[K + a] * z[K + a];
      along += g->form[a] * z[2 * K + a] * z[K + a];
    }
    for (int a = factor.offset; a < factor.offset + factor.count; a++) {
      dz[K + a] = -factor.curvature * speed * z[a];
      dz[2 * K + a] = -factor.curvature * along * z[a];
    }
  }
}

static void integrate_geodesic(const cb_space *g, double *z, int steps) {
  double h = 1. / steps, k[4][3 * K], y[3 * K];
  static const double c[4] = {0, 0.5, 0.5, 1};
  for (int n = 0; n < steps; n++) {
    for (int i = 0; i < 4; i++) {
      for (int a = 0; a < 3 * K; a++) y[a] = z[a] + (i ? c[i] * h * k[i - 1][a] : 0);
      rate(g, y, k[i]);
    }
    for (int a = 0; a < 3 * K; a++) z[a] += h / 6 * (k[0][a] + 2 * k[1][a] + 2 * k[2][a] + k[3][a]);
  }
}

static void geodesics(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < 10; trial++) {
    double z[3 * K] = {0}, *x = z, *v = z + K, *u = z + 2 * K, y[K], w[K], t[K], x0[K], v0[K];
    check_random_point(g, state, check_radius(g), x);
    check_random_short_tangent(g, state, x, check_radius(g), v);
    check_random_tangent(g, state, x, 1, u);
    double length = norm(g, v);
    cb_exp(g, x, v, y, w);
    check_ok(cb_transport(g, x, y, u, t));
    memcpy(x0, x, sizeof x0);
    memcpy(v0, v, sizeof v0);
    integrate_geodesic(g, z, 500);
    /* The error of RK4 with h = 1/500 is h^4 times derivatives of size about 1. */
    check_at_most(check_distance_max(g->embedding, y, x), 2e-11);
    check_at_most(check_distance_max(g->embedding, w, v), 2e-11);
    check_at_most(check_distance_max(g->embedding, t, u), 2e-11);
    check_relative(cb_distance(g, x0, y), length, 1e-14 * 3);
    check_ok(cb_transport(g, x0, y, v0, t));
    check_at_most(check_distance_max(g->embedding, t, w), 3e-14);
  }
}
static void distance_exp_and_transport_agree_with_the_integrated_geodesic(void **s) { check_every_space(geodesics); }

static void log_inverts(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], y[K], v[K], u[K];
    check_random_point(g, state, check_radius(g), x);
    check_random_short_tangent(g, state, x, check_radius(g), v);
    cb_exp(g, x, v, y, NULL);
    check_ok(cb_log(g, x, y, u));
    check_at_most(check_distance_max(g->embedding, u, v), 2e-14);
    /* Tiny steps: x + v has the round-off of x, which is 2e-16, while v has the length 1e-8. */
    for (int a = 0; a < g->embedding; a++) v[a] *= 1e-8;
    cb_exp(g, x, v, y, NULL);
    check_ok(cb_log(g, x, y, u));
    check_at_most(check_distance_max(g->embedding, u, v), 3e-15);
    check_near(cb_distance(g, x, y), norm(g, v), 3e-15);
    /* At the base point, the coordinates of y contain all digits of the step. */
    cb_space_base_point(g, x);
    check_random_tangent(g, state, x, 1e-6, v);
    cb_exp(g, x, v, y, NULL);
    check_ok(cb_log(g, x, y, u));
    check_at_most(check_distance_max(g->embedding, u, v), 3e-15 * norm(g, v));
    check_relative(cb_distance(g, x, y), norm(g, v), 3e-15);
  }
}
static void log_inverts_exp_at_any_length(void **s) { check_every_space(log_inverts); }

static void transports(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], y[K], u[K], v[K], tu[K], tv[K], back[K];
    two_points(g, state, x, y);
    check_random_tangent(g, state, x, 1, u);
    check_random_tangent(g, state, x, 1, v);
    check_ok(cb_transport(g, x, y, u, tu));
    check_ok(cb_transport(g, x, y, v, tv));
    check_near(cb_inner(g, tu, tv), cb_inner(g, u, v), 1e-13);
    check_ok(cb_transport(g, y, x, tu, back));
    check_at_most(check_distance_max(g->embedding, back, u), 3e-14);
    memcpy(back, tu, sizeof back);
    cb_space_project_tangent(g, y, back);
    check_at_most(check_distance_max(g->embedding, back, tu), 3e-14);
  }
}
static void transport_keeps_inner_products_and_tangency(void **s) { check_every_space(transports); }

/* --- distance derivatives --- */

/* Computes the distance d of the points z[0..] and z[embedding..] in long double from their chords. It is defined on
 * all of the embedding. */
static long double chord_distance(const cb_space *g, const long double *z) {
  long double sum = 0;
  for (int f = 0; f < g->n_factors; f++) {
    cb_factor factor = g->factor[f];
    long double square = 0, k = factor.curvature, d = 0;
    for (int a = factor.offset; a < factor.offset + factor.count; a++) {
      long double e = z[a] - z[g->embedding + a];
      square += (long double)g->form[a] * e * e;
    }
    if (k == 0) d = sqrtl(square);
    if (k > 0) d = 2 / sqrtl(k) * asinl(sqrtl(k * square) / 2);
    if (k < 0) d = 2 / sqrtl(-k) * asinhl(sqrtl(-k * square) / 2);
    sum += d * d;
  }
  return sqrtl(sum);
}

static void derivatives(const cb_space *g, uint64_t *state) {
  int n = 2 * g->embedding;
  double worst_gradient = 0, worst_hessian = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], y[K], d, gradient[2 * K], hessian[4 * K * K], alone[2 * K];
    check_random_point(g, state, 0.6 * check_radius(g), x);
    check_random_point(g, state, 0.6 * check_radius(g), y);
    check_ok(cb_distance_derivatives(g, x, y, &d, gradient, hessian));
    check_ok(cb_distance_derivatives(g, x, y, &d, alone, NULL));
    check_at_most(check_distance_max(n, alone, gradient), 0);
    check_relative(d, cb_distance(g, x, y), 1e-15);
    long double z[2 * K], h = 1e-5L, p[2][2];
    for (int a = 0; a < g->embedding; a++) {
      z[a] = x[a];
      z[g->embedding + a] = y[a];
    }
    for (int i = 0; i < n; i++) {
      long double at = z[i], side[2];
      for (int s = 0; s < 2; s++) {
        z[i] = at + (s ? h : -h);
        side[s] = chord_distance(g, z);
      }
      z[i] = at;
      worst_gradient =
          fmax(worst_gradient, (double)fabsl((side[1] - side[0]) / (2 * h) - (long double)gradient[i]) * d * d);
      for (int j = 0; j < n; j++) {
        long double other = z[j], second;
        for (int s = 0; s < 4; s++) {
          z[i] = at + (s & 1 ? h : -h);
          z[j] = (i == j ? z[i] : other) + (s & 2 ? h : -h);
          p[s & 1][s >> 1] = chord_distance(g, z);
        }
        z[i] = at;
        z[j] = other;
        second = (p[1][1] - p[1][0] - p[0][1] + p[0][0]) / (4 * h * h);
        worst_hessian = fmax(worst_hessian, (double)fabsl(second - (long double)hessian[i * n + j]) * d * d * d);
      }
    }
  }
  print_message("%s: gradient %.1e, Hessian %.1e\n", g->class_->name, worst_gradient, worst_hessian);
  check_at_most(worst_gradient, 1e-8); /* differences with the step h have the error h^2 times third derivatives */
  check_at_most(worst_hessian, 1e-7);  /* the second differences have the error h^2 times fourth derivatives */
}
static void distance_derivatives_agree_with_differences(void **s) { check_every_space(derivatives); }

static void short_derivatives(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], y[K], v[K], u[K], d, gradient[2 * K];
    cb_space_base_point(g, x);
    check_random_tangent(g, state, x, 1e-6, v);
    cb_exp(g, x, v, y, NULL);
    check_ok(cb_distance_derivatives(g, x, y, &d, gradient, NULL));
    for (int a = 0; a < g->embedding; a++) u[a] = -gradient[a] * g->form[a];
    cb_space_project_tangent(g, x, u);
    for (int a = 0; a < g->embedding; a++) u[a] -= v[a] / norm(g, v);
    check_at_most(norm(g, u), 3e-15);
  }
}
static void gradient_of_a_short_distance_is_the_unit_direction(void **s) { check_every_space(short_derivatives); }

/* --- errors --- */

static void expect_failure(const char *space, const char *key, const char *value, const char *word) {
  check_map m;
  cb_space *g = NULL;
  cb_status status = cb_space_create(space, check_map_fill(&m, key, value, NULL, NULL), &g);
  if (status != CB_ERROR_INPUT || !strstr(cb_error_text(), word)) print_error("%s\n", cb_error_text());
  check_near(status, CB_ERROR_INPUT, 0);
  assert_null(g);
  assert_non_null(strstr(cb_error_text(), word));
  assert_non_null(strstr(cb_error_text(), "test:1:"));
}

static void wrong_parameters_are_errors_with_place_and_expectation(void **s) {
  expect_failure("s3", "curvature", "0", "> 0");
  expect_failure("s3", "curvature", "-1", "> 0");
  expect_failure("h3", "curvature", "0", "< 0");
  expect_failure("h2", "curvature", "1", "< 0");
  expect_failure("e3", "curvature", "1", "[0, 0]");
  expect_failure("s3", "curvature", "1e300", "curvature");
  expect_failure("s3", "curvture", "1", "curvature");
  expect_failure("h3", "chart", "polr", "polar");
  expect_failure("h3", "chart", "embedding", "polar");
  expect_failure("h3", "plot", "embedding", "poincare");
  expect_failure("h4", "curvature", "1", "h3");
  cb_space *g = NULL;
  check_near(cb_space_create("h4", NULL, &g), CB_ERROR_ARGUMENT, 0);
}

static void shared_keys_are_read(void **s) {
  check_map m;
  cb_space *g;
  check_ok(cb_space_create("h3", check_map_fill(&m, "name", "h3", "chart", "polar"), &g));
  assert_string_equal(g->chart->name, "polar");
  check_near(g->k, 3, 0);
  check_near(g->embedding, 4, 0);
  cb_space_free(g);
  check_ok(cb_space_create("h2", check_map_fill(&m, "plot", "poincare", "curvature", "-2"), &g));
  assert_string_equal(g->plot, "poincare");
  check_near(g->factor[0].curvature, -2, 0);
  cb_space_free(g);
}

static void points_outside_the_space_are_refused(void **s) {
  static const struct {
    const char *space;
    double x[4];
  } rows[] = {{"s3", {1, 1, 0, 0}}, {"h3", {0, 0, 0, -1}}, {"h3", {0, 0, 0, 1.1}}, {"e3", {0, NAN, 0}}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cb_space *g;
    check_ok(cb_space_create(rows[i].space, NULL, &g));
    check_near(cb_space_check_point(g, rows[i].x, 1e-9), CB_ERROR_DOMAIN, 0);
    cb_space_free(g);
  }
}

static void antipodal_and_coincident_points_are_refused_and_near_ones_exact(void **s) {
  cb_space *g;
  check_ok(cb_space_create("s3", NULL, &g));
  double x[4] = {0, 0, 0, 1}, y[4] = {0, 0, 0, -1}, v[4] = {7, 7, 7, 7}, d = 7, gradient[8];
  check_near(cb_log(g, x, y, v), CB_ERROR_DOMAIN, 0);
  check_near(cb_transport(g, x, y, x, v), CB_ERROR_DOMAIN, 0);
  check_near(cb_distance_derivatives(g, x, y, &d, gradient, NULL), CB_ERROR_DOMAIN, 0);
  check_near(cb_distance_derivatives(g, x, x, &d, gradient, NULL), CB_ERROR_DOMAIN, 0);
  check_near(v[0] + d, 14, 0); /* the outputs keep their values */
  check_near(cb_distance(g, x, y), 3.14159265358979323846, 0);
  double z[4] = {1e-7, 0, 0, -1 + 0.5e-14};
  check_near(cb_distance(g, x, z), 3.14159265358979323846 - 1e-7, 1e-15);
  check_ok(cb_log(g, x, z, v));
  check_near(v[0], 3.14159265358979323846 - 1e-7, 1e-8);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metric_is_positive_and_frames_are_orthonormal),
      cmocka_unit_test(distance_exp_and_transport_agree_with_the_integrated_geodesic),
      cmocka_unit_test(log_inverts_exp_at_any_length),
      cmocka_unit_test(transport_keeps_inner_products_and_tangency),
      cmocka_unit_test(distance_derivatives_agree_with_differences),
      cmocka_unit_test(gradient_of_a_short_distance_is_the_unit_direction),
      cmocka_unit_test(wrong_parameters_are_errors_with_place_and_expectation),
      cmocka_unit_test(shared_keys_are_read),
      cmocka_unit_test(points_outside_the_space_are_refused),
      cmocka_unit_test(antipodal_and_coincident_points_are_refused_and_near_ones_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
