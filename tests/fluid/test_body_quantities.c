/* Tests of wrenches whose expressions use the place, orientation and motion of their body, and numbers of other bodies:
 * these quantities, their derivatives, and the names that the parser knows. */
#include "fluid/immersed_run.h"
#include "immersed.h"

static const char *const externals[] = {"a.x", "b.2.spin_z", "a.axis_x_y"};
static const double values[] = {0.7, -1.3, 0.4};

/* Makes an ellipsoid without fluid and with two wrenches, one in the axes of the body and one in the axes of the world.
 * They use quantities of every kind of this body, and quantities of other bodies. */
static tank steered_body(void) {
  static const cb_wrench_text wrenches[] = {
      {"rudder",
       false,
       {"axis_x_y*spin_z", "velocity_x^2 - wx", "sin(axis_z_x)*a.x"},
       {"axis_y_z*velocity_y", "spin_x*axis_x_x", "axis_y_y + axis_z_z*b.2.spin_z^2"},
       {0.1, 0.2, -0.3}},
      {"tow",
       true,
       {"axis_z_y*x", "spin_y + axis_x_z*y", "a.axis_x_y*velocity_z"},
       {"10*(a.x - x) - velocity_x*axis_y_x", "z*wy", "exp(axis_z_x)*b.2.spin_z"},
       {-0.2, 0.1, 0.4}}};
  tank k = tank_of(mesh_ellipsoid(3, 0.5, 0.3, 0.2), 700, 0);
  k.options.n_wrenches = 2;
  k.options.wrenches = wrenches;
  k.options.n_externals = 3;
  k.options.externals = externals;
  return k;
}

static cb_pose tilted(void) { return pose_along(&generic_pose, (double[6]){0.3, -0.5, 0.7, 0.2, 0.1, -0.4}); }

static void quantities_are_those_of_the_definition(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 10; n++) {
    double q[CB_BODY_QUANTITIES], r[3][3], xi[6], Y[6];
    for (int i = 0; i < 6; i++) {
      xi[i] = check_uniform(&seed, -1, 1);
      Y[i] = check_uniform(&seed, -2, 2);
    }
    const cb_pose g = pose_along(&generic_pose, xi);
    cb_pose_rotation(&g, r);
    cb_body_quantities_of(&g, (const double(*)[3])r, Y, q);
    for (int axis = 0; axis < 3; axis++) {
      double unit[3] = {0}, end[3];
      unit[axis] = 1;
      cb_pose_point(&g, unit, end); /* the point at distance 1 along the axis */
      for (int i = 0; i < 3; i++) check_near(q[CB_BODY_AXES + 3 * axis + i], end[i] - g.x[i], 1e-15);
    }
    for (int i = 0; i < 3; i++) {
      double velocity = 0, spin = 0;
      for (int axis = 0; axis < 3; axis++) {
        velocity += q[CB_BODY_AXES + 3 * axis + i] * Y[3 + axis];
        spin += q[CB_BODY_AXES + 3 * axis + i] * Y[axis];
      }
      check_near(q[CB_BODY_VELOCITY + i], velocity, 1e-15);
      check_near(q[CB_BODY_SPIN + i], spin, 1e-15);
      check_near(q[CB_BODY_PLACE + i], g.x[i], 0);
    }
    for (int i = 0; i < 6; i++) check_near(q[i], Y[i], 0);
  }
}

static void derivatives_are_those_of_differences(void **unused) {
  const cb_pose g = tilted();
  tank k = steered_body();
  tank_fill(&k);
  cb_immersed_workspace_know(k.workspace, values);
  for (int i = 0; i < 5; i++) check_derivatives(&k, 0.3 * i, &g, generic_twist, 1e-8, 1e-8);
  tank_empty(&k);
}

