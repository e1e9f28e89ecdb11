/* Tests that Ad (the adjoint map), brackets and duals of Lie groups agree with matrices and differences. */
#include "lie_groups.h"

/* hat(Ad_g a) = g hat(a) g^-1, where hat(a) is the matrix of a. Ad_g a is also compared with central differences of g
 * exp(ta) g^-1 with respect to t. */
static void adjoint_is_conjugation(void **unused) {
  uint64_t seed = check_seed();
  EACH_MATRIX_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double a[CB_GROUP_DIM], b[CB_GROUP_DIM], step[CB_GROUP_DIM], ends[2][CB_GROUP_DIM];
    double g[CB_GROUP_SIZE], back[CB_GROUP_SIZE], h[CB_GROUP_SIZE], Ad[SQUARE];
    random_element(G, &seed, 1, g);
    random_algebra(G, &seed, 1, a);
    G->adjoint(G, g, Ad);
    apply(G->dim, Ad, a, b);
    G->inverse(G, g, back);
    const lie_matrix m = lie_element(G, g), i = lie_element(G, back);
    const lie_matrix hat = lie_algebra(G, a), found = lie_algebra(G, b);
    const lie_matrix half = lie_product(&m, &hat), expected = lie_product(&half, &i);
    const double scale = (double)(lie_size(&m) * lie_size(&i));
    check_at_most(lie_distance(&found, &expected) / scale, 1e-13);
    const double t = 1e-4;
    for (int side = 0; side < 2; side++) {
      for (int k = 0; k < G->dim; k++) step[k] = (side ? t : -t) * a[k];
      G->exp(G, step, h);
      cb_group_conjugate(G, g, h, h);
      check_ok(G->log(G, h, ends[side]));
    }
    for (int k = 0; k < G->dim; k++) check_near((ends[1][k] - ends[0][k]) / (2 * t), b[k], 1e-10 * scale * scale);
  }
}

static void adjoint_is_a_homomorphism(void **unused) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double g[CB_GROUP_SIZE], h[CB_GROUP_SIZE], gh[CB_GROUP_SIZE], A[SQUARE], B[SQUARE], AB[SQUARE], expected[SQUARE];
    random_element(G, &seed, 1, g);
    random_element(G, &seed, 1, h);
    G->multiply(G, g, h, gh);
    G->adjoint(G, g, A);
    G->adjoint(G, h, B);
    G->adjoint(G, gh, AB);
    product(G->dim, A, B, expected);
    const int n = G->dim * G->dim;
    /* Boosts make the entries of A and B large, so the error is relative to the lengths of A and B. */
    check_at_most(distance(n, AB, expected) / (length(n, A) * length(n, B)), 1e-13);
    double a[CB_GROUP_DIM], b[CB_GROUP_DIM], ab[CB_GROUP_DIM], left[CB_GROUP_DIM], right[CB_GROUP_DIM];
    random_algebra(G, &seed, 1, a);
    random_algebra(G, &seed, 1, b);
    G->bracket(G, a, b, ab);
    apply(G->dim, A, ab, left);
    apply(G->dim, A, a, ab);
    memcpy(a, ab, sizeof a);
    apply(G->dim, A, b, ab);
    G->bracket(G, a, ab, right);
    check_at_most(distance(G->dim, left, right) / pow(length(n, A), 2), 1e-13);
  }
}

static void bracket_is_the_commutator_and_keeps_jacobi(void **unused) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double x[3][CB_GROUP_DIM], inner[CB_GROUP_DIM], cyclic[CB_GROUP_DIM], sum[CB_GROUP_DIM] = {0}, A[SQUARE];
    for (int k = 0; k < 3; k++) random_algebra(G, &seed, 2, x[k]);
    for (int k = 0; k < 3; k++) {
      G->bracket(G, x[(k + 1) % 3], x[(k + 2) % 3], inner);
      G->bracket(G, x[k], inner, cyclic);
      for (int i = 0; i < G->dim; i++) sum[i] += cyclic[i];
    }
    check_at_most(length(G->dim, sum), 1e-13);
    G->bracket(G, x[0], x[1], inner);
    cb_group_ad(G, x[0], A);
    apply(G->dim, A, x[1], cyclic);
    check_at_most(distance(G->dim, cyclic, inner), 1e-14);
    if (G->abelian) check_at_most(length(G->dim, inner), 0);
  }
  EACH_MATRIX_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double a[CB_GROUP_DIM], b[CB_GROUP_DIM], ab[CB_GROUP_DIM];
    random_algebra(G, &seed, 2, a);
    random_algebra(G, &seed, 2, b);
    G->bracket(G, a, b, ab);
    const lie_matrix A = lie_algebra(G, a), B = lie_algebra(G, b), found = lie_algebra(G, ab);
    const lie_matrix AB = lie_product(&A, &B), BA = lie_product(&B, &A), expected = lie_sum(&AB, -1, &BA);
    check_at_most(lie_distance(&found, &expected), 1e-14);
    G->bracket(G, a, b, a); /* the result replaces an argument */
    check_at_most(distance(G->dim, a, ab), 0);
  }
}

static void duals_are_transposes(void **unused) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double a[CB_GROUP_DIM], b[CB_GROUP_DIM], m[CB_GROUP_DIM], moved[CB_GROUP_DIM], dual[CB_GROUP_DIM];
    double g[CB_GROUP_SIZE], Ad[SQUARE], left = 0, right = 0;
    random_algebra(G, &seed, 1, a);
    random_algebra(G, &seed, 1, b);
    random_algebra(G, &seed, 1, m);
    random_element(G, &seed, 1, g);
    G->adjoint(G, g, Ad);
    apply(G->dim, Ad, a, moved);
    cb_group_adjoint_dual(G, g, m, dual);
    for (int i = 0; i < G->dim; i++) {
      left += dual[i] * a[i];
      right += m[i] * moved[i];
    }
    check_near(left, right, 1e-13 * length(G->dim * G->dim, Ad));
    G->bracket(G, a, b, moved);
    cb_group_ad_dual(G, a, m, dual);
    left = right = 0;
    for (int i = 0; i < G->dim; i++) {
      left += dual[i] * b[i];
      right += m[i] * moved[i];
    }
    check_near(left, right, 1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adjoint_is_conjugation),
      cmocka_unit_test(adjoint_is_a_homomorphism),
      cmocka_unit_test(bracket_is_the_commutator_and_keeps_jacobi),
      cmocka_unit_test(duals_are_transposes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
