/* Tests of extremals near and at the maximum of their target, and of abnormal ones: closed forms, the flow that they
 * follow, and their gaits. mu is the weight of the cost (optimum/extremal.h), which is 0 for abnormal extremals. E:
 * cost; X: displacement; lambda: multipliers; B: curvature. */
#include "extremals.h"
#include "yaml/yaml.h"

static cb_bundle *written(const char *text) {
  cb_tree *tree;
  cb_bundle *b;
  check_ok(cb_yaml_read_text("b.yaml", text, strlen(text), &tree));
  check_ok(cb_bundle_create("expressions", cb_tree_root(tree), &b));
  cb_tree_free(tree);
  return b;
}

/* Checks an extremal with mu = 0 for two or three shape variables. Its residuals are small. At each of 40 times of the
 * cycle, its speed has the same value and <lambda, B_ij> v_j = 0, where v is the rate of the shape. Its gait has the
 * reported holonomy and cost. */
static void check_abnormal(const cb_bundle *b, const cb_extremal *e) {
  const int n = b->n;
  cb_gait *gait;
  double g[CB_GROUP_SIZE], cost, strong = 0;
  assert_true(e->mu == 0);
  check_at_most(e->residual, 1e-11);
  check_at_most(e->error, 1e-11);
  check_at_most(e->speed, 1e-12);
  check_at_most(e->momentum, 1e-12);
  for (int a = 0; a < b->group->dim; a++) strong = fmax(strong, fabs(e->lambda[a]));
  for (int k = 0; k < 40; k++) {
    double x[CB_WONG_MAX], v[CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], B[3 * CB_GROUP_DIM], s = 0;
    check_ok(cb_extremal_at(e, k / 40., x, v));
    check_ok(cb_bundle_curvatures(b, x, B));
    check_ok(cb_bundle_connection(b, x, NULL, NULL, M, NULL));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) s += v[i] * M[i * n + j] * v[j];
    check_relative(s, e->cost, 1e-12);
    double F[3] = {0};
    for (int q = 0; q < n * (n - 1) / 2; q++)
      for (int a = 0; a < b->group->dim; a++) F[q] += x[2 * n + a] * B[q * b->group->dim + a] / strong;
    if (n == 2) check_near(F[0], 0, 1e-11);
    if (n != 3) continue;
    check_near(F[0] * v[1] + F[1] * v[2], 0, 1e-10);
    check_near(-F[0] * v[0] + F[2] * v[2], 0, 1e-10);
  }
  check_ok(cb_extremal_gait(e, &gait));
  check_ok(cb_holonomy(b, gait, 0, g, NULL, &cost));
  check_relative(cost, e->cost, 1e-11);
  for (int i = 0; i < b->group->size; i++) check_near(g[i], e->g[i], 1e-11);
  cb_gait_free(gait);
}

/* Finds the extremal with the cost E, starting from the extremal `from` of the previous cost, which is freed. */
static cb_extremal *longer(cb_optimum_problem *o, cb_extremal *from, double E) {
  cb_gait *gait;
  cb_extremal *e;
  o->objective = CB_OBJECTIVE_TARGET;
  o->length = sqrt(E);
  check_ok(cb_extremal_gait(from, &gait));
  check_ok(cb_extremal_solve(o, gait, from->lambda, from->amount, &e));
  cb_gait_free(gait);
  cb_extremal_free(from);
  return e;
}

/* The family of gaits in Fourier series (test_family.c) ends at X = .1035322400154, where mu/lambda is 0. The slope
 * dE/dX = 2 lambda is compared with a central difference whose steps are 1e-2 in E. */
static void the_gait_of_greatest_distance_is_an_abnormal_extremal(void **state) {
  cb_bundle *b = model("purcell", "links 3");
  const ellipse from = {{0, 0}, {.95, .95}, {1.35, -1.35}, {6, 0, -.6}};
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .084}};
  cb_extremal *e = extremal(&o, &from, 0), *far;
  cb_gait *gait;
  double X[3], slope = 0;
  for (double E = .6; E < .795; E += .05) e = longer(&o, e, E);
  for (double E = .8; E < 1.085; E += .02) e = longer(&o, e, E);
  for (int k = 0; k < 3; k++) {
    e = longer(&o, e, 1.09 + .01 * k);
    X[k] = e->amount;
    if (k == 1) slope = e->nu[0];
    assert_true(e->mu == 1);
    check_at_most(e->error, 1e-11);
    check_at_most(e->speed, 1e-12);
    check_at_most(e->momentum, 1e-12);
  }
  /* the error of the difference is the step squared, times X'''/6 */
  check_relative((X[2] - X[0]) / .02, 1 / (2 * slope), 1e-2);
  o.length = INFINITY;
  check_ok(cb_extremal_gait(e, &gait));
  check_ok(cb_extremal_solve(&o, gait, e->lambda, e->amount, &far));
  check_near(far->amount, .1035322400154, 1e-12);
  check_relative(far->cost, 1.17989004997, 1e-11);
  check_abnormal(b, far);
  cb_gait_free(gait);
  cb_extremal_free(e);
  cb_extremal_free(far);
  cb_bundle_free(b);
}

