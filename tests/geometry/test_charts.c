/* Tests of charts in every space: conversion to coordinates q and back to points x, Jacobians, metrics, and distances d
 * with their derivatives. Central differences have the step h. */
#include "check_spaces.h"
#include <curvebody/jet.h>

enum { K = CB_COORD_MAX, D = CB_DIM_MAX, TRIALS = 20 };

/* Repeats the following statement with every chart of g. */
#define EACH_CHART(g, chart)                        \
  for (size_t c_ = 0; c_ < cb_chart_count(g); c_++) \
    for (const cb_chart *chart = cb_chart_at(g, c_); chart; chart = NULL)

static void round_trip(const cb_space *g, uint64_t *state) {
  EACH_CHART(g, chart) {
    for (int trial = 0; trial < TRIALS; trial++) {
      double x[K], y[K], q[K], jacobian[K * K], v[K], w[K], u[K], again[K];
      check_random_point(g, state, check_radius(g), x);
      check_random_tangent(g, state, x, 1, v);
      check_ok(chart->from_point(g, x, q));
      check_ok(chart->to_point(g, q, y, jacobian));
      check_at_most(check_distance_max(g->embedding, x, y), 5e-15);
      check_ok(cb_chart_pull(g, chart, x, v, again, u));
      check_at_most(check_distance_max(chart->size, again, q), 0);
      check_ok(cb_chart_push(g, chart, q, u, y, w));
      /* near the axis of polar coordinates, the components u of the velocity are large */
      check_at_most(check_distance_max(g->embedding, w, v), 1e-11);
      if (chart->size > g->dim) continue;
      for (int i = 0; i < g->dim; i++) {
        double ends[2][K], h = 1e-5, at = q[i];
        for (int s = 0; s < 2; s++) {
          q[i] = at + (s ? h : -h);
          check_ok(chart->to_point(g, q, ends[s], NULL));
        }
        q[i] = at;
        for (int a = 0; a < g->embedding; a++)
          check_near(jacobian[a * g->dim + i], (ends[1][a] - ends[0][a]) / (2 * h), 5e-9); /* error of order h^2 */
      }
    }
  }
}
static void charts_invert_and_their_jacobians_agree_with_differences(void **s) { check_every_space(round_trip); }

/* Makes coordinates q of a random point at which the entries of the metric are not small. In polar charts the point is
 * then not near the axis. */
static void coordinates(const cb_space *g, const cb_chart *chart, uint64_t *state, double *q) {
  for (;;) {
    double x[K], gij[D * D];
    check_random_point(g, state, 0.7 * check_radius(g), x);
    check_ok(chart->from_point(g, x, q));
    check_ok(chart->metric(g, q, gij, NULL, NULL));
    bool regular = true;
    for (int i = 0; i < g->dim; i++) regular &= gij[i * g->dim + i] > 0.02;
    if (regular) return;
  }
}

static void metrics(const cb_space *g, uint64_t *state) {
  int n = g->dim;
  EACH_CHART(g, chart) {
    if (!chart->metric) continue;
    for (int trial = 0; trial < TRIALS; trial++) {
      double q[D], x[K], jacobian[K * D], m[D * D], dm[D * D * D], ddm[D * D * D * D], h = 1e-5;
      coordinates(g, chart, state, q);
      check_ok(chart->to_point(g, q, x, jacobian));
      check_ok(chart->metric(g, q, m, dm, ddm));
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          double sum = 0;
          for (int a = 0; a < g->embedding; a++) sum += g->form[a] * jacobian[a * n + i] * jacobian[a * n + j];
          check_near(m[i * n + j], sum, 3e-14);
        }
      for (int l = 0; l < n; l++) {
        double side[2][D * D], dside[2][D * D * D], at = q[l];
        for (int s = 0; s < 2; s++) {
          q[l] = at + (s ? h : -h);
          check_ok(chart->metric(g, q, side[s], dside[s], NULL));
        }
        q[l] = at;
        for (int i = 0; i < n * n; i++) check_near(dm[l * n * n + i], (side[1][i] - side[0][i]) / (2 * h), 3e-8);
        for (int i = 0; i < n * n * n; i++)
          check_near(ddm[l * n * n * n + i], (dside[1][i] - dside[0][i]) / (2 * h), 3e-7); /* error of order h^2 */
      }
    }
  }
}
static void metrics_are_pullbacks_and_their_derivatives_agree_with_differences(void **s) { check_every_space(metrics); }

