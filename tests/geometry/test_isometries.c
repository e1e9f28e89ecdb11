/* Tests of Killing fields, isometries, means and plots in every space of the registry and in other products. */
#include "check_spaces.h"

enum { TRIALS = 50, K = CB_COORD_MAX };

static double norm(const cb_space *g, const double *v) { return sqrt(fmax(0, cb_inner(g, v, v))); }

static void two_points(const cb_space *g, uint64_t *state, double *x, double *y) {
  check_random_point(g, state, check_radius(g), x);
  check_random_point(g, state, check_radius(g), y);
}

/* --- Killing fields and isometries --- */

static void killing(const cb_space *g, uint64_t *state) {
  check_near(g->n_killing, g->n_factors == 1 ? g->dim * (g->dim + 1) / 2 : 4, 0);
  for (int i = 0; i < g->n_killing; i++) {
    double base[K], speed[K];
    check_near(cb_killing_find(g, g->killing[i].name), i, 0);
    cb_space_base_point(g, base);
    cb_killing_at(g, i, base, speed);
    /* The speed is 1 on the axis of a boost or translation, and 0 for a rotation about the base point. */
    double s = norm(g, speed);
    check_near(s, s > 0.5, 1e-15);
    for (int trial = 0; trial < 10; trial++) {
      double x[K], y[K], v[K], w[K], p[K], field[K], h = 1e-5;
      check_random_point(g, state, check_radius(g), x);
      cb_killing_at(g, i, x, field);
      memcpy(v, field, sizeof v);
      cb_space_project_tangent(g, x, v);
      check_at_most(check_distance_max(g->embedding, v, field), 1e-14);
      cb_isometry plus, minus;
      cb_isometry_flow(g, i, h, &plus);
      cb_isometry_flow(g, i, -h, &minus);
      cb_isometry_point(g, &plus, x, v);
      cb_isometry_point(g, &minus, x, w);
      for (int a = 0; a < g->embedding; a++) v[a] = (v[a] - w[a]) / (2 * h);
      /* The differences with the step h have the errors h^2 times third derivatives, and round-off/h. */
      check_at_most(check_distance_max(g->embedding, v, field), 1e-9);
      /* The momentum is constant along a geodesic. */
      double before[CB_KILLING_MAX] = {0}, after[CB_KILLING_MAX] = {0};
      check_random_tangent(g, state, x, 1, p);
      cb_exp(g, x, p, y, w);
      cb_killing_momentum_add(g, x, p, before);
      cb_killing_momentum_add(g, y, w, after);
      check_at_most(check_distance_max(g->n_killing, before, after), 1e-13);
    }
  }
  check_near(cb_killing_find(g, "no such field"), -1, 0);
}
static void killing_fields_are_the_derivatives_of_their_flows_and_keep_momenta(void **s) { check_every_space(killing); }

static void isometries(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[K], y[K], v[K], ax[K], ay[K], bx[K], base[K];
    cb_isometry a, b, ab, inverse;
    two_points(g, state, x, y);
    check_random_isometry(g, state, 0.7, &a);
    check_random_isometry(g, state, 0.7, &b);
    cb_isometry_point(g, &a, x, ax);
    cb_isometry_point(g, &a, y, ay);
    check_ok(cb_space_check_point(g, ax, 1e-13));
    /* The points x and y are at distances of up to 1 from the base point, and the boosts move points by up to 2. So the
     * error is round-off times cosh(3)^2. */
    check_near(cb_distance(g, ax, ay), cb_distance(g, x, y), 1e-12);
    check_random_tangent(g, state, x, 1, v);
    double before = cb_inner(g, v, v);
    cb_isometry_vector(g, &a, v, bx);
    check_near(cb_inner(g, bx, bx), before, 1e-12);
    cb_isometry_compose(g, &b, &a, &ab);
    cb_isometry_point(g, &ab, x, bx);
    cb_isometry_point(g, &b, ax, ay);
    check_at_most(check_distance_max(g->embedding, bx, ay), 1e-12);
    cb_isometry_inverse(g, &ab, &inverse);
    cb_isometry_point(g, &inverse, bx, ay);
    check_at_most(check_distance_max(g->embedding, ay, x), 1e-11);
    cb_isometry_to(g, y, &a);
    cb_space_base_point(g, base);
    cb_isometry_point(g, &a, base, ay);
    check_at_most(check_distance_max(g->embedding, ay, y), 1e-15 * 10);
    /* The isometry transports vectors along the geodesic from the base point to y. */
    check_random_tangent(g, state, base, 1, v);
    cb_isometry_vector(g, &a, v, ax);
    check_ok(cb_transport(g, base, y, v, ay));
    check_at_most(check_distance_max(g->embedding, ax, ay), 1e-14);
  }
}
static void isometries_keep_distances(void **s) { check_every_space(isometries); }

static void screw_flow_agrees_with_its_parts(void **s) {
  cb_space *g;
  check_ok(cb_space_create("e3", NULL, &g));
  cb_killing screw = {.name = "screw"};
  screw.a[1][0] = 1;
  screw.a[0][1] = -1;
  screw.b[2] = 0.3;
  g->killing[0] = screw;
  cb_isometry flow;
  cb_isometry_flow(g, 0, 2.5, &flow);
  double x[3] = {0.5, -1, 2}, y[3];
  cb_isometry_point(g, &flow, x, y);
  check_near(y[0], 0.5 * cos(2.5) + sin(2.5), 1e-14);
  check_near(y[1], 0.5 * sin(2.5) - cos(2.5), 1e-14);
  check_near(y[2], 2 + 0.3 * 2.5, 1e-14);
  cb_space_free(g);
}

