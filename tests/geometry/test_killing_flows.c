/* Tests of flows of Killing fields in every space that is defined by its metric, built in or given as text. */
#include "check_intrinsic.h"
#include <curvebody/scenario.h>

static const double apart = 1e-4;

/* The flow y of the Killing field X satisfies y' = X(y); y' is computed by differences of fourth order. */
static void check_derivative(const cb_space *g, int field, const double *q) {
  double X[N], at[4][N];
  static const double time[4] = {-2, -1, 1, 2};
  for (int i = 0; i < 4; i++) check_ok(cb_killing_flow(g, field, time[i] * 10 * apart, q, at[i], NULL));
  cb_killing_at(g, field, q, X);
  for (int i = 0; i < g->dim; i++)
    check_near((8 * (at[2][i] - at[1][i]) - (at[3][i] - at[0][i])) / (120 * apart), X[i], 1e-10);
}

/* The flow by s from q to y is an isometry: J^T g(y) J = g(q), where J is its derivative and g the metric. J agrees
 * with differences, and the flows by -s/3 and -2 s/3 lead from y back to q. */
static void check_isometry(const cb_space *g, int field, const double *q, double s) {
  const int n = g->dim;
  double y[N], J[N * N], here[N * N], there[N * N], back[N];
  check_ok(cb_killing_flow(g, field, s, q, y, J));
  metric_at(g, q, here, NULL, NULL);
  metric_at(g, y, there, NULL, NULL);
  double size = 0;
  for (int i = 0; i < n * n; i++) size = fmax(size, fabs(here[i]));
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) {
      double sum = 0;
      for (int k = 0; k < n * n; k++) sum += J[(k / n) * n + r] * there[k] * J[(k % n) * n + c];
      /* The tolerance is the error of flows that are integrated. Closed forms have only round-off. */
      check_near(sum, here[r * n + c], 3e-12 * size);
    }
  for (int c = 0; c < n; c++) {
    double ends[2][N];
    for (int side = 0; side < 2; side++) {
      double at[N];
      memcpy(at, q, (size_t)n * sizeof *at);
      at[c] += side ? apart : -apart;
      check_ok(cb_killing_flow(g, field, s, at, ends[side], NULL));
    }
    for (int r = 0; r < n; r++) check_near(J[r * n + c], (ends[1][r] - ends[0][r]) / (2 * apart), 1e-6 * (1 + size));
  }
  check_ok(cb_killing_flow(g, field, -s / 3, y, back, NULL));
  check_ok(cb_killing_flow(g, field, -2 * s / 3, back, back, NULL));
  check_at_most(check_distance_max(n, back, q), 1e-12);
}

static void flows(const cb_space *g, uint64_t *state) {
  for (int field = 0; field < g->n_killing; field++)
    for (int trial = 0; trial < 10; trial++) {
      double q[N];
      random_coordinates(g, state, q);
      for (int i = 0; !strcmp(g->class_->name, "sl2") && i < 3; i++) q[i] /= 2;
      check_derivative(g, field, q);
      check_isometry(g, field, q, check_uniform(state, -1, 1));
    }
}

static void flows_are_isometries_with_the_right_derivatives(void **s) { check_every_intrinsic_space(flows); }

static void every_killing_field_that_is_not_0_at_the_identity_is_a_left_translation(void **s) {
  static const char *const groups[] = {"nil", "sol", "sl2", "flat_torus"};
  for (int i = 0; i < 4; i++) {
    cb_space *g;
    int found = 0;
    check_ok(cb_space_create(groups[i], NULL, &g));
    for (int field = 0; field < g->n_killing; field++) {
      static const double q[N] = {0.3, -0.7, 0.4};
      const double h = 1e-5, zero[N] = {0};
      double X[N], at_zero[N], ends[2][N];
      cb_killing_at(g, field, zero, at_zero);
      if (fabs(at_zero[0]) + fabs(at_zero[1]) + fabs(at_zero[2]) == 0) continue;
      found++;
      for (int side = 0; side < 2; side++) {
        cb_isometry translation;
        double a[N];
        for (int k = 0; k < N; k++) a[k] = (side ? h : -h) * at_zero[k];
        cb_isometry_to(g, a, &translation);
        cb_isometry_point(g, &translation, q, ends[side]);
      }
      cb_killing_at(g, field, q, X);
      for (int k = 0; k < N; k++) check_near((ends[1][k] - ends[0][k]) / (2 * h), X[k], 1e-9);
    }
    check_near(found, 3, 0);
    cb_space_free(g);
  }
}

static void a_coordinate_that_no_entry_uses_gives_a_killing_field(void **s) {
  static const struct {
    const char *metric;
    int n;
    const char *names[3];
  } rows[] = {
      {"{metric: [[1], [0, sinh(u)^2], [0, 0, 1]], coordinates: [u, v, w], base: [1, 0, 0]}",
       2,
       {"translation_v", "translation_w"}},
      {"{metric: [[1 + x^2 + y^2], [0, 1]], coordinates: [x, y]}", 0, {NULL}},
      {"{metric: [[4, 1], [1, 2]], coordinates: [p, q]}", 2, {"translation_p", "translation_q"}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "curvebody: 1\ntitle: t\nspace: %s\nbodies:\n  - {kind: particles, name: a, place: {points: [[%s]]}}\n"
             "integrator: {name: gauss, step: 0.1}\ntime: {end: 1}\n",
             rows[i].metric, i ? "0.1, 0.2" : "1, 0.2, 0.3");
    cb_scenario *scenario;
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &scenario));
    const cb_space *g = cb_scenario_space(scenario);
    check_near(g->n_killing, rows[i].n, 0);
    for (int k = 0; k < g->n_killing; k++) {
      double q[N] = {1, 0.2, 0.3}, y[N], X[N];
      assert_string_equal(g->killing[k].name, rows[i].names[k]);
      cb_killing_at(g, k, q, X);
      check_ok(cb_killing_flow(g, k, 2.5, q, y, NULL));
      for (int a = 0; a < g->dim; a++) check_near(y[a], q[a] + 2.5 * X[a], 0);
    }
    cb_scenario_free(scenario);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flows_are_isometries_with_the_right_derivatives),
      cmocka_unit_test(every_killing_field_that_is_not_0_at_the_identity_is_a_left_translation),
      cmocka_unit_test(a_coordinate_that_no_entry_uses_gives_a_killing_field),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
