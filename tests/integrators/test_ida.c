/* Tests of IDA, the integrator of SUNDIALS. Its Jacobian agrees with differences. Its motion agrees with closed forms,
 * and with Runge-Kutta solutions of the equation of motion from which the multipliers were eliminated. Constraints are
 * satisfied to round-off, and errors follow the tolerances. */
#include "integrators/ida_private.h"
#include "linked.h"
#include "reference_constrained.h"
#include "reference_gsl.h"

static void its_jacobian_is_that_of_the_differences(void **unused) {
  uint64_t seed = check_seed();
  static const links kinds[] = {NONE, RODS_AND_SPRING, BREATHING, DAMPED};
  for (int i = 0; i < KINDS_OF_SPACE; i++)
    for (int kind = 0; kind < 4; kind++) {
      body_case c;
      open_figure(&c, every_kind_of_space[i], 3, kinds[kind], 0.5, &seed);
      double value[2][100 * 100] = {{0}};
      int size = 0;
      for (int sparse = 0; sparse < 2; sparse++) {
        use_method(&c, sparse ? "ida {solver: klu}" : "ida {solver: dense}");
        cb_ida *m = c.integrator->self;
        uint64_t own = seed;
        double y[100], yp[100], r[2][100];
        size = m->size;
        velocities(&c, y + m->nk);
        memcpy(y, c.state->x, (size_t)m->nk * sizeof *y);
        /* The state does not satisfy the constraints, and both kinds of multipliers are random. */
        for (int e = 0; e < size; e++) {
          y[e] = (e < 2 * m->nk ? y[e] : 0) + check_uniform(&own, -0.01, 0.01);
          yp[e] = check_uniform(&own, -1, 1);
        }
        const double t = 0.3, cj = 7.3;
        cb_entries_begin(&m->entries, value[sparse]);
        check_ok(cb_ida_jacobian(m, t, cj, y, yp));
        if (sparse) {
          static double full[100 * 100];
          memset(full, 0, sizeof full);
          for (int col = 0; col < size; col++)
            for (int e = m->columns.start[col]; e < m->columns.start[col + 1]; e++)
              full[m->columns.row[e] + col * size] = value[1][e];
          check_near(check_distance_max(size * size, value[0], full), 0, 0);
          continue;
        }
        for (int col = 0; col < size; col++) {
          const double eps = 1e-5, keep = y[col], keep_p = yp[col];
          for (int side = 0; side < 2; side++) {
            y[col] = keep + (side ? -eps : eps);
            yp[col] = keep_p + (side ? -eps : eps) * cj;
            check_ok(cb_ida_residual(m, t, y, yp, r[side]));
          }
          y[col] = keep;
          yp[col] = keep_p;
          for (int row = 0; row < size; row++) {
            const double difference = (r[0][row] - r[1][row]) / (2 * eps);
            /* Central differences with the step eps have the errors eps^2 times third derivatives, and
             * round-off/eps. */
            if (!(fabs(value[0][row + col * size] - difference) <= 3e-8 * (1 + fabs(difference))))
              print_error("%s, kind %d: row %d column %d of %d\n", every_kind_of_space[i], kind, row, col, size);
            check_near(value[0][row + col * size], difference, 3e-8 * (1 + fabs(difference)));
          }
        }
      }
      close_case(&c);
    }
}

static void it_starts_consistently(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < KINDS_OF_SPACE; i++) {
    body_case c;
    open_figure(&c, every_kind_of_space[i], 3, BREATHING, 0.5, &seed);
    use_method(&c, "ida");
    cb_ida *m = c.integrator->self;
    double r[100], lambda[100], acceleration[100];
    check_ok(cb_ida_start(m, c.state));
    const double *y = N_VGetArrayPointer(m->y), *yp = N_VGetArrayPointer(m->yp);
    check_ok(cb_ida_residual(m, 0, y, yp, r));
    for (int e = 0; e < m->size; e++) check_near(r[e], 0, 1e-13);
    /* cb_gram_multipliers computes in another way the acceleration that keeps the rates of the constraints zero. */
    check_ok(cb_gram_multipliers(m->gram, 0, y, y + m->nk, lambda, acceleration));
    check_near(check_distance_max(m->nk, yp + m->nk, acceleration), 0, 1e-12);
    close_case(&c);
  }
}

static void it_solves_the_underlying_equation_in_every_space(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < KINDS_OF_SPACE; i++)
    for (int kind = NONE; kind <= DAMPED; kind++) {
      body_case c;
      open_figure(&c, every_kind_of_space[i], 3, (links)kind, 0.5, &seed);
      use_method(&c, "ida {rtol: 1e-11, atol: 1e-13}");
      double x[MOST], v[MOST];
      memcpy(x, c.state->x, sizeof(double) * (size_t)(c.state->n * c.state->k));
      velocities(&c, v);
      constrained_advance(c.forces, (size_t)(c.state->n * c.state->k), 0, 2, x, v);
      double off = 0;
      for (int s = 0; s < 20; s++) {
        advance(&c, 0.1, 1);
        off = fmax(off, residual(&c));
      }
      check_near(c.state->t, 2, 1e-15);
      const double error = miss(&c, x, v);
      /* The motion amplifies the errors of some hundred steps, each with a relative error of 1e-11. */
      if (!(error <= 2e-9 && off <= 2e-14))
        print_error("%s, links %d: error %.3g, rows off by %.3g\n", every_kind_of_space[i], kind, error, off);
      check_at_most(error, 2e-9);
      check_at_most(off, 2e-14);
      close_case(&c);
    }
}

