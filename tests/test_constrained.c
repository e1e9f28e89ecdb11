/* What must hold for every integrator that takes constraints, in every space: order, constraints met at every step,
 * symplecticity on the constraint manifold, reversibility, isometry momenta, restart. Methods say by `properties` what
 * is claimed of them.
 * timeout: 600
 * labels: medium */
#include "constrained.h"
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
static const char *const spaces[] = {"e3",
                                     "s3",
                                     "h3",
                                     "s3 {curvature: 2.3}",
                                     "h3 {curvature: -0.4}",
                                     "e2",
                                     "s2",
                                     "h2",
                                     "h2xe",
                                     "exs2",
                                     "s3 {chart: polar}",
                                     "h3 {chart: polar}",
                                     "e3 {chart: polar}"};
enum { METHODS = sizeof methods / sizeof *methods, SPACES = sizeof spaces / sizeof *spaces };

typedef struct claim {
  int order;
  bool symplectic, symmetric;
} claim;

static bool take_method(body_case *c, const char *method, claim *out) {
  use_method(c, method);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
  c->integrator->class->properties(c->integrator, &out->order, &out->symplectic, &out->symmetric);
  return c->integrator->class->takes_constraints;
}

typedef void claim_test(body_case *c, const claim *claimed, const char *where);

static void each(claim_test *test, bool potential) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int j = 0; j < METHODS; j++) {
      body_case c;
      claim claimed;
      uint64_t own = seed + (uint64_t)i; /* the same body for every method */
      open_frame(&c, spaces[i], PARTICLES, j % 2, potential, &own);
      assert_true(take_method(&c, methods[j], &claimed));
      char where[128];
      snprintf(where, sizeof where, "%s in %s", methods[j], spaces[i]);
      test(&c, &claimed, where);
      close_case(&c);
    }
}

static void steps(body_case *c, int n, double h) {
  for (int i = 0; i < n; i++) check_ok(cb_integrator_step(c->integrator, c->state, h));
}

static void check_order(body_case *c, const claim *claimed, const char *where) {
  const bool adaptive = c->integrator->class->adaptive;
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
    steps(c, n, end / n);
    constrained_velocities(c, c->state, u);
    error[level] = fmax(check_distance_max(count, x, c->state->x), check_distance_max(count, v, u));
    if (level > 0 && (error[level] > clear || level == 1)) fit = log2(error[level - 1] / error[level]);
  }
  cb_state_free(start);
  /* an adaptive method by its default tolerance of 1e-10 a step */
  const bool right = adaptive ? error[0] <= 1e-7 : fabs(fit - claimed->order) <= 0.5;
  if (!right || getenv("CB_TEST_VERBOSE"))
    print_error("%s: order %.2f by fit, %d claimed (errors %g %g %g %g)\n", where, fit, claimed->order, error[0],
                error[1], error[2], error[3]);
  assert_true(right);
}

static void order_by_fit_is_the_order_claimed(void **unused) {
  (void)unused;
  each(check_order, true);
}

static void check_met(body_case *c, const claim *claimed, const char *where) {
  (void)claimed;
  double worst = 0, worst_rate = 0, size = 1;
  for (int i = 0; i < 100; i++) {
    double g, rate;
    steps(c, 1, 0.05);
    constrained_residuals(c, c->state, &g, &rate);
    worst = fmax(worst, g);
    worst_rate = fmax(worst_rate, rate);
    for (int a = 0; a < PARTICLES * c->g->k; a++) size = fmax(size, fabs(c->state->x[a]));
  }
  /* round-off of distances between coordinates of this size */
  if (!(worst <= 5e-15 * size * size && worst_rate <= 2e-14 * size * size))
    print_error("%s: |g| %g, |dg/dt| %g, size %g\n", where, worst, worst_rate, size);
  check_at_most(worst, 5e-15 * size * size);
  check_at_most(worst_rate, 2e-14 * size * size);
}

static void constraints_are_met_at_every_step(void **unused) {
  (void)unused;
  each(check_met, true);
}

