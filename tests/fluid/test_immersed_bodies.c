/* Tests of built-in shapes in a fluid that rotate as they fall. */
#include "immersed.h"

static tank tank_shape(const char *shape, double density, double thickness) {
  tank k = {.options = {.added_mass = true, .drag = true}};
  check_ok(cb_shape_create(shape, NULL, &k.surface));
  assert_true(k.surface->parts <= 8);
  for (int p = 0; p < k.surface->parts; p++) k.material[p] = (cb_material){density, k.surface->open[p] ? thickness : 0};
  k.fluid.gravity[2] = -9.81;
  return k;
}

/* Without drag the angular momentum about the axis remains 0. So the spin w about the axis and the velocity v along the
 * axis have the constant ratio w/v = -K_wv/K_ww, where K_wv and K_ww are entries of the inertia. */
static void a_propeller_turns_as_it_sinks(void **unused) {
  tank k = tank_shape("propeller", 1297.4, 0);
  tank_water(&k, 998);
  k.options.drag = false;
  tank_fill(&k);
  cb_mass mass;
  double K[6][6], mu0[6], coupling[3] = {0};
  check_ok(cb_immersed_mass(k.body, 0, &mass, NULL));
  check_ok(k.problem->inertia(k.problem->self, 0, &at_origin, K, mu0));
  for (int i = 0; i < 3; i++) coupling[i] = K[i][3 + i];
  int axis = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(coupling[i]) > fabs(coupling[axis])) axis = i;
  const double ratio = -K[axis][3 + axis] / K[axis][axis];
  assert_true(fabs(ratio) > 1e-3);
  /* the pose g turns the axis to the vertical */
  double turn[6] = {0};
  if (axis != 2) turn[axis == 0 ? 1 : 0] = axis == 0 ? -PI / 2 : PI / 2;
  cb_pose g;
  cb_rigid_state s;
  cb_se3_tau(CB_SE3_EXPONENTIAL, turn, &g);
  check_ok(cb_rigid_start(k.problem, 0, &g, (double[6]){0}, &s));
  for (int n = 0; n < 400; n++) {
    double Y[6];
    check_ok(cb_rigid_step_pontryagin(k.problem, CB_SE3_CAYLEY, 1. / 400, &s, NULL));
    check_ok(cb_rigid_twist(k.problem, &s, Y));
    check_relative(Y[axis] / Y[3 + axis], ratio, 1e-12);
  }
  print_message("  w/v = %.4f 1/m, sunk by %.3f m\n", ratio, -s.g.x[2]);
  assert_true(s.g.x[2] < -0.1);
  tank_empty(&k);
}

/* Computes the speed of fall and the spin around the vertical, as means over the last of 8 seconds. The drag of light
 * seeds is stiff, and needs steps of less than 1/200 s. */
static void fall(const char *shape, double density, double thickness, double tilt, double *speed, double *spin) {
  tank k = tank_shape(shape, density, thickness);
  tank_water(&k, 1.225);
  tank_fill(&k);
  const cb_pose g = {{cos(tilt / 2), sin(tilt / 2), 0, 0}, {0, 0, 0}};
  cb_rigid_state s;
  double before = 0;
  check_ok(cb_rigid_start(k.problem, 0, &g, (double[6]){0}, &s));
  *spin = 0;
  for (int n = 0; n < 6400; n++) {
    if (n == 5600) before = s.g.x[2];
    check_ok(cb_rigid_step_pontryagin(k.problem, CB_SE3_CAYLEY, 1. / 800, &s, NULL));
    double r[3][3];
    cb_pose_rotation(&s.g, r);
    if (n >= 5600) *spin += cb_dot3(r[2], s.Y) / 800;
  }
  *speed = before - s.g.x[2];
  tank_empty(&k);
}

/* The maple seed has the masses of analysis/scenarios/immersed/maple-seed.yaml: 900 kg/m^3 in nut and vein, and 0.04 kg
 * per m^2 of the wing. With a wing three times as heavy it does not reach a steady rotation. */
static void what_autorotates_settles(void **unused) {
  static const struct {
    const char *shape;
    double density, thickness, tilt[3];
  } seed[2] = {{"maple_seed", 900, 0.04 / 900, {0.1, 0.7, 1.4}}, {"paper_copter", 800, 1.2e-4, {0.5, 1, 1.5}}};
  for (int b = 0; b < 2; b++) {
    double speed[3], spin[3];
    for (int i = 0; i < 3; i++) {
      fall(seed[b].shape, seed[b].density, seed[b].thickness, seed[b].tilt[i], &speed[i], &spin[i]);
      print_message("  %s from a tilt of %.1f: %.3f m/s, %.2f 1/s\n", seed[b].shape, seed[b].tilt[i], speed[i],
                    spin[i]);
      check_relative(speed[i], speed[0], 1e-2);
      check_relative(spin[i], spin[0], 2e-2);
      check_at_least(fabs(spin[i]), 5);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_propeller_turns_as_it_sinks),
      cmocka_unit_test(what_autorotates_settles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
