/* Tests of bodies with a given inertia. Such a body has the same tensor and the same weight as a body whose density
 * gives this inertia, and its resolved scenario reads back as itself. An inertia that no body can have is rejected,
 * with its position in the file, and buoyancy acts unless it is switched off. */
#include <curvebody/immersed.h>
#include <curvebody/scenario.h>

#include "check.h"

enum { TEXT = 2048 };

static void check_told(const char *part) {
  if (!strstr(cb_error_text(), part)) fail_msg("%s: expected %s", cb_error_text(), part);
}

/* Opens a scenario of a box in water whose body has the additional keys `keys`. */
static cb_status open_body(const char *keys, cb_scenario **out) {
  char text[TEXT];
  snprintf(
      text, sizeof text,
      "curvebody: 1\nfluid: {medium: water}\nbodies:\n  - {shape: {name: box, a: 0.3, b: 0.2, c: 0.1, resolution: 8},\n"
      "%s}\nintegrator: {name: rkmk4, step: 0.01}\ntime: {end: 1}\n"
      "record: {observables: [wrenches]}\n",
      keys);
  return cb_scenario_open_text("body", text, NULL, 0, out);
}

static void boxes(const double side[3], double mass, double J[3][3]) {
  memset(J, 0, 9 * sizeof **J);
  for (int i = 0; i < 3; i++) {
    const double b = side[(i + 1) % 3], c = side[(i + 2) % 3];
    J[i][i] = mass * (b * b + c * c) / 12;
  }
}

static void a_box_by_its_inertia_has_the_tensor_of_one_of_density(void **unused) {
  const double side[3] = {0.3, 0.2, 0.1}, mass = 500 * 0.3 * 0.2 * 0.1;
  cb_tree *tree;
  cb_surface *box;
  check_ok(cb_tree_read("box", "{a: 0.3, b: 0.2, c: 0.1, resolution: 8}", &tree));
  check_ok(cb_shape_create("box", cb_tree_root(tree), &box));
  for (int i = 0; i < box->vertices; i++) {
    box->x[i][0] += 0.05;
    box->x[i][2] -= 0.02;
  }
  cb_point_mass whole = {.mass = mass, .x = {0.05, 0, -0.02}, .vertex = -1};
  boxes(side, mass, whole.inertia);
  const cb_material heavy = {500, 0}, none = {0, 0};
  const cb_fluid fluid = {.gravity = {0, 0, -9.81}};
  const cb_immersed_options options[] = {{.material = &heavy}, {.material = &none, .n_points = 1, .points = &whole}};
  cb_immersed_row row[2];
  for (int k = 0; k < 2; k++) {
    cb_immersed *body;
    cb_immersed_workspace *workspace;
    double wrench[4][6];
    cb_rigid_state state = {.t = 0};
    cb_pose_identity(&state.g);
    row[k].wrench = wrench;
    check_ok(cb_immersed_create(&fluid, box, NULL, &options[k], NULL, NULL, NULL, &body));
    assert_int_equal(cb_immersed_wrenches(body), 1);
    check_ok(cb_immersed_workspace_create(body, &workspace));
    check_ok(cb_immersed_workspace_measure(workspace, &state, &row[k]));
    /* the wrench is gravity, up to the round-off of a sum over 400 faces */
    check_near(wrench[0][5], -9.81 * mass, 1e-13);
    cb_immersed_workspace_free(workspace);
    cb_immersed_free(body);
  }
  for (int i = 0; i < 36; i++) /* the round-off of a sum over 400 faces */
    check_near(row[0].K[i / 6][i % 6], row[1].K[i / 6][i % 6], 1e-13 * mass);
  cb_surface_free(box);
  cb_tree_free(tree);
}

static void the_resolved_scenario_reads_back_as_itself(void **unused) {
  static const char *const keys[] = {
      "inertial: {mass: 2, inertia: [1, 2, 2.5]}, buoyancy: false",
      "inertial: {mass: 2, at: [0.1, 0, 0], inertia: [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 3]]}",
      "inertial: {mass: 2, inertia: [1, 2, 2.5], quaternion: [0.6, 0, 0.8, 0]}, poses: {x: X*(1 + sin(t)/9)}"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    cb_scenario *s, *again;
    check_ok(open_body(keys[i], &s));
    assert_null(strstr(cb_scenario_resolved(s), "density"));
    check_ok(cb_scenario_open_text("again", cb_scenario_resolved(s), NULL, 0, &again));
    assert_string_equal(cb_scenario_resolved(s), cb_scenario_resolved(again));
    cb_scenario_free(again);
    cb_scenario_free(s);
  }
}

