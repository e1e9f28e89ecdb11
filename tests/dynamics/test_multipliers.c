/* Tests of the observables of constraints: multipliers compared with closed forms and with the motion itself,
 * residuals, and the available fields and names.
 */
#include "check_geometry.h"
#include "simulate.h"
#include <curvebody/constraint.h>

static const char *const fields[] = {"multiplier", "constraint_residual", "constraint_rate_residual",
                                     "constraint_acceleration_residual", NULL};

static double largest(const simulation *s, int f, double less) {
  double most = 0;
  for (size_t i = 0; i < s->rows * s->width[f]; i++) most = fmax(most, fabs(s->value[f][i] - less));
  return most;
}

/* A rod of length D = 1 with masses m = 1 moves with the speed v = 1 across its direction. Its tension is (m/2) v^2
 * sinh D in H3, -(m/2) v^2 sin D in S3, and 0 in E3. */
static void the_rigid_rod_of_the_validation_is_pulled_as_computed(void **state) {
  static const char text[] =
      "curvebody: 1\nspace: %s\nbodies:\n  - kind: rod\n    link: rod\n    place: {chart: polar, points: %s}\n"
      "    motion: %s\nintegrator: {name: lobatto, stages: 4, step: .01}\ntime: {end: 2}\n";
  static const char across[] = "[[.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]";
  static const struct {
    const char *space, *points, *motion;
    double pull;
  } cases[] = {
      {"h3", across, "{killing: boost_x}", 0.5876005968219},
      {"s3", "[[(pi - 1)/2, pi/2, 0], [(pi + 1)/2, pi/2, 0]]", "{chart: polar, velocities: [[0, 0, 1], [0, 0, 1]]}",
       -0.4207354924039},
      {"e3", across, "{killing: translation_x}", 0},
  };
  for (int c = 0; c < 3; c++) {
    char scenario[1024];
    snprintf(scenario, sizeof scenario, text, cases[c].space, cases[c].points, cases[c].motion);
    simulation *s = simulate(scenario, NULL, 0, fields);
    assert_int_equal(s->width[0], 1);
    assert_int_equal(s->rows, 201);
    check_at_most(largest(s, 0, cases[c].pull), 1e-12); /* the reference values have 13 digits */
    for (int f = 1; f < 4; f++) check_at_most(largest(s, f, 0), 2e-15);
    simulation_free(s);
  }
}

/* In E3 the rod of a pendulum has the tension m v^2/L - m g z/L, with the mass m, the speed v, the length L, the height
 * z and g = 9.81. */
static void a_pendulum_pulls_with_its_weight_and_its_turning(void **state) {
  static const char text[] =
      "curvebody: 1\nspace: e3\nbodies:\n"
      "  - {kind: pendulum, mass: 1.7, pivot: {point: [0, 0, 0]}, tangent: [1.2, 0, -.9], motion: {velocities: [[.3, "
      "2, "
      ".4]]}}\n"
      "potentials:\n  - expression: {value: m*9.81*z}\n"
      "integrator: {name: lobatto, stages: 4, step: .01}\ntime: {end: 2}\n";
  static const char *const some[] = {"multiplier", "plot_position", "momentum", "constraint_residual", NULL};
  simulation *s = simulate(text, NULL, 0, some);
  for (size_t r = 0; r < s->rows; r++) {
    const double *x = s->value[1] + 3 * r, *p = s->value[2] + 3 * r, m = 1.7, L = 1.5;
    const double square = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / (m * m);
    check_near(s->value[0][r], m * square / L - m * 9.81 * x[2] / L, 1e-12);
  }
  check_at_most(largest(s, 3, 0), 1e-15);
  simulation_free(s);
}

/* If two masses m1 and m2 in E3 do not rotate, a rod of length L(t) between them has the tension -mu L'' with mu = m1
 * m2/(m1 + m2). */
static void a_rod_that_changes_its_length_pushes_and_pulls(void **state) {
  static const char text[] =
      "curvebody: 1\nspace: e3\nbodies:\n"
      "  - {kind: rod, masses: [1, 3], link: {rod: {length: '1 + 0.1*sin(2*t)'}},\n"
      "     place: {points: [[0, 0, 0], [.6, 0, .8]]}}\n"
      "integrator: {name: lobatto, stages: 4, step: .01}\ntime: {end: 2}\n";
  static const char *const some[] = {"multiplier", "time", "separation", "constraint_rate_residual", NULL};
  simulation *s = simulate(text, NULL, 0, some);
  for (size_t r = 0; r < s->rows; r++) {
    const double t = s->value[1][r];
    check_near(s->value[0][r], 0.75 * 0.4 * sin(2 * t), 1e-13);
    check_near(s->value[2][r], 1 + 0.1 * sin(2 * t), 1e-15);
  }
  check_at_most(largest(s, 3, 0), 1e-14);
  simulation_free(s);
}

