/* Tests that dexp, the derivative of the exponential map, and its inverse agree with matrices, series and differences.
 * The reference is in long double, which valgrind does not support. A is the matrix of ad_a, the bracket with a. */
#include "lie_groups.h"

/* Returns the derivative of exp at X along Y. It is the block above the diagonal of exp [[X, Y], [0, X]]: Van Loan,
 * IEEE Trans. Autom. Control 23 (1978) 395. */
static lie_matrix derivative_of_exponential(const lie_matrix *X, const lie_matrix *Y) {
  const int n = X->n;
  lie_matrix block = lie_zero(2 * n), out = lie_zero(n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      block.m[i][j] = block.m[i + n][j + n] = X->m[i][j];
      block.m[i][j + n] = Y->m[i][j];
    }
  block = lie_exponential(&block);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out.m[i][j] = block.m[i][j + n];
  return out;
}

/* Rotations are by more than a complete turn. Boosts b are at most 3.5, because the round-off of the reference is 1e-19
 * e^2b. */
static void dexp_is_the_derivative_of_exp(void **unused) {
  uint64_t seed = check_seed();
  static const double sizes[] = {1e-8, 1e-3, 0.1, 1, 2, 5, 9};
  EACH_MATRIX_GROUP(G) {
    double worst = 0;
    for (int s = 0; s < 7; s++)
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        double a[CB_GROUP_DIM], b[CB_GROUP_DIM], c[CB_GROUP_DIM], minus[CB_GROUP_DIM], D[SQUARE];
        random_algebra(G, &seed, has_boosts(G) ? fmin(sizes[s], 2) : sizes[s], a);
        random_algebra(G, &seed, 1, b);
        cb_group_dexp(G, a, D);
        apply(G->dim, D, b, c);
        for (int i = 0; i < G->dim; i++) minus[i] = -a[i];
        const lie_matrix X = lie_algebra(G, a), Y = lie_algebra(G, b), Z = lie_algebra(G, minus);
        const lie_matrix derivative = derivative_of_exponential(&X, &Y), back = lie_exponential(&Z);
        const lie_matrix expected = lie_product(&derivative, &back), found = lie_algebra(G, c);
        worst = fmax(worst, lie_distance(&found, &expected) / fmax(1, length(G->dim * G->dim, D)));
      }
    print_message("%s: dexp within %.1e of the derivative\n", G->name, worst);
    check_at_most(worst, 5e-15);
  }
}

/* dexp is sum A^k/(k + 1)!, which is the block above the diagonal of exp [[A, 1], [0, 0]]. Boosts are up to 20. */
static void dexp_is_the_series_in_ad(void **unused) {
  uint64_t seed = check_seed();
  static const double sizes[] = {1e-3, 1, 5, 12, 100};
  EACH_MATRIX_GROUP(G) {
    double worst = 0;
    for (int s = 0; s < 5; s++)
      for (int repeat = 0; repeat < REPEATS / 4; repeat++) {
        const int n = G->dim;
        double a[CB_GROUP_DIM], A[SQUARE], D[SQUARE], error = 0;
        lie_matrix block = lie_zero(2 * n);
        random_algebra(G, &seed, has_boosts(G) ? fmin(sizes[s], 12) : sizes[s], a);
        cb_group_ad(G, a, A);
        cb_group_dexp(G, a, D);
        for (int i = 0; i < n * n; i++) block.m[i / n][i % n] = A[i];
        for (int i = 0; i < n; i++) block.m[i][n + i] = 1;
        block = lie_exponential(&block);
        for (int i = 0; i < n * n; i++) error = fmax(error, fabs((double)(block.m[i / n][n + i % n] - D[i])));
        worst = fmax(worst, error / fmax(1, length(n * n, D)) / fmax(1, length(n, a)));
      }
    print_message("%s: dexp within %.1e of the series\n", G->name, worst);
    check_at_most(worst, 5e-15);
  }
}

/* Compares dexp with central differences of log(exp(a + tb) exp(-a)) with respect to t. Their errors are the truncation
 * t^2 |b|^3 and the round-off 1e-16 e^|a|/t. */
