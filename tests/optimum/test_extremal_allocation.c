/* Tests that iterations towards an extremal do not allocate memory. labels: release */
#include "count_allocations.h"
#include "extremals.h"

/* Finds the same extremal on the same mesh with fewer and with more iterations, which must make the same number of
 * allocations. */
static void iterations_do_not_allocate(void **state) {
  cb_bundle *b = model("heisenberg", "");
  const double start_shape[2] = {0, 0}, r = sqrt(.1 / M_PI);
  const cb_optimum_problem o = {.bundle = b, .start_shape = start_shape, .target = {.kind = CB_GAIT_MOVE, .value = .1}};
  size_t seen[2];
  int iterations[2];
  for (int k = 0; k < 2; k++) {
    const double off = k ? 1.2 : 1.001;
    const ellipse from = {{-r, 0}, {off * r, 0}, {0, r}, {2 * M_PI * off}};
    cb_gait *start;
    cb_extremal *e;
    check_ok(cb_gait_fourier(2, 1, from.mean, from.cosine, from.sine, &start));
    count_from_here();
    const cb_status status = cb_extremal_solve(&o, start, from.lambda, 0, &e);
    seen[k] = count_so_far();
    check_ok(status);
    iterations[k] = e->iterations;
    cb_extremal_free(e);
    cb_gait_free(start);
  }
  print_message("%d and %d iterations\n", iterations[0], iterations[1]);
  assert_true(iterations[0] < iterations[1]);
  assert_int_equal(seen[0], seen[1]);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_counter_counts),
                                     cmocka_unit_test(iterations_do_not_allocate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
