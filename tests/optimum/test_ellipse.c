/* Tests of small ellipses against closed forms, limits of families of optimal gaits, and the eigenvalues of the
 * curvature B. The price of an ellipse is its cost divided by the amount of its target. M: cost metric; lambda:
 * multiplier; r: shape. */
#include "models.h"
#include "optimum/find.h"
#include <curvebody/holonomy.h>
#include <gsl/gsl_eigen.h>

static const cb_ellipse *cheapest(const char *name, const char *text, cb_gait_target_kind kind, int *count) {
  static cb_ellipse e[CB_ELLIPSES_MAX];
  cb_bundle *b = model(name, text);
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = kind, .value = .01}};
  *count = cb_ellipses_find(&o, e);
  cb_bundle_free(b);
  return e;
}

/* The expected prices follow from the eigenvalue of the curvature. Families of gaits, extrapolated to amount 0, have
 * the same limits, in all digits given here. */
static void chains_move_and_turn_as_the_limits_of_their_families(void **state) {
  int count;
  const cb_ellipse *e = cheapest("purcell", "", CB_GAIT_MOVE, &count);
  assert_int_equal(count, 2);
  check_relative(e[0].price, 4 * M_PI / sqrt(15), 1e-12);
  check_near(e[0].r[0], 0, 1e-9);
  check_relative(e[1].price, 3.531640892956, 1e-12);
  /* The shape is found only from values of the price, so it is accurate to the square root of round-off. */
  check_near(fabs(e[1].r[0]), 1.734617838, 3e-8);
  check_near(e[1].r[0] + e[1].r[1], 0, 1e-9);
  e = cheapest("purcell", "", CB_GAIT_TURN, &count);
  check_relative(e[0].price, .341888564645, 2e-12);
  check_near(fabs(e[0].r[0]), 1.97760319, 3e-8);
  e = cheapest("purcell", "links 4", CB_GAIT_MOVE, &count);
  check_relative(e[0].price, 1.900632585545, 1e-12);
  e = cheapest("purcell", "links 5", CB_GAIT_MOVE, &count);
  check_relative(e[0].price, 1.509536131759, 1e-12);
}

/* For two shape variables the price is 4 pi sqrt(det M)/|B|, and |lambda| = 2 pi sqrt(det M)/|B|. */
static void spheres_enclose_their_curvature(void **state) {
  const double start_shape[2] = {5, 4 * M_PI / 3};
  for (int sign = -1; sign <= 1; sign += 2) {
    cb_bundle *b = model("pmpy", "");
    cb_ellipse e[CB_ELLIPSES_MAX];
    const cb_optimum_problem o = {
        .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = sign * .1}, .start_shape = start_shape};
    assert_int_equal(cb_ellipses_find(&o, e), 1);
    check_relative(e[0].price, 749.6277440557, 1e-12);
    check_relative(e[0].lambda[0], sign * 749.6277440557 / 2, 1e-12);
    cb_bundle_free(b);
  }
}

/* Returns the largest eigenvalue of the Hermitian matrix i L^-1 <lambda, B_ij> L^-T, where i outside of the index is
 * the imaginary unit and M = L L^T. */
static double largest_eigenvalue(const cb_bundle *b, const double *r, const double *lambda) {
  enum { N = 5 };
  const int n = b->n, dim = b->group->dim;
  double M[N * N], B[N * N * CB_GROUP_DIM], K[N * N] = {0}, largest = 0;
  check_ok(cb_bundle_connection(b, r, NULL, NULL, M, NULL));
  check_ok(cb_bundle_curvatures(b, r, B));
  for (int i = 0, p = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, p++)
      for (int a = 0; a < dim; a++) {
        K[i * n + j] += lambda[a] * B[p * dim + a];
        K[j * n + i] = -K[i * n + j];
      }
  gsl_matrix *S = gsl_matrix_calloc(2 * (size_t)n, 2 * (size_t)n), *T = gsl_matrix_calloc(2 * (size_t)n, 2 * (size_t)n);
  gsl_vector *value = gsl_vector_alloc(2 * (size_t)n);
  for (size_t i = 0; i < (size_t)n;
       i++) /* S is i K as a real symmetric matrix ((0, -K), (K, 0)), and T has M on both diagonal blocks */
    for (size_t j = 0; j < (size_t)n; j++) {
      const size_t at = i * (size_t)n + j;
      gsl_matrix_set(S, i, j + (size_t)n, -K[at]);
      gsl_matrix_set(S, i + (size_t)n, j, K[at]);
      gsl_matrix_set(T, i, j, M[at]);
      gsl_matrix_set(T, i + (size_t)n, j + (size_t)n, M[at]);
    }
  gsl_eigen_gensymm_workspace *w = gsl_eigen_gensymm_alloc(2 * (size_t)n);
  gsl_eigen_gensymm(S, T, value, w);
  for (int k = 0; k < 2 * n; k++) largest = fmax(largest, gsl_vector_get(value, (size_t)k));
  gsl_eigen_gensymm_free(w);
  gsl_vector_free(value);
  gsl_matrix_free(S);
  gsl_matrix_free(T);
  return largest;
}