static void killing_fields_have_their_usual_names_and_forms(void **s) {
  static const char *const names[][7] = {
      {"e2", "translation_x", "translation_y", "rotation_z"},
      {"e3", "translation_x", "translation_y", "translation_z", "rotation_x", "rotation_y", "rotation_z"},
      {"s2", "rotation_wx", "rotation_wy", "rotation_z"},
      {"s3", "rotation_wx", "rotation_wy", "rotation_wz", "rotation_x", "rotation_y", "rotation_z"},
      {"h2", "boost_x", "boost_y", "rotation_z"},
      {"h3", "boost_x", "boost_y", "boost_z", "rotation_x", "rotation_y", "rotation_z"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    cb_space *g;
    check_ok(cb_space_create(names[i][0], NULL, &g));
    for (int j = 0; j < g->n_killing; j++) assert_string_equal(g->killing[j].name, names[i][j + 1]);
    cb_space_free(g);
  }
  static const double x[4] = {1, 2, 3, 4};
  static const struct {
    const char *space, *field;
    double v[4];
  } rows[] = {{"h3", "boost_x", {4, 0, 0, 1}},      {"h3", "boost_z", {0, 0, 4, 3}},
              {"h3", "rotation_x", {0, -3, 2, 0}},  {"h3", "rotation_y", {3, 0, -1, 0}},
              {"h3", "rotation_z", {-2, 1, 0, 0}},  {"s3", "rotation_wx", {4, 0, 0, -1}},
              {"s3", "rotation_wy", {0, 4, 0, -2}}, {"e3", "translation_y", {0, 1, 0, 0}}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cb_space *g;
    double v[4] = {0};
    check_ok(cb_space_create(rows[i].space, NULL, &g));
    cb_killing_at(g, cb_killing_find(g, rows[i].field), x, v);
    check_at_most(check_distance_max(4, v, rows[i].v), 0);
    cb_space_free(g);
  }
}

/* --- means and plots --- */

static void means(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < 20; trial++) {
    enum { N = 7 };
    double x[N * K], moved[N * K], weight[N], mean[K], there[K], v[K], sum[K] = {0}, far = check_radius(g) * 0.9;
    cb_isometry a;
    check_random_isometry(g, state, 0.5, &a);
    for (int i = 0; i < N; i++) {
      check_random_point(g, state, far, x + i * g->embedding);
      cb_isometry_point(g, &a, x + i * g->embedding, moved + i * g->embedding);
      weight[i] = check_uniform(state, 0.2, 3);
    }
    check_ok(cb_karcher_mean(g, N, x, weight, mean));
    for (int i = 0; i < N; i++) {
      check_ok(cb_log(g, mean, x + i * g->embedding, v));
      for (int b = 0; b < g->embedding; b++) sum[b] += weight[i] * v[b];
    }
    check_at_most(norm(g, sum), 1e-13);
    check_ok(cb_karcher_mean(g, N, moved, weight, there));
    cb_isometry_point(g, &a, mean, mean);
    check_at_most(cb_distance(g, mean, there), 1e-13);
    check_ok(cb_karcher_mean(g, 1, x, NULL, mean));
    check_at_most(check_distance_max(g->embedding, mean, x), 1e-14);
    check_ok(cb_karcher_mean(g, 2, x, NULL, mean));
    check_near(cb_distance(g, mean, x), cb_distance(g, mean, x + g->embedding), 1e-14);
    check_near(2 * cb_distance(g, mean, x), cb_distance(g, x, x + g->embedding), 1e-14);
  }
}
static void karcher_mean_balances_the_logarithms_and_moves_with_isometries(void **s) { check_every_space(means); }

static void plots(const cb_space *g, uint64_t *state) {
  for (int trial = 0; trial < 20; trial++) {
    double x[K], v[K], y[K], p[3], rate_[3], ends[2][3], h = 1e-5;
    check_random_point(g, state, 1, x);
    check_random_tangent(g, state, x, 1, v);
    cb_plot_coordinates(g, x, v, p, rate_);
    for (int side = 0; side < 2; side++) {
      double step[K];
      for (int a = 0; a < g->embedding; a++) step[a] = (side ? h : -h) * v[a];
      cb_exp(g, x, step, y, NULL);
      cb_plot_coordinates(g, y, NULL, ends[side], NULL);
    }
    for (int a = 0; a < 3; a++) check_near(rate_[a], (ends[1][a] - ends[0][a]) / (2 * h), 1e-9);
    double r = g->factor[0].curvature < 0 ? 1 / sqrt(-g->factor[0].curvature) : INFINITY;
    if (strcmp(g->plot, "poincare") == 0) check_at_most(hypot(p[0], p[1]), r);
  }
}
static void plot_velocities_agree_with_differences(void **s) { check_every_space(plots); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killing_fields_are_the_derivatives_of_their_flows_and_keep_momenta),
      cmocka_unit_test(isometries_keep_distances),
      cmocka_unit_test(screw_flow_agrees_with_its_parts),
      cmocka_unit_test(killing_fields_have_their_usual_names_and_forms),
      cmocka_unit_test(karcher_mean_balances_the_logarithms_and_moves_with_isometries),
      cmocka_unit_test(plot_velocities_agree_with_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
