/* Tests of chains: particles along a geodesic or at listed points, each joined to the next by a rod or a spring; and
 * their fixed ends. */
#include "built_rods.h"

static void a_chain_lies_along_a_geodesic(void **state) {
  static const char *const spaces[] = {"{name: h3}", "{name: s3}", "{name: e3}", "{name: h3, curvature: -2}",
                                       "{name: h3, chart: stereographic}"};
  for (int s = 0; s < 5; s++) {
    built t = build(spaces[s],
                    "{kind: chain, name: c, count: 7, length: 1.2, from: {chart: polar, point: [.5, 1, 2]}, "
                    "along: [3, 0, -4], mass: 2, motion: {killing: rotation_z}}");
    assert_int_equal(cb_system_particles(t.s), 7);
    assert_int_equal(cb_system_constraints(t.s), 6);
    for (int i = 0; i < 6; i++) {
      char name[32];
      snprintf(name, sizeof name, "rod c.%d c.%d", i, i + 1);
      check_rod(&t, i, i, i + 1, name);
      check_near(distance_of(&t, i, i + 1), 0.2, 1e-14);
    }
    check_near(distance_of(&t, 0, 6), 1.2, 1e-14); /* the chain is straight */
    drop(&t);
  }
  /* the chain lies along the first axis, from the base point */
  built t = build("{name: e3}", "{kind: chain, count: 3, length: 4}");
  for (int i = 0; i < 3; i++)
    check_near(check_distance_max(3, t.start->x + 3 * cb_system_index(t.s, i), (double[]){2. * i, 0, 0}), 0, 0);
  drop(&t);
}

static void a_chain_of_listed_points_may_be_of_springs(void **state) {
  built t = build("{name: s3}", "{kind: chain, " THREE ", link: {spring: {stiffness: 2}}}");
  assert_int_equal(cb_system_constraints(t.s), 0);
  assert_int_equal(cb_system_springs(t.s), 2);
  drop(&t);
  t = build("{name: s3}", "{kind: chain, " THREE ", link: {rod: {length: .8}}}");
  for (int r = 0; r < 2; r++) check_near(row_of(&t, r), distance_of(&t, r, r + 1) - 0.8, 1e-15);
  drop(&t);
}

static void a_chain_is_fixed_where_it_says(void **state) {
  static const struct {
    const char *fixed;
    int first, last;
  } cases[] = {{"none", 0, 0}, {"first", 1, 0}, {"last", 0, 1}, {"both", 1, 1}};
  for (int c = 0; c < 4; c++) {
    char text[400];
    snprintf(text, sizeof text, "{kind: chain, name: c, " FOUR ", fixed: %s}", cases[c].fixed);
    built t = build("{name: h3}", text);
    assert_int_equal(cb_system_constraints(t.s), 3 + 3 * (cases[c].first + cases[c].last));
    const cb_rows *rows = cb_constraints_rows(cb_forces_constraints(t.f));
    for (int r = 3; r < rows->own; r++) {
      assert_int_equal(rows->start[r + 1] - rows->start[r], 1);
      int particle = cb_system_particle(t.s, rows->particle[rows->start[r]]);
      assert_int_equal(particle, cases[c].first && r < 6 ? 0 : 3);
      check_near(row_of(&t, r), 0, 1e-16);
    }
    drop(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_lies_along_a_geodesic),
      cmocka_unit_test(a_chain_of_listed_points_may_be_of_springs),
      cmocka_unit_test(a_chain_is_fixed_where_it_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
