/* Tests of Lobatto IIIA-IIIB in static charts: its two solvers agree, Newton's matrix agrees with differences, restarts
 * continue bit for bit, and a failed step does not change the state. */
#include "chart_linkage.h"
#include "integrator_claims.h"
#include "integrators/lobatto_chart_private.h"
#include <curvebody/pair_potential.h>

static void both_solvers_find_the_same_step(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < CHART_SPACES; i++)
    for (int kind = 0; kind < 4; kind++)
      for (int s = 2; s <= 5; s++) {
        body_case c;
        const linkage f = {kind % 2, kind > 1 ? 0.4 : 0, 1, kind == 1, 0};
        double x[2][NUMBERS], p[2][NUMBERS];
        int iterations = 0;
        for (int newton = 0; newton < 2; newton++) {
          uint64_t own = seed + (uint64_t)i;
          open_case(&c, chart_spaces[i], f, method_of(s, newton ? "newton" : "fixed-point"), &own);
          for (int k = 0; k < 10; k++) {
            advance(&c, 0.05, 1);
            if (newton && k > 0)
              iterations = c.integrator->iterations > iterations ? c.integrator->iterations : iterations;
          }
          assert_string_equal(c.integrator->solver, newton ? "newton" : "fixed-point");
          memcpy(x[newton], c.state->x, (size_t)(N * c.g->k) * sizeof(double));
          memcpy(p[newton], c.state->p, (size_t)(N * c.g->k) * sizeof(double));
          if (!newton) close_case(&c);
        }
        const double error =
            fmax(check_distance_max(N * c.g->k, x[0], x[1]), check_distance_max(N * c.g->k, p[0], p[1]));
        if (!(error <= 1e-13) || iterations > 6 || getenv("CB_TEST_VERBOSE"))
          print_error("%s, kind %d, %d stages: solvers differ by %g, %d Newton iterations\n", chart_spaces[i], kind, s,
                      error, iterations);
        /* The solvers differ by the round-off of ten steps of numbers of order one. */
        check_at_most(error, 1e-13);
        /* Newton's method converges quadratically. If the factors of an earlier matrix are used again, one or two more
         * iterations are needed. */
        assert_true(iterations <= 6);
        close_case(&c);
      }
}

/* There are more unknowns than a dense matrix may have, so Newton's method uses sparse factors, with the multipliers as
 * unknowns. */
static void both_solvers_find_the_same_step_of_a_chain(void **unused) {
  enum { LINKS = 24, STEPS = 10 };
  double x[2][3 * (LINKS + 1)];
  body_case c;
  for (int newton = 0; newton < 2; newton++) {
    open_space(&c, "h3 {chart: polar}");
    const double rest[3] = {0}, centre[3] = {1.5, 1, 0.3};
    for (int a = 0; a <= LINKS; a++) {
      const double q[3] = {0.8 + 0.03 * a, 1.2 + 0.2 * sin(a), 0.1 * a};
      check_ok(cb_builder_particle(c.builder, NULL, 1 + 0.5 * cos(a), 0, 0, q, rest, NULL));
      if (a) check_ok(cb_builder_rod(c.builder, NULL, a - 1, a, (cb_target){NAN, NULL}));
    }
    check_ok(cb_builder_central(c.builder, -1, "harmonic", &(cb_pair_parameters){2, 0, NULL}, centre));
    finish_system(&c);
    use_method(&c, method_of(3, newton ? "newton" : "fixed-point"));
    advance(&c, 0.02, STEPS);
    memcpy(x[newton], c.state->x, sizeof x[newton]);
    if (!newton) close_case(&c);
  }
  const double error = check_distance_max(3 * (LINKS + 1), x[0], x[1]);
  double d[LINKS], off = 0;
  check_ok(cb_constraints_eval(cb_forces_constraints(c.forces), c.state->t, c.state->x, d, NULL));
  for (int r = 0; r < LINKS; r++) off = fmax(off, fabs(d[r]));
  if (getenv("CB_TEST_VERBOSE"))
    print_error("chain: solvers differ by %g, rods off by %g, %d Newton iterations\n", error, off,
                c.integrator->iterations);
  check_at_most(error, 1e-13);
  check_at_most(off, 1e-14);
  close_case(&c);
}

/* For a random vector d, the unknowns y + eps d and y - eps d give the difference dR = (R(y + eps d) - R(y - eps d))/(2
 * eps) of the residual R. If M is Newton's matrix, M^-1 dR must be d. */
