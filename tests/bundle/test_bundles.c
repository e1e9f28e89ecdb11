/* Tests of models of bundles against closed forms and numbers of the literature. An independent integrator (models.h)
 * computes holonomies g. A: the connection; B: its curvature; M: the cost metric. */
#include "models.h"

/* The phase of the second variable of a model_circle. It is a quarter cycle late, so the circle is
 * counter-clockwise. */
static const double MINUS = -M_PI / 2;

static void check_all(const double *value, const double *expected, int count, double tolerance) {
  for (int k = 0; k < count; k++) check_near(value[k], expected[k], tolerance);
}

static void pmpy_has_the_published_connection_and_metric(void **state) {
  cb_bundle *b = model("pmpy", "");
  const double v0 = 8 * M_PI / 3;
  double A[2], M[4], B[1];
  check_ok(cb_bundle_connection(b, (double[]){5, v0 / 2}, A, NULL, M, NULL));
  check_all(A, (double[]){0, .00318309886184}, 2, 5e-15); /* half a unit of the last published digit */
  check_all(M, (double[]){3 * M_PI, 0, 0, 2 / M_PI}, 4, 1e-14);
  check_ok(cb_bundle_curvature(b, (double[]){5, v0 / 2}, 0, 1, B));
  check_near(B[0], -.041061975317709, 1e-15);
  /* The ratio of cost to displacement of small gaits of minimum cost tends to 4 pi sqrt(det M)/|B|. */
  check_near(4 * M_PI * sqrt(M[0] * M[3]) / fabs(B[0]), 749.6277440557, 1e-10);
  check_ok(cb_bundle_connection(b, (double[]){6, 2}, A, NULL, M, NULL));
  check_all(A, (double[]){-.095451232295564, .002210485320721}, 2, 1e-15);
  check_all(M, (double[]){8.772589013003131, 0, 0, .875732369912367}, 4, 1e-14);
  const double corner[4][2] = {{4, .5}, {8, .5}, {8, v0 - .5}, {4, v0 - .5}};
  double X[CB_GROUP_SIZE], length;
  model_polygon(b, 4, corner, 300, X, &length);
  check_near(X[0], 1.7463175578278, 5e-14);
  check_near(length, 35.006776367919, 5e-11);
  cb_bundle_free(b);
}

static void purcell_has_the_known_connection_at_the_origin(void **state) {
  cb_bundle *b = model("purcell", "");
  double A[6], M[4], B[3];
  check_ok(cb_bundle_connection(b, (double[]){0, 0}, A, NULL, M, NULL));
  check_all(A, (double[]){0, 0, 1. / 18, 1. / 18, -7. / 27, 7. / 27}, 6, 1e-15);
  check_all(M, (double[]){16. / 2187, 11. / 2187, 11. / 2187, 16. / 2187}, 4, 1e-16);
  check_ok(cb_bundle_curvature(b, (double[]){0, 0}, 0, 1, B));
  check_all(B, (double[]){5. / 243, 0, 0}, 3, 1e-16);
  check_near(4 * M_PI * sqrt(M[0] * M[3] - M[1] * M[1]) / B[0], 3.244622940779, 5e-13);
  check_near(4 * M_PI * sqrt(M[0] * M[3] - M[1] * M[1]) / B[0], 4 * M_PI / sqrt(15), 1e-13);
  check_ok(cb_bundle_curvature(b, (double[]){.5, -.3}, 0, 1, B));
  check_all(B, (double[]){.012542419498747, -.007345370757657, .005459124961156}, 3, 1e-15);
  cb_bundle_free(b);
}

static void purcell_with_half_the_rotational_drag_is_the_other_published_one(void **state) {
  cb_bundle *b = model("purcell", "turn 1/12");
  double A[6], B[3];
  check_ok(cb_bundle_connection(b, (double[]){0, 0}, A, NULL, NULL, NULL));
  check_near(A[4], -13. / 51, 1e-15);
  check_ok(cb_bundle_curvature(b, (double[]){0, 0}, 0, 1, B));
  check_near(B[0], 1. / 51, 1e-16);
  cb_bundle_free(b);
}

