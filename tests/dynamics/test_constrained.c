/* Tests of the properties of every integrator that supports constraints, in every space. The properties are the order,
 * constraints that are satisfied at every step, symplecticity on the constraint manifold, reversibility, momenta of
 * isometries, and restarts. The function `properties` of an integrator returns its order and symmetries.
 */
#include "constrained.h"
#include "integrator_claims.h"
#include "reference_constrained.h"

enum { PARTICLES = 3, NUMBERS = PARTICLES * CB_COORD_MAX };

static const char *const methods[] = {"lobatto {stages: 2}",
                                      "lobatto {stages: 3}",
                                      "lobatto {stages: 4}",
                                      "lobatto {stages: 5}",
                                      "lobatto {stages: 3, solver: newton}",
                                      "radau_iia {stages: 1}",
                                      "radau_iia {stages: 2}",
                                      "radau_iia {stages: 3}",
                                      "radau_iia {stages: 4}",
                                      "ida"};
enum { METHODS = sizeof methods / sizeof *methods };

static bool take_method(body_case *c, const char *method, claim *out) {
  use_method(c, method);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
  *out = claim_of(c->integrator);
  return c->integrator->class_->takes_constraints;
}

static void each(claim_test *test, bool potential) {
  uint64_t seed = check_seed();
  for (int i = 0; i < KINDS_OF_SPACE; i++)
    for (int j = 0; j < METHODS; j++) {
      body_case c;
      claim claimed;
      uint64_t own = seed + (uint64_t)i; /* the same body for every integrator */
      open_frame(&c, every_kind_of_space[i], PARTICLES, j % 2, potential, &own);
      assert_true(take_method(&c, methods[j], &claimed));
      char where[128];
      snprintf(where, sizeof where, "%s in %s", methods[j], every_kind_of_space[i]);
      test(&c, &claimed, where);
      close_case(&c);
    }
}

static void check_order(body_case *c, const claim *claimed, const char *where) {
  const bool adaptive = c->integrator->class_->adaptive;
  const int count = PARTICLES * c->g->k;
  double x[NUMBERS], v[NUMBERS], u[NUMBERS], error[4], fit = NAN, clear = claimed->order >= 9 ? 1e-14 : 5e-13;
  cb_state *start = clone_state(c);
  const double end = 1.6;
  memcpy(x, start->x, (size_t)count * sizeof *x);
  constrained_velocities(c, start, v);
  constrained_advance(c->forces, (size_t)count, 0, end, x, v);
  const int first = claimed->order >= 9 ? 4 : claimed->order >= 6 ? 6 : 16;
  for (int level = 0; level < 4; level++) {
    const int n = first << level;
    cb_state_copy(c->state, start);
    cb_integrator_reset(c->integrator);
    advance(c, end / n, n);
    constrained_velocities(c, c->state, u);
    error[level] = fmax(check_distance_max(count, x, c->state->x), check_distance_max(count, v, u));
    if (level > 0 && (error[level] > clear || level == 1)) fit = log2(error[level - 1] / error[level]);
  }
  cb_state_free(start);
  /* An adaptive integrator uses its default tolerance, 1e-10 per step. */
  const bool right = adaptive ? error[0] <= 1e-7 : fabs(fit - claimed->order) <= 0.5;
  if (!right || getenv("CB_TEST_VERBOSE"))
    print_error("%s: order %.2f by fit, %d claimed (errors %g %g %g %g)\n", where, fit, claimed->order, error[0],
                error[1], error[2], error[3]);
  assert_true(right);
}

static void order_by_fit_is_the_order_claimed(void **unused) { each(check_order, true); }

static void check_met(body_case *c, const claim *claimed, const char *where) {
  double worst = 0, worst_rate = 0, size = 1;
  for (int i = 0; i < 100; i++) {
    double g, rate;
    advance(c, 0.05, 1);
    constrained_residuals(c, c->state, &g, &rate);
    worst = fmax(worst, g);
    worst_rate = fmax(worst_rate, rate);
    for (int a = 0; a < PARTICLES * c->g->k; a++) size = fmax(size, fabs(c->state->x[a]));
  }
  /* the tolerance is for round-off of distances between points whose coordinates have this size */
  if (!(worst <= 5e-15 * size * size && worst_rate <= 2e-14 * size * size))
    print_error("%s: |g| %g, |dg/dt| %g, size %g\n", where, worst, worst_rate, size);
  check_at_most(worst, 5e-15 * size * size);
  check_at_most(worst_rate, 2e-14 * size * size);
}

static void constraints_are_met_at_every_step(void **unused) { each(check_met, true); }

static void symplectic_methods_keep_the_form_on_the_constraint_manifold(void **unused) { each(check_symplectic, true); }

static void the_check_of_symplecticity_sees_a_method_that_is_not(void **unused) {
  uint64_t seed = check_seed();
  body_case c;
  claim claimed;
  open_frame(&c, "s3", PARTICLES, false, true, &seed);
  take_method(&c, "radau_iia {stages: 2}", &claimed);
  assert_false(claimed.symplectic);
  check_at_least(symplectic_defect(&c, 0.1), 1e-7);
  close_case(&c);
}

static void symmetric_methods_run_backwards_to_the_start(void **unused) { each(check_reversible, true); }

static void isometry_momenta_are_kept_to_round_off(void **unused) { each(check_momenta, false); }

static void a_restart_repeats_the_bytes(void **unused) { each(check_restart, true); }

static void a_failed_step_leaves_the_state(void **unused) { each(check_failure, true); }

static void methods_without_constraints_refuse_them_by_name(void **unused) {
  static const char *const not [] = {"gauss", "rk4"};
  uint64_t seed = check_seed();
  for (int i = 0; i < 2; i++) {
    body_case c;
    open_frame(&c, "s3", PARTICLES, false, false, &seed);
    assert_int_equal(cb_integrator_create(not [i], NULL, c.system, &c.integrator), CB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(cb_error_text(), not [i]));
    assert_non_null(strstr(cb_error_text(), "`lobatto`"));
    c.integrator = NULL;
    close_case(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_by_fit_is_the_order_claimed),
      cmocka_unit_test(constraints_are_met_at_every_step),
      cmocka_unit_test(symplectic_methods_keep_the_form_on_the_constraint_manifold),
      cmocka_unit_test(the_check_of_symplecticity_sees_a_method_that_is_not),
      cmocka_unit_test(symmetric_methods_run_backwards_to_the_start),
      cmocka_unit_test(isometry_momenta_are_kept_to_round_off),
      cmocka_unit_test(a_restart_repeats_the_bytes),
      cmocka_unit_test(a_failed_step_leaves_the_state),
      cmocka_unit_test(methods_without_constraints_refuse_them_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
