/* Tests of GMRES for several right-hand sides. The number of steps equals the number of different eigenvalues, for any
 * number of columns and threads, and the residual is reported.
 */
#include "check.h"
#include "core/threads.h"
#include "potential/linear_solvers.h"

typedef struct matrix {
  int n, products, columns; /* size; number of products; total number of columns of the products */
  double *a;                /* [n][n] */
  const double *diagonal;   /* diagonal by which the preconditioner divides */
} matrix;

static cb_status product(void *context, int columns, const double *x, double *out) {
  matrix *m = context;
  m->products++;
  m->columns += columns;
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < m->n; i++) {
      double sum = 0;
      for (int j = 0; j < m->n; j++) sum += m->a[i * m->n + j] * x[c * m->n + j];
      out[c * m->n + i] = sum;
    }
  return CB_OK;
}

static cb_status divide(void *context, int columns, const double *x, double *out) {
  const matrix *m = context;
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < m->n; i++) out[c * m->n + i] = x[c * m->n + i] / m->diagonal[i];
  return CB_OK;
}

/* Makes the identity plus a random matrix of this size, which is well conditioned. */
static matrix random_matrix(uint64_t *state, int n, double size) {
  matrix m = {.n = n, .a = malloc((size_t)n * (size_t)n * sizeof *m.a)};
  assert_non_null(m.a);
  for (int i = 0; i < n * n; i++) m.a[i] = size * check_uniform(state, -1, 1) / sqrt(n) + (i % (n + 1) == 0);
  return m;
}

static double residual_of(matrix *m, const double *b, const double *x) {
  double sum = 0, size = 0;
  double *r = malloc((size_t)m->n * sizeof *r);
  product(m, 1, x, r);
  for (int i = 0; i < m->n; i++) {
    sum += (b[i] - r[i]) * (b[i] - r[i]);
    size += b[i] * b[i];
  }
  free(r);
  return sqrt(sum / size);
}

static void it_solves_to_what_it_says(void **unused) {
  uint64_t state = check_seed();
  enum { N = 60, COLUMNS = 5 };
  matrix m = random_matrix(&state, N, 0.8);
  double b[COLUMNS * N], x[COLUMNS * N];
  for (int restart = 5; restart <= 80; restart += 25) {
    cb_krylov *k = NULL;
    cb_krylov_result result;
    const cb_krylov_problem p = {.product = product, .context = &m, .tolerance = 1e-10, .iterations = 400};
    check_ok(cb_krylov_create(N, COLUMNS, restart, &k));
    for (int i = 0; i < COLUMNS * N; i++) {
      b[i] = check_uniform(&state, -1, 1);
      x[i] = 0;
    }
    check_ok(cb_krylov_solve(k, &p, COLUMNS, b, x, &result));
    double greatest = 0;
    for (int c = 0; c < COLUMNS; c++) greatest = fmax(greatest, residual_of(&m, b + c * N, x + c * N));
    check_at_most(result.residual, 1e-10);
    check_near(greatest, result.residual, 1e-14); /* round-off of the recurrence */
    check_at_least(result.iterations, 2);
    cb_krylov_free(k);
  }
  free(m.a);
}

/* A matrix with d different eigenvalues needs d steps. Columns that need fewer steps are left out of the later
 * products. */
static void steps_are_as_many_as_eigenvalues(void **unused) {
  uint64_t state = check_seed();
  enum { N = 40 };
  double a[N * N] = {0}, b[2 * N], x[2 * N] = {0};
  matrix m = {.n = N, .a = a};
  for (int i = 0; i < N; i++) {
    a[i * (N + 1)] = 1 + i % 4;
    b[i] = check_uniform(&state, -1, 1);
    b[N + i] = i % 4 == 2; /* the second column needs only one eigenvalue */
  }
  cb_krylov *k = NULL;
  cb_krylov_result result;
  const cb_krylov_problem p = {.product = product, .context = &m, .tolerance = 1e-12, .iterations = 100};
  check_ok(cb_krylov_create(N, 2, 30, &k));
  check_ok(cb_krylov_solve(k, &p, 2, b, x, &result));
  assert_int_equal(result.iterations, 4);
  assert_int_equal(m.columns, 2 + 3); /* the first step multiplies both columns, the other three only the first one */
  for (int i = 0; i < 2 * N; i++) check_near(x[i], b[i] / (1 + i % 4), 1e-11);
  /* If the start is the solution, no steps are needed. Right-hand sides of 0 give 0. */
  check_ok(cb_krylov_solve(k, &p, 2, b, x, &result));
  assert_int_equal(result.iterations, 0);
  memset(b, 0, sizeof b);
  memset(x, 0, sizeof x);
  check_ok(cb_krylov_solve(k, &p, 2, b, x, &result));
  assert_true(result.iterations == 0 && result.residual == 0 && x[3] == 0);
  cb_krylov_free(k);
}

