/* Tests of the terms of the equations of a body in a fluid: which terms act, in which order and under which names. A
 * step adds the wrenches that the record shows separately, and the energy of a term belongs to its wrench. */
#include "immersed.h"
#include "fluid/immersed_private.h"

static void every_term_has_a_place_of_its_own(void **unused) {
  int n = 0;
  for (; cb_immersed_term_classes[n]; n++) {
    const cb_immersed_term_class *term = cb_immersed_term_classes[n];
    assert_non_null(term->name);
    assert_true(term->acts || term->count);
    assert_true(term->wrench || term->inertia);
    assert_true(!term->inertia == !term->field && !term->inertia == !term->kinetic);
    /* two terms at the same place of the order, such as drag and its form in curved spaces, are for different spaces */
    for (int k = 0; k < n; k++)
      assert_true(cb_immersed_term_classes[k]->order != term->order ||
                  cb_immersed_term_classes[k]->space != term->space);
  }
  assert_true(n > 0);
}

/* A fluid model of two forces. The first one has the name of another wrench. */
static cb_status pulls(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                       double (*F)[6], double (*dF)[6][6]) {
  for (int i = 0; i < 6; i++) {
    F[0][i] = -2 * V[i];
    F[1][i] = -3 * density * V[i];
    for (int k = 0; dF && k < 2; k++) dF[k][i][i] = k ? -3 * density : -2;
  }
  return CB_OK;
}
static const char *const names[] = {"gravity", "own", NULL};
static const cb_param none[] = {{0}};
static const cb_fluid_model_class pulling = {
    .name = "pulling", .title = "", .doc = "", .params = none, .terms = names, .on_twist = pulls};
extern const cb_fluid_model_class cb_fluid_model_local;

/* Makes a ball with all terms of a body in flat space except that of a wall, because a wall is not possible in a
 * flow. */
static tank full_tank(cb_fluid_model *model[2]) {
  static const char *const gust[3] = {"sin(t + y)", "0.3*t", "-0.2*z"};
  static const cb_wrench_text text[2] = {{.name = "thrust", .force = {"1 + 0.1*vx*x", NULL, NULL}, .at = {0.1, 0, 0}},
                                         {.name = "lift", .world = true, .force = {NULL, NULL, "cos(t)"}}};
  tank k = tank_of(mesh_ball(3, 0.7), 700, 0);
  cb_flow *flow;
  check_ok(cb_fluid_model_create_class(&cb_fluid_model_local, NULL, &model[0]));
  check_ok(cb_fluid_model_create_class(&pulling, NULL, &model[1]));
  check_ok(cb_flow_expressions(gust, 0, NULL, NULL, NULL, NULL, &flow));
  tank_water(&k, 998);
  k.fluid.flow = flow;
  tank_model(&k, model[0]);
  tank_model(&k, model[1]);
  k.fluid.gravity[2] = -9.81;
  k.fluid.floor = (cb_floor){.kind = CB_FLOOR_STIFF, .up = {0, 0, 1}, .height = 0.5, .stiffness = 50, .damping = 2};
  k.options.c_n = 0.3;
  k.options.c_t = 0.2;
  k.options.wrenches = text;
  k.options.n_wrenches = 2;
  tank_fill(&k);
  return k;
}
static void tank_drain(tank *k, cb_fluid_model *model[2]) {
  tank_empty(k);
  for (int i = 0; i < 2; i++) cb_fluid_model_free(model[i]);
}

/* The sum of the wrenches in a recorded row equals the sum that a step uses, up to round-off. */
static void a_step_adds_what_the_record_shows(void **unused) {
  static const char *const want[] = {"flow",  "pressure",        "gravity", "buoyancy", "drag", "linear_drag",
                                     "floor", "pulling_gravity", "own",     "thrust",   "lift"};
  enum { N = sizeof want / sizeof *want };
  static const double Y[6] = {0.3, -0.8, 0.5, 1.1, 0.2, -0.7};
  static const cb_pose somewhere = {{0.5, 0.5, -0.1, 0.7}, {0.4, -0.3, 0.8}};
  cb_fluid_model *model[2];
  tank k = full_tank(model);
  assert_int_equal(cb_immersed_wrenches(k.body), N);
  for (int i = 0; i < N; i++) assert_string_equal(cb_immersed_wrench_name(k.body, i), want[i]);
  double wrench[N][6], F[6], dF[6][6], size = 0;
  cb_rigid_state s;
  check_ok(cb_rigid_start(k.problem, 0.3, &somewhere, Y, &s));
  const cb_immersed_row row = row_of(&k, &s, wrench);
  for (int slopes = 0; slopes < 2; slopes++) {
    double sum[6] = {0};
    wrenches_of(&k, 0.3, &somewhere, row.twist, F, slopes ? dF : NULL);
    for (int i = 0; i < N; i++) {
      double own = 0;
      for (int j = 0; j < 6; j++) {
        sum[j] += wrench[i][j];
        own += fabs(wrench[i][j]);
      }
      assert_true(own > 1e-6); /* this wrench is not 0 */
      size = fmax(size, own);
    }
    for (int j = 0; j < 6; j++) check_near(F[j], sum[j], 1e-14 * size);
  }
  const cb_immersed_conserved is = cb_immersed_conserves(k.body);
  assert_true(!is.energy && !is.momentum);
  tank_drain(&k, model);
}

/* Without drag, damping and flow the sum of all wrenches is minus the derivative of the potential energy of gravity,
 * buoyancy and the springs of a floor, along the pose. */
static void a_potential_belongs_to_its_wrench(void **unused) {
  enum { POSES = 4 };
  for (int floor = 0; floor < 2; floor++) {
    tank k = tank_of(mesh_ball(3, 0.7), 700, 0);
    tank_water(&k, 998);
    k.options.drag = false;
    k.fluid.gravity[0] = 3;
    k.fluid.gravity[2] = -9.81;
    if (floor)
      k.fluid.floor = (cb_floor){.kind = CB_FLOOR_STIFF, .up = {0, 0, 1}, .height = 0.5, .stiffness = 900, .creep = 1};
    tank_fill(&k);
    assert_int_equal(cb_immersed_wrenches(k.body), 2 + floor);
    const cb_immersed_conserved is = cb_immersed_conserves(k.body);
    assert_true(is.energy && is.upright && is.momentum == !floor); /* gravity is not along `up` of the floor */
    for (int i = 0; i < POSES; i++) {
      const double xi[6] = {0.4 * i, 0.3, -0.2, 0.2, -0.1 * i, 0.4};
      const cb_pose origin = {{1, 0, 0, 0}, {0, 0, 0}}, g = pose_along(&origin, xi);
      double wrench[3][6], still[6] = {0}, energy[2];
      cb_rigid_state s;
      check_ok(cb_rigid_start(k.problem, 0, &g, still, &s));
      row_of(&k, &s, wrench);
      for (int axis = 0; axis < 6; axis++) {
        double other[3][6], power = 0;
        for (int side = 0; side < 2; side++) {
          const cb_pose near_ = pose_moved(&g, axis, side ? 1e-5 : -1e-5);
          check_ok(cb_rigid_start(k.problem, 0, &near_, still, &s));
          energy[side] = row_of(&k, &s, other).potential;
        }
        for (int n = 0; n < 2 + floor; n++) power += wrench[n][axis];
        check_near(power, -(energy[1] - energy[0]) / 2e-5, 1e-6 * 1e4);
      }
    }
    tank_empty(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_term_has_a_place_of_its_own),
      cmocka_unit_test(a_step_adds_what_the_record_shows),
      cmocka_unit_test(a_potential_belongs_to_its_wrench),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
