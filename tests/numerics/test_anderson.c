/* Tests of Anderson acceleration (numerics/anderson.h): it solves a linear problem in as many iterations as GMRES, and
 * measures the contraction. */
#include "check.h"
#include "numerics/anderson.h"

enum { N = 12 };
static const double ones[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Computes G(x) = A x + b, plus c times the squares of components of x. A is diagonal; its entries are the n
 * eigenvalues in turn. */
static void image(int n, const double *eigenvalue, double c, const double *x, double *G) {
  for (int i = 0; i < N; i++) G[i] = eigenvalue[i % n] * x[i] + c * x[(i + 1) % N] * x[(i + 1) % N] + 1 + .1 * i;
}

/* Returns the largest |G(x) - x| after the given number of iterations. */
static double iterate(cb_anderson *a, int n, const double *eigenvalue, double c, int iterations, bool faster) {
  double x[N] = {0}, G[N], change = 0;
  if (faster) cb_anderson_start(a);
  for (int k = 0; k <= iterations; k++) {
    image(n, eigenvalue, c, x, G);
    change = 0;
    for (int i = 0; i < N; i++) change = fmax(change, fabs(G[i] - x[i]));
    if (faster)
      cb_anderson_next(a, ones, G, x);
    else
      memcpy(x, G, sizeof x);
  }
  return change;
}

static cb_anderson create(cb_arena *arena) {
  cb_anderson a;
  assert_true(cb_anderson_create(N, arena, &a));
  return a;
}

/* GMRES ends after one iteration per eigenvalue. Here one more is needed, because the first iteration has no earlier
 * iterate from which it could form a difference. */
static void a_linear_problem_ends_after_one_iteration_per_eigenvalue(void **unused) {
  static const double eigenvalue[] = {.8, -.6, .3, 1.7};
  cb_arena *arena = cb_arena_create();
  cb_anderson a = create(arena);
  for (int n = 1; n <= 4; n++) {
    check_at_least(iterate(&a, n, eigenvalue, 0, n, true), n > 1 ? 1e-3 : 0);
    check_at_most(iterate(&a, n, eigenvalue, 0, n + 1, true), 1e-12); /* round-off of numbers up to 10 */
  }
  cb_arena_free(arena);
}

static void a_contraction_that_is_not_linear_is_faster(void **unused) {
  static const double eigenvalue[] = {.04, -.03, .02, .01, .005, -.002};
  cb_arena *arena = cb_arena_create();
  cb_anderson a = create(arena);
  check_at_most(iterate(&a, 6, eigenvalue, 2e-3, 6, true), .03 * iterate(&a, 6, eigenvalue, 2e-3, 6, false));
  check_near(a.kappa, .045, .01); /* the largest eigenvalue .04 plus 2 c x, with c = 2e-3 and x about 1.5 */
  cb_arena_free(arena);
}

static void a_start_forgets(void **unused) {
  static const double eigenvalue[] = {.5, .2};
  cb_arena *arena = cb_arena_create();
  cb_anderson a = create(arena);
  const double first = iterate(&a, 2, eigenvalue, 1e-3, 3, true);
  iterate(&a, 1, eigenvalue, .02, 5, true);
  assert_true(iterate(&a, 2, eigenvalue, 1e-3, 3, true) == first);
  cb_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_linear_problem_ends_after_one_iteration_per_eigenvalue),
      cmocka_unit_test(a_contraction_that_is_not_linear_is_faster),
      cmocka_unit_test(a_start_forgets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
