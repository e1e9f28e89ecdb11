/* Tests of bodies whose shape changes, of free fall, of the speed of falling plates, and of errors. */
#include "immersed.h"

/* --- no fluid --- */

static void without_fluid_a_body_falls_on_a_parabola(void **unused) {
  uint64_t seed = check_seed();
  mesh m = mesh_ellipsoid(3, 0.5, 0.3, 0.2);
  mesh_shake(&m, &seed, 0.02);
  mesh_move(&m, (double[3]){0.2, -0.1, 0.3});
  tank k = tank_of(m, 700, 0);
  k.fluid.gravity[0] = 0.4;
  k.fluid.gravity[2] = -9.81;
  tank_fill(&k);
  assert_int_equal(cb_immersed_wrenches(k.body), 1);
  cb_mass mass;
  check_ok(cb_immersed_mass(k.body, 0, &mass, NULL));
  for (int spins = 0; spins < 2; spins++) {
    const double Y[6] = {spins * 0.7, spins * -0.4, spins * 0.9, 1, 2, 3}, time = 2;
    const cb_rigid_state s = run_by(k.problem, spins ? RKMK4 : CB_SE3_CAYLEY, &at_origin, Y, time, spins ? 1600 : 400);
    double centre[3], wc[3];
    cb_pose_point(&s.g, mass.centre, centre);
    cb_cross3(Y, mass.centre, wc);
    for (int i = 0; i < 3; i++) {
      const double v = Y[3 + i] + wc[i], g = k.fluid.gravity[i];
      check_near(centre[i], mass.centre[i] + v * time + g * time * time / 2, spins ? 1e-9 : 1e-12);
      check_near(s.world[3 + i], mass.mass * (v + g * time), 1e-10 * mass.mass);
    }
  }
  tank_empty(&k);
}

/* Makes two boxes of the densities 0.8 and 1.5. They have a joint at (a[0], 0), around which the second box rotates by
 * al = angle(t). Writes their masses, their moments of inertia I about their centres, and the distances a of the
 * centres from the joint. */
static void boxes(mesh *both, double *I, double *mass, double a[2]) {
  const double half[2][3] = {{0.5, 0.15, 0.1}, {0.7, 0.1, 0.1}};
  *both = mesh_room(200, 400);
  for (int i = 0; i < 2; i++) {
    mesh m = mesh_box(2, half[i], false);
    a[i] = half[i][0] + 0.05;
    if (i) mesh_move(&m, (double[3]){a[0] + a[1], 0, 0});
    const int first = both->vertices;
    for (int j = 0; j < m.vertices; j++) mesh_vertex(both, m.x[j][0], m.x[j][1], m.x[j][2]);
    for (int j = 0; j < m.faces; j++) {
      both->part[both->faces] = i;
      mesh_face(both, first + m.face[j][0], first + m.face[j][1], first + m.face[j][2]);
    }
    free(m.x);
    free(m.face);
    free(m.part);
    mass[i] = (i ? 1.5 : 0.8) * 8 * half[i][0] * half[i][1] * half[i][2];
    I[i] = mass[i] / 3 * (half[i][0] * half[i][0] + half[i][1] * half[i][1]);
  }
}

static double angle(double t) { return 1.3 * sin(t) + 0.4; }
/* Returns the angular velocity of the first box if the angular momentum is 0:
 * -(I2 + m a2^2 + m a1 a2 cos al)/(I1 + I2 + m (a1^2 + a2^2 + 2 a1 a2 cos al)) al', with the masses m1 and m2,
 * m = m1 m2/(m1 + m2), and the other symbols of boxes(). */
static double turns(const double I[2], const double mass[2], const double a[2], double t) {
  const double m = mass[0] * mass[1] / (mass[0] + mass[1]), ca = cos(angle(t));
  return -(I[1] + m * a[1] * a[1] + m * a[0] * a[1] * ca) /
         (I[0] + I[1] + m * (a[0] * a[0] + a[1] * a[1] + 2 * a[0] * a[1] * ca)) * 1.3 * cos(t);
}

