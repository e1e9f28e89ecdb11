/* Tests that the number of threads changes neither the result, bit for bit, nor the error message. The functions are
 * those for the fluid that a large surface displaces, and for the density at its faces. */
#include "core/threads.h"
#include "medium.h"
#include "solid.h"

static void large_surfaces_give_the_same_bits_with_any_threads(void **unused) {
  solid b = solid_mesh(mesh_torus(210, 120, 0.8, 0.3));
  assert_true(b.n > CB_THREADS_MIN_ELEMENTS);
  strata s = sea;
  const double size = sqrt(1.09), tilted[3] = {0.3 / size, 0, 1 / size};
  memcpy(s.up, tilted, sizeof tilted);
  double *density = malloc(sizeof *density * (size_t)b.n), *again = malloc(sizeof *again * (size_t)b.n);
  cb_medium *m[2] = {layers_of(&s)};
  check_ok(cb_medium_expression("3 - z/sqrt(x + 2)", 0, NULL, NULL, (const double[3]){0, 0, 1}, NULL, &m[1]));
  for (int k = 0; k < 2; k++) {
    cb_threads_set(1);
    const int n = k ? 2000 : b.n; /* fewer faces, because integrals along lines are slow */
    const solid part = {n, b.corner, NULL};
    const displaced one = displaced_of(m[k], &part, NULL);
    check_ok(cb_medium_faces(m[k], b.n, (const double(*)[3][3])b.corner, density, NULL));
    for (int threads = 2; threads <= 3; threads++) {
      cb_threads_set(threads);
      const displaced other = displaced_of(m[k], &part, NULL);
      assert_memory_equal(&other, &one, sizeof one);
      check_ok(cb_medium_faces(m[k], b.n, (const double(*)[3][3])b.corner, again, NULL));
      assert_memory_equal(density, again, sizeof *density * (size_t)b.n);
    }
  }
  b.corner[45000][1][0] = -9;
  b.corner[20000][1][0] = -3; /* this is the first face with an error, so its error is reported */
  cb_medium *root;
  check_ok(cb_medium_expression("sqrt(x + 1.2)", 0, NULL, NULL, (const double[3]){1, 0, 0}, NULL, &root));
  cb_threads_set(1);
  char text[400];
  assert_int_equal(cb_medium_faces(root, b.n, (const double(*)[3][3])b.corner, density, NULL), CB_STEP_NOT_FINITE);
  snprintf(text, sizeof text, "%s", cb_error_text());
  cb_threads_set(3);
  check_error(cb_medium_faces(root, b.n, (const double(*)[3][3])b.corner, density, NULL), CB_STEP_NOT_FINITE, text);
  cb_threads_set(0);
  cb_medium_free(m[0]);
  cb_medium_free(m[1]);
  cb_medium_free(root);
  free(density);
  free(again);
  solid_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_surfaces_give_the_same_bits_with_any_threads),
  };
  return cmocka_run_group_tests_name("displaced_threads", tests, NULL, NULL);
}
