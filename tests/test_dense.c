/* Factors of dense matrices: what they solve, by rows of the matrix; a singular one; and the same bytes where several
 * threads ask for them at once, as a BLAS without threads bears one caller only.
 * timeout: 300
 * labels: medium
 */
#include "check_error.h"
#include "potential/dense.h"

#include <pthread.h>

enum { N = 150, STRIDE = 152, COLUMNS = 3, CALLERS = 3, TIMES = 4000 };

static double *random_matrix(uint64_t *seed) {
  double *a = malloc((size_t)N * STRIDE * sizeof *a);
  for (int i = 0; i < N * STRIDE; i++) a[i] = check_uniform(seed, -1, 1);
  return a;
}

static void factors_solve(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  double *a = random_matrix(&seed), *lu = malloc((size_t)N * STRIDE * sizeof *lu), x[COLUMNS * N], b[COLUMNS * N];
  int pivots[N];
  memcpy(lu, a, (size_t)N * STRIDE * sizeof *lu);
  for (int i = 0; i < COLUMNS * N; i++) b[i] = x[i] = check_uniform(&seed, -1, 1);
  check_ok(cb_potential_factor(N, STRIDE, lu, pivots));
  cb_potential_back(N, STRIDE, lu, pivots, COLUMNS, x);
  for (int c = 0; c < COLUMNS; c++)
    for (int i = 0; i < N; i++) {
      double sum = -b[c * N + i], size = 0;
      for (int j = 0; j < N; j++)
        sum += a[i * STRIDE + j] * x[c * N + j], size += fabs(a[i * STRIDE + j] * x[c * N + j]);
      check_near(sum, 0, 1e-11 * size); /* backward stable: N eps and the growth of pivots */
    }
  /* two rows alike */
  memcpy(a + (size_t)(N - 1) * STRIDE, a, N * sizeof *a);
  for (int i = 0; i < N; i++) a[i * STRIDE + 7] = 0;
  check_error_begins(cb_potential_factor(N, STRIDE, a, pivots), CB_ERROR_DOMAIN,
                     "the matrix of 150 panels is singular");
  free(a);
  free(lu);
}

typedef struct caller {
  const double *a, *lu;
  int wrong;
} caller;

static void *call(void *context) {
  caller *c = context;
  double *lu = malloc((size_t)N * STRIDE * sizeof *lu);
  int pivots[N];
  for (int i = 0; i < TIMES; i++) {
    memcpy(lu, c->a, (size_t)N * STRIDE * sizeof *lu);
    c->wrong += cb_potential_factor(N, STRIDE, lu, pivots) || memcmp(lu, c->lu, (size_t)N * STRIDE * sizeof *lu) != 0;
  }
  free(lu);
  return NULL;
}

static void several_callers_do_not_meet(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  double *a = random_matrix(&seed), *lu = malloc((size_t)N * STRIDE * sizeof *lu);
  int pivots[N];
  memcpy(lu, a, (size_t)N * STRIDE * sizeof *lu);
  check_ok(cb_potential_factor(N, STRIDE, lu, pivots));
  caller of[CALLERS];
  pthread_t thread[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    of[i] = (caller){.a = a, .lu = lu};
    assert_int_equal(pthread_create(thread + i, NULL, call, of + i), 0);
  }
  for (int i = 0; i < CALLERS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(of[i].wrong, 0);
  }
  free(a);
  free(lu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_solve),
      cmocka_unit_test(several_callers_do_not_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