static void distances(const cb_space *g, uint64_t *state) {
  int n = 2 * g->dim;
  EACH_CHART(g, chart) {
    if (!chart->distance) continue;
    double worst = 0, worst_gradient = 0, worst_hessian = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      double q[2 * D], x[K], y[K], d, alone, gradient[2 * D], hessian[4 * D * D], h = 1e-5;
      coordinates(g, chart, state, q);
      coordinates(g, chart, state, q + g->dim);
      check_ok(chart->to_point(g, q, x, NULL));
      check_ok(chart->to_point(g, q + g->dim, y, NULL));
      check_ok(chart->distance(g, q, q + g->dim, &d, gradient, hessian));
      check_ok(chart->distance(g, q, q + g->dim, &alone, NULL, NULL));
      check_near(alone, d, 0);
      worst = fmax(worst, fabs(d - cb_distance(g, x, y)) / d);
      if (d < 0.1) continue;
      for (int i = 0; i < n; i++) {
        double side[2], dside[2][2 * D], at = q[i];
        for (int s = 0; s < 2; s++) {
          q[i] = at + (s ? h : -h);
          check_ok(chart->distance(g, q, q + g->dim, &side[s], dside[s], NULL));
        }
        q[i] = at;
        worst_gradient = fmax(worst_gradient, d * d * fabs(gradient[i] - (side[1] - side[0]) / (2 * h)));
        for (int j = 0; j < n; j++)
          worst_hessian =
              fmax(worst_hessian, d * d * d * fabs(hessian[i * n + j] - (dside[1][j] - dside[0][j]) / (2 * h)));
      }
    }
    print_message("%s %s: distance %.1e, gradient %.1e, Hessian %.1e\n", g->class_->name, chart->name, worst,
                  worst_gradient, worst_hessian);
    check_at_most(worst, 1e-14);
    check_at_most(worst_gradient, 1e-7); /* the error of differences with step h is h^2 times third derivatives */
    check_at_most(worst_hessian, 1e-6);  /* for differences of the gradient it is h^2 times fourth derivatives */
  }
}
static void distances_are_the_embeddings_and_their_derivatives_agree_with_differences(void **s) {
  check_every_space(distances);
}

/* Computes the distance d with jets, from d = 2 R asin(c/2R) (asinh in a hyperbolic space). R is the radius of
 * curvature, and c is the length of the chord between the two points of the embedding. q contains the polar coordinates
 * of both points. */
static cb_jet jet_distance(const cb_space *g, const double *q) {
  double r = 1 / sqrt(fabs(g->factor[0].curvature));
  bool sphere = g->factor[0].curvature > 0;
  cb_jet x[2][4], square = cb_jet_constant(6, 0);
  for (int p = 0; p < 2; p++) {
    cb_jet a = cb_jet_variable(6, 3 * p, q[3 * p]), b = cb_jet_variable(6, 3 * p + 1, q[3 * p + 1]);
    cb_jet c = cb_jet_variable(6, 3 * p + 2, q[3 * p + 2]);
    a = cb_jet_scale(&a, 1 / r);
    cb_jet s = sphere ? cb_jet_sin(&a) : cb_jet_sinh(&a), sb = cb_jet_sin(&b), cb = cb_jet_cos(&b);
    cb_jet ssb = cb_jet_mul(&s, &sb), sg = cb_jet_sin(&c), cg = cb_jet_cos(&c);
    x[p][0] = cb_jet_mul(&ssb, &cg);
    x[p][1] = cb_jet_mul(&ssb, &sg);
    x[p][2] = cb_jet_mul(&s, &cb);
    x[p][3] = sphere ? cb_jet_cos(&a) : cb_jet_cosh(&a);
  }
  for (int a = 0; a < 4; a++) {
    cb_jet e = cb_jet_sub(&x[0][a], &x[1][a]), e2 = cb_jet_mul(&e, &e);
    square = a == 3 && !sphere ? cb_jet_sub(&square, &e2) : cb_jet_add(&square, &e2);
  }
  cb_jet c = cb_jet_sqrt(&square);
  c = cb_jet_scale(&c, 0.5);
  c = sphere ? cb_jet_asin(&c) : cb_jet_asinh(&c);
  return cb_jet_scale(&c, 2 * r);
}

