/* Tests of Newton's method for Gauss stages: its matrices agree with differences, its solutions with the fixed-point
 * iteration. Further tests are of its number of iterations and of the sparse solver that it uses. */
#include "integrate.h"
#include "integrators/gauss.h"
#include "numerics/small.h"
#include "numerics/sparse.h"

static void sparse_systems_are_solved_again_with_new_values(void **unused) {
  uint64_t seed = check_seed();
  enum { N = 200 }; /* more than the dense solver takes, so KLU is used */
  int start[N + 1], row[N * 5], count = 0;
  double value[N * 5], x[N], r[N];
  for (int j = 0; j < N; j++) {
    start[j] = count;
    const int rows[5] = {j - 20, j - 1, j, j + 1, j + 20};
    for (int k = 0; k < 5; k++)
      if (rows[k] >= 0 && rows[k] < N) {
        row[count] = rows[k];
        value[count++] = rows[k] == j;
      }
  }
  start[N] = count;
  cb_sparse *m;
  check_ok(cb_sparse_create(N, start, row, value, &m));
  for (int trial = 0; trial < 3; trial++) {
    for (int e = 0; e < count; e++) cb_sparse_values(m)[e] = check_uniform(&seed, -1, 1);
    memset(r, 0, sizeof r);
    for (int j = 0; j < N; j++) x[j] = check_uniform(&seed, -1, 1);
    for (int j = 0; j < N; j++)
      for (int e = start[j]; e < start[j + 1]; e++) {
        if (row[e] == j && trial < 2) cb_sparse_values(m)[e] += 5; /* the last trial needs new pivots */
        if (row[e] == j && trial == 2) cb_sparse_values(m)[e] = 0;
        r[row[e]] += cb_sparse_values(m)[e] * x[j];
      }
    check_ok(cb_sparse_factor(m));
    cb_sparse_solve(m, r);
    for (int j = 0; j < N; j++) check_near(r[j], x[j], trial < 2 ? 1e-14 : 1e-9);
  }
  memset(cb_sparse_values(m), 0, (size_t)count * sizeof(double));
  assert_int_equal(cb_sparse_factor(m), CB_STEP_SINGULAR);
  cb_sparse_free(m);
}

/* The matrix a = b b^T + I/2 has eigenvalues of at least 1/2. The error of a solution is round-off times the condition
 * number of a. The determinant is computed from LU and from Cholesky factors. */
static void small_systems_are_solved_and_inverted(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 1; n <= CB_SMALL_MAX; n++) {
    double a[CB_SMALL_MAX * CB_SMALL_MAX], b[CB_SMALL_MAX * CB_SMALL_MAX], lu[CB_SMALL_MAX * CB_SMALL_MAX];
    double inverse[CB_SMALL_MAX * CB_SMALL_MAX], det = 1;
    int pivot[CB_SMALL_MAX];
    for (int e = 0; e < n * n; e++) b[e] = check_uniform(&seed, -1, 1);
    for (int e = 0; e < n * n; e++) {
      a[e] = e / n == e % n ? 0.5 : 0;
      for (int k = 0; k < n; k++) a[e] += b[e / n * n + k] * b[e % n * n + k];
    }
    memcpy(lu, a, sizeof a);
    check_ok(cb_dense_factor(n, lu, pivot));
    for (int i = 0; i < n; i++) det *= pivot[i] == i ? lu[i * n + i] : -lu[i * n + i];
    assert_true(cb_cholesky(n, a, 0, b));
    check_relative(cb_cholesky_whole_inverse(n, b, inverse), sqrt(det), 1e-12);
    for (int j = 0; j < n; j++) {
      double unit[CB_SMALL_MAX] = {0}, same[CB_SMALL_MAX] = {0};
      unit[j] = same[j] = 1;
      cb_dense_solve(n, lu, pivot, unit);
      cb_cholesky_solve(n, b, same);
      for (int i = 0; i < n; i++) {
        double product = 0;
        for (int k = 0; k < n; k++) product += a[i * n + k] * inverse[k * n + j];
        check_near(product, i == j, 1e-12);
        check_near(unit[i], inverse[i * n + j], 1e-12);
        check_near(same[i], inverse[i * n + j], 1e-12);
      }
    }
  }
  double none[4] = {1, 2, 2, 4};
  int pivot[2];
  assert_false(cb_cholesky(2, none, 0, none));
  memcpy(none, (double[4]){0, 0, 0, 1}, sizeof none);
  assert_int_equal(cb_dense_factor(2, none, pivot), CB_STEP_SINGULAR);
}

