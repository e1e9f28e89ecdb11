/* Tests of IDA in use: restarts, moving origins, steps backwards in time, velocity constraints, many links, and
 * failures. */
#include "linked.h"
#include "reference_constrained.h"

/* In H3 a run of 20 time units, in which the body moves 20 away from the origin, is possible only with moving
 * origins. */
static void it_restarts_when_the_origin_moves(void **unused) {
  body_case c;
  uint64_t seed = check_seed();
  open_rigid(&c, "h3", true);
  use_method(&c, "ida {rtol: 1e-11, atol: 1e-13}");
  const double before = energy(&c);
  int moves = 0;
  for (int s = 0; s < 200; s++) {
    const double length = c.state->origin[0].length;
    advance(&c, 0.1, 1);
    recentre(&c);
    moves += c.state->origin[0].length != length;
  }
  check_at_least(moves, 10);
  check_near(separation(&c, 0, 1), 1, 1e-14);
  check_near(separation(&c, 1, 2), 1, 1e-14);
  check_near(energy(&c), before, 1e-8);
  close_case(&c);

  /* The body with a moving origin and the body with a fixed origin have the same shape. */
  double shape[2][3];
  for (int move = 0; move < 2; move++) {
    uint64_t own = seed;
    open_figure(&c, "h3", 3, RODS_AND_SPRING, 0.8, &own);
    use_method(&c, "ida {rtol: 1e-11, atol: 1e-13}");
    for (int s = 0; s < 15; s++) {
      advance(&c, 0.2, 1);
      if (move) recentre(&c);
    }
    for (int a = 0; a < 3; a++) shape[move][a] = separation(&c, a, (a + 1) % 3);
    close_case(&c);
  }
  for (int a = 0; a < 3; a++) check_near(shape[1][a], shape[0][a], 1e-8);
}

static void what_follows_a_reset_depends_on_the_state_alone(void **unused) {
  uint64_t seed = check_seed();
  static const char *const solver[] = {"ida {solver: dense}", "ida {solver: klu}"};
  for (int i = 0; i < 2; i++) {
    body_case c;
    open_figure(&c, "s3", 4, RODS, 0.5, &seed);
    use_method(&c, solver[i]);
    advance(&c, 0.1, 7);
    cb_state *middle = clone_state(&c);
    const size_t bytes = sizeof(double) * (size_t)(c.state->n * c.state->k);
    cb_integrator_reset(c.integrator);
    advance(&c, 0.1, 5);
    cb_state *end = clone_state(&c);

    use_method(&c, solver[i]); /* a new integrator */
    cb_state_copy(c.state, middle);
    advance(&c, 0.1, 5);
    assert_memory_equal(end->x, c.state->x, bytes);
    assert_memory_equal(end->p, c.state->p, bytes);

    cb_state_copy(c.state, middle); /* a state other than the integrator's last one acts like a reset */
    advance(&c, 0.1, 5);
    assert_memory_equal(end->x, c.state->x, bytes);
    assert_memory_equal(end->p, c.state->p, bytes);
    cb_state_free(middle);
    cb_state_free(end);
    close_case(&c);
  }
}

static void it_runs_backwards(void **unused) {
  uint64_t seed = check_seed();
  body_case c;
  open_figure(&c, "h3", 3, BREATHING, 0.5, &seed);
  use_method(&c, "ida {rtol: 1e-11, atol: 1e-13}");
  cb_state *start = clone_state(&c);
  advance(&c, 0.1, 10);
  advance(&c, -0.1, 10);
  check_near(c.state->t, 0, 1e-15);
  check_near(check_distance_max(12, c.state->x, start->x), 0, 2e-9);
  check_near(check_distance_max(12, c.state->p, start->p), 0, 2e-9);
  cb_state_free(start);
  close_case(&c);
}

/* --- velocity rows --- */

/* Chaplygin's sleigh: a knife edge under the mass m1, along a rod of length D to the mass m2, in the plane. v is the
 * speed along the knife edge and w the angular velocity. The total mass is m = m1 + m2, the centre of mass is at the
 * distance a = m2 D/m from m1, and I is the moment of inertia about it, with I + m a^2 = m2 D^2. The equations are
 * v' = a w^2 and (I + m a^2) w' = -m a v w. With m V^2 = m v^2 + m2 D^2 w^2, which is constant, v = V tanh(V t/D + c)
 * with a constant c. Source: Neimark & Fufaev, Dynamics of Nonholonomic Systems (1972), III.4. */
static void chaplygins_sleigh_moves_as_in_closed_form(void **unused) {
  const double m1 = 1.3, m2 = 0.6, m = m1 + m2, D = 0.8, speed = -0.7, turn = 1.1;
  const double x[2][2] = {{0.2, -0.1}, {0.2 + D, -0.1}}, v[2][2] = {{speed, 0}, {speed, D * turn}};
  body_case c;
  open_space(&c, "e2");
  add_particle(&c, m1, x[0], v[0]);
  add_particle(&c, m2, x[1], v[1]);
  check_ok(cb_builder_rod(c.builder, NULL, 0, 1, as_it_starts));
  check_ok(cb_builder_knife_edge(c.builder, NULL, 0, 1));
  finish_system(&c);
  use_method(&c, "ida {rtol: 1e-12, atol: 1e-14}");
  const double V = sqrt(speed * speed + m2 * D * D / m * turn * turn), shift = atanh(speed / V);
  for (int s = 1; s <= 30; s++) {
    advance(&c, 0.2, 1);
    double u[4];
    velocities(&c, u);
    const int i = 2 * cb_system_index(c.system, 0), j = 2 * cb_system_index(c.system, 1);
    const double along[2] = {(c.state->x[j] - c.state->x[i]) / D, (c.state->x[j + 1] - c.state->x[i + 1]) / D};
    check_near(u[i] * along[0] + u[i + 1] * along[1], V * tanh(V * c.state->t / D + shift), 1e-10);
    check_near(u[i] * along[1] - u[i + 1] * along[0], 0, 1e-14);
    check_near(separation(&c, 0, 1), D, 1e-15);
  }
  close_case(&c);
}

