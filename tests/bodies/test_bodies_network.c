/* Tests of networks: listed springs, second neighbours, lattices, meshes and their masses. */
#include "bodies/link.h"
#include "built_body.h"
#include <unistd.h>

static void listed_springs_join_what_they_say(void **state) {
  built t = build("{name: e3}",
                  "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0], [1, 2, 0]]}, stiffness: 3, damping: .5, "
                  "springs: [[0, 1], {between: [2, 0], stiffness: 7, rest: 1}]}");
  double x[9], force[9], v[9] = {0};
  int i, j;
  memcpy(x, t.start->x, sizeof x);
  check_separations(&t, 2, (double[]){1, sqrt(5)}, 1e-15);
  cb_system_bond(t.s, 1, &i, &j);
  assert_true(i == 2 && j == 0);
  check_ok(cb_forces_eval(t.f, 0, x, v, force));
  check_relative(force[8 - 1], -7 * (sqrt(5) - 1) * 2 / sqrt(5), 1e-14);
  x[3] += 0.1; /* stretches the first spring by .1 */
  check_ok(cb_forces_eval(t.f, 0, x, v, force));
  check_near(force[3], -0.3, 1e-14);
  assert_true(cb_forces_uses_velocity(t.f));
  drop(&t);
}

static void second_neighbours_are_two_edges_apart(void **state) {
  /* A lattice of 4 x 4 particles has 24 edges. Its second neighbours are 2*4*2 pairs in a row or column and 2*9
   * diagonal pairs. */
  built t = build("{name: e2}",
                  "{kind: network, lattice: {size: [4, 4], spacing: .5}, neighbours: 2, bending_stiffness: .1}");
  assert_int_equal(cb_system_particles(t.s), 16);
  assert_int_equal(cb_system_bonds(t.s), 24 + 16 + 18);
  double d[58];
  check_ok(cb_forces_separations(t.f, t.start->x, d));
  for (int e = 0; e < 58; e++) {
    bool edge = e < 24, straight = fabs(d[e] - 1) < 1e-12, diagonal = fabs(d[e] - sqrt(0.5)) < 1e-12;
    assert_true(edge ? fabs(d[e] - 0.5) < 1e-12 : straight || diagonal);
  }
  drop(&t);
}

static void a_lattice_fills_its_box(void **state) {
  built t = build("{name: s3}",
                  "{kind: network, lattice: {size: [5, 4, 3], spacing: .1, at: {chart: polar, point: [1, "
                  "1, 1]}}, motion: {killing: rotation_z}}");
  assert_int_equal(cb_system_particles(t.s), 60);
  assert_int_equal(cb_system_bonds(t.s), 4 * 4 * 3 + 5 * 3 * 3 + 5 * 4 * 2);
  double mean[K], at[K];
  check_ok(cb_karcher_mean(t.g, 60, t.start->x, NULL, mean));
  check_ok(cb_chart_find(t.g, "polar")->to_point(t.g, (double[]){1, 1, 1}, at, NULL));
  check_near(check_distance_max(K, mean, at), 0, 1e-13);
  drop(&t);
}

static const char *write_mesh(const char *text) {
  static char path[64];
  snprintf(path, sizeof path, "test-bodies-%ld.obj", (long)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return path;
}

static void a_mesh_weighs_its_density_times_its_area(void **state) {
  char text[400];
  /* The first mesh is a unit square of two triangles, scaled by 2. The second mesh is one triangle, which the
   * exponential map of S3 maps to an octant of a great sphere with sides pi/2 and area pi/2. */
  const char *path = write_mesh("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
  snprintf(text, sizeof text, "{kind: network, mesh: {file: %s, scale: 2}, density: 3}", path);
  built t = build("{name: e3}", text);
  double total = 0;
  for (int i = 0; i < 4; i++) total += cb_system_masses(t.s)[i];
  check_relative(total, 12., 1e-15);
  check_relative(cb_system_masses(t.s)[cb_system_index(t.s, 1)], 2., 1e-15);
  assert_int_equal(cb_system_bonds(t.s), 5);
  drop(&t);
  path = write_mesh("v 0 0 0\nv 1.5707963267948966 0 0\nv 0 1.5707963267948966 0\nf 1 2 3\n");
  snprintf(text, sizeof text,
           "{kind: network, mesh: {file: %s, rotate: [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}, density: 1}", path);
  t = build("{name: s3}", text);
  total = 0;
  for (int i = 0; i < 3; i++) total += cb_system_masses(t.s)[i];
  check_relative(total, acos(0), 1e-14);
  for (int i = 0; i < 3; i++) check_near(t.start->x[i * K], 0, 1e-16); /* the particles lie on x = 0 */
  drop(&t);
  snprintf(text, sizeof text, "{kind: network, mesh: {file: %s}}", path);
  t = build("{name: h2}", text);
  check_separations(&t, 3, (double[]){acos(0), acos(0), acosh(pow(cosh(acos(0)), 2))}, 1e-14);
  drop(&t);
  remove(path);
}

static void triangles_have_the_area_of_their_angles(void **state) {
  /* Right isosceles triangles with two sides a, in curvature 1 and -1: the theorem of Gauss-Bonnet gives their area
   * from their angles. */
  for (double a = 0.1; a < 1.5; a *= 1.7) {
    double c_s = acos(cos(a) * cos(a)), angle_s = asin(sin(a) / sin(c_s)), c_h = acosh(cosh(a) * cosh(a)),
           angle_h = asin(sinh(a) / sinh(c_h));
    /* the tolerance 1e-12 is for the round-off of acos near 1 */
    check_near(cb_triangle_area(1, a, a, c_s), 2 * angle_s - acos(0), 1e-12);
    check_near(cb_triangle_area(-1, a, a, c_h), acos(0) - 2 * angle_h, 1e-12);
    check_near(cb_triangle_area(0.01, 10 * a, 10 * a, 10 * c_s), 100 * cb_triangle_area(1, a, a, c_s), 1e-11);
  }
  check_relative(cb_triangle_area(0, 3, 4, 5), 6., 1e-15);
  check_relative(cb_triangle_area(-1, 300, 300, 300), 2 * acos(0), 1e-14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(listed_springs_join_what_they_say),
      cmocka_unit_test(second_neighbours_are_two_edges_apart),
      cmocka_unit_test(a_lattice_fills_its_box),
      cmocka_unit_test(a_mesh_weighs_its_density_times_its_area),
      cmocka_unit_test(triangles_have_the_area_of_their_angles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
