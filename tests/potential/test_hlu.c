/* Tests of factors of the hierarchical matrix I/2 - D, where D is the matrix of dipoles: residuals by exact rows at
 * every tolerance, the solution of the dense matrix, and the use as a preconditioner of GMRES on a thin body.
 * needs: hmat */
#include "panel_sets.h"
#include "potential/linear_solvers.h"
#include "potential/far.h"

enum { COLUMNS = 5 };

/* Returns the right-hand sides: a constant column, three columns of normals, and a random column. */
static double *right_sides(const cb_panels *p) {
  uint64_t seed = check_seed();
  double *b = malloc((size_t)p->n * COLUMNS * sizeof *b);
  for (int i = 0; i < p->n; i++) {
    b[i] = 1;
    for (int a = 0; a < 3; a++) b[(a + 1) * p->n + i] = p->normal[i][a];
    b[4 * p->n + i] = check_uniform(&seed, -1, 1);
  }
  return b;
}

/* Returns the maximum of |b - (I/2 - D) x|/|b| over the columns, computed from all rows. */
static double residual_of(const cb_panels *p, const double *b, const double *x) {
  double *D = malloc((size_t)p->n * sizeof *D), left[COLUMNS] = {0}, size[COLUMNS] = {0}, worst = 0;
  for (int i = 0; i < p->n; i++) {
    cb_panels_row(p, p->centre[i], p->n, NULL, i, NULL, D);
    for (int k = 0; k < COLUMNS; k++) {
      double r = b[k * p->n + i] - x[k * p->n + i] / 2;
      for (int j = 0; j < p->n; j++) r += D[j] * x[k * p->n + j];
      left[k] += r * r;
      size[k] += b[k * p->n + i] * b[k * p->n + i];
    }
  }
  for (int k = 0; k < COLUMNS; k++) worst = fmax(worst, sqrt(left[k] / size[k]));
  free(D);
  return worst;
}

static void solves(const char *what, cb_panels *p) {
  const double tolerance[] = {1e-2, 1e-4, 1e-8};
  double *b = right_sides(p), *x = malloc((size_t)p->n * COLUMNS * sizeof *x);
  for (int i = 0; i < 3; i++) {
    cb_hlu *h;
    check_ok(cb_hlu_create(p, tolerance[i], &h));
    memcpy(x, b, (size_t)p->n * COLUMNS * sizeof *x);
    check_ok(cb_hlu_solve(h, COLUMNS, x));
    const double residual = residual_of(p, b, x), share = (double)cb_hlu_bytes(h) / p->n / p->n / 8;
    print_message("%s, %d panels, %g: residual %.1e, %.2f of the matrix\n", what, p->n, tolerance[i], residual, share);
    check_at_most(residual, tolerance[i]);
    check_at_most(share, 1);
    cb_hlu_free(h);
  }
  free(b);
  free(x);
  cb_panels_free(p);
}

static void residuals_are_below_the_tolerance(void **unused) {
  solves("sphere", panels_of_ellipsoid(14, 1, 1, 1));
  solves("disc of thickness 1e-3", panels_of_ellipsoid(14, 1, 1, 1e-3 / 2));
  panel_set s = panel_set_room(2 * 12 * 10 * 10);
  panel_set_ellipsoid(&s, 10, (double[3]){1, 1, 1}, (double[3]){-1.005, 0, 0}, 1);
  panel_set_ellipsoid(&s, 10, (double[3]){1, 1, 1}, (double[3]){1.005, 0, 0}, 1);
  solves("two spheres .01 apart", panel_set_close(&s));
  solves("less than a cluster", panels_of_ellipsoid(1, 1, 1, 1));
  s = panel_set_room(400);
  for (int i = 0; i < 400; i++) panel_set_add(&s, (double[3]){0}, (double[3]){1, 0, 0}, (double[3]){0, 1, 0});
  solves("one place", panel_set_close(&s));
}

