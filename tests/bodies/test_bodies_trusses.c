/* Tests of trusses and networks: the pairs of particles with rods and with springs, as listed or along the edges of a
 * mesh, and the triangles that the builder stores. */
#include "built_rods.h"
#include <unistd.h>

static void a_frame_joins_all_pairs_but_those_with_springs(void **state) {
  built t = build("{name: h3}", "{kind: truss, name: f, masses: [1, 2, 3, 4], " FOUR "}");
  static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  assert_int_equal(cb_system_constraints(t.s), 6);
  for (int r = 0; r < 6; r++) {
    int i, j;
    assert_true(cb_system_constraint_is_rod(t.s, r, &i, &j));
    assert_true(i == pair[r][0] && j == pair[r][1]);
    check_near(row_of(&t, r), 0, 0);
  }
  drop(&t);
  t = build("{name: s3}",
            "{kind: truss, name: f, stiffness: 5, " FOUR ", springs: [[2, 1], {between: [0, 3], rest: 1}]}");
  assert_int_equal(cb_system_constraints(t.s), 4);
  assert_int_equal(cb_system_springs(t.s), 2);
  check_rod(&t, 0, 0, 1, "rod f.0 f.1");
  check_rod(&t, 1, 0, 2, "rod f.0 f.2");
  check_rod(&t, 2, 1, 3, "rod f.1 f.3");
  check_rod(&t, 3, 2, 3, "rod f.2 f.3");
  drop(&t);
}

static void a_frame_has_the_rods_that_are_listed(void **state) {
  built t = build("{name: s3}",
                  "{kind: truss, name: f, " FOUR ", rods: [[0, 1], {between: [3, 1], length: .9, name: brace}]}");
  assert_int_equal(cb_system_constraints(t.s), 2);
  check_rod(&t, 0, 0, 1, "rod f.0 f.1");
  check_rod(&t, 1, 3, 1, "brace");
  check_near(row_of(&t, 1), distance_of(&t, 1, 3) - 0.9, 1e-15);
  assert_int_equal(cb_system_components(t.s), 2);
  drop(&t);
}

static void a_network_has_springs_and_rods(void **state) {
  built t = build("{name: h3}", "{kind: network, name: n, " FOUR
                                ", springs: [[0, 1], [1, 2]], rods: [[2, 3], {between: [3, 0], length: 1}]}");
  assert_int_equal(cb_system_springs(t.s), 2);
  assert_int_equal(cb_system_constraints(t.s), 2);
  check_rod(&t, 0, 2, 3, "rod n.2 n.3");
  check_rod(&t, 1, 3, 0, "rod n.3 n.0");
  check_bond(&t, 2, 2, 3, distance_of(&t, 2, 3));
  drop(&t);
  t = build("{name: e3}",
            "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}, rest: .3, stiffness: 2, springs: "
            "[{between: [0, 1], stiffness: 7}, {between: [0, 2], rest: .6}]}");
  double stiffness, rest, damping; /* a spring whose entry has no stiffness or rest length has that of the body */
  cb_system_spring(t.s, 0, &stiffness, &rest, &damping);
  assert_true(stiffness == 7 && rest == 0.3 && damping == 0);
  cb_system_spring(t.s, 1, &stiffness, &rest, &damping);
  assert_true(stiffness == 2 && rest == 0.6);
  drop(&t);
  t = build("{name: s2}",
            "{kind: network, lattice: {size: [3, 2], spacing: .2}, link: rod, neighbours: 2, "
            "bending_stiffness: 4}");
  assert_int_equal(cb_system_constraints(t.s), 7);
  assert_int_equal(cb_system_springs(t.s), 2 + 4); /* second neighbours: 2 straight and 4 diagonal pairs */
  drop(&t);
}

static const char *write_mesh(void) {
  static char path[64];
  snprintf(path, sizeof path, "test-bodies-frames-%ld.obj", (long)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", file); /* a tetrahedron */
  fclose(file);
  return path;
}

static void a_frame_of_a_mesh_has_its_edges_as_rods(void **state) {
  char text[300];
  const char *path = write_mesh();
  snprintf(text, sizeof text, "{kind: truss, mesh: {file: %s, scale: .5}, density: 2, springs: [[0, 1]]}", path);
  built t = build("{name: h3}", text);
  assert_int_equal(cb_system_particles(t.s), 4);
  assert_int_equal(cb_system_constraints(t.s), 6);
  assert_int_equal(cb_system_springs(t.s), 1);
  double total = 0;
  for (int i = 0; i < 4; i++) total += cb_system_masses(t.s)[i];
  /* The density is 2 per area. In flat space three of the four faces are right triangles with two sides of 0.5. */
  assert_true(total > 2 * 3 * (0.5 * 0.5 / 2));
  drop(&t);
  snprintf(text, sizeof text, "{kind: network, mesh: {file: %s}, link: rod, springs: [[0, 1]], stiffness: 3}", path);
  t = build("{name: e3}", text);
  assert_int_equal(cb_system_constraints(t.s), 6);
  assert_int_equal(cb_system_springs(t.s), 1);
  for (int r = 0; r < 6; r++) check_near(row_of(&t, r), 0, 0);
  drop(&t);
  remove(path);
}

static void the_builder_keeps_the_triangles_of_bodies(void **state) {
  char text[300];
  const char *path = write_mesh();
  cb_space *g = check_space("{name: h3}");
  cb_builder *b;
  int n, first;
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(g, "{kind: rod, " PAIR "}", b));
  check_ok(check_add_body(g, "{kind: triangle, name: t, " THREE "}", b));
  snprintf(text, sizeof text, "{kind: network, name: m, mesh: {file: %s}}", path);
  check_ok(check_add_body(g, text, b));
  assert_int_equal(cb_builder_bodies(b), 3);
  assert_string_equal(cb_builder_body_name(b, 2), "m");
  assert_int_equal(cb_builder_body_particles(b, 0, &first), 2);
  assert_int_equal(first, 0);
  assert_int_equal(cb_builder_body_particles(b, 2, &first), 4);
  assert_int_equal(first, 5);
  assert_null(cb_builder_triangles(b, 0, &n));
  assert_int_equal(n, 0);
  const int(*triangle)[3] = cb_builder_triangles(b, 1, &n);
  assert_int_equal(n, 1);
  assert_true(triangle[0][0] == 2 && triangle[0][1] == 3 && triangle[0][2] == 4);
  triangle = cb_builder_triangles(b, 2, &n);
  assert_int_equal(n, 4);
  assert_true(triangle[0][0] == 5 && triangle[0][1] == 7 && triangle[0][2] == 6);
  cb_builder_free(b);
  cb_space_free(g);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_frame_joins_all_pairs_but_those_with_springs),
      cmocka_unit_test(a_frame_has_the_rods_that_are_listed),
      cmocka_unit_test(a_network_has_springs_and_rods),
      cmocka_unit_test(a_frame_of_a_mesh_has_its_edges_as_rods),
      cmocka_unit_test(the_builder_keeps_the_triangles_of_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