static void what_no_body_has_is_refused_with_its_place(void **unused) {
  static const struct {
    const char *keys, *place, *told;
  } cases[] = {
      {"inertial: {mass: 0, inertia: [1, 1, 1]}", "body:5:18: error: ", "expected a mass > 0, found 0"},
      {"inertial: {mass: 1, inertia: [1, 1, 2.1]}", "body:5:30: error: ", "at most the sum of the other two"},
      {"inertial: {mass: 1, inertia: [1, 1, 0]}", "body:5:30: error: ", "expected moments of inertia > 0"},
      {"inertial: {mass: 1, inertia: [[1, 0, 0], [0.1, 1, 0], [0, 0, 1]]}", "body:5:30: error: ", "symmetric"},
      {"inertial: {mass: 1, inertia: [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}", "body:5:30: error: ", "> 0, found -1, 1, 3"},
      {"inertial: {mass: 1, inertia: [1, 1]}", "body:5:30: error: ", "expected [Ixx, Iyy, Izz] or three rows"},
      {"inertial: {mass: 1}", "body:5:11: error: ", "inertia"},
      {"inertial: {mass: 1, inertia: [1, 1, 1], quaternion: [1, 1, 0, 0]}", "body:5:53: error: ", "unit quaternion"},
      {"inertial: {mass: 1, inertia: [1, 1, 1]}, density: 3",
       "body:5:51: error: ", "expected `inertial` or `density`, not both"},
      {"inertial: {mass: 1, inertia: [1, 1, 1]}, mass: 3", "body:5:48: error: ", "next to `inertial`"},
      {"inertial: {mass: 1, inertia: [1, 1, 1]}, points: [{mass: 1, at: [0, 0, 0]}]", "body:5:50: error: ", "next to"},
      {"inertial: {mass: 1, inertia: [1, 1, 1]}, mass_model: vertices", "body:5:54: error: ", "next to `inertial`"},
      {"inertial: {mass: 1, inertia: [1, 1, 1]}, parts: {body: {density: 1}}", "body:5:66: error: ", "next to"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_scenario *s = NULL;
    assert_int_equal(open_body(cases[i].keys, &s), CB_ERROR_INPUT);
    check_told(cases[i].place);
    check_told(cases[i].told);
  }
}

static bool has_field(cb_scenario *s, const char *name) {
  const cb_record_layout *layout = cb_scenario_layout(s);
  for (size_t i = 0; i < layout->n_fields; i++)
    if (!strcmp(layout->fields[i].name, name)) return true;
  return false;
}

static void buoyancy_is_there_unless_it_is_switched_off(void **unused) {
  for (int off = 0; off < 2; off++) {
    cb_scenario *s;
    check_ok(open_body(off ? "buoyancy: false" : "density: 800", &s));
    assert_true(has_field(s, "wrench_gravity"));
    assert_int_equal(has_field(s, "wrench_buoyancy"), !off);
    cb_scenario_free(s);
  }
}

static void an_inertia_at_a_vertex_is_refused(void **unused) {
  cb_surface *box;
  check_ok(cb_shape_create("box", NULL, &box));
  cb_point_mass point = {.mass = 1, .vertex = 0, .inertia = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const cb_material none = {0, 0};
  const cb_fluid fluid = {.medium = NULL};
  const cb_immersed_options options = {.material = &none, .n_points = 1, .points = &point};
  cb_immersed *body;
  assert_int_equal(cb_immersed_create(&fluid, box, NULL, &options, NULL, NULL, NULL, &body), CB_ERROR_ARGUMENT);
  check_told("at a vertex has an inertia");
  point.vertex = -1;
  point.inertia[2][2] = 2.1;
  assert_int_equal(cb_immersed_create(&fluid, box, NULL, &options, NULL, NULL, NULL, &body), CB_ERROR_ARGUMENT);
  check_told("no rigid body");
  cb_surface_free(box);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_box_by_its_inertia_has_the_tensor_of_one_of_density),
                                     cmocka_unit_test(the_resolved_scenario_reads_back_as_itself),
                                     cmocka_unit_test(what_no_body_has_is_refused_with_its_place),
                                     cmocka_unit_test(buoyancy_is_there_unless_it_is_switched_off),
                                     cmocka_unit_test(an_inertia_at_a_vertex_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
