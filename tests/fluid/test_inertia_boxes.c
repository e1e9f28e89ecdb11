/* Tests of the key `boxes` of MuJoCo's inertia model. One box equals the box that the model derives from the body. Two
 * boxes give the sum of the forces of each box at its place. Impossible inertias are rejected, and viscosity acts in a
 * fluid of density 0. */
#include <curvebody/fluid_model.h>
#include <curvebody/scenario.h>

#include "check.h"

typedef struct pushed {
  int places;
  double at[2][3], F[2][2][6];
} pushed;

static const double twist[6] = {0.3, -2, 1, 0.7, -0.4, 1.1};

/* Computes the forces on a body with these mass properties, at each place where the model with the parameters `text`
 * acts. Returns the status of the preparation of the body. If that fails, there are no places. */
static cb_status push(const char *text, const cb_mass *mass, pushed *out) {
  cb_tree *tree;
  cb_fluid_model *model;
  void *body = NULL;
  const double(*at)[3];
  check_ok(cb_tree_read("model", text, &tree));
  check_ok(cb_fluid_model_create("mujoco_inertia_box", cb_tree_root(tree), &model));
  const cb_status status = model->class_->prepare(model, NULL, mass, &body);
  memset(out, 0, sizeof *out);
  if (!status) {
    out->places = model->class_->places(model, body, &at);
    for (int p = 0; p < out->places; p++) {
      memcpy(out->at[p], at[p], sizeof *at);
      check_ok(model->class_->on_twist(model, body, p, 1.2, twist, out->F[p], NULL));
    }
    model->class_->release(model, body);
  }
  cb_fluid_model_free(model);
  cb_tree_free(tree);
  return status;
}

static void check_same(const pushed *a, int i, const pushed *b, int k) {
  for (int j = 0; j < 3; j++) check_near(a->at[i][j], b->at[k][j], 1e-15);
  for (int j = 0; j < 12; j++) /* the forces are up to 20; the tolerance is for round-off of the axes */
    check_near(a->F[i][j / 6][j % 6], b->F[k][j / 6][j % 6], 1e-13);
}

static void boxes_that_are_given_are_those_of_bodies(void **unused) {
  cb_mass mass = {.mass = 2, .centre = {0.1, 0.2, 0.3}};
  const double moment[3] = {1, 2, 2.5}, *c = mass.centre, square = 0.14;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) mass.inertia[i][j] = (i == j ? moment[i] + 2 * square : 0) - 2 * c[i] * c[j];
  static const char one[] = "{mass: 2, inertia: [1, 2, 2.5], position: [0.1, 0.2, 0.3]}",
                    turned[] = "{mass: 2, inertia: [2.5, 2, 1], position: [0.1, 0.2, 0.3], quaternion: [1, 0, 1, 0]}",
                    other[] = "{mass: 1, inertia: [1, 1, 1], quaternion: [1, 0, 0, 0.5]}";
  char text[512];
  pushed own, alone, both;
  check_ok(push("{viscosity: 0.1}", &mass, &own));
  assert_int_equal(own.places, 1);
  const char *const same[] = {one, turned};
  for (int i = 0; i < 2; i++) {
    snprintf(text, sizeof text, "{viscosity: 0.1, boxes: [%s]}", same[i]);
    check_ok(push(text, &mass, &alone));
    assert_int_equal(alone.places, 1);
    check_same(&alone, 0, &own, 0);
  }
  snprintf(text, sizeof text, "{viscosity: 0.1, boxes: [%s]}", other);
  check_ok(push(text, &mass, &alone));
  snprintf(text, sizeof text, "{viscosity: 0.1, boxes: [%s, %s]}", one, other);
  check_ok(push(text, &mass, &both));
  assert_int_equal(both.places, 2);
  check_same(&both, 0, &own, 0);
  check_same(&both, 1, &alone, 0);
}

/* A body with the inertia R diag(I) R^T, where R is not a product of quarter turns, has the same forces as the box with
 * the principal moments I and the quaternion of R. */
