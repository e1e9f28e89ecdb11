/* Tests of trees of links. They are compared with chains, and planar trees with trees in space. Other tests check
 * symmetry, many variables, errors and speed. A: connection; M: cost metric; dA, dM: their derivatives. */
#include "link_trees.h"

#include <time.h>

/* Compares A, dA, M and dM of two bundles at ten shapes. At the last shape it also compares second derivatives, which a
 * tree computes by differences. */
static void check_same(uint64_t *seed, const cb_bundle *a, const cb_bundle *b) {
  static values u, v;
  const int n = a->n, dim = a->group->dim;
  assert_int_equal(n, b->n);
  for (int trial = 0; trial < 10; trial++) {
    double r[CB_SHAPE_MAX];
    random_shape(seed, n, 1.5, r);
    values_at(a, r, &u);
    values_at(b, r, &v);
    check_at_most(difference(u.A, v.A, dim * n), 1e-12);
    check_at_most(difference(u.M, v.M, n * n), 1e-12);
    check_at_most(difference(u.dA, v.dA, n * dim * n), 1e-11);
    check_at_most(difference(u.dM, v.dM, n * n * n), 1e-11);
    if (trial < 9) continue;
    static double ddA[2][CB_SHAPE_MAX * CB_SHAPE_MAX * 3 * CB_SHAPE_MAX], ddM[2][1 << 16];
    check_ok(cb_bundle_second(a, r, ddA[0], ddM[0]));
    check_ok(cb_bundle_second(b, r, ddA[1], ddM[1]));
    check_at_most(difference(ddA[0], ddA[1], n * n * dim * n), 1e-9);
    check_at_most(difference(ddM[0], ddM[1], n * n * n * n), 1e-9);
  }
}

static void a_chain_with_drag_is_purcells_swimmer(void **state) {
  uint64_t seed = check_seed();
  for (int links = 2; links <= 12; links++)
    for (int base = 0; base < links; base++) {
      char head[100], text[100];
      snprintf(head, sizeof head, "base: %d\nratio: 3\nturn: 0.2", base);
      snprintf(text, sizeof text, "links %d base %d ratio 3 turn 0.2", links, base + 1);
      tree t = chain(head, links, 1. / links);
      cb_bundle *b = model("purcell", text);
      check_same(&seed, t.b, b);
      cb_bundle_free(b);
      tree_free(&t);
    }
}

static void a_chain_without_momentum_is_the_floating_snake(void **state) {
  uint64_t seed = check_seed();
  for (int links = 2; links <= 5; links++)
    for (int base = 0; base < links; base++) {
      char head[100], text[100];
      snprintf(head, sizeof head, "base: %d\nof: inertia\ndensity: 2", base);
      snprintf(text, sizeof text, "links %d base %d length %d mass %d", links, base + 1, links, 2 * links);
      tree t = chain(head, links, 1);
      cb_bundle *b = model("floating_snake", text);
      check_same(&seed, t.b, b);
      cb_bundle_free(b);
      tree_free(&t);
    }
}

static void a_planar_tree_in_space_moves_as_in_the_plane(void **state) {
  uint64_t seed = check_seed();
  static values p, s;
  static const int at[3] = {3, 4, 2}; /* the places of v_x, v_y and the rotation among the six components of a velocity
                                       * in space */
  for (int inertia = 0; inertia < 2; inertia++)
    for (int base = 0; base < 6; base++) {
      char plane[1024], space[1024];
      const char *of = inertia ? "of: inertia\nradius: 0.05" : "of: drag\nratio: 1.7";
      snprintf(plane, sizeof plane, "%s\nbase: %d\norigin: 0.2\n" BRANCHES, of, base);
      snprintf(space, sizeof space, "space: space\n%s\nbase: %d\norigin: 0.2\n" BRANCHES, of, base);
      tree t = tree_of(plane), u = tree_of(space);
      for (int trial = 0; trial < 5; trial++) {
        double r[3];
        random_shape(&seed, 3, 1.5, r);
        values_at(t.b, r, &p);
        values_at(u.b, r, &s);
        check_at_most(difference(p.M, s.M, 9), 1e-12);
        check_at_most(difference(p.dM, s.dM, 27), 1e-11);
        for (int j = 0; j < 3; j++) {
          for (int i = 0; i < 3; i++) {
            check_near(s.A[at[i] * 3 + j], p.A[i * 3 + j], 1e-12);
            for (int k = 0; k < 3; k++) check_near(s.dA[(k * 6 + at[i]) * 3 + j], p.dA[(k * 3 + i) * 3 + j], 1e-11);
          }
          check_near(s.A[0 * 3 + j], 0, 1e-12);
          check_near(s.A[1 * 3 + j], 0, 1e-12);
          check_near(s.A[5 * 3 + j], 0, 1e-12);
        }
      }
      tree_free(&t);
      tree_free(&u);
    }
}