/* The tangential part of the rate of the momentum of particle i equals the sum over its rods of the multiplier times
 * the unit vector to the other particle. The rate is computed by differences of the record. */
static void multipliers_are_the_forces_that_bend_the_motion(void **state) {
  static const char text[] =
      "curvebody: 1\nbodies:\n  - kind: truss\n    masses: [1, 2.7, .6, 1.4]\n"
      "    place: {at: {chart: polar, point: [.4, 1.1, .3]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3], [0, "
      ".1, .7]]}\n"
      "    motion: [{killing: rotation_x, speed: .8}, {killing: rotation_y, speed: -.5}]\n"
      "integrator: {name: lobatto, stages: 5, step: .005}\ntime: {end: .2}\n";
  static const char *const spaces[] = {"space=e3", "space=s3", "space={name: h3, curvature: -0.7}"};
  static const char *const some[] = {"multiplier", "position", "momentum", "constraint_acceleration_residual", NULL};
  for (int c = 0; c < 3; c++) {
    simulation *s = simulate(text, &spaces[c], 1, some);
    const cb_space *g = cb_scenario_space(s->scenario);
    const cb_system *system = cb_scenario_system(s->scenario);
    const size_t k = (size_t)g->k, w = 4 * k;
    double error = 0, size = 0;
    assert_int_equal(s->width[0], 6);
    for (size_t r = 3; r + 3 < s->rows; r++)
      for (int i = 0; i < 4; i++) {
        const double *x = s->value[1] + r * w, *p = s->value[2] + r * w + (size_t)i * k;
        double rate[CB_COORD_MAX], log[CB_COORD_MAX];
        for (size_t a = 0; a < k; a++) /* rate: the rate of the momentum, by differences of order 6 */
          rate[a] =
              (45 * (p[w + a] - (p - w)[a]) - 9 * (p[2 * w + a] - (p - 2 * w)[a]) + (p[3 * w + a] - (p - 3 * w)[a])) /
              (60 * 0.005);
        const double normal = g->factor[0].curvature * cb_inner(g, x + (size_t)i * k, rate);
        for (size_t a = 0; a < k; a++) rate[a] -= normal * x[(size_t)i * k + a];
        for (int row = 0; row < 6; row++) {
          int one, two;
          assert_true(cb_system_constraint_is_rod(system, row, &one, &two));
          if (one != i && two != i) continue;
          const int j = one == i ? two : one;
          const double *y = x + (size_t)j * k, pull = s->value[0][r * 6 + (size_t)row];
          check_ok(cb_log(g, x + (size_t)i * k, y, log));
          const double d = cb_distance(g, x + (size_t)i * k, y);
          for (size_t a = 0; a < k; a++) rate[a] -= pull * log[a] / d;
          size = fmax(size, fabs(pull));
        }
        for (size_t a = 0; a < k; a++) error = fmax(error, fabs(rate[a]));
      }
    check_at_least(size, 0.05);
    /* The error is the round-off of the difference quotient `rate`. It is about 1e-16 110/(60 .005) times the momenta,
     * where 110 is the sum of the weights. */
    check_at_most(error, 5e-13);
    check_at_most(largest(s, 3, 0), 1e-14);
    simulation_free(s);
  }
}

static const cb_field *find_field(const cb_record_layout *layout, const char *name) {
  for (size_t f = 0; f < layout->n_fields; f++)
    if (!strcmp(layout->fields[f].name, name)) return &layout->fields[f];
  return NULL;
}

static const cb_constant *find_constant(const cb_record_layout *layout, const char *name) {
  for (size_t c = 0; c < layout->n_constants; c++)
    if (!strcmp(layout->constants[c].name, name)) return &layout->constants[c];
  return NULL;
}

static const char mixed[] =
    "curvebody: 1\nspace: h3\nbodies:\n"
    "  - {kind: triangle, name: a, link: [rod, {spring: {stiffness: 3}}, rod],\n"
    "     place: {at: {point: [0, 0, 0, 1]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3]]}}\n"
    "integrator: {name: lobatto, step: .01}\ntime: {end: .1}\n";