static void dexp_agrees_with_differences(void **unused) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double a[CB_GROUP_DIM], b[CB_GROUP_DIM], moved[CB_GROUP_DIM], ends[2][CB_GROUP_DIM], c[CB_GROUP_DIM], D[SQUARE];
    double g[CB_GROUP_SIZE], h[CB_GROUP_SIZE], t = 1e-5;
    random_algebra(G, &seed, 1, a);
    random_algebra(G, &seed, 1, b);
    G->exp(G, a, g);
    G->inverse(G, g, g);
    for (int side = 0; side < 2; side++) {
      for (int i = 0; i < G->dim; i++) moved[i] = a[i] + (side ? t : -t) * b[i];
      G->exp(G, moved, h);
      G->multiply(G, h, g, h);
      check_ok(G->log(G, h, ends[side]));
    }
    cb_group_dexp(G, a, D);
    apply(G->dim, D, b, c);
    for (int i = 0; i < G->dim; i++) check_near((ends[1][i] - ends[0][i]) / (2 * t), c[i], 5e-9);
  }
}

static void dexp_inverse_is_the_inverse(void **unused) {
  uint64_t seed = check_seed();
  static const double sizes[] = {1e-300, 1e-8, 1e-3, 0.1, 1, 1.4, 2, 5, 20};
  EACH_GROUP(G) {
    double worst = 0;
    for (int s = 0; s < 9; s++)
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        double a[CB_GROUP_DIM], D[SQUARE], E[SQUARE], one[SQUARE];
        const int n = G->dim * G->dim;
        random_algebra(G, &seed, sizes[s], a);
        cb_group_dexp(G, a, D);
        check_ok(cb_group_dexp_inverse(G, a, E));
        product(G->dim, D, E, one);
        for (int i = 0; i < G->dim; i++) one[i * (G->dim + 1)] -= 1;
        worst = fmax(worst, length(n, one) / (length(n, D) * length(n, E)));
      }
    print_message("%s: dexp dexp^-1 within %.1e of 1\n", G->name, worst);
    check_at_most(worst, 2e-14);
  }
}

/* The inverse of dexp is 1 - A/2 + A^2/12 - A^4/720 + A^6/30240 - A^8/1209600 + ... */
static void dexp_inverse_is_the_series_of_bernoulli(void **unused) {
  uint64_t seed = check_seed();
  static const double c[] = {1, -0.5, 1.0 / 12, 0, -1.0 / 720, 0, 1.0 / 30240, 0, -1.0 / 1209600};
  EACH_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    const int n = G->dim;
    double a[CB_GROUP_DIM], A[SQUARE], power[SQUARE] = {0}, next[SQUARE], sum[SQUARE] = {0}, E[SQUARE];
    random_algebra(G, &seed, 0.03, a); /* the next term is 2.1e-8 |A|^10 < 1e-19 */
    cb_group_ad(G, a, A);
    for (int i = 0; i < n; i++) power[i * (n + 1)] = 1;
    for (int k = 0; k < 9; k++) {
      for (int i = 0; i < n * n; i++) sum[i] += c[k] * power[i];
      product(n, power, A, next);
      memcpy(power, next, sizeof power);
    }
    check_ok(cb_group_dexp_inverse(G, a, E));
    check_at_most(distance(n * n, sum, E), 1e-15);
  }
}

static void dexp_has_no_inverse_at_whole_turns(void **unused) {
  static const struct {
    const char *name;
    double a[6];
  } cases[] = {{"se2", {1, 2, 2 * M_PI}},   {"so3", {0, -4 * M_PI, 0}},  {"se3", {2 * M_PI, 0, 0, 1, 2}},
               {"so4", {M_PI, 0, 0, M_PI}}, {"so4", {2 * M_PI}},         {"so31", {0, 2 * M_PI}},
               {"so21", {0, 0, 2 * M_PI}},  {"h2e", {0, 0, 2 * M_PI, 3}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const cb_group *G = cb_group_find(cases[k].name);
    double a[6], out[SQUARE] = {7};
    memcpy(a, cases[k].a, sizeof a);
    assert_int_equal(cb_group_dexp_inverse(G, a, out), CB_STEP_SINGULAR);
    assert_true(out[0] == 7);
    for (int i = 0; i < 6; i++) a[i] *= 1 + 1e-9;
    check_ok(cb_group_dexp_inverse(G, a, out));
  }
  /* A whole turn together with a boost along its axis: dexp has an inverse. */
  double a[6] = {0, 0, 2 * M_PI, 0, 0, 1}, out[SQUARE];
  check_ok(cb_group_dexp_inverse(cb_group_find("so31"), a, out));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dexp_is_the_derivative_of_exp),
      cmocka_unit_test(dexp_is_the_series_in_ad),
      cmocka_unit_test(dexp_agrees_with_differences),
      cmocka_unit_test(dexp_inverse_is_the_inverse),
      cmocka_unit_test(dexp_inverse_is_the_series_of_bernoulli),
      cmocka_unit_test(dexp_has_no_inverse_at_whole_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
