/* Tests of bodies that move near a wall with the exact added mass. A ball that is thrown towards the wall or along it
 * moves as the series of two_spheres.h predicts. Steps are of second order. Over long times the momenta along the wall
 * are conserved, and the energy too if the shape is constant. If a body reaches the wall, the step fails. */
#include "immersed.h"
#include "yaml/yaml.h"
#include "two_spheres.h"

/* A body in water near a wall. walled_free frees the body and the model. */
typedef struct walled {
  tank k;
  cb_fluid_model *model;
} walled;

static walled walled_of(mesh m, double density, const char *parameters, const char *stroke) {
  walled w = {.k = tank_of(m, density, 0)};
  cb_tree *tree;
  check_ok(cb_yaml_read_text("parameters", parameters, strlen(parameters), &tree));
  check_ok(cb_fluid_model_create("exact", cb_tree_root(tree), &w.model));
  cb_tree_free(tree);
  if (stroke) tank_moves(&w.k, stroke, NULL, NULL);
  tank_water(&w.k, 1000);
  w.k.fluid.added_mass = w.model;
  w.k.options.drag = false;
  return w;
}

static void walled_free(walled *w) {
  tank_empty(&w->k);
  cb_fluid_model_free(w->model);
}

static double energy_of(const tank *k, const cb_rigid_state *s) {
  double wrench[8][6];
  const cb_immersed_row row = row_of(k, s, wrench);
  return row.kinetic + row.potential;
}

/* --- a ball --- */

/* These two functions return the mass plus the added mass of a ball of radius 1, for motion along the wall and away
 * from the wall, divided by the density of the fluid. The wall is at z = 0. rho is the density of the ball divided by
 * that of the fluid. */
static double along_of(double rho, double z) { return rho * 4 * M_PI / 3 + across(2 * z, 1); }
static double from_of(double rho, double z) { return rho * 4 * M_PI / 3 + axial(2 * z, 1); }

static void rates(double rho, double p, const double y[3], double dy[3]) {
  const double e = 1e-3, z = y[1], vx = p / along_of(rho, z), vz = y[2] / from_of(rho, z);
  dy[0] = vx;
  dy[1] = vz;
  dy[2] = (vx * vx * (along_of(rho, z + e) - along_of(rho, z - e)) +
           vz * vz * (from_of(rho, z + e) - from_of(rho, z - e))) /
          (4 * e);
}

/* Computes y = (x, z, the momentum along z) of a thrown ball at the given time, by the classical Runge-Kutta method of
 * fourth order. */