/* If the matrix is scaled by a diagonal over twelve decades and preconditioned by this diagonal, the number of steps is
 * that of the matrix without the scaling. */
static void a_preconditioner_takes_scales_away(void **unused) {
  uint64_t state = check_seed();
  enum { N = 50 };
  double d[N], b[N], x[N] = {0}, plain[N] = {0};
  matrix m = random_matrix(&state, N, 0.3), scaled = m;
  cb_krylov *k = NULL;
  cb_krylov_result one, other;
  check_ok(cb_krylov_create(N, 1, 50, &k));
  for (int i = 0; i < N; i++) b[i] = check_uniform(&state, -1, 1);
  cb_krylov_problem p = {.product = product, .context = &m, .tolerance = 1e-9, .iterations = 50};
  check_ok(cb_krylov_solve(k, &p, 1, b, plain, &one));
  scaled.a = malloc(N * N * sizeof(double));
  for (int j = 0; j < N; j++) d[j] = pow(10, 12.0 * j / N - 6);
  for (int i = 0; i < N * N; i++) scaled.a[i] = m.a[i] * d[i % N];
  scaled.diagonal = d;
  p.context = &scaled;
  p.precondition = divide;
  check_ok(cb_krylov_solve(k, &p, 1, b, x, &other));
  assert_int_equal(other.iterations, one.iterations);
  for (int i = 0; i < N; i++) check_near(x[i] * d[i], plain[i], 1e-12);
  cb_krylov_free(k);
  free(m.a);
  free(scaled.a);
}

static void no_convergence_leaves_the_best(void **unused) {
  uint64_t state = check_seed();
  enum { N = 50 };
  double b[N], x[N] = {0};
  matrix m = random_matrix(&state, N, 0.9);
  cb_krylov *k = NULL;
  cb_krylov_result result;
  const cb_krylov_problem p = {.product = product, .context = &m, .tolerance = 1e-12, .iterations = 7};
  check_ok(cb_krylov_create(N, 1, 4, &k));
  for (int i = 0; i < N; i++) b[i] = check_uniform(&state, -1, 1);
  assert_int_equal(cb_krylov_solve(k, &p, 1, b, x, &result), CB_STEP_NO_CONVERGENCE);
  assert_int_equal(result.iterations, 7);
  check_relative(residual_of(&m, b, x), result.residual, 1e-10);
  check_at_most(result.residual, 0.5);
  b[3] = NAN;
  assert_int_equal(cb_krylov_solve(k, &p, 1, b, x, &result), CB_ERROR_DOMAIN);
  assert_int_equal(cb_krylov_solve(k, &p, 2, b, x, &result), CB_ERROR_ARGUMENT);
  cb_krylov_free(k);
  free(m.a);
}

/* Computes y_i = x_i/2 + (x_(i+1) - x_(i-1))/6, for vectors long enough for several threads. */
static cb_status neighbours(void *context, int columns, const double *x, double *out) {
  const int n = *(const int *)context;
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < n; i++)
      out[c * n + i] = x[c * n + i] / 2 + (x[c * n + (i + 1) % n] - x[c * n + (i + n - 1) % n]) / 6;
  return CB_OK;
}

static void threads_do_not_matter(void **unused) {
  enum { N = 60001 };
  int n = N;
  double *b = malloc(2 * N * sizeof *b), *x[2];
  for (int i = 0; i < 2 * N; i++) b[i] = sin(i) + (i % 7);
  for (int run = 0; run < 2; run++) {
    cb_krylov *k = NULL;
    cb_krylov_result result;
    const cb_krylov_problem p = {.product = neighbours, .context = &n, .tolerance = 1e-10, .iterations = 60};
    x[run] = calloc(2 * N, sizeof **x);
    cb_threads_set(run ? 3 : 1);
    check_ok(cb_krylov_create(N, 2, 20, &k));
    check_ok(cb_krylov_solve(k, &p, 2, b, x[run], &result));
    cb_krylov_free(k);
  }
  cb_threads_set(0);
  assert_memory_equal(x[0], x[1], 2 * N * sizeof *b);
  free(b);
  free(x[0]);
  free(x[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_solves_to_what_it_says),
      cmocka_unit_test(steps_are_as_many_as_eigenvalues),
      cmocka_unit_test(a_preconditioner_takes_scales_away),
      cmocka_unit_test(no_convergence_leaves_the_best),
      cmocka_unit_test(threads_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