static void rigid_bodies_follow_the_killing_flow_with_its_multipliers(void **unused) {
  static const char *const name[] = {"h3", "s3", "e3"}, *const field[] = {"boost_x", "rotation_z", "translation_x"};
  static const double pull[] = {0.5876005968219, -0.4207354924039, 0};
  for (int i = 0; i < 3; i++)
    for (int triangle = 0; triangle < 2; triangle++) {
      body_case c;
      open_rigid(&c, name[i], triangle);
      use_method(&c, "ida {rtol: 1e-12, atol: 1e-14}");
      cb_state *start = clone_state(&c);
      for (int s = 1; s <= 20; s++) {
        advance(&c, 0.1, 1);
        cb_isometry flow;
        cb_isometry_flow(c.g, cb_killing_find(c.g, field[i]), c.state->t, &flow);
        for (int a = 0; a < c.state->n; a++) {
          double x[CB_COORD_MAX];
          cb_isometry_point(c.g, &flow, start->x + a * c.g->k, x);
          /* IDA makes some hundred steps of relative error 1e-12. Their number depends on the last bits of the
           * start. */
          check_near(check_distance_max(c.g->k, x, c.state->x + a * c.g->k), 0, 3e-10 * cosh(s / 10.0));
        }
        /* Checks the multipliers that follow from the state, and those of IDA, which does not control their errors. */
        double lambda[16], v[MOST];
        velocities(&c, v);
        const cb_ida *m = c.integrator->self;
        check_ok(cb_gram_multipliers(m->gram, c.state->t, c.state->x, v, lambda, NULL));
        for (int r = 0; r < (triangle ? 3 : 1); r++) {
          const double exact = !triangle || r == 1 ? pull[i] : 0;
          check_near(lambda[r], exact, 1e-10);
          check_near(N_VGetArrayPointer(m->yp)[2 * m->nk + r], exact, 1e-6);
        }
      }
      check_at_most(residual(&c), 2e-14);
      cb_state_free(start);
      close_case(&c);
    }
}

static void springs_move_as_with_the_reference(void **unused) {
  uint64_t seed = check_seed();
  static const char *const quadrics[] = {"e3", "s3", "h3", "h2xe"};
  for (int i = 0; i < 4; i++) {
    body_case c;
    open_random(&c, quadrics[i], 4, 0.6, 0.5, 2, i == 1 ? 0.2 : 0, &seed);
    use_method(&c, "ida {rtol: 1e-11, atol: 1e-13}");
    double x[MOST], p[MOST];
    const int count = c.state->n * c.state->k;
    memcpy(x, c.state->x, sizeof(double) * (size_t)count);
    memcpy(p, c.state->p, sizeof(double) * (size_t)count);
    reference_advance(c.system, c.forces, 0, 3, x, p);
    advance(&c, 0.3, 10);
    check_near(check_distance_max(count, c.state->x, x), 0, 3e-9);
    check_near(check_distance_max(count, c.state->p, p), 0, 3e-9);
    close_case(&c);
  }
}

static void its_error_follows_the_tolerance(void **unused) {
  uint64_t seed = check_seed();
  static const char *const some[] = {"e3", "s3", "h3", "h3 {chart: polar}"};
  for (int i = 0; i < 4; i++) {
    double x[MOST], v[MOST], before = 0;
    for (int e = 5; e <= 13; e += 2) {
      body_case c;
      char method[64];
      uint64_t own = seed + (uint64_t)i;
      snprintf(method, sizeof method, "ida {rtol: 1e-%d, atol: 1e-%d}", e, e + 2);
      open_figure(&c, some[i], 4, RODS, 0.5, &own);
      use_method(&c, method);
      if (e == 5) {
        memcpy(x, c.state->x, sizeof(double) * (size_t)(c.state->n * c.state->k));
        velocities(&c, v);
        constrained_advance(c.forces, (size_t)(c.state->n * c.state->k), 0, 2, x, v);
      }
      advance(&c, 0.25, 8);
      const double error = miss(&c, x, v);
      print_message("%s, rtol 1e-%d: error %.2g\n", some[i], e, error);
      check_at_most(error, 1e3 * pow(10, -e));
      if (e > 5 && e < 13) check_at_most(error, 0.2 * before); /* the tolerance decreases by a factor of 100 */
      before = error;
      close_case(&c);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(its_jacobian_is_that_of_the_differences),
      cmocka_unit_test(it_starts_consistently),
      cmocka_unit_test(it_solves_the_underlying_equation_in_every_space),
      cmocka_unit_test(rigid_bodies_follow_the_killing_flow_with_its_multipliers),
      cmocka_unit_test(springs_move_as_with_the_reference),
      cmocka_unit_test(its_error_follows_the_tolerance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