static void boxes_are_turned_by_their_quaternions(void **unused) {
  static const double I[3] = {1, 2, 2.5}, q[4] = {1, 2, -0.5, 0.3};
  const double norm = sqrt(5.34);
  cb_pose pose = {.q = {q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm}};
  cb_mass mass = {.mass = 2};
  double R[3][3];
  pushed own, given;
  cb_pose_rotation(&pose, R);
  for (int i = 0; i < 27; i++) mass.inertia[i / 9][i / 3 % 3] += R[i / 9][i % 3] * I[i % 3] * R[i / 3 % 3][i % 3];
  check_ok(push("{viscosity: 0.1}", &mass, &own));
  check_ok(
      push("{viscosity: 0.1, boxes: [{mass: 2, inertia: [1, 2, 2.5], quaternion: [1, 2, -0.5, 0.3]}]}", &mass, &given));
  check_same(&own, 0, &given, 0);
}

/* A flat box has moments of inertia with I_x + I_y = I_z. In version 2.2 of MuJoCo its half height is
 * h_z = (1.5e-15/mass)^(1/2), in version 3.14 it is 0. The drag along x is -2 rho h_y h_z |v_x| v_x, with the half
 * width h_y, the density rho of the fluid and the velocity v_x. */
static void flat_boxes_have_the_height_of_their_version(void **unused) {
  const cb_mass mass = {.mass = 2};
  const double want = -2 * 1.2 * sqrt(1.5 / 2 * 2) * sqrt(1.5e-15 / 2) * 0.7 * 0.7;
  pushed out;
  check_ok(push("{boxes: [{mass: 2, inertia: [1, 1, 2]}], compat: 2.2}", &mass, &out));
  check_near(out.F[0][0][3], want, 1e-14 * -want);
  check_ok(push("{boxes: [{mass: 2, inertia: [1, 1, 2]}], compat: 3.14}", &mass, &out));
  assert_true(out.F[0][0][3] == 0);
}

static void what_no_body_has_is_refused_with_its_place(void **unused) {
  static const char *const cases[][2] = {
      {"{boxes: []}", "model:1:9: error: boxes: expected a list"},
      {"{boxes: [{mass: 1}]}", "model:1:10: error: "},
      {"{boxes: [{mass: 0, inertia: [1, 1, 1]}]}", "model:1:17: error: "},
      {"{boxes: [{mass: 1, inertia: [1, 1, 3]}]}", "found 1, 1, 3"},
      {"{boxes: [{mass: 1, inertia: [1, 1, 1], quaternion: [0, 0, 0, 0]}]}",
       "model:1:52: error: boxes: quaternion: expected a norm that is not 0, found 0"},
      {"{boxes: [{mass: 1, inertia: [1, 1, 1], quaternion: [1e200, 0, 0, 0]}]}", "found inf"}};
  const cb_mass mass = {.mass = 1};
  pushed out;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(push(cases[i][0], &mass, &out), CB_ERROR_INPUT);
    if (!strstr(cb_error_text(), cases[i][1])) fail_msg("%s: expected %s", cb_error_text(), cases[i][1]);
  }
}

static bool is_viscous(const char *medium) {
  char text[512];
  cb_scenario *s;
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: %s, model: {name: mujoco_inertia_box, viscosity: 1}}\n"
           "bodies: [{shape: {name: box, resolution: 8}}]\nintegrator: {name: rkmk4, step: 0.01}\ntime: {end: 1}\n"
           "record: {observables: [wrenches]}\n",
           medium);
  check_ok(cb_scenario_open_text("body", text, NULL, 0, &s));
  const cb_record_layout *layout = cb_scenario_layout(s);
  bool found = false;
  for (size_t i = 0; i < layout->n_fields; i++) found = found || !strcmp(layout->fields[i].name, "wrench_viscous");
  cb_scenario_free(s);
  return found;
}

static void viscosity_acts_in_a_fluid_of_density_0(void **unused) {
  assert_true(is_viscous("0"));
  assert_true(is_viscous("1.2"));
  assert_false(is_viscous("none"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_that_are_given_are_those_of_bodies),
                                     cmocka_unit_test(boxes_are_turned_by_their_quaternions),
                                     cmocka_unit_test(flat_boxes_have_the_height_of_their_version),
                                     cmocka_unit_test(what_no_body_has_is_refused_with_its_place),
                                     cmocka_unit_test(viscosity_acts_in_a_fluid_of_density_0)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
