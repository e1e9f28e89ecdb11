/* Tests of bodies in a uniform fluid. The motion of the bodies is compared with closed solutions, and derivatives with
 * differences. */
#include "immersed.h"

/* A sphere falls from rest: m_eff v' = W - k v |v|. W is its weight minus the buoyancy, k its drag at speed 1, and
 * m_eff its mass plus the added mass. The solution is the speed v = vt tanh(t/T) and the distance x = vt T log
 * cosh(t/T), with vt = sqrt(W/k) and T = m_eff/sqrt(W k). m_eff and k are those of the mesh; both are close to those of
 * a sphere. */
static void fall_of_a_sphere(double density, int map) {
  const double g = 9.81, rho = 998, radius = 0.05;
  tank k = tank_of(mesh_ball(12, radius), density, 0);
  tank_water(&k, rho);
  k.fluid.gravity[2] = -g;
  tank_fill(&k);
  cb_mass mass;
  cb_local_part part;
  check_ok(cb_immersed_mass(k.body, 0, &mass, &part));
  double K[6][6], mu0[6], F[6], Y[6] = {0, 0, 0, 0, 0, 1};
  check_ok(k.problem->inertia(k.problem->self, 0, &at_origin, K, mu0));
  wrenches_of(&k, 0, &at_origin, Y, F, NULL);
  const double volume = 4 * PI / 3 * radius * radius * radius, W = (mass.mass - rho * mass.volume) * g,
               drag = -W - F[5], m_eff = K[5][5];
  check_relative(mass.volume, volume, 0.02);
  check_relative(m_eff - mass.mass, rho * volume / 2, 0.03);
  check_relative(drag, rho / 2 * 4. / 3 * PI * radius * radius, 0.02); /* Cd = 4/3 */
  const double vt = sqrt(fabs(W) / drag), T = m_eff / sqrt(fabs(W) * drag), end = 2 * T;
  double last = 0;
  for (int steps = 500; steps <= 4000; steps *= 8) {
    const cb_rigid_state s = run_by(k.problem, map, &at_origin, (double[6]){0}, end, steps);
    cb_rigid_state node = s;
    check_ok(cb_rigid_twist(k.problem, &s, node.Y));
    const double way = -copysign(1, W), v = way * vt * tanh(end / T), x = way * vt * T * log(cosh(end / T));
    const double error = fabs(node.Y[5] - v) / vt;
    if (last != 0) check_near(log2(last / error) / 3, map == RKMK4 ? 4 : 2, 0.2);
    if (last != 0) check_at_most(error, 1e-6);
    if (last != 0) check_near(s.g.x[2], x, 1e-6 * vt * T);
    last = error;
    for (int i = 0; i < 5; i++) check_near(node.Y[i], 0, 1e-9 * vt);
  }
  tank_empty(&k);
}
static void a_heavy_sphere_reaches_its_speed_as_tanh(void **unused) {
  fall_of_a_sphere(1297.4, CB_SE3_CAYLEY);
  fall_of_a_sphere(7800, CB_SE3_EXPONENTIAL);
}
static void a_buoyant_sphere_reaches_its_speed_as_tanh(void **unused) {
  fall_of_a_sphere(300, CB_SE3_CAYLEY);
  fall_of_a_sphere(1.2, RKMK4);
}

