/* Tests that exp and log of Lie groups agree with matrices near the identity, for large arguments, and near half turns.
 * The reference is in long double, which valgrind does not support. */
#include "lie_groups.h"

/* Arguments have sizes from 1e-12 to 40, and boosts reach e^20. The tolerance is relative: it is round-off, multiplied
 * by the size of the argument. */
static void exp_is_the_matrix_exponential(void **unused) {
  uint64_t seed = check_seed();
  static const double sizes[] = {1e-12, 1e-6, 1e-3, 0.1, 1, 3, 10, 40};
  EACH_MATRIX_GROUP(G) {
    double worst = 0;
    for (int s = 0; s < 8; s++)
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        double a[CB_GROUP_DIM], g[CB_GROUP_SIZE];
        random_algebra(G, &seed, has_boosts(G) ? fmin(sizes[s], 12) : sizes[s], a);
        G->exp(G, a, g);
        const lie_matrix A = lie_algebra(G, a), expected = lie_exponential(&A), found = lie_element(G, g);
        worst = fmax(worst, lie_distance(&found, &expected) / (double)lie_size(&expected) / fmax(1, length(G->dim, a)));
      }
    print_message("%s: exp within %.1e of the matrix exponential\n", G->name, worst);
    check_at_most(worst, 5e-15);
  }
}

/* Arguments a have |a| < pi, which is within half a turn. Their boosts are at most 3.1 and multiply round-off by at
 * most e^3.1. */
static void log_is_the_inverse_of_exp(void **unused) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) {
    double worst = 0;
    for (int repeat = 0; repeat < 20 * REPEATS; repeat++) {
      double a[CB_GROUP_DIM], back[CB_GROUP_DIM], g[CB_GROUP_SIZE], again[CB_GROUP_SIZE];
      check_direction(&seed, G->dim < 6 ? G->dim : 6, a);
      for (int i = 6; i < G->dim; i++) a[i] = check_uniform(&seed, -1, 1);
      const double size = repeat % 4 ? check_uniform(&seed, 0, 3.1) : pow(10, check_uniform(&seed, -9, 0));
      for (int i = 0; i < G->dim; i++) a[i] *= size;
      G->exp(G, a, g);
      check_ok(G->log(G, g, back));
      worst = fmax(worst, distance(G->dim, a, back) / size);
      random_element(G, &seed, 2, g);
      if (G->log(G, g, back) != CB_OK) continue;
      G->exp(G, back, again);
      check_same(G, again, g, 1e-12);
    }
    print_message("%s: log(exp a) within %.1e |a| of a\n", G->name, worst);
    check_at_most(worst, 1e-13);
  }
}

static void tiny_arguments_keep_all_their_digits(void **unused) {
  uint64_t seed = check_seed();
  static const double sizes[] = {1e-8, 1e-16, 1e-100, 1e-160, 1e-300};
  EACH_GROUP(G) for (int s = 0; s < 5; s++) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double a[CB_GROUP_DIM], back[CB_GROUP_DIM], g[CB_GROUP_SIZE], D[SQUARE], A[SQUARE], worst = 0;
    random_algebra(G, &seed, sizes[s], a);
    G->exp(G, a, g);
    check_ok(G->log(G, g, back));
    /* An element of SO(4) stores the sum and the difference of omega and v, which have the error of the larger one.
     * Other groups lose a few units in the last place. */
    for (int i = 0; i < G->dim; i++) worst = fmax(worst, fabs(back[i] - a[i]) / sizes[s]);
    check_at_most(worst, 2e-15);
    G->project(G, g);
    check_ok(G->log(G, g, back));
    check_at_most(distance(G->dim, back, a) / sizes[s], 2e-15);
    cb_group_ad(G, a, A);
    cb_group_dexp(G, a, D);
    for (int i = 0; i < G->dim * G->dim; i++) /* dexp is 1 + A/2 + A^2/6 + .. */
      if (i % (G->dim + 1)) check_at_most(fabs(D[i] - A[i] / 2), sizes[s] * (sizes[s] + 1e-15));
    check_ok(cb_group_dexp_inverse(G, a, D));
    for (int i = 0; i < G->dim * G->dim; i++)
      if (i % (G->dim + 1)) check_at_most(fabs(D[i] + A[i] / 2), sizes[s] * (sizes[s] + 1e-15));
  }
}

/* The logarithm of a rotation by 2 pi k - 0.1 is that of a rotation by -0.1. Just below half a turn the logarithm is
 * the argument itself. */
