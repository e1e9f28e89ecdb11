/* Tests of Radau IIA: fixed-point sweeps agree with Newton's method, the Newton matrix agrees with differences, and
 * constraints are satisfied to round-off. Further tests are of stiff springs and of restarts. */
#include "radau.h"

static const char *const modes[] = {"stages: 1",
                                    "stages: 2",
                                    "stages: 3",
                                    "stages: 5",
                                    "stages: 3, constraints: position",
                                    "stages: 2, constraints: velocity",
                                    "stages: 3, constraints: acceleration"};
enum { MODES = sizeof modes / sizeof *modes };

static void sweeps_and_newton_agree(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int j = 0; j < MODES; j++) {
      double x[2][MOST], p[2][MOST];
      for (int newton = 0; newton < 2; newton++) {
        body_case c;
        uint64_t own = seed + (uint64_t)i;
        char method[96];
        open_chain(&c, spaces[i], 2, NULL, &own);
        snprintf(method, sizeof method, "radau_iia {%s, solver: %s}", modes[j], newton ? "newton" : "fixed-point");
        use_radau(&c, method);
        for (int step = 0; step < 20; step++) check_ok(cb_integrator_step(c.integrator, c.state, 0.02));
        assert_string_equal(c.integrator->solver, newton ? "newton" : "fixed-point");
        memcpy(x[newton], c.state->x, (size_t)(3 * c.g->k) * sizeof(double));
        memcpy(p[newton], c.state->p, (size_t)(3 * c.g->k) * sizeof(double));
        if (newton) {
          const double error =
              fmax(check_distance_max(3 * c.g->k, x[0], x[1]), check_distance_max(3 * c.g->k, p[0], p[1]));
          if (!(error <= 1e-13)) print_error("%s %s: %g\n", spaces[i], modes[j], error);
          check_at_most(error, 1e-13);
        }
        close_case(&c);
      }
    }
}

/* Adds `by` to unknown number u of Newton's method, in the units of that unknown. With the step h, `by` is divided by h
 * for the velocities of stages and the multipliers mu of rates, and by h^2 for the multipliers lambda. */
static void displace(cb_radau *m, int u, double by) {
  const int each = m->newton->each, i = u / each, at = u % each, count = (int)m->count;
  if (at < count)
    cb_radau_of(m, m->D, i)[at] += by;
  else if (at < 2 * count)
    cb_radau_of(m, m->E, i)[at - count] += by / m->h;
  else if (at < 2 * count + m->R)
    cb_radau_lambda(m, i)[at - 2 * count] += by / (m->h * m->h);
  else
    cb_radau_row(m, m->mu, i)[at - 2 * count - m->R] += by / m->h;
}

