/* Tests of forces of every kind in every space. The forces are compared with differences of the potential, and must
 * have the symmetry of the space. */
#include "force_cases.h"

static double potential_at(force_setup *t, const double *x) {
  double v;
  check_ok(cb_forces_potential(t->f, time_now, x, &v));
  return v;
}

static double raise_of(const cb_space *g, int a) { return g->chart ? 1 : 1 / g->form[a]; }

static void force_is_minus_the_raised_gradient(void **state) {
  uint64_t seed = check_seed();
  for (int n = 0; n < FORCE_SPACES; n++)
    for (int which = 0; has_potential((force_kind)which); which++) {
      force_setup t = make(force_spaces[n], &seed, (force_kind)which);
      int count = N * t.g->k;
      double force[N * K], rest[N * K] = {0}, expected[N * K], *x = t.state->x;
      /* the velocities are 0, so damping has no force */
      check_ok(cb_forces_eval(t.f, time_now, x, rest, force));
      for (int a = 0; a < count; a++) {
        double old = x[a], h = 2e-4, value[4];
        for (int side = 0; side < 4; side++) {
          x[a] = old + h * (side < 2 ? side - 2 : side - 1);
          value[side] = potential_at(&t, x);
        }
        x[a] = old;
        expected[a] = -raise_of(t.g, a % t.g->k) * (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * h);
      }
      /* The differences are of fourth order. Their error is the fourth power of the step times fifth derivatives, which
       * are large for close pairs. */
      double size = fmax(1, largest(count, force)), error = check_distance_max(count, force, expected) / size;
      if (!(error <= 2e-8)) print_error("%s, %s\n", force_spaces[n], kind_names[which]);
      check_at_most(error, 2e-8);
      drop(&t, true);
    }
}

/* Writes the dense matrix of the blocks of a pattern. */
static void to_dense(const cb_pattern *p, const double *block, double *dense) {
  int k = p->block, n = p->n * k;
  for (int e = 0; e < n * n; e++) dense[e] = 0;
  for (int i = 0; i < p->n; i++)
    for (int c = p->start[i]; c < p->start[i + 1]; c++)
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++) dense[(i * k + a) * n + p->column[c] * k + b] = block[(c * k + a) * k + b];
}

/* Computes the derivatives of the force by the positions (argument = t->x) or by the velocities (argument = t->v), by
 * differences of fourth order. */
static void differences_of_force(force_setup *t, double *argument, double *expected) {
  int n = N * t->g->k;
  for (int b = 0; b < n; b++) {
    double old = argument[b], h = 1e-4, force[4][N * K];
    for (int side = 0; side < 4; side++) {
      argument[b] = old + h * (side < 2 ? side - 2 : side - 1);
      check_ok(cb_forces_eval(t->f, time_now, t->state->x, t->v, force[side]));
    }
    argument[b] = old;
    for (int a = 0; a < n; a++)
      expected[a * n + b] = (force[0][a] - 8 * force[1][a] + 8 * force[2][a] - force[3][a]) / (12 * h);
  }
}

static void jacobian_is_that_of_the_force(void **state) {
  uint64_t seed = check_seed();
  enum { M = N * K };
  static double dx[M * M], dv[M * M], dense[M * M], expected[M * M];
  for (int n = 0; n < FORCE_SPACES; n++)
    for (int which = 0; which < KINDS; which++) {
      force_setup t = make(force_spaces[n], &seed, (force_kind)which);
      const cb_pattern *pattern = cb_forces_pattern(t.f);
      int size = N * t.g->k;
      check_ok(cb_forces_jacobian(t.f, time_now, t.state->x, t.v, dx, dv));
      to_dense(pattern, dx, dense);
      differences_of_force(&t, t.state->x, expected);
      double scale = fmax(1, largest(size * size, expected)),
             error = check_distance_max(size * size, dense, expected) / scale;
      if (!(error <= 1e-7)) print_error("dF/dx: %s, %s\n", force_spaces[n], kind_names[which]);
      check_at_most(error, 1e-7);
      to_dense(pattern, dv, dense);
      if (cb_forces_uses_velocity(t.f))
        differences_of_force(&t, t.v, expected);
      else
        memset(expected, 0, sizeof expected);
      error = check_distance_max(size * size, dense, expected) / scale;
      if (!(error <= 1e-9)) print_error("dF/dv: %s, %s\n", force_spaces[n], kind_names[which]);
      check_at_most(error, 1e-9);
      drop(&t, true);
    }
}