static void polar_distance_agrees_with_jets(void **s) {
  uint64_t state = check_seed();
  static const char *const names[] = {"s3", "h3"};
  double worst = 0;
  for (int i = 0; i < 4; i++) {
    check_map m;
    cb_space *g;
    const char *curvature = i < 2 ? (i ? "-1" : "1") : i == 2 ? "1.7" : "-0.4";
    check_ok(cb_space_create(names[i % 2], check_map_fill(&m, "curvature", curvature, "chart", "polar"), &g));
    for (int trial = 0; trial < 100; trial++) {
      double q[6], d, gradient[6], hessian[36];
      coordinates(g, g->chart, &state, q);
      coordinates(g, g->chart, &state, q + 3);
      check_ok(g->chart->distance(g, q, q + 3, &d, gradient, hessian));
      cb_jet jet = jet_distance(g, q);
      check_relative(d, jet.v, 1e-13);
      for (int a = 0; a < 6; a++) {
        worst = fmax(worst, d * fabs(gradient[a] - jet.g[a]));
        for (int b = 0; b < 6; b++)
          worst = fmax(worst, d * d * d * fabs(hessian[a * 6 + b] - jet.h[cb_jet_packed(a, b)]));
      }
    }
    cb_space_free(g);
  }
  print_message("polar distance against jets: %.1e\n", worst);
  check_at_most(worst, 1e-12);
}

/* The distance d of the points (a1, b1, g1) and (a2, b2, g2) was computed by mpmath with 40 digits, from cosh d = cosh
 * a1 cosh a2 - sinh a1 sinh a2 (cos b1 cos b2 + sin b1 sin b2 cos(g1-g2)). The coordinates are the doubles nearest to
 * these decimals. */
static void polar_distance_keeps_its_digits_far_out(void **s) {
  static const struct {
    double q[6], d;
  } rows[] = {
      {{10.0, 1.2, 0.3, 10.5, 1.2001, 0.3004}, 3.4663531183357301565},
      {{10.0, 0.7, 2.0, 10.0, 0.70000001, 2.00000001}, 0.00013100732069929691042},
      {{10.25, 1.5, -1.0, 10.25, 1.5, -0.999}, 5.3031552622912952343},
      {{9.5, 0.001, 0.5, 12.0, 0.0010001, 0.5002}, 2.5000022463398092996},
      {{20.0, 1.0, 1.0, 20.0, 1.0000000001, 1.0}, 0.02425766702133704158},
  };
  check_map m;
  cb_space *g;
  check_ok(cb_space_create("h3", check_map_fill(&m, "chart", "polar", NULL, NULL), &g));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double d;
    check_ok(g->chart->distance(g, rows[i].q, rows[i].q + 3, &d, NULL, NULL));
    check_relative(d, rows[i].d, 2e-15);
  }
  cb_space_free(g);
}

static void spec_charts_have_their_formulae(void **s) {
  cb_space *g;
  double q[3] = {0.7, -0.4, 1.1}, x[4];
  check_ok(cb_space_create("h3", NULL, &g));
  check_ok(cb_chart_find(g, "translation")->to_point(g, q, x, NULL));
  check_near(x[0], cosh(0.7) * sinh(-0.4), 1e-15);
  check_near(x[1], sinh(0.7), 1e-15);
  check_near(x[2], cosh(0.7) * cosh(0.4) * sinh(1.1), 1e-15);
  check_near(x[3], cosh(0.7) * cosh(0.4) * cosh(1.1), 1e-15);
  check_ok(cb_chart_find(g, "polar")->to_point(g, q, x, NULL));
  check_near(x[0], sinh(0.7) * sin(-0.4) * cos(1.1), 1e-15);
  check_near(x[2], sinh(0.7) * cos(-0.4), 1e-15);
  assert_ptr_equal(cb_chart_find(g, "poincare"), cb_chart_find(g, "stereographic"));
  assert_null(cb_chart_find(g, "cartesian"));
  cb_space_free(g);
  check_ok(cb_space_create("s3", NULL, &g));
  assert_null(cb_chart_find(g, "poincare"));
  assert_non_null(cb_chart_find(g, "stereographic"));
  cb_space_free(g);
  check_ok(cb_space_create("e3", NULL, &g));
  assert_ptr_equal(cb_chart_find(g, "cartesian"), cb_chart_find(g, "embedding"));
  assert_null(cb_chart_find(g, "stereographic"));
  check_ok(cb_chart_find(g, "polar")->to_point(g, q, x, NULL));
  check_near(x[2], 0.7 * cos(-0.4), 1e-15);
  cb_space_free(g);
}