/* For a translation along `way` without rotation, the multiplier of the rotation minimises the result of
 * largest_eigenvalue, which is a convex function of this multiplier. The minimum is found by golden-section search.
 * Returns 4 pi divided by the minimum. */
static double dual_price(const cb_bundle *b, const double *r, const double *way) {
  const double share = .6180339887498949;
  double low = -1, high = 1, value = 0;
  for (int k = 0; k < 50; k++) {
    const double x[2] = {high - share * (high - low), low + share * (high - low)};
    double v[2];
    for (int i = 0; i < 2; i++) v[i] = largest_eigenvalue(b, r, (const double[3]){way[0], way[1], x[i]});
    *(v[0] < v[1] ? &high : &low) = x[v[0] < v[1]];
    value = fmin(v[0], v[1]);
  }
  return 4 * M_PI / value;
}

/* The price of an ellipse equals dual_price at its shape, and shapes nearby have no lower price. Some chains have no
 * symmetry that excludes a rotation; there lambda_theta, the multiplier of the rotation, is not 0. */
static void no_other_small_gait_is_cheaper(void **state) {
  uint64_t seed = check_seed();
  const char *const chains[] = {"links 4", "links 4 shares [1,2,3,2]", "links 6"};
  double turned = 0;
  for (int c = 0; c < 3; c++) {
    cb_bundle *b = model("purcell", chains[c]);
    const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .01}};
    cb_ellipse e[CB_ELLIPSES_MAX];
    const int count = cb_ellipses_find(&o, e);
    assert_true(count > 0);
    for (int k = 0; k < count; k++) {
      const double size = hypot(e[k].lambda[0], e[k].lambda[1]);
      const double way[2] = {e[k].lambda[0] / size, e[k].lambda[1] / size};
      check_relative(size, e[k].price / 2, 1e-12);
      check_relative(largest_eigenvalue(b, e[k].r, e[k].lambda), 2 * M_PI, 1e-9);
      check_relative(dual_price(b, e[k].r, way), e[k].price, 1e-12);
      turned = fmax(turned, fabs(e[k].lambda[2]));
      for (int trial = 0; trial < 8; trial++) {
        double r[CB_SHAPE_MAX];
        for (int i = 0; i < b->n; i++) r[i] = e[k].r[i] + check_uniform(&seed, -.01, .01);
        check_at_least(dual_price(b, r, way), e[k].price * (1 - 1e-12));
      }
    }
    cb_bundle_free(b);
  }
  check_at_least(turned, .005);
}

/* The ellipse is computed for small loops, so the holonomy of its gait differs from the target by a term of third order
 * in the size of the gait. The holonomy also has the sign of the target. */