/* --- many links --- */

static void open_chain(body_case *c, const char *space, int rods, uint64_t *seed) {
  open_space(c, space);
  double x[CB_COORD_MAX], v[CB_COORD_MAX] = {0};
  for (int a = 0; a <= rods; a++) {
    const double s = (double)a / rods - 0.5, offset[3] = {s, 0.2 * cos(5 * s), 0.1 * sin(7 * s)};
    check_point_at(c->g, offset, x);
    add_particle(c, check_uniform(seed, 0.01, 0.03), x, v);
    if (a) check_ok(cb_builder_rod(c->builder, NULL, a - 1, a, as_it_starts));
  }
  check_ok(cb_builder_potential(c->builder, -1, NULL, "m*(2*x^2 + y)"));
  finish_system(c);
}

static void a_chain_of_fifty_links_falls_by_sparse_factors(void **unused) {
  uint64_t seed = check_seed();
  static const char *const some[] = {"s3", "h3"};
  for (int i = 0; i < 2; i++) {
    body_case c;
    open_chain(&c, some[i], 50, &seed);
    use_method(&c, "ida");
    assert_string_equal(c.integrator->solver, "klu");
    const double before = energy(&c);
    static double x[MOST], v[MOST];
    const size_t count = (size_t)(c.state->n * c.state->k);
    memcpy(x, c.state->x, count * sizeof *x);
    memset(v, 0, sizeof v);
    constrained_advance(c.forces, count, 0, 0.5, x, v);
    advance(&c, 0.1, 5);
    check_near(miss(&c, x, v), 0, 1e-7);
    check_near(energy(&c), before, 1e-8);
    check_at_most(residual(&c), 2e-14);
    close_case(&c);
  }
}

/* --- failures --- */

static void expect_failure(body_case *c, const char *method, double h, cb_status expected, const char *text) {
  use_method(c, method);
  cb_state *start = clone_state(c);
  const size_t bytes = sizeof(double) * (size_t)(c->state->n * c->state->k);
  const cb_status status = cb_integrator_step(c->integrator, c->state, h);
  if (status != expected || !strstr(cb_error_text(), text))
    print_error("%s: %s: %s\n", method, cb_status_name(status), status ? cb_error_text() : "");
  assert_int_equal(status, expected);
  assert_non_null(strstr(cb_error_text(), text));
  assert_memory_equal(start->x, c->state->x, bytes);
  assert_memory_equal(start->p, c->state->p, bytes);
  check_near(c->state->t, start->t, 0);
  cb_state_free(start);
}

static void it_fails_with_a_reason_and_leaves_the_state(void **unused) {
  uint64_t seed = check_seed();
  body_case c;
  open_figure(&c, "s3", 3, RODS, 0.5, &seed);
  expect_failure(&c, "ida {max_steps: 5}", 0.1, CB_STEP_NO_CONVERGENCE, "max_steps");
  expect_failure(&c, "ida {rtol: 1e-17, atol: 1e-19}", 0.1, CB_STEP_NO_CONVERGENCE, "round-off");
  close_case(&c);

  open_space(&c, "e3"); /* a potential that is undefined for x < 0 */
  add_particle(&c, 1, (double[3]){0.3, 0, 0}, (double[3]){-2, 0, 0});
  check_ok(cb_builder_potential(c.builder, -1, NULL, "x*sqrt(x)"));
  finish_system(&c);
  expect_failure(&c, "ida {max_steps: 2000}", 1, CB_STEP_NO_CONVERGENCE,
                 "`body.0` is not finite"); /* the internal steps of IDA decrease to 0 */
  /* a shorter step, which ends at x > 0, succeeds after the failure */
  check_ok(cb_integrator_step(c.integrator, c.state, 0.1));
  close_case(&c);

  open_space(&c, "e3"); /* a potential that is undefined for t > 0 */
  add_particle(&c, 1, (double[3]){0.3, 0, 0}, (double[3]){0});
  check_ok(cb_builder_potential(c.builder, -1, NULL, "sqrt(-t)*x"));
  finish_system(&c);
  expect_failure(&c, "ida", 1, CB_STEP_NOT_FINITE, "`body.0` is not finite");
  assert_int_equal(c.integrator->failed_particle, 0);
  close_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_restarts_when_the_origin_moves),
      cmocka_unit_test(what_follows_a_reset_depends_on_the_state_alone),
      cmocka_unit_test(it_runs_backwards),
      cmocka_unit_test(chaplygins_sleigh_moves_as_in_closed_form),
      cmocka_unit_test(a_chain_of_fifty_links_falls_by_sparse_factors),
      cmocka_unit_test(it_fails_with_a_reason_and_leaves_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
