/* Tests that distances and their derivatives, computed only from the metric of a chart, agree with closed forms, and
 * that errors are reported. */
#include "check_metric.h"
#include "geometry/numeric.h"

enum { TRIALS = CHECK_SANITIZED ? 50 : 1000, FEW = CHECK_SANITIZED ? 20 : 100 };

/* Returns the number of pairs of points in each chart of a space that has distances. It is TRIALS, divided by the
 * number of these charts, in E3 and in the spaces of the thesis (see analysis/README.md) with |curvature| = 1. In all
 * other spaces it is FEW divided by this number. */
static int trials_in(const cb_space *g) {
  static const char *const thesis[] = {"e3", "s3", "h3", "h2xe"};
  int charts = 0, trials = FEW;
  for (int c = 0; c < g->n_charts; c++) charts += g->charts[c].distance != NULL;
  for (int i = 0; i < 4; i++)
    if (!strcmp(g->class_->name, thesis[i]) && fabs(g->factor[0].curvature) == (i > 0)) trials = TRIALS;
  return (trials + charts - 1) / charts;
}

/* Returns whether an angle of a polar chart differs by nearly pi between the ends, up to 0.01. Then the geodesic passes
 * near the axis, where these coordinates are singular. */
static bool passes_axis(const cb_space *g, const double *q, const double *y) {
  bool near = false;
  for (int i = 0; i < g->dim && strcmp(g->chart->name, "polar") == 0; i++)
    if (strcmp(g->chart->coordinates[i], "a") != 0) near = near || fabs(remainder(y[i] - q[i] - pi, 2 * pi)) < 0.01;
  return near;
}

static void distance_in(const cb_space *space, uint64_t *state) {
  EACH_METRIC(space, g) {
    if (!g.chart->distance) continue;
    int n = g.dim, n2 = 2 * n;
    double worst = 0, worst_gradient = 0, worst_hessian = 0;
    const int trials = trials_in(space);
    for (int trial = 0; trial < trials; trial++) {
      double q[D], y[D], d, gradient[2 * D], hessian[4 * D * D], d0, gradient0[2 * D], hessian0[4 * D * D];
      do {
        coordinates(&g, state, 0.02, q);
        coordinates(&g, state, 0.02, y);
      } while (passes_axis(&g, q, y));
      /* The space does not declare the angle g to be periodic, so the nearest image of y is chosen here. */
      for (int i = 0; i < n && strcmp(g.chart->name, "polar") == 0; i++)
        if (strcmp(g.chart->coordinates[i], "g") == 0) y[i] -= 2 * pi * rint((y[i] - q[i]) / (2 * pi));
      if (trial % 8 == 0) { /* computes derivatives only from the Jacobi fields of the path */
        cb_shortest path;
        check_ok(cb_numeric_shortest(&g, q, y, NULL, &path));
        check_ok(cb_numeric_distance_of(&g, q, y, &path, gradient, hessian));
        d = path.length;
      } else {
        check_ok(cb_numeric_distance(&g, q, y, &d, gradient, hessian));
      }
      check_ok(g.chart->distance(&g, q, y, &d0, gradient0, hessian0));
      worst = fmax(worst, fabs(d - d0));
      worst_gradient = fmax(worst_gradient, check_distance_max(n2, gradient, gradient0));
      worst_hessian =
          fmax(worst_hessian, d * check_distance_max(n2 * n2, hessian, hessian0)); /* Hessians are of order 1/d */
      for (int i = 0; i < n2; i++)
        for (int k = 0; k < i; k++) check_near(hessian[i * n2 + k], hessian[k * n2 + i], 0);
    }
    print_message("%s %s: distance %.1e, gradient %.1e, Hessian %.1e\n", g.class_->name, g.chart->name, worst,
                  worst_gradient, worst_hessian);
    check_at_most(worst, 1e-11);
    check_at_most(worst_gradient, 1e-10);
    check_at_most(worst_hessian, 1e-8);
  }
}
static void distances_by_geodesics_are_the_closed_ones(void **s) { check_every_space(distance_in); }

/* The distance of IH in closed form, from the thesis (see analysis/README.md):
 *   ih_f(a) - ih_f(b),  a = (|p + q| + |p - q|)/2,  b = (|p + q| - |p - q|)/2
 * The built-in space uses another form, which also has a Hessian. */
static double ih_f(double c) { return asinh(c / sqrt(2)) + c / 2 * sqrt(c * c + 2); }
static double ih_distance(const double *p, const double *q, double gradient[3]) {
  double plus = 0, minus = 0;
  for (int i = 0; i < 3; i++) {
    plus += (p[i] + q[i]) * (p[i] + q[i]);
    minus += (p[i] - q[i]) * (p[i] - q[i]);
  }
  plus = sqrt(plus);
  minus = sqrt(minus);
  double a = (plus + minus) / 2, b = (plus - minus) / 2, da = sqrt(a * a + 2), db = sqrt(b * b + 2);
  for (int i = 0; i < 3; i++)
    gradient[i] = (da - db) / 2 * (p[i] + q[i]) / plus + (da + db) / 2 * (p[i] - q[i]) / minus;
  return ih_f(a) - ih_f(b);
}

