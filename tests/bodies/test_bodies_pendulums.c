/* Tests of pendulums: a particle that a rod or a spring joins to a pivot, and moves of the particle with its pivot. */
#include "built_rods.h"

static void a_pendulum_hangs_at_its_distance(void **state) {
  static const char *const spaces[] = {"{name: h3}", "{name: s3}", "{name: e3}", "{name: s3, chart: stereographic}",
                                       "{name: s2}"};
  for (int s = 0; s < 5; s++) {
    char text[300];
    const char *more = s == 4 ? "" : ", 2";
    snprintf(text, sizeof text,
             "{kind: pendulum, name: p, mass: 3, pivot: {chart: polar, point: [.5, 1%s]}, tangent: [0, .7%s]}", more,
             s == 4 ? "" : ", 0");
    built t = build(spaces[s], text);
    assert_int_equal(cb_system_particles(t.s), 1);
    assert_int_equal(cb_system_constraints(t.s), 1);
    assert_int_equal(cb_system_bonds(t.s), 0);
    assert_string_equal(cb_system_constraint_name(t.s, 0), "distance_to_point p.0");
    check_near(row_of(&t, 0), 0, 1e-16);
    drop(&t);
    snprintf(text, sizeof text,
             "{kind: pendulum, link: {rod: {length: .5}}, pivot: {chart: polar, point: [.5, 1%s]}, tangent: [0, .7%s]}",
             more, s == 4 ? "" : ", 0");
    t = build(spaces[s], text);
    check_near(row_of(&t, 0), 0.2, 2e-15);
    drop(&t);
  }
}

static void a_pendulum_is_moved_with_its_pivot(void **state) {
  static const char *const spaces[] = {"{name: h3}", "{name: s3}", "{name: e3}", "{name: h3, chart: polar}"};
  static const char *const fields[] = {"boost_x", "rotation_wx", "translation_x", "boost_x"};
  for (int s = 0; s < 4; s++) {
    char text[400];
    snprintf(text, sizeof text,
             "{kind: pendulum, link: {rod: {length: .4}}, pivot: {chart: polar, point: [.5, 1, 2]}, tangent: [.3, .2, "
             ".6], place: {move: [{killing: %s, by: 1.5}, {killing: rotation_z, by: 1}]}}",
             fields[s]);
    built t = build(spaces[s], text);
    check_near(row_of(&t, 0), 0.7 - 0.4, 1e-14);
    drop(&t);
    snprintf(text, sizeof text,
             "{kind: pendulum, pivot: {chart: polar, point: [.5, 1, 2]}, tangent: [.3, .2, .6], place: {move: "
             "[{killing: %s, by: 1.5}]}}",
             fields[s]);
    t = build(spaces[s], text); /* the move does not change the length of the rod */
    check_near(row_of(&t, 0), 0, 1e-14);
    drop(&t);
  }
}

static void a_pendulum_may_hang_by_a_spring(void **state) {
  static const char body[] =
      "{kind: pendulum, link: {spring: {stiffness: 3%s}}, pivot: {chart: polar, point: [.5, 1, "
      "2]}, tangent: [.3, .2, .6], place: {move: [{killing: rotation_z, by: 1}]}}";
  for (int given = 0; given < 2; given++) {
    char text[300];
    snprintf(text, sizeof text, body, given ? ", rest: .5" : "");
    built t = build("{name: h3}", text);
    double potential;
    assert_int_equal(cb_system_constraints(t.s), 0);
    check_ok(cb_forces_potential(t.f, 0, t.start->x, &potential));
    check_near(potential, given ? 1.5 * 0.2 * 0.2 : 0, 1e-14);
    drop(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pendulum_hangs_at_its_distance),
      cmocka_unit_test(a_pendulum_is_moved_with_its_pivot),
      cmocka_unit_test(a_pendulum_may_hang_by_a_spring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
