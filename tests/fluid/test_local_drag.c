/* Tests of the drag of the local fluid model: the coefficients of a sphere and a plate, the Jacobian compared with
 * differences, bodies that move with the flow, and linear drag. */
#include "local_cases.h"

static double drag_along(mesh m, int axis) {
  double Y[6] = {0}, F[6];
  Y[3 + axis] = 2;
  cb_local *l = local_of(m);
  cb_local_drag(l, &(cb_local_stream){.rho1 = 1.5}, Y, F, NULL);
  cb_local_free(l);
  return -F[3 + axis] / (0.5 * 1.5 * 4); /* the drag coefficient times the area */
}

static void sphere_has_drag_coefficient_four_thirds(void **unused) {
  const double one = drag_along(mesh_ellipsoid(10, 1, 1, 1), 2) / PI - 4. / 3,
               two = drag_along(mesh_ellipsoid(20, 1, 1, 1), 2) / PI - 4. / 3;
  /* The coefficient times the area is the integral of c^2 over the sphere, where c is the cosine of the angle between
   * the normal and the velocity: 4 pi/3. */
  check_at_most(fabs(two), 8e-3);
  check_near(log2(one / two), 2, 0.1);
}

static void plate_has_drag_coefficient_two(void **unused) {
  for (int closed = 0; closed < 2; closed++) {
    check_relative(drag_along(mesh_plate(5, 2, 1.5, closed), 2) / 3, 2., 1e-14);
    check_near(drag_along(mesh_plate(5, 2, 1.5, closed), 0), 0, 1e-15);
  }
}

static void jacobian_agrees_with_differences(void **unused) {
  uint64_t seed = check_seed();
  setting t = setting_open(&seed, 8);
  setting_pose(&t, true);
  for (int turn = 0; turn < 2; turn++) {
    const double cn = turn ? 0.7 : 0, ct = turn ? 0.2 : 0;
    double F[6], J[6][6], size = 0;
    cb_local_drag(
        t.l, &(cb_local_stream){.rho1 = 1.3, .rho = t.rho, .flow = (const double(*)[3])t.flow, .c_n = cn, .c_t = ct},
        t.Y, F, J);
    for (int i = 0; i < 36; i++) size = fmax(size, fabs(J[i / 6][i % 6]));
    for (int j = 0; j < 6; j++) {
      const double h = 1e-5;
      double Y[6], up[6], down[6];
      memcpy(Y, t.Y, sizeof Y);
      Y[j] = t.Y[j] + h;
      cb_local_drag(
          t.l, &(cb_local_stream){.rho1 = 1.3, .rho = t.rho, .flow = (const double(*)[3])t.flow, .c_n = cn, .c_t = ct},
          Y, up, NULL);
      Y[j] = t.Y[j] - h;
      cb_local_drag(
          t.l, &(cb_local_stream){.rho1 = 1.3, .rho = t.rho, .flow = (const double(*)[3])t.flow, .c_n = cn, .c_t = ct},
          Y, down, NULL);
      for (int i = 0; i < 6; i++) check_near(J[i][j], (up[i] - down[i]) / (2 * h), 1e-7 * size);
    }
  }
  setting_close(&t);
}

static void body_that_goes_with_the_flow_feels_nothing(void **unused) {
  uint64_t seed = check_seed();
  setting t = setting_open(&seed, 5);
  setting_pose(&t, false);
  double F[6], J[6][6], Y[6] = {0, 0, 0, t.flow1[0], t.flow1[1], t.flow1[2]};
  cb_local_drag(t.l, &(cb_local_stream){.rho1 = 1.3, .flow1 = t.flow1}, Y, F, J);
  for (int i = 0; i < 6; i++) {
    assert_true(F[i] == 0);
    for (int j = 0; j < 6; j++) assert_true(J[i][j] == 0);
  }
  /* if the same velocity is added to the body and to the flow, the drag does not change */
  double still[6], moved[6], shifted[6], wind[3];
  for (int i = 0; i < 6; i++) shifted[i] = t.Y[i] + (i < 3 ? 0 : 0.5);
  for (int i = 0; i < 3; i++) wind[i] = t.flow1[i] + 0.5;
  cb_local_drag(t.l, &(cb_local_stream){.rho1 = 1.3, .flow1 = t.flow1}, t.Y, still, NULL);
  cb_local_drag(t.l, &(cb_local_stream){.rho1 = 1.3, .flow1 = wind}, shifted, moved, NULL);
  for (int i = 0; i < 6; i++) check_near(moved[i], still[i], 1e-12);
  setting_close(&t);
}

/* For the unit sphere the integral of c_n n n^T + c_t (1 - n n^T) over the surface with the normals n is 4 pi (c_n + 2
 * c_t)/3 times the identity. The coefficient of the torque about the centre is 8 pi/3 c_t. */
static void linear_drag_of_a_sphere_is_known(void **unused) {
  cb_local *l = local_of(mesh_ellipsoid(40, 1, 1, 1));
  const double Y[6] = {0.3, -0.2, 0.5, 1, 2, -1};
  double with[6], without[6], J[6][6], J0[6][6];
  cb_local_drag(l, &(cb_local_stream){.rho1 = 1, .c_n = 0.7, .c_t = 0.2}, Y, with, J);
  cb_local_drag(l, &(cb_local_stream){.rho1 = 1}, Y, without, J0);
  for (int i = 0; i < 6; i++) {
    const double each = i < 3 ? -8 * PI / 3 * 0.2 : -4 * PI / 3 * (0.7 + 0.4);
    check_near(with[i] - without[i], each * Y[i], 5e-3);
    for (int j = 0; j < 6; j++) check_near(J[i][j] - J0[i][j], i == j ? each : 0, 5e-3);
  }
  cb_local_free(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sphere_has_drag_coefficient_four_thirds),
      cmocka_unit_test(plate_has_drag_coefficient_two),
      cmocka_unit_test(jacobian_agrees_with_differences),
      cmocka_unit_test(body_that_goes_with_the_flow_feels_nothing),
      cmocka_unit_test(linear_drag_of_a_sphere_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
