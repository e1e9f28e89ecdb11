/* Tests of the check that a flow is incompressible, and of the divergence of splines between the points of a grid. */
#include "check.h"
#include "fluid/fluid_shared.h"

typedef const char *const three[3];

static cb_status check_text(three text) {
  cb_flow *f;
  check_ok(cb_flow_expressions(text, 0, NULL, NULL, NULL, NULL, &f));
  const cb_status status = cb_flow_check_divergence(f);
  cb_flow_free(f);
  return status;
}

static void flows_that_are_free_of_divergence_are_taken(void **unused) {
  static three good[] = {
      {"1", "2*t", "sin(t)"},
      {"sin(x)*cos(y)", "-cos(x)*sin(y)", "0"},
      {"2 + sin(1.3*z - 2*t)", "0.5*sin(0.9*x + t)", "0.5*cos(1.3*x - 2*t)"},
      {"0.1*x", "0.2*y", "-0.3*z"},
      {"x/(x^2 + y^2 + z^2)^1.5", "y/(x^2 + y^2 + z^2)^1.5", "z/(x^2 + y^2 + z^2)^1.5"}, /* a source at 0 */
      {"-y/(x^2 + y^2)*(1 - exp(-(x^2 + y^2)))", "x/(x^2 + y^2)*(1 - exp(-(x^2 + y^2)))", "0"},
      {"sqrt(y)", "0", "sqrt(x)"},  /* undefined at some points */
      {"1/0", "0", "0"},            /* undefined at all points */
      {"y + exp(-x^2)", "0", "0"}}; /* the divergence is nearly 0 away from x = 0 */
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    if (check_text(good[i])) fail_msg("(%s, %s, %s): %s", good[i][0], good[i][1], good[i][2], cb_error_text());
}

static void flows_that_have_divergence_are_refused_with_a_place(void **unused) {
  static three bad[] = {{"sin(x)", "0", "0"}, {"x*t", "0", "0"},       {"max(0, x)^2", "0", "0"},
                        {"1/x", "0", "0"},    {"exp(-x^2)", "0", "0"}, {"0.333*x", "0.333*y", "-0.667*z"},
                        {"sqrt(x)", "0", "y"}};
  check_error(check_text((three){"x", "y", "z"}), CB_ERROR_DOMAIN,
              "the fluid is incompressible: expected a flow without divergence, found 3/s at (0, 0, 0), t = 0, with a "
              "gradient of 1.73/s");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    check_case_begins(bad[i][0], check_text(bad[i]), CB_ERROR_DOMAIN, "the fluid is incompressible");
}

/* The trace of the gradient counts as 0 up to round-off, because 0.1 + 0.2 - 0.3 is not exactly 0. */
static void shears_are_judged_by_their_trace(void **unused) {
  for (int i = 0; i < 3; i++) {
    const double G[3][3] = {{0.1, 5, 0}, {0, 0.2, 0}, {0, 1, (double[]){-0.3, -0.3001, 1}[i]}};
    cb_flow *f;
    check_ok(cb_flow_shear((double[3]){1, 2, 3}, G, &f));
    assert_int_equal(cb_flow_check_divergence(f), i ? CB_ERROR_DOMAIN : CB_OK);
    cb_flow_free(f);
  }
}

/* --- grids --- */

/* Samples the Taylor-Green flow at n points per wave. One component is multiplied by `by`; if `by` is not 1, the flow
 * has a divergence. Computes the maximum divergence and the root mean square of the gradient, relative to
 * cb_flow_slope. */
static void taylor_green(int n, bool periodic, double by, double *most, double *gradient) {
  enum { PLACES = 4000 };
  const int points = periodic ? n : n + 1;
  const double k = 2 * M_PI;
  double(*u)[3] = calloc((size_t)(points * points * points), sizeof *u), size;
  for (int i = 0, p = 0; i < points; i++)
    for (int j = 0; j < points; j++)
      for (int l = 0; l < points; l++, p++) {
        const double x = k * i / n, y = k * j / n, z = k * l / n;
        u[p][0] = by * sin(x) * cos(y) * cos(z);
        u[p][1] = -cos(x) * sin(y) * cos(z);
      }
  const cb_flow_grid g = {.n = {points, points, points},
                          .spacing = {1. / n, 1. / n, 1. / n},
                          .times = 1,
                          .periodic = {periodic, periodic, periodic},
                          .u = u[0]};
  cb_flow *f;
  check_ok(cb_flow_from_grid(&g, &f));
  double(*x)[3] = calloc(PLACES, sizeof *x), (*v)[3] = calloc(PLACES, sizeof *v),
  (*G)[3][3] = calloc(PLACES, sizeof *G);
  uint64_t seed = 1;
  for (int p = 0; p < 3 * PLACES; p++) x[p / 3][p % 3] = check_uniform(&seed, 0, 1);
  check_ok(cb_flow_at(f, 0, PLACES, (const double(*)[3])x, v, G, NULL));
  *most = 0;
  for (int p = 0; p < PLACES; p++)
    *most = fmax(*most, cb_flow_divergence(1, (const double(*)[3][3])G + p, &size) / cb_flow_slope(f));
  cb_flow_divergence(PLACES, (const double(*)[3][3])G, &size);
  *gradient = size / cb_flow_slope(f);
  cb_flow_free(f);
  free(u);
  free(x);
  free(v);
  free(G);
}

static void splines_leave_little_divergence_in_a_grid(void **unused) {
  static const int n[] = {8, 12, 16, 24};
  static const double bound[2][4] = {{0.09, 0.025, 0.01, 0.003}, {0.007, 0.002, 1e-3, 3e-4}};
  for (int periodic = 0; periodic < 2; periodic++)
    for (int i = 0; i < 4; i++) {
      double most, gradient;
      taylor_green(n[i], periodic, 1, &most, &gradient);
      print_message("  %d points a wave%s: %.1e\n", n[i], periodic ? ", periodic" : "", most);
      check_at_most(most, bound[periodic][i]);
      check_near(gradient, 1, 0.1);
    }
  double most, gradient;
  taylor_green(16, true, 1.3, &most, &gradient);
  check_at_least(most, 0.2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flows_that_are_free_of_divergence_are_taken),
      cmocka_unit_test(flows_that_have_divergence_are_refused_with_a_place),
      cmocka_unit_test(shears_are_judged_by_their_trace),
      cmocka_unit_test(splines_leave_little_divergence_in_a_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