static void check_matrix(const char *space, linkage f, int stages, uint64_t *seed) {
  body_case c;
  open_case(&c, space, f, "lobatto", seed);
  const cb_lobatto_options options = {stages, CB_SOLVER_NEWTON, 100, 0, true};
  void *form;
  check_ok(cb_lobatto_chart_form.create(c.integrator, &options, &form));
  cb_lobatto_chart *m = form;
  check_ok(
      cb_lobatto_chart_form.step(m, c.state, 0.1)); /* computes forces and gradients at the start of the next step */
  m->h = 0.2;
  for (int i = 0; i < stages; i++) /* unknowns that are not the solution of the step */
    for (size_t e = 0; e < m->count; e++)
      m->z[(size_t)i * m->count + e] = m->h * ((i ? m->tableau.c[i] : 1) * m->u[e] + check_uniform(seed, -0.05, 0.05));
  for (int k = 0; k < stages - 1; k++)
    for (int r = 0; r < m->rows; r++) cb_lobatto_chart_multipliers(m, k)[r] += check_uniform(seed, -0.3, 0.3);
  const int unknowns = cb_lobatto_chart_newton_unknowns(m->newton);
  double *d = calloc((size_t)unknowns, sizeof *d), *by = calloc((size_t)unknowns, sizeof *by), *r[2];
  for (int i = 0; i < unknowns; i++) d[i] = check_uniform(seed, -1, 1);
  const double eps = 1e-5, move[3] = {-eps, 2 * eps, -eps};
  for (int side = 0; side < 3; side++) {
    for (int i = 0; i < unknowns; i++) by[i] = move[side] * d[i];
    cb_lobatto_chart_newton_correct(m, by, &(cb_stage_change){0});
    if (side < 2) {
      r[side] = calloc((size_t)unknowns, sizeof *r[side]);
      check_ok(cb_lobatto_chart_newton_residual(m->newton, m, false, r[side]));
    }
  }
  for (int i = 0; i < unknowns; i++) by[i] = (r[0][i] - r[1][i]) / (2 * eps);
  check_ok(cb_lobatto_chart_newton_residual(m->newton, m, true, r[0]));
  check_ok(cb_lobatto_chart_newton_factor(m->newton, m));
  cb_lobatto_chart_newton_apply(m->newton, by);
  const double error = check_distance_max(unknowns, by, d);
  if (!(error <= 1e-5) || getenv("CB_TEST_VERBOSE"))
    print_error("%s, %d stages, rods %d, damping %g: %d unknowns, matrix off by %g\n", space, stages, f.rods, f.damping,
                unknowns, error);
  /* The differences with the step eps have errors of eps^2 and of round-off/eps, multiplied by the inverse of the
   * matrix. */
  check_at_most(error, 1e-5);
  for (int side = 0; side < 2; side++) free(r[side]);
  free(d);
  free(by);
  cb_lobatto_chart_form.destroy(m);
  close_case(&c);
}

static void the_newton_matrix_is_that_of_differences(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < CHART_SPACES; i++)
    for (int s = 2; s <= 5; s++)
      for (int kind = 0; kind < 4; kind++)
        check_matrix(chart_spaces[i], (linkage){kind % 2, kind > 1 ? 0.7 : 0, 3, kind == 3, 2}, s, &seed);
}

static void auto_goes_over_to_newton_where_the_iteration_is_slow(void **unused) {
  uint64_t seed = check_seed();
  body_case c;
  open_random(&c, "s3 {chart: polar}", N, 0.6, 0.1, 300, 0, &seed);
  use_method(&c, "lobatto {stages: 3, iterations: 10}");
  advance(&c, 0.05, 3);
  assert_string_equal(c.integrator->solver, "newton");
  close_case(&c);
  open_case(&c, "s3 {chart: polar}", (linkage){true, 0, 1, false, 0}, "lobatto {iterations: 6}", &seed);
  advance(&c, 0.2, 3);
  assert_string_equal(c.integrator->solver, "newton");
  check_at_most(residual(&c), 1e-14);
  close_case(&c);
}

static void a_restart_repeats_the_bytes(void **unused) {
  uint64_t seed = check_seed();
  for (int kind = 0; kind < 4; kind++) {
    const bool newton = kind % 2;
    body_case c;
    open_case(&c, "h3 {chart: polar}", (linkage){true, kind > 1 ? 0.1 : 0, 1, true, 0},
              method_of(4, newton ? "newton" : "fixed-point"), &seed);
    check_restart(&c, NULL, newton ? "newton" : "fixed-point");
    close_case(&c);
  }
}

static void a_failed_step_leaves_the_state_and_a_smaller_one_works(void **unused) {
  uint64_t seed = check_seed();
  for (int newton = 0; newton < 2; newton++)
    for (int rods = 0; rods < 2; rods++) {
      body_case c;
      open_case(&c, "h3 {chart: poincare}", (linkage){rods, 0, 1, false, 0},
                method_of(3, newton ? "newton" : "fixed-point"), &seed);
      advance(&c, 0.03, 3);
      cb_state *start = clone_state(&c);
      const size_t bytes = (size_t)(N * c.g->k) * sizeof(double);
      const cb_status status = cb_integrator_step(c.integrator, c.state, 1e4);
      assert_true(status > 0);
      assert_memory_equal(start->x, c.state->x, bytes);
      assert_memory_equal(start->p, c.state->p, bytes);
      assert_memory_equal(start->x_low, c.state->x_low, bytes);
      assert_true(start->t == c.state->t);
      advance(&c, 0.03, 3);
      if (rods) check_at_most(residual(&c), 1e-14);
      cb_state_free(start);
      close_case(&c);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_solvers_find_the_same_step),
      cmocka_unit_test(both_solvers_find_the_same_step_of_a_chain),
      cmocka_unit_test(the_newton_matrix_is_that_of_differences),
      cmocka_unit_test(auto_goes_over_to_newton_where_the_iteration_is_slow),
      cmocka_unit_test(a_restart_repeats_the_bytes),
      cmocka_unit_test(a_failed_step_leaves_the_state_and_a_smaller_one_works),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
