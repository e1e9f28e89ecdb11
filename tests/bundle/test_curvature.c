/* Tests of the curvature B of connections A: small loops, differences, Bianchi's identity, transport, and the first
 * variation of a holonomy. r: shape; g: element of the group; Ad_g: its adjoint map. */
#include "bundles.h"
#include "curvature_claims.h"
#include "models.h"

/* --- small loops --- */

static const double low[3] = {-.5, -.5, -.5}, high[3] = {.5, .5, .5};

static void a_small_loop_moves_by_minus_curvature_times_area(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++)
    for (int n = 2; n <= 3; n++) {
      random_bundle p, moved;
      random_bundles(&seed, G, n, .5, &p, &moved);
      const orders o = orders_of(&p.b, low, high, &seed, 8e-3, 1);
      check_near(o.first, 3, .05);
      check_near(o.second, 4, .05);
    }
}

static void the_wrong_sign_of_the_bracket_is_not_the_curvature(void **state) {
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int k = 0; (G = test_group(k)); k++) {
    random_bundle p, moved;
    random_bundles(&seed, G, 2, .5, &p, &moved);
    if (!G->abelian) check_near(orders_of(&p.b, low, high, &seed, 4e-4, -1).first, 2, .05);
  }
}

/* --- every bundle of the registry that needs no scenario --- */

typedef struct box {
  const char *name, *text;
  double low[5], high[5];
} box;

/* The boxes of random shapes of some bundles. For all others each variable is between .2 and .9. */
static const box boxes[] = {
    {"pmpy", "", {3, 2}, {7, 6}},
    {"three_sphere", "radius .2", {.8, .8}, {2, 2}},
    {"kinematic_snake", "", {.3, -1.2}, {1.2, -.3}},
    {"constant_curvature_swimmer", "space S2", {.3, .3}, {1, 1}},
    {"constant_curvature_swimmer", "space H3 legs 5", {.3, .3}, {1, 1}},
    {"purcell", "", {-1.5, -1.5}, {1.5, 1.5}},
    {"purcell", "links 4 base 1", {-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5}},
    {"purcell", "links 6 ratio 1.7", {-1.5, -1.5, -1.5, -1.5, -1.5}, {1.5, 1.5, 1.5, 1.5, 1.5}},
    {"floating_snake", "", {-1.5, -1.5}, {1.5, 1.5}},
    {"floating_snake", "links 4 shares [1,2,3,2]", {-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5}},
    {"perfect_fish", "coupling false", {-1.2, -1.2}, {1.2, 1.2}},
};
enum { BOXES = sizeof boxes / sizeof *boxes };

static void for_every_bundle(claim holds, double tolerance) {
  uint64_t seed = check_seed();
  int models = 0;
  for (int k = 0; k < BOXES; k++, models++) {
    cb_bundle *b = model(boxes[k].name, boxes[k].text);
    holds(b, boxes[k].low, boxes[k].high, tolerance, &seed);
    cb_bundle_free(b);
  }
  for (const cb_bundle_class *const *c = cb_bundle_classes; *c; c++) {
    double least[CB_SHAPE_MAX], maximum[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX];
    cb_bundle *b = NULL;
    bool listed = false;
    for (int k = 0; k < BOXES; k++) listed |= !strcmp(boxes[k].name, (*c)->name);
    if (listed || cb_bundle_create((*c)->name, NULL, &b)) continue;
    for (int i = 0; i < CB_SHAPE_MAX; i++) {
      least[i] = .2;
      maximum[i] = .9;
    }
    if (b->n <= 6 && !cb_bundle_connection(b, least, A, NULL, NULL, NULL)) {
      holds(b, least, maximum, tolerance, &seed);
      models++;
    }
    cb_bundle_free(b);
  }
  check_at_least(models, BOXES + 7);
}

static void small_loops_go_by_the_curvature_in_every_model(void **state) { for_every_bundle(small_loops, 1e-11); }

static void the_wrong_sign_shows_in_every_model(void **state) { for_every_bundle(wrong_sign, 0); }

static void curvatures_agree_with_differences_in_every_model(void **state) {
  for_every_bundle(curvature_by_differences, 1e-8);
}

static void second_derivatives_are_those_of_the_first_in_every_model(void **state) {
  for_every_bundle(second_by_differences, 1e-9);
}

static void bianchis_identity_holds_in_every_model(void **state) { for_every_bundle(bianchi, 1e-9); }

