/* Tests of properties of all Lie groups: group laws, products of matrices, projection, names. */
#include "lie_groups.h"

/* Products of three boosts reach e^5 and more, and multiply round-off by this size. */
static void elements_form_a_group(void **unused) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double one[CB_GROUP_SIZE], a[CB_GROUP_SIZE], b[CB_GROUP_SIZE], c[CB_GROUP_SIZE], left[CB_GROUP_SIZE],
        right[CB_GROUP_SIZE];
    G->identity(G, one);
    random_element(G, &seed, 1, a);
    random_element(G, &seed, 1, b);
    random_element(G, &seed, 1, c);
    G->multiply(G, a, b, left);
    G->multiply(G, left, c, left);
    G->multiply(G, b, c, right);
    G->multiply(G, a, right, right);
    check_same(G, left, right, 1e-13);
    G->inverse(G, a, right);
    G->multiply(G, a, right, left);
    check_same(G, left, one, 1e-12);
    G->multiply(G, right, a, right);
    check_same(G, right, one, 1e-12);
    G->multiply(G, a, one, left);
    check_same(G, left, a, 1e-15);
    memcpy(left, a, sizeof left);
    G->inverse(G, left, left); /* the result replaces the argument */
    G->inverse(G, left, left);
    check_same(G, left, a, 1e-14);
    cb_group_conjugate(G, a, b, left);
    G->multiply(G, left, a, left);
    G->multiply(G, a, b, right);
    check_same(G, left, right, 1e-12);
  }
}

static void products_are_products_of_matrices(void **unused) {
  uint64_t seed = check_seed();
  EACH_MATRIX_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double a[CB_GROUP_SIZE], b[CB_GROUP_SIZE], ab[CB_GROUP_SIZE];
    random_element(G, &seed, 1, a);
    random_element(G, &seed, 1, b);
    G->multiply(G, a, b, ab);
    const lie_matrix A = lie_element(G, a), B = lie_element(G, b), AB = lie_element(G, ab);
    const lie_matrix expected = lie_product(&A, &B);
    check_at_most(lie_distance(&AB, &expected) / (double)lie_size(&AB), 1e-14);
  }
}

static void projection_keeps_elements_and_takes_errors_away(void **unused) {
  uint64_t seed = check_seed();
  EACH_GROUP(G) for (int repeat = 0; repeat < REPEATS; repeat++) {
    double g[CB_GROUP_SIZE], h[CB_GROUP_SIZE], back[CB_GROUP_SIZE], one[CB_GROUP_SIZE];
    random_element(G, &seed, 2, g);
    memcpy(h, g, sizeof h);
    G->project(G, h);
    check_same(G, h, g, 1e-12);
    for (int i = 0; i < G->size; i++) h[i] += check_uniform(&seed, -1e-7, 1e-7);
    G->project(G, h);
    check_same(G, h, g, 1e-4);
    G->identity(G, one);
    G->inverse(G, h, back); /* For matrices `inverse` is the transpose, which is the inverse only of an isometry. */
    G->multiply(G, h, back, back);
    check_same(G, back, one, 1e-10);
  }
}

static void groups_are_found_by_name(void **unused) {
  for (int k = 0; k < GROUPS; k++) {
    const cb_group *G = group(k);
    assert_ptr_equal(cb_group_find(G->name), G);
    for (int i = 0; i < G->dim; i++) assert_non_null(G->axis[i]);
    for (int i = 0; i < G->size; i++) assert_non_null(G->number[i]);
  }
  assert_null(cb_group_find("r13"));
  assert_null(cb_group_find("su2"));
  assert_int_equal(cb_group_rn(7).dim, 7);
  assert_int_equal(cb_group_rn(0).dim, 0);
  assert_int_equal(cb_group_rn(13).dim, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_form_a_group),
      cmocka_unit_test(products_are_products_of_matrices),
      cmocka_unit_test(projection_keeps_elements_and_takes_errors_away),
      cmocka_unit_test(groups_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