/* For a random vector d, the unknowns z + eps d and z - eps d give the difference dR = (R(z + eps d) - R(z - eps d))/(2
 * eps) of the residual R. If M is Newton's matrix, M^-1 dR must be d. */
static void check_matrix(const char *space, const char *method, int n, double damping, uint64_t *seed) {
  body_case c;
  open_random(&c, space, n, strstr(space, "chart") ? 0.5 : 0.8, 0.7, 3, damping, seed);
  use_method(&c, method);
  cb_gauss *m = c.integrator->self;
  const int unknowns = m->n * m->s * m->dim;
  double *d = calloc((size_t)unknowns, sizeof *d), *r[2], norm;
  for (int i = 0; i < 2; i++) r[i] = calloc((size_t)unknowns, sizeof *r[i]);
  cb_stage_change change = {0};
  m->start = c.state;
  m->h = 0.2;
  check_ok(m->form->predict(m));
  for (int i = 0; i < unknowns; i++) d[i] = check_uniform(seed, -0.01, 0.01);
  check_ok(m->form->residual(m, r[0], &norm)); /* at a point away from the solution */
  check_ok(m->form->correct(m, d, &change));
  for (int i = 0; i < unknowns; i++) d[i] = check_uniform(seed, -1, 1);
  const double eps = 1e-5;
  for (int side = 0; side < 2; side++) {
    double *step = calloc((size_t)unknowns, sizeof *step);
    for (int i = 0; i < unknowns; i++) step[i] = (side ? 2 : -1) * eps * d[i];
    check_ok(m->form->correct(m, step, &change));
    check_ok(m->form->residual(m, r[side], &norm));
    free(step);
  }
  for (int i = 0; i < unknowns; i++) {
    r[0][i] = (r[0][i] - r[1][i]) / (2 * eps);
    r[1][i] = -eps * d[i];
  }
  check_ok(m->form->correct(m, r[1], &change));
  check_ok(m->form->residual(m, r[1], &norm));
  check_ok(m->form->matrix(m, m->matrix));
  check_ok(cb_stage_matrix_factor(m->matrix));
  cb_stage_matrix_solve(m->matrix, r[0]);
  const double error = check_distance_max(unknowns, r[0], d);
  /* The differences with the step eps have errors of eps^2 and round-off/eps. */
  if (!(error <= 1e-7)) print_error("%s in %s, damping %g: matrix differs by %g\n", method, space, damping, error);
  check_at_most(error, 1e-7);
  for (int i = 0; i < 2; i++) free(r[i]);
  free(d);
  close_case(&c);
}

static const char *const charts[] = {"s3 {chart: polar}", "h3 {chart: polar}", "e3 {chart: polar}",
                                     "h3 {chart: polar, curvature: -0.6}", "s2 {chart: polar}"};
static const char *const embeddings[] = {"e3", "s3",   "h3",  "s3 {curvature: 0.5}", "h3 {curvature: -1.7}", "s2",
                                         "h2", "h2xe", "exs2"};
enum { CHARTS = sizeof charts / sizeof *charts, EMBEDDINGS = sizeof embeddings / sizeof *embeddings };