/* A hinge without `angle` is fixed at its offset, whichever link is the base. */
static void a_fixed_hinge_is_one_whose_angle_is_constant(void **state) {
  uint64_t seed = check_seed();
  for (int base = 0; base < 3; base++) {
    char text[2][512];
    for (int k = 0; k < 2; k++)
      snprintf(text[k], sizeof *text,
               "base: %d\nshape: [a]\nlinks:\n  - {length: 1}\n  - {length: 0.7, %soffset: 0.9}\n"
               "  - {length: 0.4, angle: a}\n",
               base, k ? "angle: 0*a, " : "");
    tree fixed = tree_of(text[0]), constant = tree_of(text[1]);
    static values u, v;
    double r;
    random_shape(&seed, 1, 1.5, &r);
    values_at(fixed.b, &r, &u);
    values_at(constant.b, &r, &v);
    check_at_most(difference(u.A, v.A, 3), 1e-14);
    check_at_most(difference(u.M, v.M, 1), 1e-14);
    tree_free(&fixed);
    tree_free(&constant);
  }
}

static void three_equal_arms_have_a_symmetric_connection(void **state) {
  tree t = tree_of(
      "shape: [a, b, c]\n"
      "links:\n"
      "  - {length: 0}\n"
      "  - {length: 1, parent: 0, angle: a}\n"
      "  - {length: 1, parent: 0, angle: b, offset: 2*pi/3}\n"
      "  - {length: 1, parent: 0, angle: c, offset: 4*pi/3}\n");
  const double r[3] = {.3, -.5, .2}, moved[3] = {.2, .3, -.5}; /* each hinge has the angle of the hinge before it */
  const double cs = cos(2 * M_PI / 3), sn = sin(2 * M_PI / 3);
  double A[9], B[9];
  check_ok(cb_bundle_connection(t.b, r, A, NULL, NULL, NULL));
  check_ok(cb_bundle_connection(t.b, moved, B, NULL, NULL, NULL));
  for (int j = 0; j < 3; j++) {
    const int k = (j + 1) % 3;
    check_near(B[k], cs * A[j] - sn * A[3 + j], 1e-14);
    check_near(B[3 + k], sn * A[j] + cs * A[3 + j], 1e-14);
    check_near(B[6 + k], A[6 + j], 1e-14);
  }
  tree_free(&t);
}

static void more_variables_than_jets_have(void **state) {
  uint64_t seed = check_seed();
  double r[CB_SHAPE_MAX];
  tree t = chain("base: 8", CB_SHAPE_MAX + 1, .2), u = chain("base: 3\nspace: space", CB_SHAPE_MAX + 1, .2);
  assert_int_equal(t.b->n, CB_SHAPE_MAX);
  for (int trial = 0; trial < 2; trial++) {
    random_shape(&seed, CB_SHAPE_MAX, .5, r);
    check_derivatives(t.b, r, 5e-11);
    check_derivatives(u.b, r, 5e-11);
  }
  tree_free(&t);
  tree_free(&u);
}

/* --- errors --- */

static void singular_shapes_are_named(void **state) {
  double A[12];
  tree t = tree_of("space: space\nshape: [a]\nlinks: [{length: 1}, {length: 1, angle: a}]");
  check_ok(cb_bundle_connection(t.b, (double[]){.5}, A, NULL, NULL, NULL));
  assert_int_equal(cb_bundle_connection(t.b, (double[]){0}, A, NULL, NULL, NULL), CB_STEP_SINGULAR);
  assert_non_null(strstr(cb_error_text(), "a = 0"));
  assert_non_null(strstr(cb_error_text(), "omega_x"));
  assert_non_null(strstr(cb_error_text(), "spin"));
  tree_free(&t);
  t = tree_of("space: space\nspin: 1e-4\nshape: [a]\nlinks: [{length: 1}, {length: 1, angle: a}]");
  check_ok(cb_bundle_connection(t.b, (double[]){0}, A, NULL, NULL, NULL));
  tree_free(&t);
  t = tree_of("shape: [a]\nlinks: [{length: 1}, {length: 1, angle: sqrt(a)}]");
  assert_int_equal(cb_bundle_connection(t.b, (double[]){-1}, A, NULL, NULL, NULL), CB_STEP_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "link 1"));
  tree_free(&t);
}