static void the_newton_matrix_is_the_derivative_of_the_residual(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int j = 0; j < MODES; j++)
      for (int law = 0; law < 2; law++) {
        body_case c;
        uint64_t own = seed + (uint64_t)i;
        char method[96];
        open_chain(&c, spaces[i], 2, law ? "0.8 + 0.1*sin(t)" : NULL, &own);
        snprintf(method, sizeof method, "radau_iia {%s, solver: newton}", modes[j]);
        use_radau(&c, method);
        check_ok(cb_integrator_step(c.integrator, c.state, 0.1));
        cb_radau *m = c.integrator->self;
        m->start = c.state;
        m->h = 0.3;
        check_ok(cb_radau_predict(m, false));
        /* Each unknown of Newton's method is changed by a random number between -1e-3 and 1e-3, in its units. */
        const int n = cb_radau_unknowns(m);
        for (int u = 0; u < n; u++) displace(m, u, check_uniform(&own, -1e-3, 1e-3));
        check_ok(cb_radau_evaluate(m));
        check_ok(cb_radau_matrix(m));
        /* The matrix times a vector agrees with a difference in the direction of this vector, for three vectors. */
        double worst = 0;
        for (int probe = 0; probe < 3; probe++) {
          double *direction = calloc((size_t)n, sizeof *direction), *difference = calloc((size_t)n, sizeof *difference);
          double *product = calloc((size_t)n, sizeof *product);
          for (int u = 0; u < n; u++) direction[u] = check_uniform(&own, -1, 1);
          const double eps = 1e-5, weight[4] = {1 / 12.0, -8 / 12.0, 8 / 12.0, -1 / 12.0};
          for (int q = 0; q < 4; q++) {
            const double to = (q < 2 ? q - 2 : q - 1) * eps;
            for (int u = 0; u < n; u++) displace(m, u, to * direction[u]);
            check_ok(cb_radau_evaluate(m));
            const double *r = cb_radau_residual(m);
            for (int u = 0; u < n; u++) difference[u] += weight[q] * r[u] / eps;
            for (int u = 0; u < n; u++) displace(m, u, -to * direction[u]);
          }
          check_ok(cb_radau_evaluate(m));
          check_ok(cb_radau_matrix(m));
          check_ok(cb_sparse_factor(cb_radau_sparse(m)));
          /* The difference is M d for the matrix M and the direction d. The entries of M are not accessed: solving with
           * M must give d. */
          memcpy(product, difference, (size_t)n * sizeof *product);
          cb_sparse_solve(cb_radau_sparse(m), product);
          worst = fmax(worst, check_distance_max(n, product, direction));
          free(direction);
          free(difference);
          free(product);
        }
        if (!(worst <= 1e-5)) print_error("%s %s law %d: %g\n", spaces[i], modes[j], law, worst);
        check_at_most(worst, 1e-5);
        close_case(&c);
      }
}

static void rows_hold_to_round_off_after_every_step(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int j = 0; j < MODES; j++) {
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      char method[96];
      double worst = 0;
      open_chain(&c, spaces[i], 2, j % 2 ? "0.8 + 0.1*sin(t)" : NULL, &own);
      snprintf(method, sizeof method, "radau_iia {%s}", modes[j]);
      use_radau(&c, method);
      for (int step = 0; step < 50; step++) {
        advance(&c, 0.05, 1);
        worst = fmax(worst, residual(&c));
      }
      if (!(worst <= 2e-14)) print_error("%s %s: %g\n", spaces[i], modes[j], worst);
      check_at_most(worst, 2e-14); /* a hundred units in the last place of numbers of size 2 */
      close_case(&c);
    }
}

/* In steps of h = .1, springs of frequency 1e5 (1e3 in a chart) move like rods, except for an error of the size
 * tension/stiffness. */
static void stiff_damped_springs_take_long_steps(void **unused) {
  static const char *const where[] = {"e3", "h3", "s3", "h2xe", "h3 {chart: polar}"};
  for (int i = 0; i < 5; i++) {
    body_case springs, rods;
    uint64_t seed = check_seed(), same = seed;
    /* In a chart the springs are softer, because a step along curved coordinates stretches them more. */
    const double stiffness = i < 4 ? 1e10 : 1e6;
    open_body(&springs, where[i], 0, NULL, stiffness, 1e-6 * stiffness, &seed);
    open_body(&rods, where[i], 3, NULL, 0, 0, &same);
    /* Both bodies start with velocities that keep the lengths of the rods. */
    memcpy(springs.state->p, rods.state->p, (size_t)(3 * rods.g->k) * sizeof(double));
    use_radau(&springs, "radau_iia");
    use_radau(&rods, "radau_iia");
    for (int step = 0; step < 20; step++) {
      check_ok(cb_integrator_step(springs.integrator, springs.state, 0.1));
      check_ok(cb_integrator_step(rods.integrator, rods.state, 0.1));
    }
    assert_string_equal(springs.integrator->solver, "newton");
    const double error = check_distance_max(3 * rods.g->k, springs.state->x, rods.state->x);
    if (getenv("CB_TEST_VERBOSE")) print_message("%s: %g\n", where[i], error);
    check_at_most(error, i < 4 ? 1e-8 : 1e-5); /* stretch = tension/stiffness, and errors of the integrator */
    close_case(&springs);
    close_case(&rods);
  }
}