/* omega(d1, d2) = sum <dx1, dp2> - <dx2, dp1>, with the form in the embedding and plainly in a chart. */
static double omega(const cb_geometry *g, const double *d1, const double *d2) {
  double sum = 0;
  for (int a = 0; a < PARTICLES; a++)
    for (int e = 0; e < g->k; e++) {
      const double form = g->chart ? 1 : g->form[e];
      const int x = a * g->k + e, p = PARTICLES * g->k + x;
      sum += form * (d1[x] * d2[p] - d2[x] * d1[p]);
    }
  return sum;
}

/* A step and its start along random curves in the constraint manifold, differentiated by differences of fourth order:
 * the largest change of omega on pairs of them. */
static double symplectic_defect(body_case *c, double h, uint64_t *seed) {
  enum { CURVES = 6 };
  static double before[CURVES][2 * NUMBERS], after[CURVES][2 * NUMBERS];
  const double eps = 1e-3, weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
  const int count = PARTICLES * c->g->k;
  memset(before, 0, sizeof before);
  memset(after, 0, sizeof after);
  cb_state *start = clone_state(c);
  for (int b = 0; b < CURVES; b++) {
    double direction[2 * NUMBERS];
    for (int e = 0; e < 2 * count; e++) direction[e] = check_uniform(seed, -1, 1);
    for (int q = 0; q < 4; q++) {
      cb_state_copy(c->state, start);
      for (int e = 0; e < count; e++) {
        c->state->x[e] += at[q] * eps * direction[e];
        c->state->p[e] += at[q] * eps * direction[count + e];
      }
      for (int a = 0; !c->g->chart && a < PARTICLES; a++) {
        cb_geometry_project_point(c->g, c->state->x + a * c->g->k);
        cb_geometry_project_tangent(c->g, c->state->x + a * c->g->k, c->state->p + a * c->g->k);
      }
      constrained_project(c, c->state);
      for (int e = 0; e < count; e++) {
        before[b][e] += weight[q] * c->state->x[e] / (12 * eps);
        before[b][count + e] += weight[q] * c->state->p[e] / (12 * eps);
      }
      cb_integrator_reset(c->integrator);
      check_ok(cb_integrator_step(c->integrator, c->state, h));
      for (int e = 0; e < count; e++) {
        after[b][e] += weight[q] * c->state->x[e] / (12 * eps);
        after[b][count + e] += weight[q] * c->state->p[e] / (12 * eps);
      }
    }
  }
  double worst = 0;
  for (int a = 0; a < CURVES; a++)
    for (int b = 0; b < a; b++)
      worst = fmax(worst, fabs(omega(c->g, after[a], after[b]) - omega(c->g, before[a], before[b])));
  cb_state_copy(c->state, start);
  cb_state_free(start);
  return worst;
}

static void check_symplectic(body_case *c, const claim *claimed, const char *where) {
  uint64_t seed = 5;
  if (!claimed->symplectic) return;
  /* the error of the differences: eps^4 = 1e-12 times fifth derivatives of the curves; measured 2e-10 */
  const double defect = symplectic_defect(c, 0.1, &seed);
  if (!(defect <= 1e-9) || getenv("CB_TEST_VERBOSE")) print_error("%s: |M^T J M - J| = %g\n", where, defect);
  check_at_most(defect, 1e-9);
}

static void symplectic_methods_keep_the_form_on_the_constraint_manifold(void **unused) {
  (void)unused;
  each(check_symplectic, true);
}

static void the_check_of_symplecticity_sees_a_method_that_is_not(void **unused) {
  (void)unused;
  uint64_t seed = check_seed(), again = 5;
  body_case c;
  claim claimed;
  open_frame(&c, "s3", PARTICLES, false, true, &seed);
  take_method(&c, "radau_iia {stages: 2}", &claimed);
  assert_false(claimed.symplectic);
  check_at_least(symplectic_defect(&c, 0.1, &again), 1e-7);
  close_case(&c);
}