static void matrices_in_charts_match_differences(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < CHARTS; i++)
    for (int damped = 0; damped < 2; damped++) {
      check_matrix(charts[i], "gauss {stages: 3, solver: newton}", 3, 0.5 * damped, &seed);
      check_matrix(charts[i], "gauss {stages: 2, solver: newton, form: velocity}", 3, 0.5 * damped, &seed);
    }
  check_matrix(charts[0], "gauss {stages: 3, solver: newton}", 12, 0, &seed); /* 12 particles: sparse factors by KLU */
}

static void matrices_in_moving_charts_match_differences(void **unused) {
  uint64_t seed = check_seed();
  static const char *const kinds[] = {"symmetric: true", "symmetric: false", "symmetric: true, balance: false",
                                      "symmetric: false, balance: false"};
  for (int i = 0; i < EMBEDDINGS; i++)
    for (int k = 0; k < 4; k++)
      for (int damped = 0; damped < 2; damped++) {
        char method[96];
        snprintf(method, sizeof method, "gauss {stages: %d, solver: newton, %s}", 1 + (i + k) % 4, kinds[k]);
        check_matrix(embeddings[i], method, 3, 0.5 * damped, &seed);
      }
  check_matrix("h3", "gauss {stages: 3, solver: newton}", 12, 0, &seed); /* 12 particles: sparse factors by KLU */
}

static void newton_and_fixed_point_find_the_same_stages(void **unused) {
  uint64_t seed = check_seed();
  static const char *const spaces[] = {"s3", "h3", "h2xe", "s3 {chart: polar}", "h3 {chart: polar}"};
  for (int i = 0; i < 5 + EMBEDDINGS;
       i++) { /* five cases of gauss, then cases of lobatto, which has separate loops for Newton's method */
    body_case c;
    open_random(&c, i < 5 ? spaces[i] : embeddings[i - 5], 5, 0.8, 0.5, 2, 0, &seed);
    cb_state *start = clone_state(&c), *end[2];
    for (int newton = 0; newton < 2; newton++) {
      char method[64];
      snprintf(method, sizeof method, "%s {stages: 3, solver: %s}", i < 5 ? "gauss" : "lobatto",
               newton ? "newton" : "fixed-point");
      use_method(&c, method);
      cb_state_copy(c.state, start);
      for (int k = 0; k < 5; k++) check_ok(cb_integrator_step(c.integrator, c.state, 0.1));
      assert_string_equal(c.integrator->solver, newton ? "newton" : "fixed-point");
      end[newton] = clone_state(&c);
    }
    check_at_most(check_distance_max(c.state->n * c.state->k, end[0]->x, end[1]->x), 1e-13);
    check_at_most(check_distance_max(c.state->n * c.state->k, end[0]->p, end[1]->p), 1e-13);
    cb_state_free(start);
    cb_state_free(end[0]);
    cb_state_free(end[1]);
    close_case(&c);
  }
}

/* For the rod and the triangle in polar charts of H3 and S3, Newton's method needs at most two iterations per step,
 * in the forms `canonical` and `velocity`, with h = 0.1 and 0.01. The first step is not counted, because it has no
 * stages of a previous step to start from. */
static void newton_takes_at_most_two_iterations_a_step(void **unused) {
  for (int body = 0; body < 2; body++)
    for (int space = 0; space < 2; space++)
      for (int form = 0; form < 2; form++)
        for (int fine = 0; fine < 2; fine++) {
          body_case c;
          char method[128];
          open_thesis(&c, space ? "s3 {chart: polar}" : "h3 {chart: polar}", body);
          snprintf(method, sizeof method, "gauss {stages: 3, solver: newton, tolerance: 1e-11, form: %s}",
                   form ? "velocity" : "canonical");
          use_method(&c, method);
          const double h = fine ? 0.01 : 0.1;
          int most = 0, total = 0, steps = fine ? 1000 : 100;
          for (int i = 0; i < steps; i++) {
            check_ok(cb_integrator_step(c.integrator, c.state, h));
            total += c.integrator->iterations;
            if (i > 0 && c.integrator->iterations > most)
              most = c.integrator->iterations; /* the first step has no previous step to start from */
          }
          if (most > 2 || getenv("CB_TEST_VERBOSE"))
            print_message("%s in %s, %s, h = %g: at most %d iterations, %.2f on average\n", body ? "triangle" : "rod",
                          space ? "s3" : "h3", form ? "velocity" : "canonical", h, most, (double)total / steps);
          check_at_most(most, 2);
          close_case(&c);
        }
}