static void two_boxes_without_momentum_turn_by_their_shape(void **unused) {
  mesh m;
  double I[2], mass[2], a[2], turned = 0, error[4];
  const double time = 2.5;
  boxes(&m, I, mass, a);
  for (int i = 0; i <= 4000; i++)
    turned += (i == 0 || i == 4000 ? 1 : i % 2 ? 4 : 2) * turns(I, mass, a, time * i / 4000) * time / 12000;
  tank k = tank_of(m, 0.8, 0);
  k.material[1].density = 1.5;
  static const char *const names[2] = {"j", "k"};
  const cb_poses_parameters parameters = {names, a, 2};
  const cb_poses_motion motion = {k.surface->name[1],
                                  {"j + (X - j)*cos(1.3*sin(t) + 0.4) - Y*sin(1.3*sin(t) + 0.4)",
                                   "(X - j)*sin(1.3*sin(t) + 0.4) + Y*cos(1.3*sin(t) + 0.4)", "Z"}};
  check_ok(cb_poses_from_expressions(k.surface, &motion, 1, &parameters, NULL, NULL, NULL, &k.poses));
  k.fluid.gravity[1] = 0;
  tank_fill(&k);
  assert_int_equal(cb_immersed_wrenches(k.body), 0);
  /* Y is the twist of the first box at the start, for momentum 0 */
  cb_rigid_state rest = {.g = at_origin};
  double Y[6];
  check_ok(cb_rigid_twist(k.problem, &rest, Y));
  check_near(Y[2], turns(I, mass, a, 0), 1e-13);
  for (int map = 0; map < 3; map++) {
    for (int i = 0; i < 4; i++) {
      const cb_rigid_state s = run_by(k.problem, map, &at_origin, Y, time, 50 << i);
      for (int j = 0; j < 6; j++) check_near(s.momentum[j], 0, 1e-13);
      error[i] = fabs(2 * atan2(s.g.q[3], s.g.q[0]) - turned);
    }
    check_near(fitted_order(error, 4), 2, 0.05);
    print_message("  map %d: turned by %.10f to %.1e\n", map, turned, error[3]);
  }
  const cb_rigid_state s = run_by(k.problem, RKMK4, &at_origin, Y, time, 400);
  check_near(2 * atan2(s.g.q[3], s.g.q[0]), turned, 1e-9);
  tank_empty(&k);
}

/* --- fluid --- */

/* A plate of area A falls flat in a fluid of density rho. Its drag coefficient is 2, so the speed is vt tanh(t/T) with
 * vt = sqrt(W/(rho A)) and T = m_eff/sqrt(W rho A). W is the weight minus the buoyancy, and m_eff the mass plus the
 * added mass. */
static void a_plate_falls_with_a_coefficient_of_two(void **unused) {
  const double rho = 998, density = 2700, thickness = 0.002, g = 9.81, area = 0.12 * 0.08;
  tank k = tank_of(mesh_plate(4, 0.12, 0.08, false), density, thickness);
  tank_water(&k, rho);
  k.fluid.gravity[2] = -g;
  tank_fill(&k);
  double K[6][6], mu0[6];
  check_ok(k.problem->inertia(k.problem->self, 0, &at_origin, K, mu0));
  const double W = (density - rho) * area * thickness * g, drag = rho * area, vt = sqrt(W / drag),
               T = K[5][5] / sqrt(W * drag);
  const cb_rigid_state s = run_by(k.problem, CB_SE3_CAYLEY, &at_origin, (double[6]){0}, 2 * T, 4000);
  double Y[6];
  check_ok(cb_rigid_twist(k.problem, &s, Y));
  check_near(Y[5], -vt * tanh(2), 1e-6 * vt);
  check_near(s.g.x[2], -vt * T * log(cosh(2)), 1e-6 * vt * T);
  tank_empty(&k);
}

/* The local model cannot represent a ball that grows in an incompressible fluid. It subtracts the mean normal velocity
 * of the surface, and the record shows this velocity. */
static void a_swelling_ball_breathes(void **unused) {
  tank k = tank_of(mesh_ball(4, 0.3), 500, 0);
  tank_water(&k, 998);
  tank_moves(&k, "X*(1 + 0.2*sin(t)) + 0.01*t", "Y*(1 + 0.2*sin(t))", "Z*(1 + 0.2*sin(t))");
  tank_fill(&k);
  double mu[6], wrench[8][6], K[6][6], mu0[6], mu_b[6];
  cb_mass mass;
  check_ok(cb_immersed_mass(k.body, 0.4, &mass, NULL));
  check_relative(mass.mass, 500 * mass.volume / pow(1 + 0.2 * sin(0.4), 3), 1e-13);
  momentum_of(&k, 0.4, &at_origin, (double[6]){0}, mu);
  check_ok(k.problem->inertia(k.problem->self, 0.4, &at_origin, K, mu0));
  for (int i = 0; i < 6; i++) mu_b[i] = i == 3 ? mass.mass * 0.01 : 0;
  for (int i = 0; i < 6; i++) check_near(mu[i], mu_b[i] + (i == 3 ? (K[3][3] - mass.mass) * 0.01 : 0), 1e-12);
  cb_rigid_state s;
  check_ok(cb_rigid_start(k.problem, 0.4, &at_origin, (double[6]){0}, &s));
  const cb_immersed_row row = row_of(&k, &s, wrench);
  /* the faces are inside the sphere, so the value is too small */
  check_relative(row.removed_normal_velocity, 0.3 * 0.2 * cos(0.4), 0.1);
  check_at_most(row.removed_normal_velocity, 0.3 * 0.2 * cos(0.4));
  tank_empty(&k);
}

