/* Tests of geometry that uses only the metric of a chart: Christoffel symbols and curvature compared with closed forms;
 * integrated geodesics, Jacobi fields and transport compared with the results in the embedding. */
#include "check_metric.h"

/* --- Christoffel symbols and curvature --- */

static void christoffel_symbols_are_those_of_polar_charts(void **s) {
  uint64_t state = check_seed();
  static const char *const names[] = {"e3", "s3", "h3"};
  for (int k = 0; k < 3; k++) {
    cb_space *g = in_chart(names[k], "polar");
    for (int trial = 0; trial < 50; trial++) {
      double a = check_uniform(&state, .2, 2), b = check_uniform(&state, .2, 2.9), q[3] = {a, b, 1};
      double big = k == 0 ? a : k == 1 ? sin(a) : sinh(a), c = k == 0 ? 1 : k == 1 ? cos(a) : cosh(a);
      double gamma[D][D][D], expected[D][D][D] = {{{0}}};
      expected[0][1][1] = -big * c;
      expected[0][2][2] = -big * c * sin(b) * sin(b);
      expected[1][0][1] = expected[1][1][0] = expected[2][0][2] = expected[2][2][0] = c / big;
      expected[1][2][2] = -sin(b) * cos(b);
      expected[2][1][2] = expected[2][2][1] = cos(b) / sin(b);
      check_ok(cb_christoffel(g, q, gamma, NULL));
      check_at_most(check_distance_max(27, &gamma[0][0][0], &expected[0][0][0]), 2e-14);
    }
    cb_space_free(g);
  }
}

static void christoffel_symbols_and_curvature_are_those_of_ih(void **s) {
  uint64_t state = check_seed();
  cb_space *g = own(&own_ih);
  for (int trial = 0; trial < 100; trial++) {
    double q[3], gamma[D][D][D], r2 = 0;
    for (int i = 0; i < 3; i++) {
      q[i] = check_uniform(&state, -3, 3);
      r2 += q[i] * q[i];
    }
    check_ok(cb_christoffel(g, q, gamma, NULL));
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++)
          check_near(gamma[i][j][k], (q[k] * (i == j) + q[j] * (i == k) - q[i] * (j == k)) / (r2 + 2), 1e-15);
    cb_curvature c;
    check_ok(cb_curvature_at(g, q, &c));
    double cube = (r2 + 2) * (r2 + 2) * (r2 + 2), k;
    check_relative(c.scalar, -6 * (r2 + 4) / cube, 1e-12);
    double across[3] = {q[1], -q[0], 0}, other[3] = {q[0] * q[2], q[1] * q[2], -q[0] * q[0] - q[1] * q[1]};
    check_ok(cb_sectional(g, q, q, across, &k));
    check_relative(k, -4 / cube, 1e-12);
    check_ok(cb_sectional(g, q, across, other, &k));
    check_relative(k, -(3 * r2 + 4) / cube, 1e-12);
    assert_int_equal(cb_sectional(g, q, q, q, &k), CB_ERROR_ARGUMENT);
  }
  cb_space_free(g);
}

static void derivatives_of_christoffel_symbols_agree_with_differences_in(const cb_space *space, uint64_t *state) {
  EACH_METRIC(space, g) {
    for (int trial = 0; trial < 20; trial++) {
      double q[D], gamma[D][D][D], dgamma[D][D][D][D], side[2][D][D][D], h = 1e-5;
      coordinates(&g, state, 0.1, q);
      check_ok(cb_christoffel(&g, q, gamma, dgamma));
      for (int l = 0; l < g.dim; l++) {
        double at = q[l];
        for (int k = 0; k < 2; k++) {
          q[l] = at + (k ? h : -h);
          check_ok(cb_christoffel(&g, q, side[k], NULL));
        }
        q[l] = at;
        for (int i = 0; i < D * D * D; i++)
          check_near(((double *)dgamma[l])[i], (((double *)side[1])[i] - ((double *)side[0])[i]) / (2 * h), 2e-7);
      }
    }
  }
}
static void derivatives_of_christoffel_symbols_agree_with_differences(void **s) {
  check_every_space(derivatives_of_christoffel_symbols_agree_with_differences_in);
}