static void restart_with_rods_repeats_the_bytes(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int j = 0; j < MODES; j++) {
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      char method[96];
      open_chain(&c, spaces[i], 2, NULL, &own);
      snprintf(method, sizeof method, "radau_iia {%s}", modes[j]);
      use_radau(&c, method);
      const size_t bytes = (size_t)(3 * c.g->k) * sizeof(double);
      advance(&c, 0.03, 5);
      cb_integrator_reset(c.integrator);
      cb_state *middle = clone_state(&c);
      advance(&c, 0.03, 5);
      cb_state *end = clone_state(&c);
      const double lambda = c.integrator->multipliers[0];
      use_radau(&c, method);
      cb_state_copy(c.state, middle);
      advance(&c, 0.03, 5);
      assert_memory_equal(end->x, c.state->x, bytes);
      assert_memory_equal(end->p, c.state->p, bytes);
      assert_memory_equal(end->x_low, c.state->x_low, bytes);
      assert_true(lambda == c.integrator->multipliers[0]);
      cb_state_free(middle);
      cb_state_free(end);
      close_case(&c);
    }
}

/* A hanging chain of 40 unequal links: Newton's method with the sparse matrix and fixed-point sweeps give the same
 * motion. */
static void long_chains_agree(void **unused) {
  enum { LINKS = 40, NUMBERS = (LINKS + 1) * CB_COORD_MAX };
  static const char *const where[] = {"e3", "h3", "s3"};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < MODES; j++) {
      static double x[2][NUMBERS];
      for (int newton = 0; newton < 2; newton++) {
        body_case c;
        char method[96];
        uint64_t seed = 11;
        double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], at[CB_COORD_MAX];
        const double none[CB_COORD_MAX] = {0};
        open_space(&c, where[i]);
        cb_space_base_point(c.g, base);
        cb_space_frame(c.g, base, frame);
        for (int a = 0; a <= LINKS; a++) {
          const double place[3] = {0.8 * cos(0.15 * a), 0.8 * sin(0.15 * a), 0.01 * a};
          double tangent[CB_COORD_MAX] = {0};
          for (int d = 0; d < 3; d++)
            for (int e = 0; e < c.g->k; e++) tangent[e] += place[d] * frame[d * c.g->k + e];
          cb_exp(c.g, base, tangent, at, NULL);
          add_particle(&c, check_uniform(&seed, 0.5, 2), at, none);
          if (a) check_ok(cb_builder_rod(c.builder, NULL, a - 1, a, (cb_target){NAN, NULL}));
        }
        check_ok(cb_builder_potential(c.builder, -1, NULL, "0.7*m*x + 0.2*m*y*z"));
        finish_system(&c);
        snprintf(method, sizeof method, "radau_iia {%s, solver: %s}", modes[j], newton ? "newton" : "fixed-point");
        use_radau(&c, method);
        for (int step = 0; step < 10; step++) check_ok(cb_integrator_step(c.integrator, c.state, 0.01));
        memcpy(x[newton], c.state->x, (size_t)((LINKS + 1) * c.g->k) * sizeof(double));
        if (newton) check_at_most(check_distance_max((LINKS + 1) * c.g->k, x[0], x[1]), 1e-13);
        close_case(&c);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sweeps_and_newton_agree),
      cmocka_unit_test(long_chains_agree),
      cmocka_unit_test(the_newton_matrix_is_the_derivative_of_the_residual),
      cmocka_unit_test(rows_hold_to_round_off_after_every_step),
      cmocka_unit_test(stiff_damped_springs_take_long_steps),
      cmocka_unit_test(restart_with_rods_repeats_the_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
