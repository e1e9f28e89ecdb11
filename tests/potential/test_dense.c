/* Tests of factors of dense matrices: solutions checked with the rows of the matrix, and a singular matrix. Results
 * must be identical if several threads call at once, although a BLAS without thread support allows only one caller.
 */
#include "check.h"
#include "potential/linear_solvers.h"

#include <pthread.h>

enum { N = 150, STRIDE = 152, COLUMNS = 3, CALLERS = 3, TIMES = 4000 };

static double *random_matrix(uint64_t *seed, int n, int stride) {
  double *a = malloc((size_t)n * (size_t)stride * sizeof *a);
  for (int i = 0; i < n * stride; i++) a[i] = check_uniform(seed, -1, 1);
  return a;
}

static void check_factors(uint64_t *seed, int n, int stride) {
  const size_t size = (size_t)n * (size_t)stride * sizeof(double), columns = COLUMNS * (size_t)n * sizeof(double);
  double *a = random_matrix(seed, n, stride), *lu = malloc(size), *x = malloc(columns), *b = malloc(columns);
  int *pivots = malloc((size_t)n * sizeof *pivots);
  char text[64];
  memcpy(lu, a, size);
  for (int i = 0; i < COLUMNS * n; i++) b[i] = x[i] = check_uniform(seed, -1, 1);
  check_ok(cb_potential_factor(n, (size_t)stride, lu, pivots));
  cb_potential_back(n, (size_t)stride, lu, pivots, COLUMNS, x);
  for (int c = 0; c < COLUMNS; c++)
    for (int i = 0; i < n; i++) {
      double sum = -b[c * n + i], terms = 0;
      for (int j = 0; j < n; j++) {
        sum += a[i * stride + j] * x[c * n + j];
        terms += fabs(a[i * stride + j] * x[c * n + j]);
      }
      check_near(sum, 0, 1e-11 * terms); /* the residual is round-off times n and the growth of the pivots */
    }
  /* The matrix now has two equal rows and a column of zeros. */
  memcpy(a + (n - 1) * stride, a, (size_t)n * sizeof *a);
  for (int i = 0; i < n; i++) a[i * stride + 7] = 0;
  snprintf(text, sizeof text, "the matrix of %d panels is singular", n);
  check_error_begins(cb_potential_factor(n, (size_t)stride, a, pivots), CB_ERROR_DOMAIN, text);
  free(a);
  free(lu);
  free(x);
  free(b);
  free(pivots);
}

/* The sizes of the matrices are one, two and five blocks of the factorization. */
static void factors_solve(void **unused) {
  uint64_t seed = check_seed();
  check_factors(&seed, 60, 60);
  check_factors(&seed, N, STRIDE);
  check_factors(&seed, 520, 523);
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
  uint64_t seed = check_seed();
  double *a = random_matrix(&seed, N, STRIDE), *lu = malloc((size_t)N * STRIDE * sizeof *lu);
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