/* --- covariant derivative --- */

/* Computes Ad_g B, where B is the curvature at the end of a path from r along variable k over the distance s, and g is
 * the reconstruction of the path. */
static void transported(const cb_bundle *b, const double *r, int k, double s, double *out) {
  const cb_group *G = b->group;
  const int dim = G->dim, pairs = b->n * (b->n - 1) / 2;
  const double end = 1;
  double x[3], g[CB_GROUP_SIZE], Ad[CB_GROUP_DIM * CB_GROUP_DIM], B[3 * CB_GROUP_DIM];
  cb_gait *way = NULL;
  check_ok(cb_gait_loop(b->n, k, r, s, &way));
  check_ok(cb_reconstruct(b, way, 0, 1, &end, g));
  cb_gait_at(way, 1, x, NULL);
  check_ok(cb_bundle_curvatures(b, x, B));
  G->adjoint(G, g, Ad);
  for (int p = 0; p < pairs; p++)
    for (int a = 0; a < dim; a++) {
      out[p * dim + a] = 0;
      for (int c = 0; c < dim; c++) out[p * dim + a] += Ad[a * dim + c] * B[p * dim + c];
    }
  cb_gait_free(way);
}

static void covariant_derivatives_are_those_of_transported_curvature(void **state) {
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60}, h = 4e-3;
  uint64_t seed = check_seed();
  const cb_group *G;
  for (int m = 0; (G = test_group(m)); m++) {
    const int count = 3 * G->dim;
    random_bundle p, moved;
    double r[3], DB[9 * CB_GROUP_DIM], plus[3 * CB_GROUP_DIM], minus[3 * CB_GROUP_DIM];
    random_bundles(&seed, G, 3, .5, &p, &moved);
    for (int i = 0; i < 3; i++) r[i] = check_uniform(&seed, -.5, .5);
    check_ok(cb_bundle_covariant(&p.b, r, DB));
    for (int a = 0; a < G->dim; a++) /* Bianchi's identity; the pairs are 01, 02, 12 */
      check_near(DB[2 * G->dim + a] - DB[4 * G->dim + a] + DB[6 * G->dim + a], 0, 1e-12);
    for (int k = 0; k < 3; k++) {
      double slope[3 * CB_GROUP_DIM] = {0};
      for (int s = 1; s <= 3; s++) {
        transported(&p.b, r, k, s * h, plus);
        transported(&p.b, r, k, -s * h, minus);
        for (int a = 0; a < count; a++) slope[a] += weight[s - 1] * (plus[a] - minus[a]) / h;
      }
      for (int a = 0; a < count; a++) check_near(DB[k * count + a], slope[a], 1e-9);
    }
    /* the class `plain` has no jets, so that differences are used */
    const cb_bundle_class plain = {.name = "plain", .connection = random_connection};
    cb_bundle without = p.b;
    double again[9 * CB_GROUP_DIM];
    without.class_ = &plain;
    check_ok(cb_bundle_covariant(&without, r, again));
    for (int a = 0; a < 3 * count; a++) check_near(again[a], DB[a], 1e-9);
  }
}

/* --- first variation --- */

/* The first variation y agrees with known values to all their digits. The change dr = (0, (1 - cos 2 pi t)/2) of the
 * gait is 0 at the start. Then the coordinates (x, y, theta) of the holonomy change by y plus the rotation y_theta of
 * the point (x, y) about the origin. */
static void the_first_variation_of_a_holonomy_is_the_curvature_along_it(void **state) {
  const double zero[2] = {0, 0}, cosine[2] = {.8, 0}, sine[2] = {0, .8}, mean[2] = {0, .5}, wave[2] = {0, -.5};
  const double printed[3] = {.00179642, -.00612496, -.04169576};
  const double change[3] = {.00210759, -.00466401, -.04169576};
  cb_bundle *b = model("purcell", "");
  cb_gait *gait = NULL, *moved = NULL;
  double y[3], g[3];
  check_ok(cb_gait_fourier(2, 1, zero, cosine, sine, &gait));
  check_ok(cb_gait_fourier(2, 1, mean, wave, zero, &moved));
  check_ok(cb_holonomy(b, gait, 0, g, NULL, NULL));
  check_ok(cb_holonomy_variation(b, gait, moved, 0, y));
  for (int a = 0; a < 3; a++) {
    check_near(y[a], printed[a], 5.1e-9);
    check_near(y[a] + (a == 0 ? -g[1] * y[2] : a == 1 ? g[0] * y[2] : 0), change[a], 5.1e-9);
  }
  cb_gait_free(moved);
  cb_gait_free(gait);
  cb_bundle_free(b);
}

