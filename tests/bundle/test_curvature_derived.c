/* Tests of the curvature B of bundles that a scenario derives: from points, links, expressions, drag on a surface, an
 * immersed body, and samples. At random shapes the tests check small loops, the wrong sign of the bracket, differences
 * of the connection A, second derivatives, and Bianchi's identity. */
#include "curvature_claims.h"
#include "fluid/immersed_bundle.h"
#include "link_trees.h"
#include "points.h"
#include "sampled.h"
#include "surface_swimmers.h"

static const double low[CB_SHAPE_MAX] = {-.5, -.5, -.5, -.5, -.5, -.5}, high[CB_SHAPE_MAX] = {.5, .5, .5, .5, .5, .5};

/* Checks that B agrees with differences of A, and that second derivatives agree with differences of first derivatives,
 * up to the tolerance `differences`. Checks Bianchi's identity up to the tolerance `identity`. */
static void every_claim(const cb_bundle *b, double differences, double identity, uint64_t *seed) {
  small_loops(b, low, high, 0, seed);
  wrong_sign(b, low, high, 0, seed);
  curvature_by_differences(b, low, high, differences, seed);
  second_by_differences(b, low, high, differences, seed);
  bianchi(b, low, high, identity, seed);
}

static void of_points(void **state) {
  uint64_t seed = check_seed();
  for (int k = 0; k < POINTS_SPACES; k++) {
    cb_bundle *b = random_points(&seed, &points_spaces[k], 4);
    every_claim(b, 1e-8, 1e-9, &seed);
    cb_bundle_free(b);
  }
  static const char *const three[] = {
      "{space: e2, chart: cartesian, shape: [a, b, c], points: [{mass: 1, at: [\"1 + a\", \"b*c\"]},"
      " {mass: 2, at: [\"-cos(b)\", \"sin(b + c)\"]}, {mass: 0.7, at: [\"a*c/2\", \"-1 + a + b/3\"]}]}",
      "{space: s2, chart: translation, shape: [a, b, c], points: [{mass: 1, at: [\"0.5 + a/3\", \"b*c\"]},"
      " {mass: 2, at: [\"-0.5*cos(b)\", \"0.3*sin(b + c)\"]}, {mass: 0.7, at: [\"a*c/2\", \"-0.6 + a/4 + b/3\"]}]}",
      "{space: h3, chart: translation, shape: [a, b, c], points: [{mass: 1, at: [\"0.5 + a/3\", \"b*c\", \"c\"]},"
      " {mass: 2, at: [\"-0.5*cos(b)\", \"0.3*sin(b + c)\", \"a/2\"]}, {mass: 0.7, at: [\"a*c/2\", \"-0.6 + a/4\", b]},"
      " {mass: 1.3, at: [\"0.2 - c/3\", \"0.3\", \"0.6 + a*b\"]}]}"};
  for (size_t k = 0; k < sizeof three / sizeof *three; k++) {
    cb_bundle *b = points_from(three[k]);
    every_claim(b, 1e-8, 1e-9, &seed);
    cb_bundle_free(b);
  }
}

/* A tree of four links in space, whose angles depend on three shape variables. */
#define ARMS                                                                                       \
  "shape: [a, b, c]\n"                                                                             \
  "links:\n"                                                                                       \
  "  - {length: 1}\n"                                                                              \
  "  - {length: 0.8, at: 0.7, axis: [0, 0.6, 0.8], angle: a, rest: [0.3, -0.2, 0.5]}\n"            \
  "  - {length: 1.2, axis: [1, 1, -1], angle: a*b + 0.3*sin(c), offset: 0.4, rest: [0, 0.7, 0]}\n" \
  "  - {length: 0.6, parent: 0, at: 0, axis: [0, 1, 0], angle: 2*b + c, offset: 2}\n"

static void of_links(void **state) {
  uint64_t seed = check_seed();
  static const char *const texts[] = {
      "space: plane\nratio: 2.3\n" BRANCHES,
      "space: plane\nof: inertia\nradius: 0.1\n" BRANCHES,
      "space: space\nratio: 1.8\nspin: 0.02\n" ARMS,
      "space: space\nof: inertia\nradius: 0.1\n" ARMS,
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    tree t = tree_of(texts[k]);
    every_claim(t.b, 1e-8, 1e-9, &seed);
    tree_free(&t);
  }
}

/* For each group, the test makes a bundle whose connection A is given by expressions with random coefficients. */
static void of_expressions(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = cb_groups[k]); k++) {
    char text[8192];
    size_t used =
        (size_t)snprintf(text, sizeof text, "{group: %s, shape: [a, b, c], parameters: {k: 0.3}, A: [", G->name);
    for (int row = 0; row < G->dim; row++)
      for (int i = 0; i < 3; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s\"%.3f + %.3f*k*a*b + sin(%.3f*a + b - %.3f*c)\"%s",
                             i     ? ", "
                             : row ? ", ["
                                   : "[",
                             check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1), check_uniform(&seed, 0, 1),
                             check_uniform(&seed, 0, 1), i == 2 ? "]" : "");
    snprintf(text + used, sizeof text - used, "]}");
    cb_tree *source;
    cb_bundle *b;
    check_ok(cb_yaml_read_text("b.yaml", text, strlen(text), &source));
    check_ok(cb_bundle_create("expressions", cb_tree_root(source), &b));
    cb_tree_free(source);
    every_claim(b, 1e-8, 1e-9, &seed);
    cb_bundle_free(b);
  }
}