/* The derivative of the kinetic energy by the twist Y is the momentum mu. If the twist cancels a drift of the complete
 * shape, only the fluid that flows around the body has kinetic energy. */
static void kinetic_energy_belongs_to_the_momentum(void **unused) {
  for (int wind = 0; wind < 2; wind++) {
    tank k = tank_of(mesh_ellipsoid(3, 0.5, 0.3, 0.2), 700, 0);
    tank_water(&k, 998);
    if (wind) tank_flow(&k, 0.3, -0.2, 0.5);
    tank_moves(&k, "X + 0.7*t", "Y", "Z - 0.2*t");
    tank_fill(&k);
    double wrench[8][6], Y[6], mu[6], K[6][6], mu0[6];
    cb_rigid_state s;
    const double h = 1e-4;
    for (int j = 0; j < 6; j++) {
      double energy[2];
      momentum_of(&k, 0.4, &generic_pose, generic_twist, mu);
      for (int side = 0; side < 2; side++) {
        memcpy(Y, generic_twist, sizeof Y);
        Y[j] += side ? -h : h;
        check_ok(cb_rigid_start(k.problem, 0.4, &generic_pose, Y, &s));
        energy[side] = row_of(&k, &s, wrench).kinetic;
      }
      check_near((energy[0] - energy[1]) / (2 * h), mu[j], 1e-7 * fabs(mu[j]) + 1e-8);
    }
    /* The twist cancels the drift of the shape, so no vertex moves in the world. */
    check_ok(k.problem->inertia(k.problem->self, 0, &at_origin, K, mu0));
    check_ok(cb_rigid_start(k.problem, 0, &at_origin, (double[6]){0, 0, 0, -0.7, 0, 0.2}, &s));
    double flow = 0;
    const double u[3] = {0.3, -0.2, 0.5};
    cb_mass mass;
    check_ok(cb_immersed_mass(k.body, 0, &mass, NULL));
    for (int i = 0; wind && i < 9; i++)
      flow += u[i / 3] * u[i % 3] / 2 * (K[3 + i / 3][3 + i % 3] - (i / 3 == i % 3) * mass.mass);
    check_near(row_of(&k, &s, wrench).kinetic, flow, 1e-12);
    tank_empty(&k);
  }
}

/* A wave along a slender ellipsoid with the half axes a, b and c has the kinetic energy (1/2) rho int y'^2 dV, an
 * integral over slices of the area pi b c (1 - X^2/a^2). The energy that remains if the momentum is 0 is not
 * negative. */
static void a_wave_along_a_body_has_the_energy_of_its_slices(void **unused) {
  const double a = 0.5, b = 0.03, c = 0.05, density = 998;
  tank k = tank_of(mesh_ellipsoid(14, a, b, c), density, 0);
  tank_moves(&k, "X", "Y + 0.1*sin(4*X - 6*t)", "Z");
  tank_fill(&k);
  double wrench[8][6];
  for (int i = 0; i < 6; i++) {
    const double t = 0.2 * i;
    double energy = 0;
    for (int j = 0; j < 400; j++) {
      const double X = a * (2 * (j + 0.5) / 400 - 1), v = 0.6 * cos(4 * X - 6 * t);
      energy += density / 2 * v * v * PI * b * c * (1 - X * X / a / a) * 2 * a / 400;
    }
    cb_rigid_state s = {.t = t, .g = at_origin};
    check_at_least(row_of(&k, &s, wrench).kinetic, 0);
    check_ok(cb_rigid_start(k.problem, t, &at_origin, (double[6]){0}, &s));
    check_relative(row_of(&k, &s, wrench).kinetic, energy,
                   0.3); /* the library interpolates the velocity inside the body */
  }
  tank_empty(&k);
}