static void derivatives_in_external_numbers_are_those_of_differences(void **unused) {
  const double h = 1e-5;
  const cb_pose g = tilted();
  tank k = steered_body();
  tank_fill(&k);
  assert_int_equal(cb_immersed_externals(k.body), 3);
  for (int i = 0; i < 3; i++) assert_string_equal(cb_immersed_external(k.body, i), externals[i]);
  double at[3], slope[3][6], F[2][6];
  memcpy(at, values, sizeof at);
  cb_immersed_workspace_know(k.workspace, at);
  check_ok(cb_immersed_workspace_external_slopes(k.workspace, 0.3, &g, generic_twist, slope));
  for (int c = 0; c < 3; c++) {
    double size = 0;
    for (int side = 0; side < 2; side++) {
      at[c] = values[c] + (side ? -h : h);
      wrenches_of(&k, 0.3, &g, generic_twist, F[side], NULL);
    }
    at[c] = values[c];
    for (int i = 0; i < 6; i++) {
      check_near(slope[c][i], (F[0][i] - F[1][i]) / (2 * h), 1e-9);
      size = fmax(size, fabs(slope[c][i]));
    }
    check_at_least(size, 0.01);
  }
  tank_empty(&k);
}

/* A force along an axis of the body can be given in the axes of the world or in those of the body, with the same
 * result. */
static void a_thrust_along_an_axis_is_one_in_the_axes_of_the_body(void **unused) {
  static const cb_wrench_text along[] = {
      {.name = "thrust", .world = true, .force = {"3*axis_y_x", "3*axis_y_y", "3*axis_y_z"}, .at = {0.1, 0, 0.2}},
      {.name = "thrust", .force = {NULL, "3", NULL}, .at = {0.1, 0, 0.2}}};
  const cb_pose g = tilted();
  double F[2][6];
  for (int i = 0; i < 2; i++) {
    tank k = tank_of(mesh_ellipsoid(3, 0.5, 0.3, 0.2), 700, 0);
    k.options.n_wrenches = 1;
    k.options.wrenches = along + i;
    tank_fill(&k);
    wrenches_of(&k, 0, &g, generic_twist, F[i], NULL);
    tank_empty(&k);
  }
  for (int i = 0; i < 6; i++) check_near(F[0][i], F[1][i], 1e-14);
}

static void names_with_dots_are_names_only_if_they_are_given(void **unused) {
  static const struct {
    const char *force, *error;
    size_t at;
  } wrong[] = {{"2*c.x", "unknown name `c.x`", 2},   {"a.y + 1", "unknown name `a.y`: did you mean `a.x`?", 0},
               {"a.x.x", "unknown name `a.x.x`", 0}, {"1 + a.x(2)", "`a.x` is not a function", 7},
               {"x.5", "unknown name `x.5`", 0},     {"x.y", "expected an operator before `.`", 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tank k = steered_body();
    const cb_wrench_text wrench = {.name = "tow", .force = {wrong[i].force}};
    int which = 5, component = 7;
    size_t at = 9;
    const bool last = i + 1 == sizeof wrong / sizeof *wrong;
    k.options.n_externals = last ? 0 : 3;
    k.options.material = k.material;
    k.options.n_wrenches = 1;
    k.options.wrenches = &wrench;
    check_case_begins(wrong[i].force,
                      cb_immersed_create(&k.fluid, k.surface, NULL, &k.options, &which, &component, &at, &k.body),
                      CB_ERROR_INPUT, wrong[i].error);
    assert_int_equal(which, 0);
    assert_int_equal(component, 3);
    assert_int_equal(at, wrong[i].at);
    tank_empty(&k);
  }
}

static void more_names_than_an_expression_has_are_refused(void **unused) {
  const char *many[CB_IMMERSED_EXTERNALS + 1];
  for (int i = 0; i <= CB_IMMERSED_EXTERNALS; i++) many[i] = "a.x";
  tank k = steered_body();
  k.options.material = k.material;
  k.options.externals = many;
  k.options.n_externals = CB_IMMERSED_EXTERNALS + 1;
  check_error(cb_immersed_create(&k.fluid, k.surface, NULL, &k.options, NULL, NULL, NULL, &k.body), CB_ERROR_ARGUMENT,
              "wrenches that use 40 quantities of other bodies: expected at most 39");
  tank_empty(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantities_are_those_of_the_definition),
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(derivatives_in_external_numbers_are_those_of_differences),
      cmocka_unit_test(a_thrust_along_an_axis_is_one_in_the_axes_of_the_body),
      cmocka_unit_test(names_with_dots_are_names_only_if_they_are_given),
      cmocka_unit_test(more_names_than_an_expression_has_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