static const char *const abc[] = {"a", "b", "c"};
static const cb_poses_motion bends = {
    NULL, {"X*(1 + 0.1*c)", "Y*(1 + a*b/4) + 0.3*a*cos(2*X) + 0.3*b*sin(2*X)", "Z + 0.2*b*X^2 - 0.2*c*sin(X + a)"}};

static void of_drag_on_a_surface(void **state) {
  uint64_t seed = check_seed();
  swimmer s = expressed(mesh_ellipsoid(5, 1, .5, .3), 3, abc, 1, &bends, 2.2, .7);
  every_claim(s.b, 1e-8, 1e-9, &seed);
  swimmer_free(&s);
}

/* The first derivatives of A are computed by differences, with errors of about 1e-12, and the covariant derivative of B
 * by differences of B. */
static void of_an_immersed_body(void **state) {
  uint64_t seed = check_seed();
  mesh m = mesh_ellipsoid(2, 0.5, 0.2, 0.15);
  mesh_shake(&m, &seed, 0.01);
  cb_surface *surface = mesh_surface(m);
  const cb_material material = {.density = 700};
  for (int wet = 0; wet < 2; wet++) {
    cb_shape_surface *shape;
    cb_bundle *b;
    const cb_immersed_bundle_options options = {.material = &material, .density = wet ? 998 : 0};
    check_ok(cb_shape_surface_expressions(surface, 3, abc, 1, &bends, &shape));
    check_ok(cb_bundle_immersed_take(shape, &options, &b));
    every_claim(b, 1e-8, 1e-9, &seed);
    cb_bundle_free(b);
  }
  cb_surface_free(surface);
}

/* Immersed bodies in curved spaces, shifted by functions of the shape variables. In S3 the body is in vacuum, since its
 * volume changes. */
static void of_an_immersed_body_in_curved_spaces(void **state) {
  uint64_t seed = check_seed();
  const cb_material material = {.density = 700};
  const cb_shape_shift shift = {NULL, {"0.3 + a/5", "0.2*b*c", "0.4 - b/4"}};
  for (int k = 0; k < (CHECK_SANITIZED ? 1 : 2); k++) {
    const double K = k ? -0.7 : 0.7;
    mesh m = mesh_ellipsoid(2, 0.5, 0.2, 0.15);
    mesh_shake(&m, &seed, 0.01);
    cb_surface *surface = mesh_surface(m);
    cb_shape_surface *flat, *shape;
    cb_bundle *b;
    const cb_immersed_bundle_options options = {.material = &material, .density = k ? 998 : 0};
    check_ok(cb_shape_surface_expressions(surface, 3, abc, 1, &bends, &flat));
    check_ok(cb_shape_surface_embed(flat, (cb_surface_embedding){K, k ? CB_CHART_GNOMONIC : CB_CHART_EXPONENTIAL},
                                    &(cb_shape_shifts){1, &shift, NULL}, NULL, NULL, NULL, &shape));
    check_ok(cb_surface_embed(surface, K, k ? CB_CHART_GNOMONIC : CB_CHART_EXPONENTIAL));
    check_ok(cb_bundle_immersed_take(shape, &options, &b));
    every_claim(b, 1e-8, 1e-9, &seed);
    cb_bundle_free(b);
    cb_surface_free(surface);
  }
}

/* B of the table is compared with A of the same spline. B of the model differs from it by the error of the spline,
 * which is proportional to the fifth power of the spacing of the samples. */
static void of_samples(void **state) {
  uint64_t seed = check_seed();
  cb_bundle *of = model("purcell", "links 4");
  cb_bundle *b = sampled(of, (double[]){-.7, -.7, -.7}, (double[]){.7, .7, .7}, (int[]){15, 15, 15}, 5);
  every_claim(b, 1e-8, 1e-9, &seed);
  double worst = 0;
  for (int trial = 0; trial < 100; trial++) {
    double r[3], B[2][9];
    for (int i = 0; i < 3; i++) r[i] = check_uniform(&seed, -.5, .5);
    check_ok(cb_bundle_curvatures(of, r, B[0]));
    check_ok(cb_bundle_curvatures(b, r, B[1]));
    for (int a = 0; a < 9; a++) worst = fmax(worst, fabs(B[0][a] - B[1][a]));
  }
  print_message("  B of samples to %.1e of the model's\n", worst);
  check_at_most(worst, 1e-6);
  cb_bundle_free(b);
  cb_bundle_free(of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_points),           cmocka_unit_test(of_links),
      cmocka_unit_test(of_expressions),      cmocka_unit_test(of_drag_on_a_surface),
      cmocka_unit_test(of_an_immersed_body), cmocka_unit_test(of_an_immersed_body_in_curved_spaces),
      cmocka_unit_test(of_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