static void check_reversible(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symmetric) return;
  cb_state *start = clone_state(c);
  steps(c, 400, 0.02);
  cb_integrator_reset(c->integrator);
  steps(c, 400, -0.02);
  const int count = PARTICLES * c->g->k;
  const double error =
      fmax(check_distance_max(count, start->x, c->state->x), check_distance_max(count, start->p, c->state->p));
  if (!(error <= 1e-12)) print_error("%s: 400 steps there and back miss by %g\n", where, error);
  check_at_most(error, 1e-12); /* 800 steps of compensated sums; the rest is the conditioning of the motion */
  cb_state_free(start);
}

static void symmetric_methods_run_backwards_to_the_start(void **unused) {
  (void)unused;
  each(check_reversible, true);
}

static void check_momenta(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symplectic || c->g->chart) return;
  double before[CB_KILLING_MAX] = {0}, after[CB_KILLING_MAX] = {0}, size = 0;
  const int k = c->g->k;
  for (int a = 0; a < PARTICLES; a++) cb_killing_momentum_add(c->g, c->state->x + a * k, c->state->p + a * k, before);
  steps(c, 200, 0.05);
  for (int a = 0; a < PARTICLES; a++) {
    cb_killing_momentum_add(c->g, c->state->x + a * k, c->state->p + a * k, after);
    for (int e = 0; e < k; e++) size = fmax(size, fabs(c->state->x[a * k + e]) * (1 + fabs(c->state->p[a * k + e])));
  }
  const double error = check_distance_max(c->g->n_killing, before, after);
  /* round-off of the products x p, which grow as a body leaves the origin of H3 */
  if (!(error <= 1e-13 * size * size))
    print_error("%s: Killing momenta drift by %g (numbers of size %g)\n", where, error, size);
  check_at_most(error, 1e-13 * size * size);
}

static void isometry_momenta_are_kept_to_round_off(void **unused) {
  (void)unused;
  each(check_momenta, false);
}

static void check_restart(body_case *c, const claim *claimed, const char *where) {
  (void)claimed;
  steps(c, 5, 0.03);
  cb_integrator_reset(c->integrator);
  cb_state *middle = clone_state(c);
  steps(c, 5, 0.03);
  cb_state *end = clone_state(c);
  steps(c, 3, 0.07); /* something else in between */
  cb_state_copy(c->state, middle);
  cb_integrator_reset(c->integrator);
  steps(c, 5, 0.03);
  const size_t bytes = (size_t)PARTICLES * c->g->k * sizeof(double);
  const bool same = !memcmp(end->x, c->state->x, bytes) && !memcmp(end->p, c->state->p, bytes) &&
                    !memcmp(end->x_low, c->state->x_low, bytes) && !memcmp(end->p_low, c->state->p_low, bytes) &&
                    end->t == c->state->t;
  if (!same) print_error("%s: a restart does not repeat the bytes\n", where);
  assert_true(same);
  cb_state_free(middle);
  cb_state_free(end);
}

static void a_restart_repeats_the_bytes(void **unused) {
  (void)unused;
  each(check_restart, true);
}

static void check_failure(body_case *c, const claim *claimed, const char *where) {
  (void)claimed;
  cb_state *start = clone_state(c);
  const size_t bytes = (size_t)PARTICLES * c->g->k * sizeof(double);
  start->p[0] = c->state->p[0] = NAN;
  const cb_status status = cb_integrator_step(c->integrator, c->state, 0.1);
  const bool same = !memcmp(start->x, c->state->x, bytes) && !memcmp(start->x_low, c->state->x_low, bytes) &&
                    !memcmp(start->p, c->state->p, bytes) && start->t == c->state->t;
  if (status <= 0 || !same)
    print_error("%s: a state that is not finite gives status %d, state kept: %d\n", where, (int)status, same);
  assert_true(status > 0);
  assert_true(same);
  cb_state_free(start);
}

static void a_failed_step_leaves_the_state(void **unused) {
  (void)unused;
  each(check_failure, true);
}

static void methods_without_constraints_refuse_them_by_name(void **unused) {
  (void)unused;
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