/* --- errors --- */

static void refused_by_name_and_place(void **unused) {
  tank k = tank_of(mesh_ball(2, 0.3), 0, 0);
  k.options.material = k.material;
  check_error(cb_immersed_create(&k.fluid, k.surface, NULL, &k.options, NULL, NULL, NULL, &k.body), CB_ERROR_DOMAIN,
              "the body has no inertia: its mass is 0 kg and there is no fluid that moves with it");
  const cb_point_mass one = {.mass = 2, .x = {0, 0, 0.1}, .vertex = -1};
  k.options.n_points = 1;
  k.options.points = &one;
  check_error(cb_immersed_create(&k.fluid, k.surface, NULL, &k.options, NULL, NULL, NULL, &k.body), CB_ERROR_DOMAIN,
              "the body has no inertia about an axis: its mass is 2 kg and there is no fluid that moves with it");
  k.options.n_points = 0;
  k.material[0].density = 1;
  cb_wrench_text wrenches[2] = {{.name = "lift", .force = {"x", "y", "z"}},
                                {.name = "thrust", .torque = {"1", "wx + q"}}};
  k.options.n_wrenches = 2;
  k.options.wrenches = wrenches;
  int which = -1, component = -1;
  size_t at = 99;
  check_error_begins(cb_immersed_create(&k.fluid, k.surface, NULL, &k.options, &which, &component, &at, &k.body),
                     CB_ERROR_INPUT, "");
  assert_int_equal(which, 1);
  assert_int_equal(component, 1);
  assert_int_equal(at, 5);
  wrenches[1].torque[1] = "1/(t - 1)";
  tank_fill(&k);
  double F[6] = {0};
  check_error(k.problem->wrench(k.problem->self, 1, &at_origin, F, F, NULL), CB_STEP_NOT_FINITE,
              "torque y of wrench `thrust` is inf at t = 1, place (0, 0, 0)");
  cb_immersed_workspace_free(k.workspace);
  cb_immersed_free(k.body);
  k.options.c_n = -1;
  check_error(cb_immersed_create(&k.fluid, k.surface, NULL, &k.options, NULL, NULL, NULL, &k.body), CB_ERROR_ARGUMENT,
              "linear drag with -1 and 0 Pa s/m: expected numbers >= 0");
  k.options.c_n = 0;
  cb_surface *other = mesh_surface(mesh_ball(3, 0.3));
  const cb_poses_motion motion = {NULL, {"X", "Y", "2*Z/(2 - t)"}};
  check_ok(cb_poses_from_expressions(other, &motion, 1, NULL, NULL, NULL, NULL, &k.poses));
  check_error(cb_immersed_create(&k.fluid, k.surface, k.poses, &k.options, NULL, NULL, NULL, &k.body),
              CB_ERROR_ARGUMENT, "the poses have 38 vertices: expected 18, as the surface has");
  cb_poses_free(k.poses);
  cb_surface_free(other);
  check_ok(cb_poses_from_expressions(k.surface, &motion, 1, NULL, NULL, NULL, NULL, &k.poses));
  wrenches[1].torque[1] = NULL;
  tank_fill(&k);
  cb_rigid_state s = {.g = at_origin}, before;
  s.t = 1.995;
  before = s;
  check_error(cb_rigid_step_pontryagin(k.problem, CB_SE3_CAYLEY, 0.01, &s, NULL), CB_STEP_DOMAIN,
              "pose at t = 2: z of vertex 1, at rest at (0, 0, 0.3), is inf");
  s.t = before.t = 3; /* at this time the faces point inwards */
  check_error_begins(cb_rigid_step_pontryagin(k.problem, CB_SE3_CAYLEY, 0.01, &s, NULL), CB_STEP_DOMAIN,
                     "part `body` has the volume -");
  assert_memory_equal(&s, &before, sizeof s);
  tank_empty(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_fluid_a_body_falls_on_a_parabola),
      cmocka_unit_test(two_boxes_without_momentum_turn_by_their_shape),
      cmocka_unit_test(a_plate_falls_with_a_coefficient_of_two),
      cmocka_unit_test(a_swelling_ball_breathes),
      cmocka_unit_test(kinetic_energy_belongs_to_the_momentum),
      cmocka_unit_test(a_wave_along_a_body_has_the_energy_of_its_slices),
      cmocka_unit_test(refused_by_name_and_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