static void purcell_swims_the_known_circle_and_square(void **state) {
  cb_bundle *b = model("purcell", "");
  double g[3], length;
  model_loop(b, on_circle, &(model_circle){0, 0, 1, MINUS}, 300, g, &length);
  check_all(g, (double[]){-.04949902143485, .01340036636874, 0}, 3, 5e-14);
  check_near(length, .512235406963, 5e-13);
  const double corner[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  model_polygon(b, 4, corner, 100, g, &length);
  check_all(g, (double[]){-.06018752110694, 0, 0}, 3, 5e-14);
  check_near(length, .706680499900,
             1e-12); /* the last digit of the source is wrong: small steps give .706680499899366 */
  cb_bundle_free(b);
}

/* Integrates the component B_x of the curvature over the unit disc: by the midpoint rule in the angle, and by Gauss's
 * rule with three points on each of 20 intervals of the radius. With sign_of_bracket = -1 the bracket in B has the
 * opposite sign. */
static double area_integral(const cb_bundle *b, double sign_of_bracket) {
  const double node[3] = {-sqrt(.6), 0, sqrt(.6)}, weight[3] = {5. / 9, 8. / 9, 5. / 9};
  double sum = 0;
  for (int i = 0; i < 20; i++)
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 64; j++) {
        const double rho = (i + .5 + .5 * node[k]) / 20, phi = (j + .5) * 2 * M_PI / 64;
        const double r[2] = {rho * cos(phi), rho * sin(phi)};
        double A[6], dA[12], bracket[3];
        check_ok(cb_bundle_connection(b, r, A, dA, NULL, NULL));
        b->group->bracket(b->group, (double[]){A[0], A[2], A[4]}, (double[]){A[1], A[3], A[5]}, bracket);
        sum += (dA[1] - dA[6] - sign_of_bracket * bracket[0]) * rho * weight[k] / 40 * 2 * M_PI / 64;
      }
  return sum;
}

static void purcell_body_velocity_integral_and_the_wrong_sign_of_the_bracket(void **state) {
  cb_bundle *b = model("purcell", "");
  check_near(area_integral(b, 1), .0519181, 5e-8); /* half a unit of the last published digit */
  double g[3];
  model_loop(b, on_circle, &(model_circle){0, 0, 1, MINUS}, 60, g, NULL);
  check_near(hypot(g[0], g[1]), .0512808, 5e-8);
  /* A small loop moves by -(dA - [A, A]) times its area. dA + [A, A] would be 3.8 times as large. */
  double A[6], dA[12], bracket[3];
  const double e = 1e-3;
  check_ok(cb_bundle_connection(b, (double[]){0, 0}, A, dA, NULL, NULL));
  b->group->bracket(b->group, (double[]){A[0], A[2], A[4]}, (double[]){A[1], A[3], A[5]}, bracket);
  const double right = dA[1] - dA[6] - bracket[0], wrong = dA[1] - dA[6] + bracket[0];
  check_near(wrong, .0781893, 5e-8);
  model_loop(b, on_circle, &(model_circle){0, 0, e, MINUS}, 20, g, NULL);
  check_near(g[0] / (M_PI * e * e), -right, 1e-6);
  check_at_least(fabs(g[0] / (M_PI * e * e) + wrong), .05);
  cb_bundle_free(b);
}

static void heisenberg_lifts_a_circle_to_its_area(void **state) {
  cb_bundle *b = model("heisenberg", "");
  double z[CB_GROUP_SIZE], length, B[1];
  model_loop(b, on_circle, &(model_circle){.4, -2, 1.3, MINUS}, 20, z, &length);
  check_near(z[0], M_PI * 1.3 * 1.3, 1e-12);
  check_near(length * length, 4 * M_PI * z[0], 1e-11);
  check_ok(cb_bundle_curvature(b, (double[]){3, 1}, 0, 1, B));
  check_near(B[0], -1, 1e-15);
  cb_bundle_free(b);
}

static void hopf_turns_by_half_the_solid_angle(void **state) {
  cb_bundle *b = model("hopf", "");
  const double omega = 1, theta = acos(1 - omega / (2 * M_PI));
  double phase[CB_GROUP_SIZE], length;
  model_loop(b, on_circle, &(model_circle){0, 0, tan(theta / 2), MINUS}, 20, phase, &length);
  check_near(phase[0], omega / 2, 1e-13);
  check_near(length, 3.4009367260152, 5e-14);
  check_near(length, sqrt(omega * (4 * M_PI - omega)), 1e-13);
  cb_bundle_free(b);
}