static void constraints_are_recorded_unless_others_are_asked_for(void **state) {
  static const struct {
    const char *set;
    bool constraints, energy;
  } cases[] = {{"title=usual", true, true},
               {"record={observables: [separation, energy]}", false, true},
               {"record={observables: [constraints]}", true, false},
               {"bodies.0.link=spring", false, true}};
  for (int c = 0; c < 4; c++) {
    cb_scenario *s;
    check_ok(cb_scenario_open_text("test", mixed, &cases[c].set, 1, &s));
    const cb_record_layout *layout = cb_scenario_layout(s);
    for (int f = 0; f < 4; f++) assert_int_equal(find_field(layout, fields[f]) != NULL, cases[c].constraints);
    assert_int_equal(find_field(layout, "energy") != NULL, cases[c].energy);
    assert_int_equal(find_constant(layout, "constraint_name") != NULL, c < 3);
    cb_scenario_free(s);
  }
}

static void rods_are_bonds_after_the_springs(void **state) {
  static const char *const some[] = {"separation", "position", "constraint_residual", NULL};
  static const int64_t ends[3][2] = {{0, 2}, {0, 1}, {1, 2}};
  simulation *s = simulate(mixed, NULL, 0, some);
  const cb_space *g = cb_scenario_space(s->scenario);
  const cb_record_layout *layout = cb_scenario_layout(s->scenario);
  assert_int_equal(s->width[0], 3);
  for (int b = 0; b < 3; b++) {
    const int64_t i = find_constant(layout, "bond_i")->integers[b], j = find_constant(layout, "bond_j")->integers[b];
    assert_true(i == ends[b][0] && j == ends[b][1]);
    for (size_t r = 0; r < s->rows; r++) {
      const double *x = s->value[1] + r * 3 * (size_t)g->k;
      check_near(s->value[0][3 * r + (size_t)b], cb_distance(g, x + i * g->k, x + j * g->k), 1e-15);
    }
  }
  const cb_constant *name = find_constant(layout, "constraint_name");
  assert_string_equal(name->labels[0], "rod a.0 a.1");
  assert_string_equal(name->labels[1], "rod a.1 a.2");
  assert_int_equal(s->width[2], 2);
  simulation_free(s);
}

/* The multipliers that Radau IIA with 2 stages computes have order 2, and its state has order 3. So the multipliers
 * that the record computes from the state are more accurate. */
static void the_multipliers_of_the_method_are_recorded_apart(void **state) {
  static const char text[] =
      "curvebody: 1\nspace: h3\nbodies:\n  - kind: rod\n    link: rod\n"
      "    place: {chart: polar, points: [[.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]}\n    motion: {killing: boost_x}\n"
      "integrator: %s\ntime: {end: 1}\nrecord: {observables: [constraints, method_multiplier]}\n";
  static const char *const some[] = {"multiplier", "method_multiplier", NULL};
  const double exact = sinh(1) / 2;
  char scenario[1024];
  snprintf(scenario, sizeof scenario, text, "{name: radau_iia, stages: 2, constraints: velocity, step: .01}");
  simulation *s = simulate(scenario, NULL, 0, some);
  assert_true(isnan(s->value[1][0])); /* the integrator has no multipliers before the first step */
  for (size_t r = 1; r < s->rows; r++) {
    check_near(s->value[0][r], exact, 1e-7);
    check_near(s->value[1][r], exact, 1e-5);
    check_at_least(fabs(s->value[1][r] - exact), 1e-6);
  }
  simulation_free(s);
  /* this integrator computes no multipliers */
  snprintf(scenario, sizeof scenario, text, "{name: lobatto, step: .1}");
  s = simulate(scenario, NULL, 0, some);
  for (size_t r = 0; r < s->rows; r++) assert_true(isnan(s->value[1][r]));
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rigid_rod_of_the_validation_is_pulled_as_computed),
      cmocka_unit_test(a_pendulum_pulls_with_its_weight_and_its_turning),
      cmocka_unit_test(a_rod_that_changes_its_length_pushes_and_pulls),
      cmocka_unit_test(multipliers_are_the_forces_that_bend_the_motion),
      cmocka_unit_test(constraints_are_recorded_unless_others_are_asked_for),
      cmocka_unit_test(rods_are_bonds_after_the_springs),
      cmocka_unit_test(the_multipliers_of_the_method_are_recorded_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