/* The curvature B = 1 - q^2 - s^2 is 0 on the unit circle in the shape variables q and s. On this loop the holonomy g
 * has its maximum: -g = int B dq ds = pi/2, with the cost E = 4 pi^2. */
static void a_loop_on_which_curvature_vanishes_does_the_most(void **state) {
  cb_bundle *b = written(
      "group: r1\nshape: [q, s]\n"
      "A: [[-s*(1/2 - (q^2 + s^2)/4), q*(1/2 - (q^2 + s^2)/4)]]\n");
  const double start_shape[2] = {1, 0};
  const ellipse from = {{.02, .01}, {1.05, .03}, {-.02, .97}, {-1}}, held = {{0, 0}, {1, .03}, {-.02, .97}, {-1}};
  for (int k = 0; k < 2; k++) {
    const cb_optimum_problem o = {.bundle = b,
                                  .start_shape = k ? start_shape : NULL,
                                  .target = {.kind = CB_GAIT_MOVE, .value = -1.5},
                                  .objective = CB_OBJECTIVE_TARGET,
                                  .length = INFINITY};
    cb_extremal *e;
    check_ok(extremal_try(&o, k ? &held : &from, -1.5, &e));
    check_near(e->amount, -M_PI / 2, 1e-12);
    check_relative(e->cost, 4 * M_PI * M_PI, 1e-11);
    check_abnormal(b, e);
    cb_extremal_free(e);
  }
  cb_bundle_free(b);
}

/* Martinet's distribution has the curvature B = 2q, so the line q = 0 is an abnormal extremal. */
static void a_line_on_which_curvature_vanishes_is_abnormal(void **state) {
  cb_bundle *b = written("group: r1\nshape: [q, s]\nA: [[0, q^2]]\n");
  cb_wong w;
  const double x[5] = {0, .4, 0, 0, 2};
  const double straight[5] = {0, .4, 0, 1.5, 2};
  double f[5];
  cb_wong_init(&w, b);
  w.speed = 1.5;
  check_ok(cb_wong_at(&w, 0, x, &(cb_wong_rates){.f = f}));
  check_near(f[0], 0, 1e-15);
  check_near(fabs(f[1]), 1.5, 1e-15);
  for (int i = 2; i < 5; i++) check_near(f[i], 0, 1e-15);
  w.speed = 0; /* speed 0 selects normal extremals (mu = 1); the line is one of them, too */
  check_ok(cb_wong_at(&w, 0, straight, &(cb_wong_rates){.f = f}));
  check_near(f[0], 0, 1e-15);
  check_near(f[2], 0, 1e-15);
  cb_bundle_free(b);
}

/* The holonomy has two numbers, and the first has its maximum on the unit circle. The circle is not an extremal with
 * mu = 1 for any multiplier, since its geodesic curvature is not constant. The expected cost is computed by the
 * trapezoidal rule. */
static void what_only_an_abnormal_extremal_does_is_found_and_named(void **state) {
  cb_bundle *b = written(
      "group: r2\nshape: [q, s]\n"
      "A: [[-s*(1/2 - (q^2 + s^2)/4), q*(1/2 - (q^2 + s^2)/4)], [-s/2, q/2]]\n"
      "M: [[1, 0], [0, 2 + q]]\n");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT, .element = {-M_PI / 2, -M_PI}}};
  const ellipse from = {{.02, .01}, {1.03, .02}, {-.01, .99}, {-300, 0}};
  cb_extremal *e;
  double length = 0;
  for (int k = 0; k < 400; k++) {
    const double t = 2 * M_PI * k / 400;
    length += 2 * M_PI / 400 * sqrt(pow(sin(t), 2) + (2 + cos(t)) * pow(cos(t), 2));
  }
  check_ok(extremal_try(&o, &from, 0, &e));
  check_relative(e->cost, length * length, 1e-11);
  check_abnormal(b, e);
  cb_extremal_free(e);
  cb_bundle_free(b);
}

/* The extremal with mu = 0 reaches the amount pi/2. No extremal reaches 1.6. */
static void beyond_the_most_there_is_none(void **state) {
  cb_bundle *b = written(
      "group: r1\nshape: [q, s]\n"
      "A: [[-s*(1/2 - (q^2 + s^2)/4), q*(1/2 - (q^2 + s^2)/4)]]\n");
  const ellipse from = {{.02, .01}, {1.05, .03}, {-.02, .97}, {-300}};
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = -1.6}};
  cb_extremal *e;
  assert_int_equal(extremal_try(&o, &from, 0, &e), CB_STEP_NO_CONVERGENCE);
  assert_non_null(strstr(cb_error_text(), "the maximum amount of the target there is -1.57079632679"));
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gait_of_greatest_distance_is_an_abnormal_extremal),
      cmocka_unit_test(a_loop_on_which_curvature_vanishes_does_the_most),
      cmocka_unit_test(a_line_on_which_curvature_vanishes_is_abnormal),
      cmocka_unit_test(what_only_an_abnormal_extremal_does_is_found_and_named),
      cmocka_unit_test(beyond_the_most_there_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
