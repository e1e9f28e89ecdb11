/* Tests of built-in spaces that are defined by the metric g of one chart: metric derivatives against differences,
 * Killing's equation and momenta, plots, the flat torus, the ends of charts. test_spaces_curvature.c, test_spaces_ih.c
 * and test_spaces_groups.c test curvature and distances. */
#include "check_intrinsic.h"

/* --- every intrinsic space, at random points of its chart --- */

/* Computes the derivative out[n] of f(q)[n] by the coordinate q_l, by differences of sixth order with step h. */
static void difference(const cb_space *g, const double *q, int l, int n,
                       void (*f)(const cb_space *, const double *, double *), double *out) {
  static const double weight[] = {45. / 60, -9. / 60, 1. / 60};
  const double h = 0.002;
  double plus[N * N * N], minus[N * N * N], at[N];
  for (int i = 0; i < n; i++) out[i] = 0;
  for (int k = 1; k <= 3; k++) {
    memcpy(at, q, (size_t)g->dim * sizeof *at);
    at[l] = q[l] + k * h;
    f(g, at, plus);
    at[l] = q[l] - k * h;
    f(g, at, minus);
    for (int i = 0; i < n; i++) out[i] += weight[k - 1] * (plus[i] - minus[i]) / h;
  }
}

static void metric_values(const cb_space *g, const double *q, double *out) { metric_at(g, q, out, NULL, NULL); }

static void metric_firsts(const cb_space *g, const double *q, double *out) {
  double gij[N * N];
  metric_at(g, q, gij, out, NULL);
}

static void check_derivatives(const cb_space *g, uint64_t *state) {
  const int n = g->dim, nn = n * n;
  for (int repeat = 0; repeat < 20; repeat++) {
    double q[N], gij[N * N], dg[N * N * N], ddg[N * N * N * N], by_difference[N * N * N];
    random_coordinates(g, state, q);
    metric_at(g, q, gij, dg, ddg);
    double size = 1;
    for (int i = 0; i < nn; i++) size = fmax(size, fabs(gij[i]));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) check_near(gij[i * n + j], gij[j * n + i], 1e-16 * size);
    for (int l = 0; l < n; l++) {
      difference(g, q, l, nn, metric_values, by_difference); /* errors of differences with step h: 1e-16/h, 5e-14 */
      for (int i = 0; i < nn; i++) check_near(dg[l * nn + i], by_difference[i], 1e-10 * size);
      difference(g, q, l, nn * n, metric_firsts, by_difference);
      for (int m = 0; m < n; m++)
        for (int i = 0; i < nn; i++) {
          check_near(ddg[(l * n + m) * nn + i], by_difference[m * nn + i], 1e-9 * size);
          check_near(ddg[(l * n + m) * nn + i], ddg[(m * n + l) * nn + i], 1e-14 * size);
        }
    }
  }
}

static void metric_derivatives_agree_with_differences(void **unused) { check_every_intrinsic_space(check_derivatives); }

/* Checks Killing's equation for each Killing field X: X^l d_l g_ij + g_lj d_i X^l + g_il d_j X^l = 0. */
static int field_index;
static void field_values(const cb_space *g, const double *q, double *out) { cb_killing_at(g, field_index, q, out); }

static void check_killing(const cb_space *g, uint64_t *state) {
  const int n = g->dim;
  for (int f = 0; f < g->n_killing; f++)
    for (int repeat = 0; repeat < 20; repeat++) {
      double q[N], x[N], dx[N][N], gij[N * N], dg[N * N * N], size = 1;
      random_coordinates(g, state, q);
      metric_at(g, q, gij, dg, NULL);
      for (int i = 0; i < n * n; i++) size = fmax(size, fabs(gij[i]));
      field_index = f;
      cb_killing_at(g, f, q, x);
      for (int l = 0; l < n; l++) difference(g, q, l, n, field_values, dx[l]);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          double lie = 0;
          for (int l = 0; l < n; l++)
            lie += x[l] * dg[(l * n + i) * n + j] + gij[l * n + j] * dx[i][l] + gij[i * n + l] * dx[j][l];
          check_near(lie, 0, 1e-9 * size);
        }
    }
}

