/* Tests of a body of several shapes. Its mass properties are the sums of those of its shapes, a mirrored mesh has its
 * faces outwards, and each shape is a part with its name. The resolved scenario reads back as the same scenario with
 * the same files. */
#include "fluid/surface_mesh.h"
#include <curvebody/mass.h>
#include <curvebody/scenario.h>

#include "check.h"

#include <unistd.h>

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static void two_boxes_have_the_sum_of_their_tensors(void **unused) {
  cb_surface *box, *both;
  check_ok(cb_shape_create("box", NULL, &box));
  /* a box with sides 1, rotated around z by atan(4/3), at (2, 0, 1), and a mirrored box of 2 by 1 by 3 */
  const cb_surface_piece piece[] = {{box, "a", {{0.6, -0.8, 0}, {0.8, 0.6, 0}, {0, 0, 1}}, {2, 0, 1}},
                                    {box, "b", {{2, 0, 0}, {0, -1, 0}, {0, 0, 3}}, {0, -1, 0}}};
  const double side[2][3] = {{1, 1, 1}, {2, 1, 3}}, volume[2] = {1, 6};
  check_ok(cb_surface_join(2, piece, &both));
  check_ok(cb_surface_check(both, false));
  assert_int_equal(both->parts, 2);
  assert_string_equal(both->name[0], "a");
  assert_string_equal(both->name[1], "b");
  const cb_material material[2] = {{1, 0}, {1, 0}};
  cb_mass m;
  check_ok(cb_mass_of(both, NULL, material, &m));
  double J[3][3] = {{0}}, first[3] = {0};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      const double *o = piece[k].origin, b = side[k][(i + 1) % 3], c = side[k][(i + 2) % 3];
      J[i][i] += volume[k] * ((b * b + c * c) / 12 + o[0] * o[0] + o[1] * o[1] + o[2] * o[2]);
      first[i] += volume[k] * o[i];
      for (int j = 0; j < 3; j++) J[i][j] -= volume[k] * o[i] * o[j];
    }
  for (int i = 0; i < 3; i++) {
    check_near(m.mass * m.centre[i], first[i], 1e-12); /* round-off of sums over 3000 faces */
    for (int j = 0; j < 3; j++) check_near(m.inertia[i][j], J[i][j], 1e-11);
  }
  cb_surface_free(both);
  cb_surface_free(box);
}

static void the_resolved_scenario_reads_back_as_itself(void **unused) {
  char path[] = "/tmp/pieces-XXXXXX.obj", text[1024];
  const int fd = mkstemps(path, 4);
  assert_int_equal(write(fd, tetrahedron, sizeof tetrahedron - 1), (ssize_t)sizeof tetrahedron - 1);
  close(fd);
  snprintf(
      text, sizeof text,
      "curvebody: 1\nfluid: {medium: water}\nbodies:\n  - density: 800\n    parts: {fin: {density: 900}}\n"
      "    shape:\n      - {shape: {name: box, resolution: 8}, position: [1, 2, 0], quaternion: [0.6, 0, 0, 0.8]}\n"
      "      - {name: core, shape: {name: ellipsoid, a: 0.1, b: 0.1, c: 0.1, resolution: 8}, position: [1, 2, 0]}\n"
      "      - {name: fin, mesh: \"%s\", scale: [1, -2, 1]}\n"
      "integrator: {name: rkmk4, step: 0.01}\ntime: {end: 1}\n",
      path);
  cb_scenario *s, *again;
  check_ok(cb_scenario_open_text("pieces", text, NULL, 0, &s)); /* the ball is inside the box */
  assert_non_null(strstr(cb_scenario_resolved(s), path));
  check_ok(cb_scenario_open_text("again", cb_scenario_resolved(s), NULL, 0, &again));
  assert_string_equal(cb_scenario_resolved(s), cb_scenario_resolved(again));
  cb_scenario_free(again);
  cb_scenario_free(s);
  unlink(path);
}

static void what_is_wrong_has_its_place(void **unused) {
  static const struct {
    const char *shape, *told;
  } cases[] = {
      {"[]", "body:4:13: error: expected a list of {shape: ..} and {mesh: ..}"},
      {"[{shape: bux}]", "body:4:22: error: unknown shape 'bux', did you mean 'box'?"},
      {"[{name: a, shape: box}, {name: a, shape: box}]", "body:4:37: error: two shapes of the body have the name"},
      {"[{shape: box, mesh: t.obj}]", "body:4:33: error: expected either `shape` or `mesh`"},
      {"[{shape: box, scale: 2}]", "body:4:34: error: `scale` applies only to `mesh`"},
      {"[{shape: [box]}]", "body:4:22: error: expected one shape, found a list"},
      {"[{shape: box, quaternion: [1, 1, 0, 0]}]", "body:4:39: error: expected a unit quaternion"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    cb_scenario *s = NULL;
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: none}\nbodies:\n  - {shape: %s}\n"
             "integrator: {name: rkmk4, step: 0.01}\ntime: {end: 1}\n",
             cases[i].shape);
    assert_int_equal(cb_scenario_open_text("body", text, NULL, 0, &s), CB_ERROR_INPUT);
    if (!strstr(cb_error_text(), cases[i].told)) fail_msg("%s: expected %s", cb_error_text(), cases[i].told);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_boxes_have_the_sum_of_their_tensors),
                                     cmocka_unit_test(the_resolved_scenario_reads_back_as_itself),
                                     cmocka_unit_test(what_is_wrong_has_its_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