/* The Riemann tensor satisfies R_ijkl = -R_jikl = R_klij and the first Bianchi identity. In a space of one factor with
 * curvature K and metric g, R_ijkl = K (g_ik g_jl - g_il g_jk). */
static void riemann_in(const cb_space *space, uint64_t *state) {
  EACH_METRIC(space, g) {
    int n = g.dim;
    double worst = 0;
    for (int trial = 0; trial < 50; trial++) {
      double q[D], gij[D * D], r[D][D][D][D] = {{{{0}}}};
      cb_curvature c;
      coordinates(&g, state, 0.05, q);
      check_ok(cb_curvature_at(&g, q, &c));
      check_ok(g.chart->metric(&g, q, gij, NULL, NULL));
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          for (int k = 0; k < n; k++)
            for (int l = 0; l < n; l++)
              for (int m = 0; m < n; m++) r[i][j][k][l] += gij[i * n + m] * c.riemann[m][j][k][l];
      double size = 1;
      for (int i = 0; i < n; i++) size = fmax(size, gij[i * n + i] * gij[i * n + i]);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          for (int k = 0; k < n; k++)
            for (int l = 0; l < n; l++) {
              worst = fmax(worst, fabs(r[i][j][k][l] + r[j][i][k][l]) / size);
              worst = fmax(worst, fabs(r[i][j][k][l] - r[k][l][i][j]) / size);
              worst = fmax(worst, fabs(r[i][j][k][l] + r[i][k][l][j] + r[i][l][j][k]) / size);
              if (g.n_factors > 1) continue;
              double expected = gij[i * n + k] * gij[j * n + l] - gij[i * n + l] * gij[j * n + k];
              worst = fmax(worst, fabs(r[i][j][k][l] - g.factor[0].curvature * expected) / size);
            }
      if (g.n_factors > 1) continue;
      check_near(c.scalar, n * (n - 1) * g.factor[0].curvature, 1e-11);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) check_near(c.sectional[i][j], i == j ? 0 : g.factor[0].curvature, 1e-11);
    }
    check_at_most(worst, 1e-12); /* round-off; entries of the inverse metric are at most 20 */
  }
}
static void riemann_tensors_have_their_symmetries_and_constant_curvature(void **s) { check_every_space(riemann_in); }

/* --- geodesics --- */

static bool regular_on_the_way(const cb_space *space, const cb_space *g, const double *x, const double *v) {
  enum { PARTS = 8 };
  for (int part = 1; part <= PARTS; part++) {
    double w[K], y[K], q[D];
    for (int a = 0; a < g->embedding; a++) w[a] = v[a] * part / PARTS;
    cb_exp(space, x, w, y, NULL);
    check_ok(g->chart->from_point(g, y, q));
    if (!is_regular(g, q, 0.02)) return false;
  }
  return true;
}

