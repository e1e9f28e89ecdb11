/* Tests of the properties that integrators claim, for every integrator in every space: order, symplecticity,
 * reversibility, isometry momenta, restart, determinism, and a failed step that does not change the state. The function
 * `properties` of an integrator returns which of these it claims. */
#include "integrator_claims.h"
#include "reference_gsl.h"
#include "twin.h"

enum { PARTICLES = 3, NUMBERS = PARTICLES * CB_COORD_MAX };

/* Every class of the registry has at least one row here; `all_methods_are_here` tests this. */
static const char *const methods[] = {
    "lobatto {stages: 2}",
    "lobatto {stages: 3}",
    "lobatto {stages: 4}",
    "lobatto {stages: 5}",
    "gauss {stages: 1}",
    "gauss {stages: 2}",
    "gauss {stages: 3}",
    "gauss {stages: 2, symmetric: false}",
    "gauss {stages: 2, balance: false}",
    "gauss {stages: 2, form: velocity}",
    "rk4",
    "radau_iia {stages: 1}",
    "radau_iia {stages: 2}",
    "radau_iia {stages: 3}",
    "radau_iia {stages: 4}",
    "radau_iia {stages: 3, solver: newton}",
    "ida {rtol: 1e-9, atol: 1e-11}",
    "ida {max_order: 2, solver: klu, rtol: 1e-6}",
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Creates three unequal masses on springs at the corners of an uneven triangle, which rotates slowly so that masses do
 * not come near each other. In a chart, it is away from the base point, where polar coordinates are singular. */
static void open_body(body_case *c, const char *space, uint64_t *seed) {
  static const double corner[PARTICLES][CB_DIM_MAX] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1}};
  double x[PARTICLES][CB_COORD_MAX];
  open_space(c, space);
  const cb_space *g = c->g;
  add_corners(c, PARTICLES, corner, 0.05, 0.3, NULL, seed, x);
  for (int a = 0; a < PARTICLES; a++) {
    const int b = (a + 1) % PARTICLES;
    check_ok(cb_builder_spring(c->builder, a, b, check_uniform(seed, 0.6, 1.8),
                               cb_distance(g, x[a], x[b]) * check_uniform(seed, 0.9, 1.1), 0));
  }
  finish_system(c);
}

/* Opens the body with an integrator; returns false if the integrator does not support the space. */
static bool open_case(body_case *c, const char *space, const char *method, uint64_t *seed, claim *out) {
  open_body(c, space, seed);
  cb_tree *tree = strchr(method, '{') ? read_text(strchr(method, '{')) : NULL;
  char name[32];
  sscanf(method, "%31s", name);
  const cb_status status = cb_integrator_create(name, tree ? cb_tree_root(tree) : NULL, c->system, &c->integrator);
  cb_tree_free(tree);
  if (status == CB_ERROR_UNSUPPORTED || status == CB_ERROR_INPUT) {
    close_case(c);
    return false;
  }
  check_ok(status);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
  *out = claim_of(c->integrator);
  return true;
}

static void each(claim_test *test) {
  uint64_t seed = check_seed();
  for (int i = 0; i < KINDS_OF_SPACE; i++)
    for (int j = 0; j < METHODS; j++) {
      body_case c;
      claim claimed;
      uint64_t own = seed + (uint64_t)i; /* the same body for every integrator */
      if (!open_case(&c, every_kind_of_space[i], methods[j], &own, &claimed)) continue;
      char where[128];
      snprintf(where, sizeof where, "%s in %s", methods[j], every_kind_of_space[i]);
      test(&c, &claimed, where);
      close_case(&c);
    }
}

static void all_methods_are_here(void **unused) {
  for (size_t i = 0; cb_integrator_classes[i]; i++) {
    /* Integrators of other problems are tested in test_rigid_order.c and test_holonomy.c. */
    if (cb_integrator_classes[i]->solves != &cb_problem_hamiltonian) continue;
    bool found = false;
    for (int j = 0; j < METHODS; j++)
      found = found || !strncmp(methods[j], cb_integrator_classes[i]->name, strlen(cb_integrator_classes[i]->name));
    if (!found) print_error("no row for the integrator %s\n", cb_integrator_classes[i]->name);
    assert_true(found);
  }
}