/* The solution differs from the dense one by its residual times the norm of the inverse, which is about 1e2 here. */
static void the_solution_is_the_dense_one(void **unused) {
  cb_panels *p = panels_of_ellipsoid(8, 1, 0.7, 0.05);
  const size_t n = (size_t)p->n;
  double *b = right_sides(p), *x = malloc(n * COLUMNS * sizeof *x), *a = malloc(n * n * sizeof *a), size = 0;
  int *pivots = malloc(n * sizeof *pivots);
  memcpy(x, b, n * COLUMNS * sizeof *x);
  for (int i = 0; i < p->n; i++) {
    double *row = a + (size_t)i * n;
    cb_panels_row(p, p->centre[i], p->n, NULL, i, NULL, row);
    for (int j = 0; j < p->n; j++) row[j] = -row[j];
    row[i] += 0.5;
  }
  check_ok(cb_potential_factor(p->n, n, a, pivots));
  cb_potential_back(p->n, n, a, pivots, COLUMNS, b);
  cb_hlu *h;
  check_ok(cb_hlu_create(p, 1e-10, &h));
  check_ok(cb_hlu_solve(h, COLUMNS, x));
  for (size_t i = 0; i < n * COLUMNS; i++) size = fmax(size, fabs(b[i]));
  for (size_t i = 0; i < n * COLUMNS; i++) check_near(x[i], b[i], 1e-8 * size);
  cb_hlu_free(h);
  cb_panels_free(p);
  free(a);
  free(b);
  free(x);
  free(pivots);
}

typedef struct thin {
  cb_far *far;
  cb_hlu *h;
  int n;
} thin;

static cb_status product(void *context, int columns, const double *x, double *out) {
  const thin *t = context;
  memset(out, 0, (size_t)columns * (size_t)t->n * sizeof *out);
  const cb_status status = cb_far_apply(t->far, columns, NULL, x, out);
  for (int i = 0; i < columns * t->n; i++) out[i] = x[i] / 2 - out[i];
  return status;
}

static cb_status precondition(void *context, int columns, const double *x, double *out) {
  const thin *t = context;
  memcpy(out, x, (size_t)columns * (size_t)t->n * sizeof *out);
  return cb_hlu_solve(t->h, columns, out);
}

static void coarse_factors_are_a_preconditioner(void **unused) {
  cb_panels *p = panels_of_ellipsoid(14, 1, 1, 1e-3 / 2);
  thin t = {.n = p->n};
  check_ok(cb_far_create(p, 1e-10, &t.far));
  check_ok(cb_hlu_create(p, 1e-2, &t.h));
  double *b = right_sides(p), *x = calloc((size_t)p->n * COLUMNS, sizeof *x);
  cb_krylov *k;
  cb_krylov_result result;
  check_ok(cb_krylov_create(p->n, COLUMNS, 40, &k));
  check_ok(cb_krylov_solve(k, &(cb_krylov_problem){product, precondition, &t, 1e-8, 40}, COLUMNS, b, x, &result));
  print_message("GMRES with factors to 1e-2: %d iterations\n", result.iterations);
  check_at_most(result.iterations, 8); /* each step reduces the residual at least by a factor of 10 */
  check_at_most(residual_of(p, b, x), 1e-7);
  cb_krylov_free(k);
  cb_hlu_free(t.h);
  cb_far_free(t.far);
  cb_panels_free(p);
  free(b);
  free(x);
}

static void wrong_tolerances_are_refused(void **unused) {
  cb_panels *p = panels_of_ellipsoid(2, 1, 1, 1);
  cb_hlu *h = NULL;
  const double wrong[] = {0, -1, 1e-13, 1, NAN};
  for (int i = 0; i < 5; i++) {
    check_error_begins(cb_hlu_create(p, wrong[i], &h), CB_ERROR_ARGUMENT, "a tolerance of ");
    assert_null(h);
  }
  cb_panels_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(residuals_are_below_the_tolerance),
      cmocka_unit_test(the_solution_is_the_dense_one),
      cmocka_unit_test(coarse_factors_are_a_preconditioner),
      cmocka_unit_test(wrong_tolerances_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
