/* Tests of bundles with another cost metric M: derivatives against closed forms and differences, properties of the
 * bundle that do not depend on M, and errors. dM, ddM: first and second derivatives of M; A: the connection. */
#include "bundle/bundle_private.h"
#include "curvature_claims.h"
#include "link_trees.h"

/* Creates b with another cost metric from texts of the keys `metric` and `add`. NULL: the key is absent. */
static cb_status metric_create(const cb_bundle *b, const char *metric, const char *add, cb_bundle **out) {
  cb_tree *tree[2] = {NULL};
  if (metric) check_ok(cb_tree_read("m.yaml", metric, &tree[0]));
  if (add) check_ok(cb_tree_read("a.yaml", add, &tree[1]));
  const cb_status status =
      cb_bundle_read_metric(b, metric ? cb_tree_root(tree[0]) : NULL, add ? cb_tree_root(tree[1]) : NULL, out);
  for (int i = 0; i < 2; i++) cb_tree_free(tree[i]); /* the bundle keeps no reference to the trees */
  return status;
}

static cb_bundle *with_metric(const cb_bundle *b, const char *metric, const char *add) {
  cb_bundle *out = NULL;
  check_ok(metric_create(b, metric, add, &out));
  return out;
}

/* The cost metric is M = ((1 + x^2 + sin y, x y), (x y, 2 + y^2/2)). */
static void expressions_have_their_closed_derivatives(void **state) {
  uint64_t seed = check_seed();
  cb_bundle *plain = model("heisenberg", ""), *b = with_metric(plain, "[[1 + x^2, x*y], [y*x, 2]]", "[sin(y), y^2/2]");
  for (int trial = 0; trial < 10; trial++) {
    const double x = check_uniform(&seed, -.6, .6), y = check_uniform(&seed, -.6, .6), r[2] = {x, y};
    const double value[4] = {1 + x * x + sin(y), x * y, x * y, 2 + y * y / 2};
    const double slope[8] = {2 * x, y, y, 0, cos(y), x, x, y};
    const double curve[16] = {2, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, -sin(y), 0, 0, 1};
    double A[2], dA[4], ddA[8], M[4], dM[8], ddM[16];
    check_ok(cb_bundle_connection(b, r, A, dA, M, dM));
    check_ok(cb_bundle_second(b, r, ddA, ddM));
    for (int i = 0; i < 4; i++) check_near(M[i], value[i], 1e-15);
    for (int i = 0; i < 8; i++) check_near(dM[i], slope[i], 1e-15);
    for (int i = 0; i < 16; i++) check_near(ddM[i], curve[i], 1e-15);
    check_near(A[0], y / 2, 0);
    check_near(A[1], -x / 2, 0);
    check_near(dA[1], -.5, 0);
    check_near(dA[2], .5, 0);
    for (int i = 0; i < 8; i++) check_near(ddA[i], 0, 0);
    check_ok(cb_bundle_connection(b, r, NULL, NULL, NULL, dM)); /* requests dM only */
    for (int i = 0; i < 8; i++) check_near(dM[i], slope[i], 1e-15);
  }
  cb_bundle_free(b);
  cb_bundle_free(plain);
}

static void derivatives_are_those_of_differences(void **state) {
  static const double low[] = {-.5, -.5, -.5}, high[] = {.5, .5, .5};
  static const char *const metric[] = {NULL, "bundle", "identity",
                                       "[[2 + sin(alpha1*alpha3), 0.3*alpha2, 0], [0.3*alpha2, 2 + alpha3^2, "
                                       "alpha1^2/4], [0, alpha1^2/4, exp(alpha2)]]"};
  static const char *const add[] = {NULL, "[1 + alpha3^2, cos(alpha1), 1]",
                                    "[[1], [alpha1*alpha3/3, 2], [0, 0.1*alpha2^3, 1]]"};
  uint64_t seed = check_seed();
  cb_bundle *plain = model("purcell", "links 4");
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) {
      cb_bundle *b = with_metric(plain, metric[i], add[k]);
      second_by_differences(b, low, high, 1e-9, &seed);
      /* Compares dM with differences of M of order 2, whose error is h^2 = 1e-8 times third derivatives of at most
       * 3. */
      double r[3] = {.2, -.3, .4}, dM[27], up[9], down[9];
      check_ok(cb_bundle_connection(b, r, NULL, NULL, NULL, dM));
      for (int v = 0; v < 3; v++) {
        const double at = r[v], h = 1e-4;
        r[v] = at + h;
        check_ok(cb_bundle_connection(b, r, NULL, NULL, up, NULL));
        r[v] = at - h;
        check_ok(cb_bundle_connection(b, r, NULL, NULL, down, NULL));
        r[v] = at;
        for (int e = 0; e < 9; e++) check_near((up[e] - down[e]) / (2 * h), dM[v * 9 + e], 3e-8);
      }
      cb_bundle_free(b);
    }
  cb_bundle_free(plain);
}

