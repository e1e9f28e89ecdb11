/* Tests of rods and triangles: a rod is one constraint row, whose length is given or is the initial distance; the sides
 * of a triangle are springs or rods. */
#include "built_rods.h"

static void a_rigid_rod_is_one_row_of_its_length(void **state) {
  static const char *const spaces[] = {"{name: h3}", "{name: e3}", "{name: s3}", "{name: h3, chart: polar}"};
  for (int i = 0; i < 4; i++) {
    built t = build(spaces[i], "{kind: rod, name: a, masses: [1, 2], link: rod, " PAIR "}");
    assert_int_equal(cb_system_particles(t.s), 2);
    assert_int_equal(cb_system_constraints(t.s), 1);
    assert_int_equal(cb_system_bonds(t.s), 1);
    assert_int_equal(cb_system_springs(t.s), 0);
    assert_int_equal(cb_system_components(t.s), 1);
    assert_false(cb_system_constraints_depend_on_time(t.s));
    check_rod(&t, 0, 0, 1, "rod a.0 a.1");
    check_bond(&t, 0, 0, 1, 1);
    check_near(row_of(&t, 0), 0, 0); /* the length is the initial distance */
    drop(&t);
  }
}

static void a_rod_has_the_length_that_is_given(void **state) {
  built t = build("{name: h3}", "{kind: rod, link: {rod: {length: sqrt(2)/2}}, " PAIR "}");
  check_near(row_of(&t, 0), 1 - sqrt(0.5), 1e-15);
  drop(&t);
  t = build("{name: h3}", "{kind: rod, link: {rod: {length: '1.5 + 0.5*sin(2*t)'}}, " PAIR "}");
  double row, rate, x[2 * K], zero[2 * K] = {0};
  memcpy(x, t.start->x, sizeof x);
  assert_true(cb_system_constraints_depend_on_time(t.s));
  check_ok(cb_constraints_eval(cb_forces_constraints(t.f), 0.7, x, &row, NULL));
  check_near(row, 1 - (1.5 + 0.5 * sin(1.4)), 1e-15);
  check_ok(cb_constraints_rate(cb_forces_constraints(t.f), 0.7, x, zero, &rate, NULL));
  check_near(rate, -cos(1.4), 1e-15);
  drop(&t);
}

static void a_triangle_mixes_springs_and_rods(void **state) {
  built t = build("{name: s3}", "{kind: triangle, name: a, link: rod, " THREE "}");
  assert_int_equal(cb_system_constraints(t.s), 3);
  check_rod(&t, 0, 0, 1, "rod a.0 a.1");
  check_rod(&t, 1, 0, 2, "rod a.0 a.2");
  check_rod(&t, 2, 1, 2, "rod a.1 a.2");
  for (int r = 0; r < 3; r++) check_near(row_of(&t, r), 0, 0);
  drop(&t);
  t = build("{name: h3}", "{kind: triangle, name: a, " THREE
                          ", link: [rod, {spring: {stiffness: 3, rest: .2}}, {rod: {length: 1}}]}");
  assert_int_equal(cb_system_constraints(t.s), 2);
  assert_int_equal(cb_system_springs(t.s), 1);
  assert_int_equal(cb_system_bonds(t.s), 3);
  double stiffness, rest, damping;
  cb_system_spring(t.s, 0, &stiffness, &rest, &damping);
  check_near(stiffness, 3., 0);
  check_near(rest, 0.2, 0);
  check_bond(&t, 0, 0, 2, distance_of(&t, 0, 2)); /* springs come before rods */
  check_bond(&t, 1, 0, 1, distance_of(&t, 0, 1));
  check_bond(&t, 2, 1, 2, distance_of(&t, 1, 2));
  check_near(row_of(&t, 1), distance_of(&t, 1, 2) - 1, 1e-15);
  drop(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_rod_is_one_row_of_its_length),
      cmocka_unit_test(a_rod_has_the_length_that_is_given),
      cmocka_unit_test(a_triangle_mixes_springs_and_rods),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