static void wrong_trees_are_refused_by_place(void **state) {
  static const char *const wrong[][2] = {
      {"shape: [a]\nlinks: [{length: 1}, {length: 1, angle: b}]", "test.yaml:2:41"},
      {"shape: [a]\nlinks: [{length: 1}, {length: 1}]", "the shape variable a does not rotate any link"},
      {"shape: [a]\nlinks: [{length: 1}, {length: 1, angle: a, parent: 1}]", "the number of an earlier link"},
      {"shape: [a]\nlinks: [{length: 1}, {length: -1, angle: a}]", "length"},
      {"shape: [a]\nlinks: [{length: 1, angle: a}]", "link 0: angle applies only to links with a parent"},
      {"shape: [a]\nlinks: [{length: 1}, {length: 1, angle: a, axis: [0, 0, 1]}]",
       "axis applies only to `space: space`"},
      {"shape: [a]\nlinks: [{length: 1}, {length: 1, angle: a, mass: 1}]", "mass applies only to `of: inertia`"},
      {"shape: [a]\nof: inertia\nlinks: [{length: 1}, {length: 1, angle: a, drag: 1}]",
       "drag applies only to `of: drag`"},
      {"space: space\nshape: [a]\nlinks: [{length: 1}, {length: 1, angle: a, axis: [0, 0, 0]}]",
       "a vector other than 0"},
      {"shape: [a, a]\nlinks: [{length: 1}, {length: 1, angle: a}]", "given twice"},
      {"shape: [a]\nbase: 2\nlinks: [{length: 1}, {length: 1, angle: a}]", "base: 2"},
      {"shape: [a]\nlinks: [{length: 1}, {lenght: 1, angle: a}]", "length"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    tree t;
    const cb_status status = tree_create(wrong[k][0], &t);
    if (status != CB_ERROR_INPUT || !strstr(cb_error_text(), wrong[k][1]))
      print_error("%s\n%s: %s\n", wrong[k][0], cb_status_name(status), cb_error_text());
    assert_int_equal(status, CB_ERROR_INPUT);
    assert_non_null(strstr(cb_error_text(), wrong[k][1]));
  }
}

/* --- speed --- */

static double microseconds(const cb_bundle *b, bool derivatives) {
  static values v;
  double r[CB_SHAPE_MAX], best = INFINITY;
  for (int i = 0; i < b->n; i++) r[i] = .3 * (i % 3) - .2;
  for (int round = 0; round < 20; round++) {
    struct timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int k = 0; k < 100; k++)
      check_ok(cb_bundle_connection(b, r, v.A, derivatives ? v.dA : NULL, v.M, derivatives ? v.dM : NULL));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    best = fmin(best, ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) * 1e-3) / 100);
  }
  return best;
}

static void ten_links_take_at_most_20_microseconds(void **state) {
  tree plane = chain("ratio: 2", 10, .1), space = chain("space: space", 10, .1);
  cb_bundle *purcell = model("purcell", "links 10");
  const double value = microseconds(plane.b, false), all = microseconds(plane.b, true);
  print_message("ten links, A and M, with dA and dM: plane %.2f, %.2f us; space %.2f, %.2f us; purcell %.2f, %.2f us\n",
                value, all, microseconds(space.b, false), microseconds(space.b, true), microseconds(purcell, false),
                microseconds(purcell, true));
#if defined(__OPTIMIZE__) && !defined(CURVEBODY_SANITIZED)
  check_at_most(value, 20);
  check_at_most(all, 60);
#endif
  cb_bundle_free(purcell);
  tree_free(&plane);
  tree_free(&space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_with_drag_is_purcells_swimmer),
      cmocka_unit_test(a_chain_without_momentum_is_the_floating_snake),
      cmocka_unit_test(a_planar_tree_in_space_moves_as_in_the_plane),
      cmocka_unit_test(a_fixed_hinge_is_one_whose_angle_is_constant),
      cmocka_unit_test(three_equal_arms_have_a_symmetric_connection),
      cmocka_unit_test(more_variables_than_jets_have),
      cmocka_unit_test(singular_shapes_are_named),
      cmocka_unit_test(wrong_trees_are_refused_by_place),
      cmocka_unit_test(ten_links_take_at_most_20_microseconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