static void all_but_the_metric_is_the_bundles_own(void **state) {
  static const double r[3] = {.3, -.4, .7};
  cb_bundle *plain = model("purcell", "links 4"), *b = with_metric(plain, NULL, "[0.01, 0.02, 0.03]");
  double A[2][9], dA[2][27], ddA[2][81], M[2][9], dM[2][27], ddM[2][81], x[2][5][3], P[9];
  const cb_bundle *of[2] = {plain, b};
  for (int k = 0; k < 2; k++) {
    check_ok(cb_bundle_connection(of[k], r, A[k], dA[k], M[k], dM[k]));
    check_ok(cb_bundle_second(of[k], r, ddA[k], ddM[k]));
    check_ok(of[k]->class_->plot(of[k], r, (double[]){1, 2, .5}, x[k]));
  }
  for (int i = 0; i < 3; i++) M[0][4 * i] += .01 * (i + 1);
  check_near(difference(A[0], A[1], 9), 0, 0);
  check_near(difference(dA[0], dA[1], 27), 0, 0);
  check_near(difference(ddA[0], ddA[1], 81), 0, 0);
  check_near(difference(M[0], M[1], 9), 0, 0);
  check_near(difference(dM[0], dM[1], 27), 0, 0);
  check_near(difference(ddM[0], ddM[1], 81), 0, 0);
  check_near(difference(x[0][0], x[1][0], 15), 0, 0);
  assert_int_equal(b->lines, plain->lines);
  assert_int_equal(cb_bundle_locked(b, r, P), CB_ERROR_UNSUPPORTED); /* M does not follow from a form G */
  cb_bundle_free(b);
  cb_bundle_free(plain);
}

static void with_the_identity_a_circle_is_as_long_as_it_is(void **state) {
  cb_bundle *plain = model("purcell", ""), *b = with_metric(plain, "identity", NULL);
  cb_gait *gait = NULL;
  double g[2][3], length;
  check_ok(cb_gait_fourier(2, 1, (const double[]){0, 0}, (const double[]){.5, 0}, (const double[]){0, .5}, &gait));
  check_ok(cb_holonomy(b, gait, 1e-12, g[0], &length, NULL));
  check_ok(cb_holonomy(plain, gait, 1e-12, g[1], NULL, NULL));
  check_near(length, M_PI, 1e-11);
  for (int i = 0; i < 3; i++) check_near(g[0][i], g[1][i], 1e-12);
  cb_gait_free(gait);
  cb_bundle_free(b);
  cb_bundle_free(plain);
}

/* Expressions have no second derivatives for N = 15 variables, so ddM is computed by differences. */
static void many_variables_are_taken(void **state) {
  enum { N = 15 };
  static double ddA[N * N * 3 * N], ddM[2][N * N * N * N];
  double r[N];
  cb_expression *square = NULL;
  const cb_expression *add[N * N] = {NULL};
  tree t = chain("", N + 1, 1. / (N + 1));
  cb_bundle *b = NULL;
  check_ok(cb_expression_parse("alpha1*alpha3^2", t.b->shape, N, NULL, &square));
  add[N + 1] = square;
  check_ok(cb_bundle_with_metric(t.b, &(cb_bundle_metric){.add = add}, &b));
  cb_expression_free(square);
  for (int i = 0; i < N; i++) r[i] = .1 + .01 * i;
  check_ok(cb_bundle_second(t.b, r, NULL, ddM[0]));
  check_ok(cb_bundle_second(b, r, ddA, ddM[1]));
  ddM[0][(0 * N + 2) * N * N + N + 1] += 2 * r[2];
  ddM[0][(2 * N + 0) * N * N + N + 1] += 2 * r[2];
  ddM[0][(2 * N + 2) * N * N + N + 1] += 2 * r[0];
  check_near(difference(ddM[0], ddM[1], N * N * N * N), 0, 1e-10);
  cb_bundle_free(b);
  tree_free(&t);
}