static void killing_fields_keep_the_metric(void **unused) { check_every_intrinsic_space(check_killing); }

static void spaces_have_their_killing_fields(void **unused) {
  static const struct {
    const char *name;
    int dim, n;
    const char *last;
  } expected[] = {
      {"h2xe", 3, 4, "rotation_z"},          {"s2xe", 3, 4, "rotation_z"},          {"ih", 3, 3, "rotation_z"},
      {"nil", 3, 4, "rotation_z"},           {"sol", 3, 3, "translation_z"},        {"sl2", 3, 4, "rotation_theta"},
      {"flat_torus", 3, 3, "translation_z"}, {"schwarzschild", 3, 3, "rotation_z"}, {"ellipsoid", 2, 0, NULL},
      {"torus", 2, 1, "rotation_z"}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    cb_space *g;
    check_ok(cb_space_create(expected[i].name, NULL, &g));
    assert_int_equal(g->dim, expected[i].dim);
    assert_int_equal(g->n_killing, expected[i].n);
    if (expected[i].last) assert_true(cb_killing_find(g, expected[i].last) >= 0);
    cb_space_free(g);
  }
}

/* The momentum g(X, q') of each Killing field X is constant along an integrated geodesic q. */
static void check_momenta(const cb_space *g, uint64_t *state) {
  for (int repeat = 0; repeat < 5; repeat++) {
    double q[N], u[N], q1[N], u1[N], before[CB_KILLING_MAX] = {0}, after[CB_KILLING_MAX] = {0};
    random_coordinates(g, state, q);
    for (int i = 0; i < g->dim; i++) u[i] = check_uniform(state, -0.2, 0.2);
    if (cb_numeric_exp(g, q, u, q1, u1, NULL)) continue; /* the geodesic left the chart */
    cb_killing_momentum_add(g, q, u, before);
    cb_killing_momentum_add(g, q1, u1, after);
    for (int f = 0; f < g->n_killing; f++) check_near(after[f], before[f], 1e-11 * (1 + fabs(before[f])));
  }
}

static void geodesics_keep_killing_momenta(void **unused) { check_every_intrinsic_space(check_momenta); }

/* --- plots --- */

/* The metric g equals that of the plot X: |dX(u)|^2 = g(u, u) for each vector u. */
static void surfaces_are_isometric_to_their_plots(void **unused) {
  uint64_t state = check_seed();
  static const char *const names[] = {"torus", "ellipsoid"};
  for (int which = 0; which < 2; which++) {
    cb_space *g;
    check_ok(cb_space_create(names[which], NULL, &g));
    for (int repeat = 0; repeat < 100; repeat++) {
      double q[2], u[2], x[3], rate[3], ahead[3], behind[3], gij[4];
      random_coordinates(g, &state, q);
      for (int i = 0; i < 2; i++) u[i] = check_uniform(&state, -1, 1);
      cb_plot_coordinates(g, q, u, x, rate);
      metric_at(g, q, gij, NULL, NULL);
      const double square = gij[0] * u[0] * u[0] + 2 * gij[1] * u[0] * u[1] + gij[3] * u[1] * u[1];
      check_relative(rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2], square, 1e-13);
      const double h = 1e-5;
      cb_plot_coordinates(g, (double[]){q[0] + h * u[0], q[1] + h * u[1]}, NULL, ahead, NULL);
      cb_plot_coordinates(g, (double[]){q[0] - h * u[0], q[1] - h * u[1]}, NULL, behind, NULL);
      for (int a = 0; a < 3; a++) check_near((ahead[a] - behind[a]) / (2 * h), rate[a], 1e-8);
    }
    cb_space_free(g);
  }
}

/* --- the flat torus, and places where a space ends --- */

