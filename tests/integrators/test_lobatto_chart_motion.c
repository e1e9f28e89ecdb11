/* Tests of Lobatto IIIA-IIIB in static charts, free and with rods: the symplectic form on the manifold of the
 * constraints, reversibility, energy, rods to round-off, and a closed form. */
#include "chart_linkage.h"
#include "integrator_claims.h"

/* Runs the test in each space with 2 to 5 stages, for free particles and for particles that rods join. */
static void each(claim_test *test) {
  const uint64_t seed = check_seed();
  for (int i = 0; i < CHART_SPACES; i++)
    for (int s = 2; s <= 5; s++)
      for (int rods = 0; rods < 2; rods++) {
        body_case c;
        uint64_t own = seed + (uint64_t)i;
        char where[128];
        open_case(&c, chart_spaces[i], (linkage){rods, 0, 1, false, 0}, method_of(s, "auto"), &own);
        const claim claimed = claim_of(c.integrator);
        assert_true(claimed.symplectic && claimed.symmetric);
        snprintf(where, sizeof where, "%s, %d stages, rods %d", chart_spaces[i], s, rods);
        test(&c, &claimed, where);
        close_case(&c);
      }
}

static void the_symplectic_form_is_kept_on_the_manifold(void **unused) {
  each(check_symplectic);
  uint64_t seed = check_seed();
  body_case c; /* this body is damped, so its motion is not symplectic, which the check must detect */
  open_case(&c, "h3 {chart: polar}", (linkage){true, 0.1, 1, false, 0}, "lobatto", &seed);
  check_at_least(symplectic_defect(&c, 0.1), 1e-6);
  close_case(&c);
}

static void the_way_back_leads_to_the_start(void **unused) { each(check_reversible); }

static void rods_and_their_rates_stay_at_round_off(void **unused) {
  uint64_t seed = check_seed();
  for (int i = 0; i < CHART_SPACES; i++)
    for (int newton = 0; newton < 2; newton++) {
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      open_case(&c, chart_spaces[i], (linkage){true, 0, 1, false, 0}, method_of(4, newton ? "newton" : "fixed-point"),
                &own);
      double worst = 0;
      for (int k = 0; k < 500; k++) {
        advance(&c, 0.01, 1);
        worst = fmax(worst, residual(&c));
      }
      if (!(worst <= 1e-14) || getenv("CB_TEST_VERBOSE"))
        print_error("%s, newton %d: rods off by %g\n", chart_spaces[i], newton, worst);
      check_at_most(worst, 1e-14);
      close_case(&c);
    }
}

static void energy_does_not_drift(void **unused) {
  check_numbers_alone();
  uint64_t seed = check_seed();
  static const char *const some[] = {"e3 {chart: polar}", "s3 {chart: polar}", "h3 {chart: poincare}"};
  enum { STEPS = 40000 };
  for (int i = 0; i < 3; i++)
    for (int s = 2; s <= 3; s++) {
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      open_case(&c, some[i], (linkage){true, 0, 1, false, 3}, method_of(s, "auto"), &own);
      const double start = energy(&c);
      /* first, last: mean energy errors; worst: the maximum; rods: maximum residual */
      double first = 0, last = 0, worst = 0, rods = 0;
      for (int k = 0; k < STEPS; k++) {
        advance(&c, 0.1, 1);
        const double error = fabs(energy(&c) / start - 1);
        worst = fmax(worst, error);
        if (k < STEPS / 2) first += error / (STEPS / 2);
        if (k >= STEPS - STEPS / 10) last += error / (STEPS / 10);
        if (k % 100 == 0) rods = fmax(rods, residual(&c));
      }
      if (getenv("CB_TEST_VERBOSE"))
        print_error(
            "%s, %d stages: energy error %g in the first half, %g in the last tenth, at most %g; rods off by %g\n",
            some[i], s, first, last, worst, rods);
      /* An error that grows in proportion to time would make `last` 3.8 times `first`. The motion is chaotic, and means
       * vary by a third between seeds. */
      check_at_most(last, 1.6 * first);
      check_at_most(worst, s == 2 ? 0.05 : 1e-3);
      check_at_most(rods, 1e-14);
      close_case(&c);
    }
}

/* The rod of figure 2.16 of the thesis (see analysis/README.md) moves along a Killing field across it with the speed 1
 * at its middle. The multiplier is (m/2) sinh 1 in H3 and -(m/2) sin 1 in S3, where m is the mass of a particle. */
static void a_rigid_rod_moves_along_the_killing_flow(void **unused) {
  static const char *const some[] = {"h3 {chart: polar}", "s3 {chart: polar}"};
  for (int i = 0; i < 2; i++) {
    body_case c;
    const double q[2][2][3] = {{{0.5, M_PI / 2, M_PI / 2}, {0.5, M_PI / 2, 3 * M_PI / 2}},
                               {{(M_PI - 1) / 2, M_PI / 2, 0}, {(M_PI + 1) / 2, M_PI / 2, 0}}};
    open_space(&c, some[i]);
    for (int a = 0; a < 2; a++) {
      const double u[3] = {0, 0, i ? 1 : (a ? 1 : -1) / tanh(0.5)};
      check_ok(cb_builder_particle(c.builder, NULL, 1, 0, 0, q[i][a], u, NULL));
    }
    check_ok(cb_builder_rod(c.builder, NULL, 0, 1, (cb_target){1, NULL}));
    finish_system(&c);
    use_method(&c, "lobatto {stages: 4}");
    cb_gram *gram;
    check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
    const double exact = i ? -sin(1) / 2 : sinh(1) / 2;
    double position = 0, pull = 0;
    for (int k = 1; k <= 200; k++) {
      advance(&c, 0.01, 1);
      double u[2][3], lambda;
      for (int a = 0; a < 2; a++) check_ok(cb_space_raise(c.g, c.state->x + 3 * a, c.state->p + 3 * a, u[a]));
      check_ok(cb_gram_multipliers(gram, c.state->t, c.state->x, u[0], &lambda, NULL));
      pull = fmax(pull, fabs(lambda - exact));
      const double t = c.state->t;
      for (int a = 0; a < 2; a++)
        position =
            fmax(position, i ? fabs(c.state->x[3 * a + 2] - t) : fabs(c.state->x[3 * a] - acosh(cosh(0.5) * cosh(t))));
    }
    if (getenv("CB_TEST_VERBOSE")) print_error("%s: position %g, pull %g\n", some[i], position, pull);
    check_at_most(position, 1e-12);
    check_at_most(pull, 1e-11);
    cb_gram_free(gram);
    close_case(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_symplectic_form_is_kept_on_the_manifold), cmocka_unit_test(the_way_back_leads_to_the_start),
      cmocka_unit_test(rods_and_their_rates_stay_at_round_off),      cmocka_unit_test(energy_does_not_drift),
      cmocka_unit_test(a_rigid_rod_moves_along_the_killing_flow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