static void the_distance_of_ih_by_geodesics_is_its_closed_form(void **s) {
  uint64_t state = check_seed();
  cb_space *g = own(&own_ih);
  cb_space *built_in;
  check_ok(cb_space_create("ih", NULL, &built_in));
  double worst = 0, worst_gradient = 0, worst_hessian = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double q[3], y[3], size = trial % 4 ? 3 : 40, d, d1, gradient[6], gradient0[3], hessian[36], hessian1[36];
    for (int i = 0; i < 3; i++) {
      q[i] = check_uniform(&state, -size, size);
      y[i] = check_uniform(&state, -size, size);
    }
    check_ok(cb_numeric_distance(g, q, y, &d, gradient, hessian));
    check_ok(built_in->chart->distance(built_in, q, y, &d1, NULL, hessian1));
    double d0 = ih_distance(q, y, gradient0);
    worst = fmax(worst, fabs(d - d0) / d0);
    worst_gradient = fmax(worst_gradient, check_distance_max(3, gradient, gradient0) / size);
    const double chord = sqrt(pow(q[0] - y[0], 2) + pow(q[1] - y[1], 2) + pow(q[2] - y[2], 2));
    /* The elements of the Hessian are of order size/chord. */
    worst_hessian = fmax(worst_hessian, check_distance_max(36, hessian, hessian1) * chord / size);
  }
  print_message("IH: distance %.1e, gradient %.1e, Hessian %.1e, relative\n", worst, worst_gradient, worst_hessian);
  check_at_most(worst, 1e-11);
  check_at_most(worst_gradient, 1e-10);
  check_at_most(worst_hessian, 1e-8);
  cb_space_free(built_in);
  cb_space_free(g);
}

static void in_one_dimension_the_distance_is_the_difference_of_arc_length(void **s) {
  cb_space *g = own(&own_line);
  double q = .3, y = -1.1, a = exp(q), b = exp(y), d, gradient[2], hessian[4];
  check_ok(cb_numeric_distance(g, &q, &y, &d, gradient, hessian));
  check_near(d, a - b, 1e-13);
  check_at_most(check_distance_max(2, gradient, (double[]){a, -b}), 1e-13);
  check_at_most(check_distance_max(4, hessian, (double[]){a, 0, 0, -b}), 1e-11);
  /* The end of the line, at x = -infinity, is at the distance e^.3. */
  assert_int_equal(cb_numeric_exp(g, &q, (double[]){-1.01}, &y, NULL, NULL), CB_ERROR_DOMAIN);
  cb_space_free(g);
}

static void distances_take_the_nearest_periodic_image(void **s) {
  uint64_t state = check_seed();
  cb_space *g = own(&own_flat_torus), *torus = own(&own_torus);
  for (int trial = 0; trial < 100; trial++) {
    double q[2], y[2], d, square = 0;
    for (int i = 0; i < 2; i++) {
      double period = flat_torus.period[i];
      q[i] = check_uniform(&state, -3, 3);
      y[i] = check_uniform(&state, -3, 3);
      double e = remainder(y[i] - q[i], period);
      square += e * e;
    }
    check_ok(cb_numeric_distance(g, q, y, &d, NULL, NULL));
    check_near(d, sqrt(square), 1e-14);
  }
  double d;
  /* The path is along the inner equator, which is the shortest path up to a length of about pi. */
  check_ok(cb_numeric_distance(torus, (double[]){0, pi}, (double[]){2 * pi - 1, -pi}, &d, NULL, NULL));
  check_near(d, 1, 1e-13);
  cb_space_free(g);
  cb_space_free(torus);
}

/* The straight line in the chart leaves the domain, so the first guesses of the shooting method fail. The lengths are
 * Clairaut's integral with 25 digits: 2 psi^2 R/sqrt(R^2 - b^2) drho, integrated over the isotropic radius rho from its
 * minimum rho_min, with psi = 1 + M/(2 rho), R = rho psi^2, b = R(rho_min) and the mass M. */
static void shortest_geodesics_go_around_a_hole_in_the_domain(void **s) {
  static const struct {
    double q[3], y[3], length;
  } known[] = {{{.8, 0, 0}, {-.3, .75, 0}, 4.096781823338525}, {{.6, 0, 0}, {0, 0, .6}, 3.165374953315269}};
  cb_space *g = in_chart("schwarzschild", "isotropic");
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    double d;
    check_ok(cb_numeric_distance(g, known[k].q, known[k].y, &d, NULL, NULL));
    check_near(d, known[k].length, 1e-12);
  }
  /* Near the edge of the domain the search rejects several trial steps before it accepts one. It must end
   * nevertheless. */
  cb_shortest path;
  check_ok(cb_numeric_shortest(g, (double[]){.51, 0, 0}, (double[]){-.4, .4, .1}, NULL, &path));
  check_near(path.end.q[0], -.4, 1e-12);
  double d;
  assert_int_equal(cb_numeric_distance(g, (double[]){.7, 0, 0}, (double[]){-.7, 0, 0}, &d, NULL, NULL),
                   CB_ERROR_DOMAIN);
  cb_space_free(g);
}