static void exponential_in(const cb_space *space, uint64_t *state) {
  EACH_METRIC(space, g) {
    double worst = 0, worst_velocity = 0, worst_transport = 0;
    for (int trial = 0; trial < 100; trial++) {
      double q[D], u[D], w[D], q1[D], u1[D], w1[D], x[K], v[K], y[K], vy[K], end[K], vend[K];
      coordinates(&g, state, 0.02, q);
      velocity(&g, state, q, 0.9 * check_radius(&g), u);
      velocity(&g, state, q, 1, w);
      check_ok(cb_numeric_exp(&g, q, u, q1, u1, NULL));
      check_ok(cb_chart_push(&g, g.chart, q, u, x, v));
      cb_exp(space, x, v, y, vy);
      check_ok(cb_chart_push(&g, g.chart, q1, u1, end, vend));
      worst = fmax(worst, check_distance_max(g.embedding, y, end));
      /* Vectors lose digits near singular points of the chart, so geodesics that come near such points are skipped
       * below. */
      if (!regular_on_the_way(space, &g, x, v)) continue;
      worst_velocity = fmax(worst_velocity, check_distance_max(g.embedding, vy, vend));
      check_ok(cb_numeric_transport(&g, q, u, w, w1));
      check_ok(cb_chart_push(&g, g.chart, q, w, x, v));
      check_ok(cb_chart_push(&g, g.chart, q1, w1, end, vend));
      check_near(cb_inner(space, vend, vend), cb_inner(space, v, v), 1e-12);
      check_ok(cb_transport(space, x, y, v, vy));
      worst_transport = fmax(worst_transport, check_distance_max(g.embedding, vy, vend));
    }
    print_message("%s %s: exp %.1e, velocity %.1e, transport %.1e\n", g.class_->name, g.chart->name, worst,
                  worst_velocity, worst_transport);
    check_at_most(worst, 1e-12);
    check_at_most(worst_velocity, 1e-12);
    check_at_most(worst_transport, 1e-12);
  }
}
static void integrated_geodesics_and_transport_are_the_embeddings_in_every_chart(void **s) {
  check_every_space(exponential_in);
}

static void check_jacobi(const cb_space *g, const double *q, const double *u) {
  int n = g->dim;
  cb_jacobi j;
  double z[2 * D], q1[D], u1[D], h = 1e-3;
  memcpy(z, q, (size_t)n * sizeof *z);
  memcpy(z + n, u, (size_t)n * sizeof *z);
  check_ok(cb_numeric_exp(g, q, u, q1, u1, &j));
  for (int c = 0; c < 2 * n; c++) {
    double ends[6][2 * D], at = z[c];
    static const int places[] = {-3, -2, -1, 1, 2, 3};
    for (int k = 0; k < 6; k++) {
      z[c] = at + places[k] * h;
      check_ok(cb_numeric_exp(g, z, z + n, ends[k], ends[k] + n, NULL));
    }
    z[c] = at;
    for (int i = 0; i < 2 * n; i++) {
      double slope =
          (ends[5][i] - ends[0][i] - 9 * (ends[4][i] - ends[1][i]) + 45 * (ends[3][i] - ends[2][i])) / (60 * h);
      const double *part = i < n ? (c < n ? j.q_q : j.q_u) : (c < n ? j.u_q : j.u_u);
      /* The error of differences with the step h is h^6 times seventh derivatives. */
      check_near(part[(i % n) * n + c % n], slope, 2e-8);
    }
  }
}
static void jacobi_in(const cb_space *space, uint64_t *state) {
  EACH_METRIC(space, g) {
    for (int trial = 0; trial < 10; trial++) {
      double q[D], u[D];
      coordinates(&g, state, 0.15, q);
      velocity(&g, state, q, 0.2, u);
      check_jacobi(&g, q, u);
    }
  }
}
static void jacobi_fields_agree_with_differences(void **s) {
  check_every_space(jacobi_in);
  cb_space *ih = own(&own_ih), *torus = own(&own_torus);
  check_jacobi(ih, (double[]){1, -.5, .25}, (double[]){-2, .75, .5});
  check_jacobi(torus, (double[]){0, .5}, (double[]){.8, 1.5});
  cb_space_free(ih);
  cb_space_free(torus);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(christoffel_symbols_are_those_of_polar_charts),
      cmocka_unit_test(christoffel_symbols_and_curvature_are_those_of_ih),
      cmocka_unit_test(derivatives_of_christoffel_symbols_agree_with_differences),
      cmocka_unit_test(riemann_tensors_have_their_symmetries_and_constant_curvature),
      cmocka_unit_test(integrated_geodesics_and_transport_are_the_embeddings_in_every_chart),
      cmocka_unit_test(jacobi_fields_agree_with_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