static void an_ellipse_does_what_is_asked(void **state) {
  static const struct {
    const char *name, *text;
    cb_gait_target target;
  } row[] = {
      {"purcell", "links 4", {.kind = CB_GAIT_MOVE, .value = 1}},
      {"purcell", "", {.kind = CB_GAIT_TURN, .value = 1}},
      {"purcell", "", {.kind = CB_GAIT_TURN, .value = -1}},
      {"purcell", "", {.kind = CB_GAIT_ELEMENT, .element = {.4, 0, 1}}},
      {"purcell", "links 4", {.kind = CB_GAIT_ELEMENT, .element = {-.4, .1, 1}}},
      {"purcell", "links 4", {.kind = CB_GAIT_PARTS, .element = {1, 0, 0}, .asked = {true, false, true}}},
      {"purcell", "links 6", {.kind = CB_GAIT_PARTS, .element = {1, 0, -.3}, .asked = {true, false, true}}},
      {"rolling_ball", "", {.kind = CB_GAIT_TURN, .value = 1}},
      {"hopf", "", {.kind = CB_GAIT_TURN, .value = -1}},
      {"heisenberg", "", {.kind = CB_GAIT_MOVE, .value = -1}},
      {"floating_snake", "", {.kind = CB_GAIT_TURN, .value = -1}},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    for (int fine = 0; fine < 2; fine++) {
      const double amount = fine ? 1e-6 : 1e-4;
      cb_bundle *b = model(row[k].name, row[k].text);
      const cb_group *G = b->group;
      cb_optimum_problem o = {.bundle = b, .target = row[k].target};
      cb_ellipse e[CB_ELLIPSES_MAX];
      cb_gait *gait;
      double g[CB_GROUP_SIZE], c[CB_CONDITIONS_MAX], cost, size = 0;
      o.target.value *= amount;
      for (int i = 0; i < G->size; i++) {
        o.target.element[i] *= amount;
        size += pow(row[k].target.element[i], 2);
      }
      size = amount * (size > 0 ? sqrt(size) : 1);
      assert_true(cb_ellipses_find(&o, e) > 0);
      check_ok(cb_ellipse_gait(&o, &e[0], &gait));
      check_ok(cb_holonomy(b, gait, 0, g, NULL, &cost));
      check_ok(cb_gait_target_at(G, &o.target, g, c, NULL, NULL));
      for (int i = 0; i < cb_gait_target_count(G, &o.target); i++)
        check_at_most(fabs(c[i]), size * (fine ? 1e-3 : 1e-2));
      check_relative(cost / size, e[0].price, fine ? 1e-4 : 1e-2);
      check_near(e[0].unwanted, 0, 0);
      cb_gait_free(gait);
      cb_bundle_free(b);
    }
}

/* The best shapes of this swimmer are outside a bound. Then the centre of the ellipse is at the bound, and the gait
 * stays within the bounds. */
static void bounds_hold_an_ellipse(void **state) {
  const double lower[2] = {.3, -1}, upper[2] = {1, 1};
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = 1e-4}, .lower = lower, .upper = upper};
  cb_ellipse e[CB_ELLIPSES_MAX];
  cb_gait *gait;
  assert_true(cb_ellipses_find(&o, e) > 0);
  check_near(e[0].r[0], .3, 0);
  check_near(e[0].r[1], -.3, 1e-9); /* the curvature B_theta of the rotation is 0 where r1 + r2 = 0 */
  check_ok(cb_ellipse_gait(&o, &e[0], &gait));
  for (int k = 0; k < 100; k++) {
    double r[2];
    cb_gait_at(gait, k / 100., r, NULL);
    for (int i = 0; i < 2; i++) assert_true(r[i] > lower[i] - 1e-12 && r[i] < upper[i] + 1e-12);
  }
  cb_gait_free(gait);
  cb_bundle_free(b);
}

/* A floating snake rotates around its centre of mass, so every gait that moves it also rotates it. */
static void what_no_small_gait_does_is_told_as_unwanted(void **state) {
  int count;
  const cb_ellipse *e = cheapest("floating_snake", "", CB_GAIT_MOVE, &count);
  assert_true(count > 0);
  check_at_least(e[0].unwanted, 1);
  cheapest("constant_curvature_swimmer", "space E2", CB_GAIT_MOVE, &count);
  assert_int_equal(count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains_move_and_turn_as_the_limits_of_their_families),
                                     cmocka_unit_test(spheres_enclose_their_curvature),
                                     cmocka_unit_test(no_other_small_gait_is_cheaper),
                                     cmocka_unit_test(an_ellipse_does_what_is_asked),
                                     cmocka_unit_test(bounds_hold_an_ellipse),
                                     cmocka_unit_test(what_no_small_gait_does_is_told_as_unwanted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