static void two_numbers(double rho, double z, double vx, double vz, double time, double y[3]) {
  enum { STEPS = 200 };
  const double p = along_of(rho, z) * vx, h = time / STEPS;
  y[0] = 0;
  y[1] = z;
  y[2] = from_of(rho, z) * vz;
  for (int n = 0; n < STEPS; n++) {
    double k[4][3], at[3];
    for (int s = 0; s < 4; s++) {
      for (int i = 0; i < 3; i++) at[i] = y[i] + (s ? (s == 3 ? h : h / 2) * k[s - 1][i] : 0);
      rates(rho, p, at, k[s]);
    }
    for (int i = 0; i < 3; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

/* Throws a ball, extrapolates its final position from two meshes, and compares it with two_numbers. *least becomes z at
 * the end, according to two_numbers. */
static void thrown(double vx, double vz, double time, double *least) {
  const double z = 1.6, rho = 0.5;
  const double Y[6] = {0, 0, 0, vx, 0, vz};
  double x[2][3], y[3];
  for (int fine = 0; fine < 2; fine++) {
    walled w = walled_of(mesh_ball(4 << fine, 1), 500, "{refine: false, wall: rigid}", NULL);
    cb_rigid_state s;
    const cb_pose g = {{1, 0, 0, 0}, {0, 0, z}};
    tank_fill(&w.k);
    check_ok(cb_rigid_start(w.k.problem, 0, &g, Y, &s));
    for (int n = 0; n < 40; n++) step_by(w.k.problem, CB_SE3_CAYLEY, time / 40, &s);
    memcpy(x[fine], s.g.x, sizeof x[fine]);
    walled_free(&w);
  }
  two_numbers(rho, z, vx, vz, time, y);
  for (int i = 0; i < 3; i += 2) x[0][i] = (4 * x[1][i] - x[0][i]) / 3;
  print_message("  x %.6f (%.6f), z %.6f (%.6f)\n", x[0][0], y[0], x[0][2], y[1]);
  /* the errors are of fourth order in the size of the faces, and of second order in the step */
  check_near(x[0][0], y[0], 1e-4 * time);
  check_near(x[0][2], y[1], 1e-4 * time);
  *least = y[1];
}

static void a_ball_goes_as_one_of_two_spheres(void **unused) {
  double z;
  thrown(0, -1, 0.45, &z);
  assert_true(z < 1.2 && z > 1.6 - 0.45); /* the ball slows down */
  thrown(1, 0, 2.5, &z);
  assert_true(z < 1.55); /* the ball is attracted */
  thrown(0.5, 0.5, 1, &z);
}

/* --- steps --- */

static const char tilted[] = "{refine: false, wall: rigid, wall_x: 1, wall_y: -2, wall_z: 2, wall_height: -1}";

static cb_pose near_the_tilted_wall(void) {
  cb_pose g = generic_pose;
  const double n[3] = {1. / 3, -2. / 3, 2. / 3}, by = -1 + 1.3 - cb_dot3(n, g.x);
  for (int i = 0; i < 3; i++) g.x[i] += by * n[i];
  return g;
}

static void check_second_order(walled *w, double time, int first) {
  const cb_pose g = near_the_tilted_wall();
  const cb_rigid_state exact = run_by(w->k.problem, RKMK4, &g, generic_twist, time, 8 * first);
  double error[4];
  for (int i = 0; i < 4; i++) {
    const cb_rigid_state s = run_by(w->k.problem, CB_SE3_CAYLEY, &g, generic_twist, time, first << i);
    error[i] = state_distance(&s, &exact);
  }
  print_message("  errors %.2e .. %.2e, order %.3f\n", error[0], error[3], fitted_order(error, 4));
  check_near(fitted_order(error, 4), 2, 0.05);
}

static void steps_are_of_second_order(void **unused) {
  walled w = walled_of(mesh_ellipsoid(3, 1, 0.6, 0.4), 500, tilted, NULL);
  tank_fill(&w.k);
  check_second_order(&w, 0.4, 20);
  walled_free(&w);
  w = walled_of(mesh_ellipsoid(2, 1, 0.6, 0.4), 500, tilted, "X + 0.2*sin(3*t)*(1 - Y^2) + 0.1*cos(2*t)*Z");
  tank_fill(&w.k);
  check_second_order(&w, 0.4, 20);
  walled_free(&w);
}

/* --- long times --- */

/* Returns the maximum relative change of the linear momentum along a wall with the normal n and of the angular momentum
 * about n. */
static double kept(const cb_rigid_state *s, const double n[3], const double first[6]) {
  double now[6], pull[3], size = 0;
  world_momentum(s, now);
  for (int i = 0; i < 6; i++) {
    size = fmax(size, fabs(first[i]));
    now[i] -= first[i];
  }
  cb_cross3(n, now + 3, pull);
  return fmax(fabs(cb_dot3(n, now)), sqrt(cb_dot3(pull, pull))) / size;
}

/* A body that is lighter than water moves along a free surface below it. The surface repels the moving body, so it
 * moves up and down without end. */
static void the_energy_stays_and_the_momenta_along_the_wall_are_kept(void **unused) {
  check_numbers_alone();
  enum { STEPS = 20000 };
  const double n[3] = {0, 0, 1}, Y[6] = {0.1, 0.2, -0.1, 1, 0.3, 0};
  walled w = walled_of(mesh_ellipsoid(2, 1, 0.9, 0.8), 999.3, "{refine: false, wall: free, wall_z: -1}", NULL);
  w.k.fluid.gravity[2] = -9.81;
  tank_fill(&w.k);
  const cb_pose g = {{1, 0, 0, 0}, {0, 0, -1.6}};
  cb_rigid_state s;
  double first[6], worst[2] = {0}, drift = 0, high = -9, low = 9;
  check_ok(cb_rigid_start(w.k.problem, 0, &g, Y, &s));
  world_momentum(&s, first);
  const cb_immersed_conserved is = cb_immersed_conserves(w.k.body);
  assert_true(is.energy && is.momentum && is.upright && fabs(is.up[2]) == 1);
  const double energy = energy_of(&w.k, &s), scale = 0.5 * first[3] * Y[3];
  for (int i = 0; i < STEPS; i++) {
    step_by(w.k.problem, CB_SE3_CAYLEY, 0.05, &s);
    s.t = (i + 1) * 0.05;
    high = fmax(high, s.g.x[2]);
    low = fmin(low, s.g.x[2]);
    drift = fmax(drift, kept(&s, n, first));
    const double error = fabs(energy_of(&w.k, &s) - energy) / scale;
    if (i < STEPS / 10) worst[0] = fmax(worst[0], error);
    if (i >= STEPS - STEPS / 10) worst[1] = fmax(worst[1], error);
  }
  print_message("  z %.3f .. %.3f; energy %.2e, %.2e; momenta %.1e\n", low, high, worst[0], worst[1], drift);
  assert_true(high - low > 0.3);
  check_at_most(worst[1], 1.5 * worst[0]);
  check_at_most(drift, 1e-11); /* round-off of 2e4 steps, at distances of up to a thousand body lengths */
  walled_free(&w);
}

/* The momenta along the wall are conserved also if the shape changes. The flow that a changing shape causes has a
 * momentum that depends on the position. */
static void a_swimmer_keeps_the_momenta_along_the_wall(void **unused) {
  const double n[3] = {1. / 3, -2. / 3, 2. / 3};
  walled w = walled_of(mesh_ellipsoid(2, 1, 0.6, 0.4), 500, tilted, "X + 0.2*sin(3*t)*(1 - Y^2) + 0.1*cos(2*t)*Z");
  tank_fill(&w.k);
  cb_pose g = near_the_tilted_wall();
  cb_rigid_state s;
  double first[6], drift = 0;
  for (int i = 0; i < 3; i++) g.x[i] += 0.5 * n[i];
  const cb_immersed_conserved is = cb_immersed_conserves(w.k.body);
  assert_true(!is.energy && is.momentum && is.upright);
  for (int i = 0; i < 3; i++) check_near(is.up[i], n[i], 1e-15);
  check_ok(cb_rigid_start(w.k.problem, 0, &g, generic_twist, &s));
  world_momentum(&s, first);
  for (int i = 0; i < 1000; i++) {
    step_by(w.k.problem, CB_SE3_CAYLEY, 0.02, &s);
    s.t = (i + 1) * 0.02;
    drift = fmax(drift, kept(&s, n, first));
  }
  print_message("  momenta %.1e\n", drift);
  check_at_most(drift, 1e-12);
  walled_free(&w);
}

/* --- the end --- */

static void a_body_that_reaches_the_wall_stops(void **unused) {
  walled w = walled_of(mesh_ball(3, 1), 500, "{refine: false, wall: rigid}", NULL);
  const cb_pose g = {{1, 0, 0, 0}, {0, 0, 1.05}};
  const double Y[6] = {[5] = -1};
  cb_rigid_state s, before;
  tank_fill(&w.k);
  check_ok(cb_rigid_start(w.k.problem, 0, &g, Y, &s));
  check_ok(cb_immersed_workspace_check_place(w.k.workspace, &s));
  before = s;
  check_error_begins(cb_rigid_step_pontryagin(w.k.problem, CB_SE3_CAYLEY, 0.5, &s, NULL), CB_STEP_DOMAIN,
                     "the body reaches the wall of its fluid model: a vertex is ");
  assert_memory_equal(&s, &before, sizeof s);
  /* the body is in front of the wall in the middle of the step, but not at its end */
  check_ok(cb_rigid_step_pontryagin(w.k.problem, CB_SE3_CAYLEY, 0.07, &s, NULL));
  check_error_begins(cb_immersed_workspace_check_place(w.k.workspace, &s), CB_STEP_DOMAIN,
                     "the body reaches the wall of its fluid model: a vertex is ");
  walled_free(&w);
}

static void check_refused(walled *w, cb_status status, const char *text) {
  w->k.options.material = w->k.material;
  check_error_begins(
      cb_immersed_create(&w->k.fluid, w->k.surface, w->k.poses, &w->k.options, NULL, NULL, NULL, &w->k.body), status,
      text);
  walled_free(w);
}

static void what_has_no_motion_before_a_wall_is_refused(void **unused) {
  walled w = walled_of(mesh_ball(2, 1), 500, "{refine: false, wall: rigid}", NULL);
  tank_flow(&w.k, 1, 0, 0);
  check_refused(&w, CB_ERROR_UNSUPPORTED,
                "the added mass of the fluid model `exact` near a wall needs a medium of one density at rest: "
                "expected no flow");
  w = walled_of(mesh_ball(2, 1), 500, "{refine: false, wall: free, wall_z: 0}", NULL);
  check_refused(&w, CB_ERROR_ARGUMENT, "a wall with the normal (0, 0, 0)");
  w = walled_of(mesh_ball(2, 1), 500, "{wall: rigid, error: 1e-7, memory: 4e6}", NULL);
  check_refused(&w, CB_ERROR_STEP, "the error of 1e-07 is not met");
  w = walled_of(mesh_ball(2, 1), 500, "{wall: rigid, memory: 1000}", NULL);
  check_refused(&w, CB_ERROR_ARGUMENT, "the tree of 32 panels takes");
}

/* The added mass that follows from the twelve triangles of a cube is 1.5 times too large, so the faces are refined. The
 * wall is far away, so the result is that of a cube without a wall, .63846 in a fluid of density 1. */
static void faces_are_refined_before_a_wall(void **unused) {
  walled w = walled_of(mesh_box(1, (double[3]){0.5, 0.5, 0.5}, false), 500, "{wall: rigid, wall_height: -50}", NULL);
  cb_added_mass told;
  w.k.options.material = w.k.material;
  check_ok(cb_immersed_create(&w.k.fluid, w.k.surface, w.k.poses, &w.k.options, NULL, NULL, NULL, &w.k.body));
  assert_true(cb_immersed_solved(w.k.body, &told));
  assert_true(told.faces > 12 && told.faces <= 1000 && told.error < 0.05);
  check_near(told.K[3][3], 0.63846, told.error);
  cb_immersed_free(w.k.body);
  w.k.body = NULL;
  walled_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_goes_as_one_of_two_spheres),
      cmocka_unit_test(steps_are_of_second_order),
      cmocka_unit_test(the_energy_stays_and_the_momenta_along_the_wall_are_kept),
      cmocka_unit_test(a_swimmer_keeps_the_momenta_along_the_wall),
      cmocka_unit_test(a_body_that_reaches_the_wall_stops),
      cmocka_unit_test(faces_are_refined_before_a_wall),
      cmocka_unit_test(what_has_no_motion_before_a_wall_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