/* From a point with the coordinate g = 0, the flow of boost_x changes only the coordinate b. */
static void translation_coordinate_b_is_the_flow_of_boost_x(void **s) {
  cb_space *g;
  check_ok(cb_space_create("h3", NULL, &g));
  const cb_chart *chart = cb_chart_find(g, "translation");
  double q[3] = {0.5, 0.2, 0}, x[4], r[3];
  cb_isometry flow;
  cb_isometry_flow(g, cb_killing_find(g, "boost_x"), 0.8, &flow);
  check_ok(chart->to_point(g, q, x, NULL));
  cb_isometry_point(g, &flow, x, x);
  check_ok(chart->from_point(g, x, r));
  check_near(r[0], 0.5, 1e-15);
  check_near(r[1], 1.0, 1e-15);
  check_near(r[2], 0, 1e-15);
  cb_space_free(g);
}

static void coordinates_outside_a_chart_are_refused(void **s) {
  cb_space *g;
  double x[4] = {7, 7, 7, 7}, q[4], u[4], outside[3] = {0.8, 0.7, 0}, far[3] = {800, 1, 1}, d = 7;
  check_ok(cb_space_create("h3", NULL, &g));
  const cb_chart *ball = cb_chart_find(g, "poincare"), *polar = cb_chart_find(g, "polar");
  check_near(ball->to_point(g, outside, x, NULL), CB_ERROR_DOMAIN, 0);
  check_near(ball->metric(g, outside, x, NULL, NULL), CB_ERROR_DOMAIN, 0);
  check_near(ball->distance(g, outside, far, &d, NULL, NULL), CB_ERROR_DOMAIN, 0);
  check_near(polar->to_point(g, far, x, NULL), CB_ERROR_DOMAIN, 0);
  check_near(polar->distance(g, outside, outside, &d, u, NULL), CB_ERROR_DOMAIN, 0);
  check_near(x[0] + d, 14, 0);
  double base[4] = {0, 0, 0, 1}, v[4] = {1, 0, 0, 0};
  check_near(cb_chart_pull(g, polar, base, v, q, u), CB_ERROR_DOMAIN, 0);
  cb_space_free(g);
}

static void raised(const cb_space *g0, uint64_t *state) {
  check_map m;
  cb_space *g;
  char curvature[32];
  if (g0->n_factors > 1) return;
  snprintf(curvature, sizeof curvature, "%.17g", g0->factor[0].curvature);
  EACH_CHART(g0, chart) {
    if (!chart->metric) continue;
    check_ok(cb_space_create_class(g0->class_, check_map_fill(&m, "curvature", curvature, "chart", chart->name), &g));
    double q[3], u[3], p[3] = {0}, gij[9], back[3];
    coordinates(g, g->chart, state, q);
    check_ok(g->chart->metric(g, q, gij, NULL, NULL));
    for (int i = 0; i < g->dim; i++) {
      u[i] = check_uniform(state, -1, 1);
      for (int j = 0; j <= i; j++) {
        p[i] += gij[i * g->dim + j] * u[j];
        if (j < i) p[j] += gij[j * g->dim + i] * u[i];
      }
    }
    check_ok(cb_space_raise(g, q, p, back));
    check_at_most(check_distance_max(g->dim, back, u), 1e-15);
    cb_space_free(g);
  }
}
static void raise_inverts_the_metric(void **s) { check_every_space(raised); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(charts_invert_and_their_jacobians_agree_with_differences),
      cmocka_unit_test(metrics_are_pullbacks_and_their_derivatives_agree_with_differences),
      cmocka_unit_test(distances_are_the_embeddings_and_their_derivatives_agree_with_differences),
      cmocka_unit_test(polar_distance_agrees_with_jets),
      cmocka_unit_test(polar_distance_keeps_its_digits_far_out),
      cmocka_unit_test(spec_charts_have_their_formulae),
      cmocka_unit_test(translation_coordinate_b_is_the_flow_of_boost_x),
      cmocka_unit_test(coordinates_outside_a_chart_are_refused),
      cmocka_unit_test(raise_inverts_the_metric),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