/* Creates four particles in a ring of stiff springs that have their rest lengths at the start. */
static void open_stiff_ring(body_case *c, const char *space, uint64_t *seed) {
  open_space(c, space);
  double base[CB_COORD_MAX], v[CB_COORD_MAX], aside[CB_COORD_MAX], x[CB_COORD_MAX];
  const double angle[4] = {0.3, 1.7, 3.2, 5.1};
  cb_space_base_point(c->g, base);
  cb_isometry move;
  check_random_tangent(c->g, seed, base, 1, v);
  for (int e = 0; e < c->g->embedding; e++) v[e] *= 1.2 / sqrt(cb_inner(c->g, v, v));
  cb_exp(c->g, base, v, aside, NULL);
  cb_isometry_to(c->g, aside, &move);
  double frame[CB_DIM_MAX * CB_COORD_MAX];
  cb_space_frame(c->g, base, frame);
  for (int a = 0; a < 4; a++) {
    double near[CB_COORD_MAX];
    for (int e = 0; e < c->g->embedding; e++)
      v[e] = 0.4 * (cos(angle[a]) * frame[e] + sin(angle[a]) * frame[c->g->embedding + e]);
    cb_exp(c->g, base, v, near, NULL);
    cb_isometry_point(c->g, &move, near, x);
    check_random_tangent(c->g, seed, x, 0.1, v);
    add_particle(c, check_uniform(seed, 0.5, 2), x, v);
  }
  for (int a = 0; a < 4; a++) check_ok(cb_builder_spring(c->builder, a, (a + 1) % 4, 1e4, -1, 0));
  finish_system(c);
}

/* The springs are so stiff that the fixed-point iteration does not converge: h^2 k/m is about 25, with step h,
 * stiffness k and mass m. */
static void auto_goes_over_to_newton_where_fixed_point_fails(void **unused) {
  uint64_t seed = check_seed();
  static const char *const spaces[] = {"s3", "h3", "s3 {chart: polar}"};
  for (int i = 0; i < 3; i++) {
    body_case c;
    open_stiff_ring(&c, spaces[i], &seed);
    cb_state *start = clone_state(&c);
    const double h = 0.05;
    use_method(&c, "gauss {stages: 2, solver: fixed-point, iterations: 30}");
    assert_int_equal(cb_integrator_step(c.integrator, c.state, h) > 0, 1);
    assert_memory_equal(c.state->x, start->x, (size_t)(c.state->n * c.state->k) * sizeof(double));
    assert_memory_equal(c.state->p, start->p, (size_t)(c.state->n * c.state->k) * sizeof(double));
    use_method(&c, "gauss {stages: 2}");
    check_ok(cb_integrator_step(c.integrator, c.state, h));
    assert_string_equal(c.integrator->solver, "newton");
    cb_integrator_reset(c.integrator);
    assert_string_equal(c.integrator->solver, "fixed-point");
    cb_state_free(start);
    close_case(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sparse_systems_are_solved_again_with_new_values),
      cmocka_unit_test(small_systems_are_solved_and_inverted),
      cmocka_unit_test(matrices_in_charts_match_differences),
      cmocka_unit_test(matrices_in_moving_charts_match_differences),
      cmocka_unit_test(newton_and_fixed_point_find_the_same_stages),
      cmocka_unit_test(newton_takes_at_most_two_iterations_a_step),
      cmocka_unit_test(auto_goes_over_to_newton_where_fixed_point_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