/* For forces between particles, the rate of the momentum of each Killing field X_i is 0. This rate is the sum over all
 * particles a of <X_i(x_a), F_a>, with the position x_a and the force F_a. */
static void forces_between_particles_keep_every_killing_momentum(void **state) {
  uint64_t seed = check_seed();
  static const force_kind between[] = {SPRINGS,        DAMPED,          GRAVITY,     COULOMB, LENNARD_JONES,
                                       HARMONIC_PAIRS, PAIR_EXPRESSION, TWO_BODIES,  ANGLES,  PATHS,
                                       AREAS,          VOLUMES,         FOUR_POINTS, DRIVEN};
  for (int n = 0; n < FORCE_SPACES; n++)
    for (size_t w = 0; w < sizeof between / sizeof *between; w++) {
      force_setup t = make(force_spaces[n], &seed, between[w]);
      double force[N * K], rate[CB_KILLING_MAX] = {0};
      check_ok(cb_forces_eval(t.f, time_now, t.state->x, t.v, force));
      for (int i = 0; i < N && !t.g->chart; i++)
        cb_killing_momentum_add(t.g, t.state->x + i * t.g->k, force + i * t.g->k, rate);
      for (int i = 0; i < N && t.g->chart; i++) { /* in a chart, the covector of the force is applied to the components
                                                   * of X */
        const double *q = t.state->x + i * t.g->k;
        for (int m = 0; m < t.g->n_killing; m++) {
          double x[K], X[K], unused[K], u[K];
          check_ok(t.g->chart->to_point(t.g, q, x, NULL));
          cb_killing_at(t.g, m, x, X);
          check_ok(cb_chart_pull(t.g, t.g->chart, x, X, unused, u));
          for (int a = 0; a < t.g->k; a++) rate[m] += u[a] * force[i * t.g->k + a];
        }
      }
      /* the tolerance is for the round-off of ten pairs of particles */
      double error = largest(t.g->n_killing, rate) / fmax(1, largest(N * t.g->k, force));
      if (!(error <= 2e-14)) print_error("%s, %s\n", force_spaces[n], kind_names[between[w]]);
      check_at_most(error, t.g->chart ? 1e-12 : 2e-14);
      drop(&t, true);
    }
}

static void damping_takes_energy_and_nothing_at_rest(void **state) {
  uint64_t seed = check_seed();
  for (int n = 0; n < FORCE_SPACES; n++) {
    force_setup t = make(force_spaces[n], &seed, DAMPED);
    double force[N * K], still[N * K], zero[N * K] = {0}, power = 0;
    assert_true(cb_forces_uses_velocity(t.f));
    check_ok(cb_forces_eval(t.f, 0, t.state->x, t.v, force));
    check_ok(cb_forces_eval(t.f, 0, t.state->x, zero, still));
    for (int a = 0; a < N * t.g->k; a++)
      power += (force[a] - still[a]) * t.v[a] * (t.g->chart ? 1 : t.g->form[a % t.g->k]);
    check_at_most(power, -1e-3);
    drop(&t, true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(force_is_minus_the_raised_gradient),
      cmocka_unit_test(jacobian_is_that_of_the_force),
      cmocka_unit_test(forces_between_particles_keep_every_killing_momentum),
      cmocka_unit_test(damping_takes_energy_and_nothing_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