static void a_shape_without_a_metric_is_told(void **state) {
  static const struct {
    const char *metric, *add;
    cb_status status;
    const char *message;
  } row[] = {
      {"[[1, 2*x], [2*x, 1]]", NULL, CB_STEP_SINGULAR,
       "bundle heisenberg at x = 0.5, y = -0.25: the cost metric is not positive definite: a change of y with others "
       "has a cost of 0 or less"},
      {"identity", "[0, 4*y]", CB_STEP_SINGULAR, "a change of y has a cost of 0 or less"},
      {"bundle", "[-2, 0]", CB_STEP_SINGULAR, "a change of x has a cost of 0 or less"},
      {"[[1, 0], [0, log(y)]]", NULL, CB_STEP_DOMAIN,
       "bundle heisenberg at x = 0.5, y = -0.25: the entry of the metric for y and y is "},
  };
  cb_bundle *plain = model("heisenberg", "");
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    cb_bundle *b = with_metric(plain, row[k].metric, row[k].add);
    double A[2], M[4], dM[8];
    assert_int_equal(cb_bundle_connection(b, (double[]){.5, -.25}, NULL, NULL, M, NULL), row[k].status);
    if (!strstr(cb_error_text(), row[k].message)) fail_msg("%s", cb_error_text());
    assert_int_equal(cb_bundle_connection(b, (double[]){.5, -.25}, NULL, NULL, NULL, dM), row[k].status);
    check_ok(cb_bundle_connection(b, (double[]){.5, -.25}, A, NULL, NULL, NULL)); /* the connection needs no metric */
    cb_bundle_free(b);
  }
  cb_bundle *b = NULL;
  cb_expression *e[2] = {NULL};
  static const char *const names[2] = {"x", "y"};
  for (int i = 0; i < 2; i++) check_ok(cb_expression_parse(i ? "x/2" : "x/2 + y", names, 2, NULL, &e[i]));
  const cb_expression *add[4] = {NULL, e[0], e[1], NULL};
  check_ok(cb_bundle_with_metric(plain, &(cb_bundle_metric){.add = add}, &b));
  double M[4];
  check_ok(cb_bundle_connection(b, (double[]){.5, 0}, NULL, NULL, M, NULL));
  check_near(M[1], .25, 0);
  check_near(M[2], .25, 0);
  check_error(
      cb_bundle_connection(b, (double[]){.5, .25}, NULL, NULL, M, NULL), CB_ERROR_ARGUMENT,
      "bundle heisenberg at x = 0.5, y = 0.25: the metric is not symmetric: 0.25 for y and x, but 0.5 for x and y");
  cb_bundle_free(b);
  b = NULL;
  add[1] = NULL;
  assert_int_equal(cb_bundle_with_metric(plain, &(cb_bundle_metric){.entry = add}, &b), CB_ERROR_ARGUMENT);
  assert_null(b);
  for (int i = 0; i < 2; i++) cb_expression_free(e[i]);
  cb_bundle_free(plain);
}

static void what_is_no_metric_is_refused_at_its_place(void **state) {
  static const struct {
    const char *metric, *add, *error;
  } row[] = {
      {"euclid", NULL, "m.yaml:1:1: error: metric: expected bundle, identity or rows of expressions, found 'euclid'"},
      {"[[1, 0]]", NULL, "m.yaml:1:1: error: expected 2 rows of expressions"},
      {"[[1, x], [y, 1]]", NULL, "m.yaml:1:6: error: metric is not symmetric: "},
      {"[[1, 0], [0, z]]", NULL, "m.yaml:1:14: error: metric: "},
      {"identity", "[1, 2, 3]", "a.yaml:1:1: error: expected 2 rows of expressions"},
      {"identity", "[1, [0, 1]]", "a.yaml:1:2: error: row 1 of add: expected a list of 2 expressions"},
      {NULL, "[x, \"2*\"]", "a.yaml:1:"},
  };
  cb_bundle *plain = model("heisenberg", ""), *b = NULL;
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    check_case_begins(row[k].error, metric_create(plain, row[k].metric, row[k].add, &b), CB_ERROR_INPUT, row[k].error);
    assert_null(b);
  }
  cb_bundle_free(plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_have_their_closed_derivatives),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(all_but_the_metric_is_the_bundles_own),
      cmocka_unit_test(with_the_identity_a_circle_is_as_long_as_it_is),
      cmocka_unit_test(many_variables_are_taken),
      cmocka_unit_test(a_shape_without_a_metric_is_told),
      cmocka_unit_test(what_is_no_metric_is_refused_at_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
