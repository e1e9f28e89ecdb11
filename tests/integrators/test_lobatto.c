/* Tests of Lobatto IIIA-IIIB: its two solvers agree, Newton's matrix is exact, constraints are satisfied to round-off,
 * and damped motion agrees with a reference. */
#include "integrate.h"
#include "reference_gsl.h"

static const char *const spaces[] = {"e3", "s3", "h3", "s3 {curvature: 2.3}", "h3 {curvature: -0.4}", "e2", "s2", "h2"};
enum { SPACES = sizeof spaces / sizeof *spaces, N = 4 };

static void both_solvers_find_the_same_step(void **unused) {
  uint64_t seed = check_seed();
  for (int damped = 0; damped < 2; damped++)
    for (int i = 0; i < SPACES; i++)
      for (int s = 2; s <= 5; s++) {
        body_case c;
        char method[96];
        open_random(&c, spaces[i], N, 0.6, 0.5, 1, damped ? 0.4 : 0, &seed);
        cb_state *start = clone_state(&c);
        double x[2][N * CB_COORD_MAX], p[2][N * CB_COORD_MAX];
        int iterations = 0;
        for (int newton = 0; newton < 2; newton++) {
          snprintf(method, sizeof method, "lobatto {stages: %d, solver: %s}", s, newton ? "newton" : "fixed-point");
          use_method(&c, method);
          check_ok(cb_forces_set_origins(c.integrator->forces, start->origin));
          cb_state_copy(c.state, start);
          for (int k = 0; k < 10; k++) {
            check_ok(cb_integrator_step(c.integrator, c.state, 0.05));
            if (newton && k > 0)
              iterations = c.integrator->iterations > iterations ? c.integrator->iterations : iterations;
          }
          assert_string_equal(c.integrator->solver, newton ? "newton" : "fixed-point");
          memcpy(x[newton], c.state->x, (size_t)(N * c.g->k) * sizeof(double));
          memcpy(p[newton], c.state->p, (size_t)(N * c.g->k) * sizeof(double));
        }
        const double error =
            fmax(check_distance_max(N * c.g->k, x[0], x[1]), check_distance_max(N * c.g->k, p[0], p[1]));
        /* The solvers differ by the round-off of ten steps of numbers of order one. */
        if (!(error <= 1e-13))
          print_error("%s, %d stages%s: solvers differ by %g\n", spaces[i], s, damped ? ", damped" : "", error);
        check_at_most(error, 1e-13);
        /* Newton's method converges quadratically from a prediction with an error of one per cent: the errors are 1e-2,
         * 1e-4, 1e-8 and 1e-16. If the factors of an earlier matrix are used again, one or two more iterations are
         * needed. With a matrix that is not exact, many more would be needed. */
        if (iterations > 6)
          print_error("%s, %d stages%s: %d Newton iterations\n", spaces[i], s, damped ? ", damped" : "", iterations);
        assert_true(iterations <= 6);
        cb_state_free(start);
        close_case(&c);
      }
}

static void constraints_hold_at_every_step(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++) {
    body_case c;
    open_random(&c, spaces[i], N, 0.6, 0.5, 1, 0, &seed);
    use_method(&c, "lobatto");
    double worst = 0;
    for (int k = 0; k < 2000; k++) {
      check_ok(cb_integrator_step(c.integrator, c.state, 0.02));
      recentre(&c);
      for (int a = 0; a < N; a++)
        for (int f = 0; f < c.g->n_factors; f++) {
          const double K = c.g->factor[f].curvature, *x = c.state->x + a * c.g->k, *p = c.state->p + a * c.g->k;
          if (K == 0) continue;
          double size = 0;
          for (int e = 0; e < c.g->k; e++) size += x[e] * x[e];
          worst = fmax(worst, fabs(K * cb_inner(c.g, x, x) - 1) / (1 + fabs(K) * size));
          worst = fmax(worst, fabs(cb_inner(c.g, x, p)) / (1 + size));
        }
    }
    check_at_most(worst, 2e-15);
    close_case(&c);
  }
}

static void damped_motion_agrees_with_the_reference(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++) {
    body_case c;
    open_random(&c, spaces[i], N, 0.6, 0.3, 1, 0.5, &seed);
    double x[N * CB_COORD_MAX], p[N * CB_COORD_MAX];
    const size_t bytes = (size_t)(N * c.g->k) * sizeof(double);
    memcpy(x, c.state->x, bytes);
    memcpy(p, c.state->p, bytes);
    reference_advance(c.system, c.forces, 0, 1, x, p);
    use_method(&c, "lobatto {stages: 5}");
    check_ok(cb_forces_set_origins(c.integrator->forces, c.state->origin));
    for (int k = 0; k < 200; k++) check_ok(cb_integrator_step(c.integrator, c.state, 0.005));
    const double error =
        fmax(check_distance_max(N * c.g->k, x, c.state->x), check_distance_max(N * c.g->k, p, c.state->p));
    /* reference_advance integrates with the tolerance 1e-14 per step. */
    if (!(error <= 1e-11)) print_error("%s: %g\n", spaces[i], error);
    check_at_most(error, 1e-11);
    close_case(&c);
  }
}

static void auto_goes_over_to_newton_where_the_iteration_is_slow(void **unused) {
  uint64_t seed = check_seed();
  body_case c;
  open_random(&c, "s3", N, 0.6, 0.1, 1200, 0, &seed);
  use_method(&c, "lobatto {stages: 3}");
  for (int k = 0; k < 3; k++) check_ok(cb_integrator_step(c.integrator, c.state, 0.05));
  assert_string_equal(c.integrator->solver, "newton");
  close_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_solvers_find_the_same_step),
                                     cmocka_unit_test(constraints_hold_at_every_step),
                                     cmocka_unit_test(damped_motion_agrees_with_the_reference),
                                     cmocka_unit_test(auto_goes_over_to_newton_where_the_iteration_is_slow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