static void variations_agree_with_differences_in_every_model(void **state) {
  for_every_bundle(variation_by_differences, 1e-9);
}

static cb_expression *of_time(const char *text) {
  cb_expression *e = NULL;
  check_ok(cb_expression_parse(text, (const char *const[]){"t"}, 1, NULL, &e));
  return e;
}

/* The gait has corners at the times 0 and .5, and its change has corners at .3 and .8. The variation is compared with
 * differences of order 4. */
static void a_variation_holds_across_corners(void **state) {
  static const double weight[3] = {0, 2. / 3, -1. / 12}, eps = .01, at[4] = {0, .3, .5, .8};
  cb_bundle *b = model("purcell", "");
  const cb_group *G = b->group;
  double y[3], slope[3] = {0}, g[3], back[3];
  cb_gait *gait[5], *change;
  for (int s = -2; s <= 2; s++) {
    char text[96];
    snprintf(text, sizeof text, "abs(2*t - 1) + %.17g*abs(abs(t - .3) - .5)", s * eps);
    cb_expression *r[2] = {of_time(text), of_time("sin(2*pi*t)")};
    check_ok(cb_gait_expressions(2, (const cb_expression *const *)r, 4, at, &gait[2 + s]));
    cb_expression_free(r[0]);
    cb_expression_free(r[1]);
  }
  cb_expression *d[2] = {of_time("abs(abs(t - .3) - .5)"), of_time("0")};
  check_ok(cb_gait_expressions(2, (const cb_expression *const *)d, 2, (const double[]){.3, .8}, &change));
  check_ok(cb_holonomy_variation(b, gait[2], change, 0, y));
  check_ok(cb_holonomy(b, gait[2], 0, back, NULL, NULL));
  G->inverse(G, back, back);
  for (int s = -2; s <= 2; s++) {
    double w[3];
    check_ok(cb_holonomy(b, gait[2 + s], 0, g, NULL, NULL));
    G->multiply(G, g, back, g);
    check_ok(G->log(G, g, w));
    for (int a = 0; a < 3; a++) slope[a] += (s < 0 ? -1 : 1) * weight[abs(s)] * w[a] / eps;
  }
  /* The error of differences with the step eps is eps^4 = 1e-8 times 1/30 of a fifth derivative. */
  for (int a = 0; a < 3; a++) check_near(y[a], slope[a], 1e-9);
  for (int k = 0; k < 5; k++) cb_gait_free(gait[k]);
  cb_gait_free(change);
  cb_expression_free(d[0]);
  cb_expression_free(d[1]);
  cb_bundle_free(b);
}

static void a_change_that_is_open_is_refused(void **state) {
  const double r[2] = {.1, .2}, corner[6] = {0, 0, .2, 0, 0, .2};
  cb_bundle *b = model("purcell", "");
  cb_gait *gait = NULL, *open = NULL;
  double y[3];
  check_ok(cb_gait_polygon(2, 3, corner, &gait));
  check_ok(cb_gait_loop(2, 0, r, 2 * M_PI, &open));
  assert_int_equal(cb_holonomy_variation(b, gait, open, 0, y), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "not closed"));
  cb_gait_free(open);
  cb_gait_free(gait);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_loop_moves_by_minus_curvature_times_area),
      cmocka_unit_test(the_wrong_sign_of_the_bracket_is_not_the_curvature),
      cmocka_unit_test(small_loops_go_by_the_curvature_in_every_model),
      cmocka_unit_test(the_wrong_sign_shows_in_every_model),
      cmocka_unit_test(curvatures_agree_with_differences_in_every_model),
      cmocka_unit_test(second_derivatives_are_those_of_the_first_in_every_model),
      cmocka_unit_test(bianchis_identity_holds_in_every_model),
      cmocka_unit_test(covariant_derivatives_are_those_of_transported_curvature),
      cmocka_unit_test(the_first_variation_of_a_holonomy_is_the_curvature_along_it),
      cmocka_unit_test(variations_agree_with_differences_in_every_model),
      cmocka_unit_test(a_variation_holds_across_corners),
      cmocka_unit_test(a_change_that_is_open_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