/* The rotation q of the ball is the inverse of the holonomy g. */
static void rolling_ball_turns_as_the_closed_form(void **state) {
  cb_bundle *b = model("rolling_ball", "");
  const cb_group *G = b->group;
  const double rho[2] = {.5, 1}, angle[2] = {.7416294238611, 2.6025805691371};
  for (int k = 0; k < 2; k++) {
    double g[4], q[4];
    model_loop(b, on_circle, &(model_circle){0, 0, rho[k], MINUS}, 400, g, NULL);
    const double half = M_PI * sqrt(1 + rho[k] * rho[k]), s = sin(half) / sqrt(1 + rho[k] * rho[k]);
    G->inverse(G, g, q);
    const double expected[4] = {cos(half), -rho[k] * s, 0, -s}, sign = q[0] * expected[0] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++) check_near(sign * q[i], expected[i], 1e-12);
    check_near(2 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), fabs(q[0])), angle[k], 1e-12);
  }
  cb_bundle_free(b);
}

static void hopping_leg_turns_as_the_closed_form(void **state) {
  cb_bundle *b = model("hopping_leg", "");
  const double corner[4][2] = {{0, 0}, {M_PI / 2, 0}, {M_PI / 2, .5}, {0, .5}};
  double theta[CB_GROUP_SIZE];
  model_polygon(b, 4, corner, 10, theta, NULL);
  check_near(theta[0], .3020762166913, 5e-14);
  cb_bundle_free(b);
}

static void floating_snake_keeps_its_centre_and_turns_nowhere_round_the_origin(void **state) {
  cb_bundle *b = model("floating_snake", "");
  double A[6], g[3];
  check_ok(cb_bundle_connection(b, (double[]){0, 0}, A, NULL, NULL, NULL));
  check_all(A, (double[]){0, 0, 1. / 6, 1. / 6, -7. / 27, 7. / 27}, 6, 1e-15);
  for (double radius = .4; radius < 2; radius += .4) {
    model_loop(b, on_circle, &(model_circle){0, 0, radius, MINUS}, 60, g, NULL);
    check_near(g[2], 0, 1e-13);
  }
  /* Other loops rotate the snake by theta around its centre of mass: (x, y) + R(theta) c = c, where c is the centre at
   * the start and R(theta) the rotation. */
  const model_circle c = {.7, -.2, .9, MINUS};
  model_loop(b, on_circle, &c, 100, g, NULL);
  check_at_least(fabs(g[2]), 1e-3);
  const double a1 = c.x + c.radius, a2 = c.y;
  const double centre[2] = {(-cos(a1) + cos(a2)) / 6, (sin(a1) + sin(a2)) / 6};
  check_near(g[0] + cos(g[2]) * centre[0] - sin(g[2]) * centre[1], centre[0], 1e-12);
  check_near(g[1] + sin(g[2]) * centre[0] + cos(g[2]) * centre[1], centre[1], 1e-12);
  cb_bundle_free(b);
}

static void falling_cat_turns_as_the_closed_form(void **state) {
  cb_bundle *b = model("falling_cat", "mass_1 2 mass_2 .7 inertia_1 .3 inertia_2 1.1 arm_1 .8 arm_2 1.3");
  const double m = 2 * .7 / 2.7, I1 = .3, I2 = 1.1, a1 = .8, a2 = 1.3;
  for (double alpha = -3; alpha < 3; alpha += .5) {
    double A[1];
    check_ok(cb_bundle_connection(b, &alpha, A, NULL, NULL, NULL));
    const double c = cos(alpha),
                 rate = -(I2 + m * a2 * a2 + m * a1 * a2 * c) / (I1 + I2 + m * (a1 * a1 + a2 * a2 + 2 * a1 * a2 * c));
    check_near(-A[0], rate, 1e-14);
  }
  cb_bundle_free(b);
}

static void curved_swimmers_move_as_the_known_large_gait(void **state) {
  const double corner[4][2] = {{.3, .4}, {1, .4}, {1, 1.2}, {.3, 1.2}};
  const char *const text[] = {"space S2", "space S3", "space H2", "space H3", "space E2", "space E3"};
  const double expected[] = {-.10051356558, -.10051356558, .06148161579, .06148161579, 0, 0};
  for (int k = 0; k < 6; k++) {
    cb_bundle *b = model("constant_curvature_swimmer", text[k]);
    double X[CB_GROUP_SIZE];
    model_polygon(b, 4, corner, 40, X, NULL);
    check_near(X[0], expected[k], k < 4 ? 5e-12 : 1e-15);
    cb_bundle_free(b);
  }
}

/* The displacement is X = -2 K mu (1 - mu) int l^2 sin a dl da, integrated over the inside of the loop of the leg
 * length l and the half-angle a. K is the curvature, and mu is the share of the tips in the mass. The remainder is of
 * higher order in l/R, where R is the radius of curvature. */