static void log_is_the_nearest(void **unused) {
  static const struct {
    const char *name;
    int turn;
  } cases[] = {{"so2", 0}, {"se2", 2},  {"so3", 1},  {"se3", 2}, {"so4", 0},
               {"so4", 4}, {"so31", 2}, {"so21", 2}, {"h2e", 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const cb_group *G = cb_group_find(cases[k].name);
    double a[CB_GROUP_DIM] = {0}, back[CB_GROUP_DIM], g[CB_GROUP_SIZE];
    for (int turns = -3; turns <= 3; turns++) {
      a[cases[k].turn] = 2 * M_PI * turns - 0.1;
      G->exp(G, a, g);
      check_ok(G->log(G, g, back));
      for (int i = 0; i < G->dim; i++) check_near(back[i], i == cases[k].turn ? -0.1 : 0, 1e-14);
    }
    for (double short_of = 1e-2; short_of > 1e-13; short_of /= 10) {
      a[cases[k].turn] = M_PI - short_of;
      G->exp(G, a, g);
      check_ok(G->log(G, g, back));
      check_near(back[cases[k].turn], a[cases[k].turn], 4e-15);
    }
  }
}

/* Let a be a rotation by slightly less than half a turn, and h any element. The logarithm of h exp(a) h^-1 is Ad_h a, a
 * rotation about another axis or point. The sign of the rotation is computed from entries as small as its distance from
 * half a turn, so the round-off of the product has its full effect. */
static void log_is_good_near_half_turns(void **unused) {
  static const struct {
    const char *name;
    int turn;
  } cases[] = {{"so3", 1}, {"se3", 2}, {"so4", 0}, {"so4", 4}, {"so31", 2}, {"so21", 2}, {"h2e", 2}};
  uint64_t seed = check_seed();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const cb_group *G = cb_group_find(cases[k].name);
    for (double short_of = 1e-1; short_of > 1e-9; short_of /= 10) {
      double a[CB_GROUP_DIM] = {0}, found[CB_GROUP_DIM], expected[CB_GROUP_DIM], Ad[SQUARE];
      double g[CB_GROUP_SIZE], h[CB_GROUP_SIZE];
      random_element(G, &seed, 0.5, h);
      a[cases[k].turn] = M_PI - short_of;
      G->exp(G, a, g);
      cb_group_conjugate(G, h, g, g);
      check_ok(G->log(G, g, found));
      G->adjoint(G, h, Ad);
      apply(G->dim, Ad, a, expected);
      check_at_most(distance(G->dim, found, expected) / pow(length(G->dim * G->dim, Ad), 2), 1e-14);
    }
  }
}

/* Boosts of size b multiply round-off by e^b. */
static void log_bears_large_boosts(void **unused) {
  static const char *const names[] = {"so31", "so21", "h2e"};
  uint64_t seed = check_seed();
  for (int k = 0; k < 3; k++)
    for (int repeat = 0; repeat < 8 * REPEATS; repeat++) {
      const cb_group *G = cb_group_find(names[k]);
      double a[CB_GROUP_DIM], found[CB_GROUP_DIM], g[CB_GROUP_SIZE], b = check_uniform(&seed, 3, 20);
      random_algebra(G, &seed, 1, a);
      const int first = k == 0 ? 3 : 0, count = k == 0 ? 3 : 2;
      check_direction(&seed, count, a + first);
      for (int i = 0; i < count; i++) a[first + i] *= b;
      G->exp(G, a, g);
      check_ok(G->log(G, g, found));
      check_at_most(distance(G->dim, a, found), 2e-15 * exp(b));
      G->project(G, g);
      check_ok(G->log(G, g, found));
      check_at_most(distance(G->dim, a, found), 4e-15 * exp(b));
    }
}

static void half_turns_have_no_logarithm(void **unused) {
  static const struct {
    const char *name;
    double a[6];
  } cases[] = {{"so2", {M_PI}},
               {"se2", {1, 2, -M_PI}},
               {"so3", {0, M_PI, 0}},
               {"se3", {0, 0, M_PI, 1}},
               {"so4", {M_PI}},
               {"so4", {0, 0, 0, 0, M_PI}},
               {"so4", {M_PI, 0, 0, 0.3}},
               {"so31", {0, M_PI}},
               {"so31", {0, 0, M_PI, 0, 0, 1}},
               {"so21", {0, 0, M_PI}},
               {"h2e", {0, 0, -M_PI, 1}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const cb_group *G = cb_group_find(cases[k].name);
    double g[CB_GROUP_SIZE], out[CB_GROUP_DIM] = {7, 7, 7, 7, 7, 7};
    G->exp(G, cases[k].a, g);
    assert_int_equal(G->log(G, g, out), CB_ERROR_DOMAIN);
    for (int i = 0; i < G->dim; i++) assert_true(out[i] == 7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exp_is_the_matrix_exponential),        cmocka_unit_test(log_is_the_inverse_of_exp),
      cmocka_unit_test(tiny_arguments_keep_all_their_digits), cmocka_unit_test(log_is_the_nearest),
      cmocka_unit_test(log_is_good_near_half_turns),          cmocka_unit_test(log_bears_large_boosts),
      cmocka_unit_test(half_turns_have_no_logarithm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
