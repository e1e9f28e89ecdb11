/* Tests of constraints on shapes, of the smooth terms whose maximum is a constraint, and of the barrier of constraints
 * in a direct search. */
#include "gaits.h"
#include "link_trees.h"
#include "optimum/shape_constraint.h"

static cb_shape_constraints *constraints(const cb_optimum_problem *o) {
  cb_shape_constraints *w;
  check_ok(cb_shape_constraints_create(o, &w));
  assert_non_null(w);
  return w;
}

static double constraint(cb_shape_constraints *w, int k, double soft, const double *r) {
  double s[64];
  check_ok(cb_shape_constraints_at(w, soft, r, s, NULL, NULL));
  return s[k];
}

/* Links 1 and 3 of three equal links touch where two links form an isosceles triangle whose tip meets the third
 * link. */
static void three_equal_links_cross_beyond_two_lines(void **state) {
  uint64_t seed = check_seed();
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .no_crossing = true};
  cb_shape_constraints *w = constraints(&o);
  assert_int_equal(w->count, 1);
  for (int k = 0; k < 4000; k++) {
    double r[2];
    random_shape(&seed, 2, M_PI, r);
    const double x = fabs(r[0]), y = fabs(r[1]), left = 2 * M_PI - fmin(x + 2 * y, 2 * x + y);
    if (fabs(left) < 1e-6) continue;
    assert_int_equal(constraint(w, 0, 0, r) > 0, r[0] * r[1] < 0 || left > 0);
  }
  const double tips[2] = {2 * M_PI / 3, 2 * M_PI / 3};
  check_near(constraint(w, 0, 0, tips), 0, 1e-15);
  cb_shape_constraints_free(w);
  cb_bundle_free(b);
}

/* Links that share a hinge have no constraint with each other. A chain has the same constraints if it is described as a
 * tree of links, in which the two ends at a hinge are separate points. */
static void hinged_links_are_no_wall(void **state) {
  uint64_t seed = check_seed();
  for (int links = 3; links < 7; links++) {
    char text[32];
    snprintf(text, sizeof text, "links %d", links);
    cb_bundle *b = model("purcell", text);
    tree t = chain("space: plane", links, 1. / links);
    const cb_optimum_problem o = {.bundle = b, .no_crossing = true}, p = {.bundle = t.b, .no_crossing = true};
    cb_shape_constraints *v = constraints(&o), *w = constraints(&p);
    assert_int_equal(v->count, (links - 1) * (links - 2) / 2);
    assert_int_equal(w->count, v->count);
    double r[CB_SHAPE_MAX], s[64], u[64];
    random_shape(&seed, links - 1, 2, r);
    check_ok(cb_shape_constraints_at(v, 0, r, s, NULL, NULL));
    check_ok(cb_shape_constraints_at(w, 0, r, u, NULL, NULL));
    check_at_most(difference(s, u, v->count), 1e-14);
    cb_shape_constraints_free(v);
    cb_shape_constraints_free(w);
    tree_free(&t);
    cb_bundle_free(b);
  }
}

/* Soft constraints are lower than exact ones by at most log 16 times `soft` times the length of the longest line. */
static void soft_walls_are_within(void **state) {
  uint64_t seed = check_seed();
  cb_bundle *b = model("purcell", "links 4");
  const cb_optimum_problem o = {.bundle = b, .no_crossing = true};
  cb_shape_constraints *w = constraints(&o);
  for (int k = 0; k < 1000; k++) {
    double r[CB_SHAPE_MAX];
    random_shape(&seed, 3, 2, r);
    for (int i = 0; i < w->count; i++) {
      const double less = constraint(w, i, 0, r) - constraint(w, i, .02, r);
      check_at_least(less, 0);
      check_at_most(less, .02 * w->size * log(16) * (1 + 1e-12));
    }
  }
  cb_shape_constraints_free(w);
  cb_bundle_free(b);
}

/* Derivatives of soft constraints agree with differences of order 4, whose step h is a hundredth of `soft`. */
static void walls_have_their_slopes(void **state) {
  uint64_t seed = check_seed();
  const double lower[] = {-2, -INFINITY, -2.5, -2}, upper[] = {INFINITY, 2.5, 2, 2}, soft = .2, h = 2e-3;
  cb_bundle *b = model("purcell", "links 5");
  const cb_optimum_problem o = {.bundle = b, .no_crossing = true, .lower = lower, .upper = upper};
  cb_shape_constraints *w = constraints(&o);
  const int n = 4, count = w->count;
  assert_int_equal(count, 6 + 6);
  for (int trial = 0; trial < 50; trial++) {
    double r[4], s[16], ds[16 * 4], dds[16 * 16], way[4], near[5][16], slope[5][16 * 4], none[16 * 16];
    random_shape(&seed, n, 2, r);
    check_direction(&seed, n, way);
    check_ok(cb_shape_constraints_at(w, soft, r, s, ds, dds));
    for (int k = 0; k < 5; k++) {
      double x[4];
      for (int i = 0; i < n; i++) x[i] = r[i] + (k - 2) * h * way[i];
      check_ok(cb_shape_constraints_at(w, soft, x, near[k], slope[k], none));
    }
    for (int k = 0; k < count; k++) {
      double along = 0;
      for (int i = 0; i < n; i++) {
        double curvature = 0;
        along += ds[k * n + i] * way[i];
        for (int j = 0; j < n; j++) curvature += dds[(k * n + i) * n + j] * way[j];
        const int e = k * n + i;
        check_near(curvature, (8 * (slope[3][e] - slope[1][e]) - slope[4][e] + slope[0][e]) / (12 * h), 1e-6);
      }
      check_near(along, (8 * (near[3][k] - near[1][k]) - near[4][k] + near[0][k]) / (12 * h), 1e-8);
    }
  }
  cb_shape_constraints_free(w);
  cb_bundle_free(b);
}