static void small_curved_swimmers_move_by_the_curvature_of_space(void **state) {
  const double corner[4][2] = {{.3, .4}, {1, .4}, {1, 1.2}, {.3, 1.2}};
  const double mu = 3 * .5 / (2 + 3 * .5), area = (1 - .027) / 3 * (cos(.4) - cos(1.2));
  for (int k = 0; k < 2; k++) {
    cb_bundle *b = model("constant_curvature_swimmer", k ? "space H3 radius 1000 legs 3 apex_mass 2 tip_mass .5"
                                                         : "space S3 radius 1000 legs 3 apex_mass 2 tip_mass .5");
    double X[CB_GROUP_SIZE];
    model_polygon(b, 4, corner, 40, X, NULL);
    check_relative(X[0], (k ? 2 : -2) * 1e-6 * mu * (1 - mu) * area, 1e-6);
    cb_bundle_free(b);
  }
}

static void three_spheres_swim_a_little_more_than_the_leading_order(void **state) {
  cb_bundle *b = model("three_sphere", "radius 1e-3");
  double X[CB_GROUP_SIZE];
  model_loop(b, on_circle, &(model_circle){1, 1, 1e-2, MINUS}, 60, X, NULL);
  check_near(fabs(X[0]) / (7e-3 / 12 * M_PI * 1e-4), 1.000795, 5e-7);
  check_at_least(X[0], 0);
  cb_bundle_free(b);
}

static void raft_is_flat_without_yaw_and_turns_with_it(void **state) {
  const double theta = .8, mr = 3, m = 2, l = 1.5, inertia = .6, mu = m * mr / (m + mr);
  const model_circle c = {0, 0, tan(theta / 2), MINUS};
  double g[CB_GROUP_SIZE], B[3];
  cb_bundle *b = model("raft_pendulum", "yaw false raft_mass 3 mass 2 length 1.5");
  check_ok(cb_bundle_curvature(b, (double[]){.3, -.7}, 0, 1, B));
  check_all(B, (double[]){0, 0}, 2, 1e-15);
  model_loop(b, on_circle, &(model_circle){.2, .1, .5, MINUS}, 60, g, NULL);
  check_all(g, (double[]){0, 0}, 2, 1e-14);
  cb_bundle_free(b);
  b = model("raft_pendulum", "yaw true raft_mass 3 mass 2 length 1.5 raft_inertia .6");
  model_loop(b, on_circle, &c, 60, g, NULL);
  const double k = mu * l * l * sin(theta) * sin(theta);
  check_near(g[2], -2 * M_PI * k / (inertia + k), 1e-12);
  cb_bundle_free(b);
}

static void sphere_robot_turns_as_the_closed_form(void **state) {
  cb_bundle *b = model("sphere_robot", "radius .3 inertia .02 equator_mass .4 across_mass .5");
  const double corner[4][2] = {{0, .1}, {.5, .1}, {.5, .9}, {0, .9}}, e = 2 * .4 * .09;
  double phi[CB_GROUP_SIZE], f[2];
  for (int k = 0; k < 2; k++) {
    const double c = cos(k ? .9 : .1);
    f[k] = e / (.02 + e + 2 * .5 * .09 * c * c);
  }
  model_polygon(b, 4, corner, 10, phi, NULL);
  check_near(phi[0], .5 * (f[1] - f[0]), 1e-14);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pmpy_has_the_published_connection_and_metric),
      cmocka_unit_test(purcell_has_the_known_connection_at_the_origin),
      cmocka_unit_test(purcell_with_half_the_rotational_drag_is_the_other_published_one),
      cmocka_unit_test(purcell_swims_the_known_circle_and_square),
      cmocka_unit_test(purcell_body_velocity_integral_and_the_wrong_sign_of_the_bracket),
      cmocka_unit_test(heisenberg_lifts_a_circle_to_its_area),
      cmocka_unit_test(hopf_turns_by_half_the_solid_angle),
      cmocka_unit_test(rolling_ball_turns_as_the_closed_form),
      cmocka_unit_test(hopping_leg_turns_as_the_closed_form),
      cmocka_unit_test(floating_snake_keeps_its_centre_and_turns_nowhere_round_the_origin),
      cmocka_unit_test(falling_cat_turns_as_the_closed_form),
      cmocka_unit_test(curved_swimmers_move_as_the_known_large_gait),
      cmocka_unit_test(small_curved_swimmers_move_by_the_curvature_of_space),
      cmocka_unit_test(three_spheres_swim_a_little_more_than_the_leading_order),
      cmocka_unit_test(raft_is_flat_without_yaw_and_turns_with_it),
      cmocka_unit_test(sphere_robot_turns_as_the_closed_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