static void flat_torus_takes_the_nearest_image(void **unused) {
  uint64_t state = check_seed();
  check_map m;
  cb_space *g;
  check_ok(cb_space_create("flat_torus", check_map_fill(&m, "period_x", "3", "period_y", "2"), &g));
  const double period[3] = {3, 2, 10};
  for (int repeat = 0; repeat < 1000; repeat++) {
    double p[3], q[3], d, gradient[6], hessian[36], least = INFINITY;
    for (int i = 0; i < 3; i++) {
      p[i] = check_uniform(&state, -period[i], period[i]);
      q[i] = check_uniform(&state, -period[i], period[i]);
    }
    for (int code = 0; code < 125; code++) {
      double square = 0;
      for (int i = 0, rest = code; i < 3; i++, rest /= 5) square += pow(p[i] - q[i] + period[i] * (rest % 5 - 2), 2);
      least = fmin(least, sqrt(square));
    }
    check_ok(g->chart->distance(g, p, q, &d, gradient, hessian));
    check_near(d, least, 1e-14);
    const double h = 1e-5;
    for (int a = 0; a < 6; a++) {
      double plus, minus, up[6], down[6], *x = a < 3 ? &p[a] : &q[a - 3], before = *x;
      *x = before + h;
      if (g->chart->distance(g, p, q, &plus, up, NULL)) plus = NAN;
      *x = before - h;
      if (g->chart->distance(g, p, q, &minus, down, NULL)) minus = NAN;
      *x = before;
      if (fabs(plus - minus) > 2.1 * h || d < 0.05) continue; /* the nearest image changes between the two points */
      bool jumps = false;
      for (int b = 0; b < 6; b++) jumps |= fabs(up[b] - down[b]) > 0.1;
      if (jumps) continue;
      check_near((plus - minus) / (2 * h), gradient[a], 1e-7);
      for (int b = 0; b < 6; b++) check_near((up[b] - down[b]) / (2 * h), hessian[a * 6 + b], 1e-6);
    }
    double u[3], end[3];
    check_ok(cb_log(g, p, q, u));
    cb_exp(g, p, u, end, NULL);
    for (int i = 0; i < 3; i++) check_near(remainder(end[i] - q[i], period[i]), 0, 1e-14);
  }
  double d = -1, gradient[6];
  const double half[3] = {1.5 + 0.1, 0.3, 1}, origin[3] = {0.1, 0, 0};
  check_ok(g->chart->distance(g, half, origin, &d, NULL, NULL));
  check_near(d, sqrt(1.5 * 1.5 + 0.09 + 1), 1e-15);
  check_error_begins(g->chart->distance(g, half, origin, &d, gradient, NULL), CB_ERROR_DOMAIN,
                     "two points are half a period, 1.5, apart");
  cb_space_free(g);
}

static void points_outside_a_chart_are_refused(void **unused) {
  double gij[9];
  cb_space *g;
  check_map m;
  check_ok(cb_space_create("schwarzschild", NULL, &g));
  check_error_begins(g->chart->metric(g, (double[]){0.2, 0.1, -0.1}, gij, NULL, NULL), CB_ERROR_DOMAIN,
                     "point (0.2, 0.1, -0.1), rho = 0.244949: expected rho > M/2 = 0.5");
  cb_space_free(g);
  check_ok(cb_space_create("ellipsoid", NULL, &g));
  check_error_begins(g->chart->metric(g, (double[]){0.2, 1.6}, gij, NULL, NULL), CB_ERROR_DOMAIN,
                     "latitude v = 1.6: expected -pi/2 < v < pi/2");
  cb_space_free(g);
  assert_int_equal(cb_space_create("torus", check_map_fill(&m, "major_radius", "1", NULL, NULL), &g), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "minor_radius 1: expected less than major_radius 1"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metric_derivatives_agree_with_differences), cmocka_unit_test(killing_fields_keep_the_metric),
      cmocka_unit_test(spaces_have_their_killing_fields),          cmocka_unit_test(geodesics_keep_killing_momenta),
      cmocka_unit_test(surfaces_are_isometric_to_their_plots),     cmocka_unit_test(flat_torus_takes_the_nearest_image),
      cmocka_unit_test(points_outside_a_chart_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