static void a_guess_leads_to_the_same_geodesic(void **s) {
  cb_space *g = in_chart("s2", "polar");
  double q[] = {1.5, 0}, y[] = {1.6, 2.5}, u[2], v[2];
  cb_jacobi j;
  check_ok(cb_numeric_log(g, q, y, false, u, NULL));
  memcpy(v, u, sizeof v);
  y[1] += 1e-3;
  check_ok(cb_numeric_log(g, q, y, false, u, NULL));
  check_ok(cb_numeric_log(g, q, y, true, v, &j));
  check_at_most(check_distance_max(2, u, v), 1e-13);
  cb_space_free(g);
}

/* --- errors --- */

static void check_refused(cb_status status, const char *word) {
  assert_int_equal(status, CB_ERROR_DOMAIN);
  if (!strstr(cb_error_text(), word)) fail_msg("'%s' does not say '%s'", cb_error_text(), word);
}

static void geodesics_that_leave_the_chart_are_refused_with_the_position(void **s) {
  double q[] = {.5, 0}, q1[2] = {7, 7}, y[] = {2, 0}, d = 7;
  cb_space *g = own(&own_disk);
  check_ok(cb_numeric_exp(g, q, (double[]){.4, 0}, q1, NULL, NULL));
  check_near(q1[0], .9, 1e-15);
  check_refused(cb_numeric_exp(g, q, (double[]){.6, 0}, q1, NULL, NULL), "outside the unit disk at (1");
  check_near(q1[0], .9, 1e-15);
  check_refused(cb_numeric_distance(g, q, y, &d, NULL, NULL), "outside the unit disk at (2, 0)");
  check_near(d, 7, 0);
  cb_space_free(g);

  /* In the metric dx^2 + y dy^2 the geodesic along x = 0 reaches y = 0 at the length 2/3. */
  g = own(&own_cusp);
  check_refused(cb_numeric_exp(g, (double[]){0, 1}, (double[]){0, -.7}, q1, NULL, NULL), "leaves the chart");
  check_ok(cb_numeric_exp(g, (double[]){0, 1}, (double[]){0, -.6}, q1, NULL, NULL));
  check_near(q1[1], pow(1 - .9, 2.0 / 3), 1e-12);
  cb_curvature c;
  check_refused(cb_curvature_at(g, (double[]){0, -1}, &c), "(0, -1)");
  cb_space_free(g);
}

static void points_without_a_unique_shortest_geodesic_are_refused(void **s) {
  double d, u[3], q3[] = {1, 1, 0}, y3[] = {pi - 1, pi - 1, pi};
  cb_space *g = in_chart("s3", "polar");
  check_refused(cb_numeric_distance(g, q3, y3, &d, NULL, NULL), "");
  cb_space_free(g);
  g = in_chart("s2", "polar");
  check_refused(cb_numeric_distance(g, (double[]){1.5, 0}, (double[]){pi - 1.5, pi}, &d, NULL, NULL), "");
  /* The end is at 5/4 pi along the equator, past the conjugate point. */
  check_refused(cb_numeric_log(g, (double[]){pi / 2, 0}, (double[]){pi / 2, 1.25 * pi}, false, u, NULL), "conjugate");
  cb_space_free(g);
  g = own(&own_flat_torus);
  check_refused(cb_numeric_distance(g, (double[]){0, 0}, (double[]){.5, .1}, &d, NULL, NULL), "more than one");
  check_refused(cb_numeric_distance(g, (double[]){0, 0}, (double[]){1, 2}, &d, u, NULL), "coincident");
  check_ok(cb_numeric_distance(g, (double[]){0, 0}, (double[]){1, 2}, &d, NULL, NULL));
  check_near(d, 0, 0);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_by_geodesics_are_the_closed_ones),
      cmocka_unit_test(the_distance_of_ih_by_geodesics_is_its_closed_form),
      cmocka_unit_test(in_one_dimension_the_distance_is_the_difference_of_arc_length),
      cmocka_unit_test(distances_take_the_nearest_periodic_image),
      cmocka_unit_test(shortest_geodesics_go_around_a_hole_in_the_domain),
      cmocka_unit_test(a_guess_leads_to_the_same_geodesic),
      cmocka_unit_test(geodesics_that_leave_the_chart_are_refused_with_the_position),
      cmocka_unit_test(points_without_a_unique_shortest_geodesic_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