static void check_order(body_case *c, const claim *claimed, const char *where) {
  if (c->integrator->class_->adaptive) return; /* the errors of an adaptive integrator depend on tolerances, not on h */
  double x[NUMBERS], v[NUMBERS], y[NUMBERS], w[NUMBERS], error[4];
  const int count = PARTICLES * c->g->embedding;
  cb_state *start = clone_state(c);
  const double end = 2;
  body_case twin;
  if (c->g->chart) {
    open_twin(c, &twin);
    finish_system(&twin);
  }
  body_case *e = c->g->chart ? &twin : c;
  reference_advance(e->system, e->forces, 0, end, e->state->x, e->state->p);
  in_embedding(e, x, v);
  if (c->g->chart) close_case(&twin);
  const int first = claimed->order >= 9 ? 4 : claimed->order >= 6 ? 6 : 16;
  /* `fit` is the order from the last doubling of the number of steps whose error is above round-off. High orders reach
   * round-off within two doublings. */
  double fit = NAN, clear = claimed->order >= 9 ? 1e-14 : 2e-13;
  for (int level = 0; level < 4; level++) {
    const int n = first << level;
    cb_state_copy(c->state, start);
    cb_integrator_reset(c->integrator);
    advance(c, end / n, n);
    in_embedding(c, y, w);
    error[level] = fmax(check_distance_max(count, x, y), check_distance_max(count, v, w));
    if (level > 0 && (error[level] > clear || level == 1)) fit = log2(error[level - 1] / error[level]);
  }
  cb_state_free(start);
  const bool right = fabs(fit - claimed->order) <= 0.5;
  if (!right || getenv("CB_TEST_VERBOSE"))
    print_error("%s: order %.2f by fit, %d claimed (errors %g %g %g %g)\n", where, fit, claimed->order, error[0],
                error[1], error[2], error[3]);
  assert_true(right);
}

static void order_by_fit_is_the_order_claimed(void **unused) { each(check_order); }

static void symplectic_methods_keep_the_symplectic_form(void **unused) { each(check_symplectic); }

static void the_check_of_symplecticity_sees_a_method_that_is_not(void **unused) {
  static const char *const not [][2] = {{"s3", "rk4"},
                                        {"h3 {chart: polar}", "gauss {stages: 1, form: velocity}"},
                                        {"s3", "gauss {stages: 1, balance: false, symmetric: false}"},
                                        {"h3", "gauss {stages: 1, balance: false, symmetric: false}"}};
  uint64_t seed = check_seed();
  for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
    body_case c;
    claim claimed;
    assert_true(open_case(&c, not [i][0], not [i][1], &seed, &claimed));
    assert_false(claimed.symplectic);
    check_at_least(symplectic_defect(&c, 0.1), 1e-8);
    close_case(&c);
  }
}

static void symmetric_methods_run_backwards_to_the_start(void **unused) { each(check_reversible); }

static void isometry_momenta_are_kept_to_round_off(void **unused) { each(check_momenta); }

static void a_restart_repeats_the_bytes(void **unused) { each(check_restart); }

static void a_failed_step_leaves_the_state(void **unused) { each(check_failure); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_methods_are_here),
      cmocka_unit_test(order_by_fit_is_the_order_claimed),
      cmocka_unit_test(symplectic_methods_keep_the_symplectic_form),
      cmocka_unit_test(the_check_of_symplecticity_sees_a_method_that_is_not),
      cmocka_unit_test(symmetric_methods_run_backwards_to_the_start),
      cmocka_unit_test(isometry_momenta_are_kept_to_round_off),
      cmocka_unit_test(a_restart_repeats_the_bytes),
      cmocka_unit_test(a_failed_step_leaves_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