/* Compares the derivatives of the leading term and of the next one with differences at the shape r. A term is smooth
 * also where another term becomes the maximum. */
static void terms_have_their_slopes(void **state) {
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .no_crossing = true};
  cb_shape_constraints *w = constraints(&o);
  const double r[2] = {2.2, 1.9}, h = 1e-3;
  int term[2];
  double f, df[2], ddf[4];
  check_ok(cb_shape_constraints_leading(w, 0, r, term));
  check_ok(cb_shape_constraints_term(w, 0, term[0], r, &f, df, ddf));
  check_near(f, constraint(w, 0, 0, r), 1e-15);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++) {
      double d[2][2], none[4], at[2];
      check_ok(cb_shape_constraints_term(w, 0, term[k], r, &f, df, ddf));
      for (int side = 0; side < 2; side++) {
        double x[2] = {r[0], r[1]};
        x[i] += side ? h : -h;
        check_ok(cb_shape_constraints_term(w, 0, term[k], x, &at[side], d[side], none));
      }
      check_near(df[i], (at[1] - at[0]) / (2 * h), 1e-6); /* the error is of order h^2 */
      for (int j = 0; j < 2; j++) check_near(ddf[i * 2 + j], (d[1][j] - d[0][j]) / (2 * h), 1e-6);
    }
  cb_shape_constraints_free(w);
  cb_bundle_free(b);
}

static double barrier_value(cb_barrier *b, const double *c) {
  double *r = calloc((size_t)(b->basis->nodes * b->n), sizeof *r);
  const int f = b->basis->functions;
  for (int q = 0; q < b->basis->nodes; q++)
    for (int i = 0; i < b->n; i++)
      for (int a = 0; a < f; a++) r[q * b->n + i] += c[i * f + a] * b->basis->phi[q * f + a];
  check_ok(cb_barrier_at(b, r, true));
  free(r);
  return b->value;
}

/* If the multipliers are z = tau/s, with the constraints s and the weight tau of the barrier, the primal-dual Hessian
 * equals that of the barrier. */
static void barriers_have_their_slopes(void **state) {
  uint64_t seed = check_seed();
  enum { SIZE = 3, U = 2 * (2 * SIZE + 1) };
  const double upper[2] = {2, INFINITY}, h = 1e-4;
  cb_bundle *bundle = model("purcell", "");
  const cb_optimum_problem o = {.bundle = bundle, .no_crossing = true, .upper = upper};
  cb_basis *basis;
  cb_barrier *b;
  cb_gait *loop = ring(1.2, 1.2, .5, 1);
  double c[U], way[U], g[U] = {0}, H[U * U] = {0}, side[2], slope[2][U];
  check_ok(cb_basis_fourier(SIZE, 0, &basis));
  check_ok(cb_barrier_create(&o, basis, &b));
  check_ok(cb_basis_project(basis, loop, c));
  b->tau = .3;
  b->soft = .05;
  barrier_value(b, c);
  cb_barrier_begin(b, true);
  cb_barrier_gradient(b, g);
  cb_barrier_hessian(b, U, H);
  check_direction(&seed, U, way);
  for (int k = 0; k < 2; k++) {
    double x[U];
    for (int a = 0; a < U; a++) {
      x[a] = c[a] + (k ? h : -h) * way[a];
      slope[k][a] = 0;
    }
    side[k] = barrier_value(b, x);
    cb_barrier_gradient(b, slope[k]);
  }
  double along = 0;
  for (int a = 0; a < U; a++) {
    double curvature = 0;
    along += g[a] * way[a];
    for (int e = 0; e < U; e++) curvature += H[a * U + e] * way[e];
    check_near(curvature, (slope[1][a] - slope[0][a]) / (2 * h), 1e-6); /* the error is of order h^2 */
  }
  check_near(along, (side[1] - side[0]) / (2 * h), 1e-7);
  cb_gait_free(loop);
  cb_barrier_free(b);
  cb_basis_free(basis);
  cb_bundle_free(bundle);
}

static void what_is_no_wall_is_said(void **state) {
  const double lower[2] = {1, 0}, upper[2] = {1, 0};
  cb_bundle *b = model("purcell", "");
  tree t = tree_of(
      "space: space\nspin: 1e-3\nshape: [a]\nlinks: [{length: 1}, {length: 1, angle: a, axis: [0, 1, 0]}, {length: 1, "
      "angle: a}]");
  cb_shape_constraints *w = NULL;
  cb_optimum_problem o = {.bundle = b, .lower = lower, .upper = upper};
  assert_int_equal(cb_shape_constraints_create(&o, &w), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "alpha1: expected lower < upper, found 1 and 1"));
  o = (cb_optimum_problem){.bundle = t.b, .no_crossing = true};
  assert_int_equal(cb_shape_constraints_create(&o, &w), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "in space, where lines can pass one another"));
  o = (cb_optimum_problem){.bundle = b};
  check_ok(cb_shape_constraints_create(&o, &w));
  assert_null(w);
  tree_free(&t);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(three_equal_links_cross_beyond_two_lines),
                                     cmocka_unit_test(hinged_links_are_no_wall),
                                     cmocka_unit_test(soft_walls_are_within),
                                     cmocka_unit_test(walls_have_their_slopes),
                                     cmocka_unit_test(terms_have_their_slopes),
                                     cmocka_unit_test(barriers_have_their_slopes),
                                     cmocka_unit_test(what_is_no_wall_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