/* Makes an ellipsoid with random vertices that swims in a uniform flow with all forces. */
static tank swimmer_in_a_flow(uint64_t *seed) {
  mesh m = mesh_ellipsoid(3, 0.5, 0.3, 0.2);
  mesh_shake(&m, seed, 0.02);
  tank k = tank_of(m, 700, 0);
  tank_water(&k, 998);
  tank_flow(&k, 0.3, -0.2, 0.5);
  tank_moves(&k, "X*(1 + 0.1*sin(t))", "Y + 0.1*sin(3*X - 2*t)", "Z + 0.05*cos(X + t)*Y");
  k.fluid.gravity[1] = 1;
  k.fluid.gravity[2] = -9.81;
  k.options.c_n = 30;
  k.options.c_t = 7;
  static const cb_wrench_text wrenches[2] = {
      {"thrust", false, {"wx*vy", NULL, "sin(t)*x"}, {"10*cos(x + t)", "vx*vx", NULL}, {0.1, 0.2, -0.3}},
      {"cable", true, {NULL, "z", NULL}, {"-100*x", "-100*y*wz", "a*z"}, {0.3, -0.1, 0.2}}};
  static const char *const names[] = {"a"};
  static const double values[] = {-70};
  k.options.n_wrenches = 2;
  k.options.wrenches = wrenches;
  k.options.n_parameters = 1;
  k.options.names = names;
  k.options.values = values;
  return k;
}

static void derivatives_in_a_uniform_flow_are_those_of_differences(void **unused) {
  uint64_t seed = check_seed();
  tank k = swimmer_in_a_flow(&seed);
  tank_fill(&k);
  for (int i = 0; i < 5; i++) check_derivatives(&k, 0.3 * i, &generic_pose, generic_twist, 1e-8, 1e-8);
  tank_empty(&k);
}

static void wrenches_have_names_and_add_up(void **unused) {
  uint64_t seed = check_seed();
  tank k = swimmer_in_a_flow(&seed);
  k.fluid.floor = (cb_floor){.kind = CB_FLOOR_STIFF, .up = {0, 0, 1}, .height = 0.4, .stiffness = 900, .damping = 20};
  tank_fill(&k);
  static const char *const names[] = {"flow", "gravity", "buoyancy", "drag", "linear_drag", "floor", "thrust", "cable"};
  assert_int_equal(cb_immersed_wrenches(k.body), 8);
  double wrench[8][6], F[6], size = 0;
  cb_rigid_state s;
  check_ok(cb_rigid_start(k.problem, 0.3, &generic_pose, generic_twist, &s));
  const cb_immersed_row row = row_of(&k, &s, wrench);
  wrenches_of(&k, 0.3, &generic_pose, generic_twist, F, NULL);
  for (int i = 0; i < 6; i++) check_near(row.twist[i], generic_twist[i], 1e-13);
  for (int i = 0; i < 8; i++) {
    assert_string_equal(cb_immersed_wrench_name(k.body, i), names[i]);
    size = 0;
    for (int j = 0; j < 6; j++) size += fabs(wrench[i][j]);
    assert_true(size > 0);
    for (int j = 0; j < 6; j++) F[j] -= wrench[i][j];
  }
  for (int j = 0; j < 6; j++) check_near(F[j], 0, 1e-10);
  tank_empty(&k);
}

/* The linear drag of a sheet is the force -A (c_n n n^T + c_t (1 - n n^T)) u on each of its two sides, also without a
 * medium. A is the area, n the normal and u the velocity. */
static void linear_drag_has_a_coefficient_across_and_one_along(void **unused) {
  tank k = tank_of(mesh_plate(3, 0.7, 0.4, false), 500, 0.01);
  k.options.c_n = 3;
  k.options.c_t = 0.2;
  tank_fill(&k);
  assert_int_equal(cb_immersed_wrenches(k.body), 1);
  double F[6];
  wrenches_of(&k, 0, &at_origin, (double[6]){0, 0, 0, 1.5, 0, 2}, F, NULL);
  const double expected[6] = {0, 0, 0, -2 * 0.28 * 0.2 * 1.5, 0, -2 * 0.28 * 3 * 2};
  for (int i = 0; i < 6; i++) check_near(F[i], expected[i], 1e-14);
  tank_empty(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heavy_sphere_reaches_its_speed_as_tanh),
      cmocka_unit_test(a_buoyant_sphere_reaches_its_speed_as_tanh),
      cmocka_unit_test(derivatives_in_a_uniform_flow_are_those_of_differences),
      cmocka_unit_test(wrenches_have_names_and_add_up),
      cmocka_unit_test(linear_drag_has_a_coefficient_across_and_one_along),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
