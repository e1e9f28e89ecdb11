/* Tests of bodies and particles that act on each other. Motions are compared with independent equations (kirchhoff.h)
 * and closed forms. Other tests concern orders of convergence, conserved momentum, and contacts. */
#include "kirchhoff.h"

static const char *const fields[] = {
    "pose", "twist", "inertia", "energy", "momentum", "position", "total_momentum", "constraint_residual", NULL};
static const char *const fields_without_rows[] = {"pose", "twist", "inertia", "energy", "total_momentum", NULL};
enum { POSE, TWIST, INERTIA, ALL_ENERGY, FREE_MOMENTUM, FREE_POSITION, TOTAL_MOMENTUM, RESIDUAL };

#define HEAD "curvebody: 1\n"
#define TAIL                                                                              \
  "integrator: {name: hamilton_pontryagin, order: %d, step: %.17g}\ntime: {end: %.17g}\n" \
  "record: {observables: [energy, momentum, inertia, constraints, separation]}\n"
#define ELLIPSOIDS                                                                                             \
  "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, density: 800, drag: false,\n"              \
  "     place: {rotation: {axis: [1, 2, 3], angle: 0.4}}, motion: {velocity: [0, 0.1, 0], spin: [0, 0, 1]}}\n" \
  "  - {name: b, shape: {name: ellipsoid, a: 0.1, b: 0.2, c: 0.25}, density: 1200, drag: false,\n"             \
  "     place: {position: [1, 0.2, 0.1]}, motion: {spin: [0.5, 0.3, 0]}}\n"

/* Writes the 4 x 4 matrix g of a pose in a space of curvature K. The pose consists of normal coordinates x[3] and a
 * quaternion q[4]; g is the rotation by q followed by the transvection that moves the origin to x. */
static void matrix_of(double K, const double pose[7], double g[16]) {
  const double *q = pose + 3, root = sqrt(fabs(K)), r = sqrt(pose[0] * pose[0] + pose[1] * pose[1] + pose[2] * pose[2]);
  const double s = K == 0  ? r
                   : K > 0 ? sin(root * r) / root
                           : sinh(root * r) / root,
               c = K == 0  ? 1
                   : K > 0 ? cos(root * r)
                           : cosh(root * r);
  const double R[3][3] = {
      {1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]), 2 * (q[1] * q[3] + q[0] * q[2])},
      {2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] - q[0] * q[1])},
      {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), 1 - 2 * (q[1] * q[1] + q[2] * q[2])}};
  double n[3];
  for (int i = 0; i < 3; i++) n[i] = r > 0 ? pose[i] / r : 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      g[4 * i + j] = R[i][j];
      for (int k = 0; k < 3; k++) g[4 * i + j] += (c - 1) * n[i] * n[k] * R[k][j];
    }
  for (int j = 0; j < 3; j++) {
    g[12 + j] = 0;
    for (int k = 0; k < 3; k++) g[12 + j] -= K * s * n[k] * R[k][j];
    g[4 * j + 3] = s * n[j];
  }
  g[15] = c;
}

/* Copies the inertias from the first row of the record to k, and writes the start z of the reference solution. */
static void start_reference(const simulation *s, kirchhoff *k, double *z) {
  const int free = k->particles ? FREE_POSITION : -1;
  for (int b = 0; b < k->bodies; b++) {
    const double *inertia = row_of(s, INERTIA, 0) + 36 * b, *Y = row_of(s, TWIST, 0) + 6 * b;
    memcpy(k->inertia[b], inertia, sizeof k->inertia[b]);
    matrix_of(k->K, row_of(s, POSE, 0) + 7 * b, z + KIRCHHOFF_BODY * b);
    for (int i = 0; i < 6; i++) {
      z[KIRCHHOFF_BODY * b + 16 + i] = 0;
      for (int j = 0; j < 6; j++) z[KIRCHHOFF_BODY * b + 16 + i] += inertia[6 * i + j] * Y[j];
    }
  }
  for (int p = 0; free >= 0 && p < k->particles; p++)
    for (int i = 0; i < 3; i++) {
      z[KIRCHHOFF_BODY * k->bodies + 6 * p + i] = row_of(s, FREE_POSITION, 0)[3 * p + i];
      z[KIRCHHOFF_BODY * k->bodies + 6 * p + 3 + i] = row_of(s, FREE_MOMENTUM, 0)[3 * p + i] / k->mass[p];
    }
}

/* Returns the largest difference between the last row and the reference solution. It compares the matrices of poses and
 * the positions of particles. */
static double error_at_end(const simulation *s, kirchhoff *k, double end) {
  double z[KIRCHHOFF_BODY * KIRCHHOFF_BODIES + 6 * KIRCHHOFF_PARTICLES], g[16], worst = 0;
  start_reference(s, k, z);
  solve_reference(kirchhoff_rhs, k, (size_t)(KIRCHHOFF_BODY * k->bodies + 6 * k->particles), end, z);
  for (int b = 0; b < k->bodies; b++) {
    matrix_of(k->K, last_of(s, POSE) + 7 * b, g);
    worst = fmax(worst, distance_to(16, g, z + KIRCHHOFF_BODY * b));
  }
  for (int p = 0; p < k->particles; p++)
    worst = fmax(worst, distance_to(3, last_of(s, FREE_POSITION) + 3 * p, z + KIRCHHOFF_BODY * k->bodies + 6 * p));
  return worst;
}

static simulation *run(const char *scenario, int order, double step, double end, const char *const *which) {
  char text[8192];
  const int length = snprintf(text, sizeof text, "%s" TAIL, scenario, order, step, end);
  assert_in_range(length, 1, sizeof text - 1);
  return simulate(text, NULL, 0, which);
}

/* Checks that the error at the end decreases by the factor 2^order when the step is halved. */
static void check_order(const char *what, const char *scenario, kirchhoff *k, int order, double step, double end,
                        const char *const *which) {
  double error[2];
  for (int i = 0; i < 2; i++) {
    simulation *s = run(scenario, order, step / (1 << i), end, which);
    error[i] = error_at_end(s, k, end);
    simulation_free(s);
  }
  print_message("%s, order %d: errors %.2e %.2e\n", what, order, error[0], error[1]);
  check_near(log2(error[0] / error[1]), order, 0.25); /* higher powers of the step contribute a few percent */
}

static double body_mass(const simulation *s) {
  const cb_record_layout *layout = cb_scenario_layout(s->scenario);
  for (size_t c = 0; c < layout->n_constants; c++)
    if (!strcmp(layout->constants[c].name, "body_mass")) return layout->constants[c].values[0];
  fail_msg("no body_mass");
  return NAN;
}

/* --- motions against independent equations --- */

static void two_immersed_ellipsoids_on_a_spring(void **unused) {
  kirchhoff k = {.bodies = 2, .links = 1, .link = {{{{.body = 0}, {.body = 1}}, 500, 0.8}}};
  const char *text =
      HEAD "fluid: {medium: 1000, gravity: [0, 0, 0], added_mass: ellipsoid}\nbodies:\n" ELLIPSOIDS
           "interactions:\n  - {pair_potential: harmonic, strength: 500, length: 0.8, between: [a, b]}\n";
  check_order("spring", text, &k, 2, 0.005, 2, fields_without_rows);
  check_order("spring", text, &k, 4, 0.02, 2, fields_without_rows);
}

static void two_immersed_ellipsoids_on_a_rod(void **unused) {
  kirchhoff k = {.bodies = 2, .links = 1, .link = {{{{0, 0, {0.2, 0, 0}}, {1, 0, {0, 0.1, 0.1}}}, 0, 0}}};
  const char *text =
      HEAD "fluid: {medium: 1000, gravity: [0, 0, 0], added_mass: ellipsoid}\nbodies:\n" ELLIPSOIDS
           "constraints:\n  - {rod: {between: [{body: a, at: [0.2, 0, 0]}, {body: b, at: [0, 0.1, 0.1]}]}}\n";
  check_order("rod", text, &k, 2, 0.01, 2, fields_without_rows);
  check_order("rod", text, &k, 4, 0.02, 2, fields_without_rows);
}

/* A body under gravity hangs on a spring from a fixed point. A rod joins it to a net of three particles on springs. */
static void body_with_a_net_of_springs(void **unused) {
  kirchhoff k = {.bodies = 1,
                 .particles = 3,
                 .links = 5,
                 .mass = {0.3, 0.5, 0.2},
                 .gravity = {0, 0, -9.81},
                 .weight = {4},
                 .link = {{{{0, 0, {0.3, 0, 0}}, {-1, 0}}, 0, 0},
                          {{{-1, 0}, {-1, 1}}, 40, 0.4},
                          {{{-1, 1}, {-1, 2}}, 60, 0.5},
                          {{{-1, 0}, {-1, 2}}, 30, 0.7},
                          {{{-2, 0, {0, 0, 2}}, {0}}, 20, 1}}};
  const char *text = HEAD
      "fluid: {medium: none}\nbodies:\n"
      "  - {name: a, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.1}, mass: 4,\n"
      "     place: {rotation: {axis: [1, 2, 3], angle: 0.4}}, motion: {spin: [0, 0, 1]}}\n"
      "  - {kind: particles, name: net, masses: [0.3, 0.5, 0.2],\n"
      "     place: {points: [[0.7, 0.1, 0], [1, 0.3, 0.2], [1.1, -0.2, 0.1]]}, motion: {velocities: [[0, 0, 0], [0, "
      "0.2, 0], [0, 0, 0.4]]}}\n"
      "constraints:\n  - {rod: {between: [{body: a, at: [0.3, 0, 0]}, [net, 0]]}}\n"
      "potentials:\n  - {harmonic: {stiffness: 20, rest: 1, at: {point: [0, 0, 2]}, body: a}}\n"
      "interactions:\n"
      "  - {spring: {between: [[net, 0], [net, 1]], stiffness: 40, rest: 0.4}}\n"
      "  - {spring: {between: [[net, 1], [net, 2]], stiffness: 60, rest: 0.5}}\n"
      "  - {spring: {between: [[net, 0], [net, 2]], stiffness: 30, rest: 0.7}}\n";
  check_order("net", text, &k, 2, 0.005, 1, fields);
  check_order("net", text, &k, 4, 0.01, 1, fields);
}

/* An ellipsoid and a ball in curved space have a harmonic pair potential between their centres. */
static void bodies_that_act_on_each_other_in_curved_space(void **unused) {
  static const char *const space[] = {"h3, curvature: -0.7", "s3, curvature: 0.7"};
  for (int i = 0; i < 2; i++) {
    char text[2048];
    kirchhoff k = {.bodies = 2, .links = 1, .K = i ? 0.7 : -0.7, .link = {{{{.body = 0}, {.body = 1}}, 3, 0.8}}};
    snprintf(text, sizeof text,
             HEAD
             "space: {name: %s}\nfluid: {medium: none}\nbodies:\n"
             "  - {name: a, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.25}, density: 100,\n"
             "     place: {position: [0.5, 0, 0.2], rotation: {axis: [1, 2, 3], angle: 0.4}},\n"
             "     motion: {velocity: [0, 0.3, 0], spin: [0.3, 0, 1]}}\n"
             "  - {name: b, shape: {name: ball, radius: 0.2}, density: 50, place: {position: [-0.4, 0.6, 0]}}\n"
             "interactions:\n  - {pair_potential: harmonic, strength: 3, length: 0.8, between: [a, b]}\n",
             space[i]);
    simulation *s = run(text, 2, 0.01, 2, fields_without_rows);
    /* The forces act between the bodies only, so their total momentum is constant. */
    const double *first = row_of(s, 4, 0);
    for (size_t r = 0; r < s->rows; r++)
      for (int c = 0; c < 6; c++) check_near(row_of(s, 4, r)[c], first[c], 1e-13);
    simulation_free(s);
    check_order(space[i], text, &k, 2, 0.01, 2, fields_without_rows);
    check_order(space[i], text, &k, 4, 0.04, 2, fields_without_rows);
  }
}

/* A ball in water hangs on a rod of length 1 from a fixed point. It swings with theta'' = -ratio sin theta and
 * ratio = (m - m_f) g/(m + m_f/2). m is the mass of the ball and m_f the mass of the water that it displaces. */
typedef struct swing {
  double ratio;
} swing;

static int swing_rhs(double t, const double *z, double *dz, void *user) {
  dz[0] = z[1];
  dz[1] = -((const swing *)user)->ratio * sin(z[0]);
  (void)t;
  return 0;
}

static void ball_in_water_on_a_rod(void **unused) {
  double error[2];
  for (int i = 0; i < 2; i++) {
    simulation *s = run(HEAD
                        "fluid: {medium: 1000, added_mass: ellipsoid}\nbodies:\n"
                        "  - {name: ball, shape: {name: ellipsoid, a: 0.1, b: 0.1, c: 0.1}, density: 3000, drag: "
                        "false, place: {position: [0.6, 0, -0.8]}}\n"
                        "constraints:\n  - {distance_to_point: {particle: [ball, 0], at: {point: [0, 0, 0]}}}\n",
                        2, 0.01 / (1 << i), 3, fields_without_rows);
    /* The inertia in the record is m + m_f/2, with the mass m of the ball and the mass m_f of the displaced fluid. The
     * densities give m - m_f = m (1 - 1/3). */
    swing w = {body_mass(s) * (1 - 1. / 3) * 9.81 / row_of(s, INERTIA, 0)[35]};
    double z[2] = {atan2(0.6, 0.8), 0};
    solve_reference(swing_rhs, &w, 2, 3, z);
    const double *x = last_of(s, POSE);
    error[i] = hypot(x[0] - sin(z[0]), x[2] + cos(z[0]));
    simulation_free(s);
  }
  print_message("pendulum: errors %.2e %.2e\n", error[0], error[1]);
  check_near(log2(error[0] / error[1]), 2, 0.1);
}

/* --- long times --- */

static void momentum_and_rod_are_kept_to_round_off_over_1e5_steps(void **unused) {
  simulation *s =
      run(HEAD "fluid: {medium: 1000, gravity: [0, 0, 0], added_mass: ellipsoid}\nbodies:\n" ELLIPSOIDS
               "constraints:\n  - {rod: {between: [{body: a, at: [0.2, 0, 0]}, {body: b, at: [0, 0.1, 0.1]}]}}\n"
               "interactions:\n  - {pair_potential: harmonic, strength: 3, length: 0.5, between: [a, b]}\n",
          2, 0.01, 1000, (const char *const[]){"total_momentum", "energy", "constraint_residual", NULL});
  double momentum = 0, residual = 0, energy[2] = {0};
  for (size_t r = 0; r < s->rows; r++) {
    for (int c = 0; c < 6; c++) momentum = fmax(momentum, fabs(row_of(s, 0, r)[c] - row_of(s, 0, 0)[c]));
    residual = fmax(residual, fabs(*row_of(s, 2, r)));
    double *e = &energy[2 * r >= s->rows];
    *e = fmax(*e, fabs(*row_of(s, 1, r) - *row_of(s, 1, 0)));
  }
  print_message("1e5 steps: momentum %.1e, rod %.1e, energy %.2e then %.2e\n", momentum, residual, energy[0],
                energy[1]);
  check_at_most(momentum, 1e-13);
  check_at_most(residual, 1e-14);
  check_at_most(energy[1], 1.5 * energy[0]);
  simulation_free(s);
}

/* --- particles in a fluid, in closed form --- */

static void sphere_settles_in_stokes_drag(void **unused) {
  double error[2];
  const double V = 4 * M_PI / 3 * 1.25e-7, displaced = 1000 * V, M = 5e-3 + displaced / 2, c = 6 * M_PI * 5e-3,
               v = -(5e-3 - displaced) * 9.81 / c, tau = M / c, end = 0.3;
  for (int i = 0; i < 2; i++) {
    simulation *s = run(HEAD
                        "fluid: {medium: 1000, particles: {viscosity: 1}}\nbodies:\n"
                        "  - {name: grain, kind: particles, mass: 5e-3, radius: 5e-3, place: {points: [[0, 0, 0]]}}\n",
                        2, 0.01 / (1 << i), end, (const char *const[]){"position", NULL});
    error[i] = fabs(last_of(s, 0)[2] - v * (end - tau * (1 - exp(-end / tau))));
    simulation_free(s);
  }
  print_message("settling: errors %.2e %.2e\n", error[0], error[1]);
  check_near(log2(error[0] / error[1]), 2, 0.1);
}

/* A ball with mass m = 4 and volume V oscillates along z in a fluid with the density rho = 1000 - 200 z. It satisfies
 * (m + rho V/2) z'' = -(m - rho V) g with gravity g. */
static int bob_rhs(double t, const double *z, double *dz, void *user) {
  const double V = 4 * M_PI / 3 * 1e-3, displaced = (1000 - 200 * z[0]) * V;
  dz[0] = z[1];
  dz[1] = -(4 - displaced) * 9.81 / (4 + displaced / 2);
  return GSL_SUCCESS;
}

static void particle_bobs_in_a_stratified_fluid(void **unused) {
  double error[2], z[2] = {-0.7, 0};
  solve_reference(bob_rhs, NULL, 2, 4, z);
  for (int i = 0; i < 2; i++) {
    simulation *s = run(HEAD
                        "fluid: {medium: 1000 - 200*z}\nbodies:\n"
                        "  - {name: bob, kind: particles, mass: 4, radius: 0.1, place: {points: [[0, 0, -0.7]]}}\n",
                        2, 0.02 / (1 << i), 4, (const char *const[]){"position", NULL});
    error[i] = fabs(last_of(s, 0)[2] - z[0]);
    simulation_free(s);
  }
  print_message("bobbing: errors %.2e %.2e\n", error[0], error[1]);
  check_near(log2(error[0] / error[1]), 2, 0.1);
}

/* A tracer in a Lamb-Oseen vortex moves on a circle. The midpoint rule is exact for the radius, but not for the
 * angle. */
static void tracers_circle_in_a_vortex(void **unused) {
  const double rate = (1 - exp(-9)) / (2 * M_PI * 0.09), end = 2;
  double error[2];
  for (int i = 0; i < 2; i++) {
    simulation *s =
        run(HEAD
            "fluid: {medium: 1000, gravity: [0, 0, 0], flow: {vortex: {centre: [0, 0, 0], axis: [0, 0, 1],\n"
            "  circulation: 1, core: 0.1}}}\nbodies:\n"
            "  - {name: dust, kind: particles, mass: 0, place: {points: [[0.3, 0, 0]]}}\n",
            2, 0.02 / (1 << i), end, (const char *const[]){"position", NULL});
    const double *x = last_of(s, 0);
    check_near(hypot(x[0], x[1]), 0.3, 1e-14);
    error[i] = fabs(remainder(atan2(x[1], x[0]) - rate * end, 2 * M_PI));
    simulation_free(s);
  }
  print_message("vortex: errors %.2e %.2e\n", error[0], error[1]);
  check_near(log2(error[0] / error[1]), 2, 0.1);
}

/* --- events and walls, in closed form --- */

/* A light ball of mass m rises with the constant acceleration (m_f - m) g/(m + m_a). m_f is the mass of the displaced
 * fluid, here 2 m, m_a the added mass, and g gravity. The run stops when the highest point of the ball reaches
 * z = 0. */
static void run_stops_when_a_ball_surfaces(void **unused) {
  simulation *s =
      run(HEAD
          "fluid: {medium: 1000, added_mass: ellipsoid}\nbodies:\n"
          "  - {name: a, shape: {name: ellipsoid, a: 0.1, b: 0.1, c: 0.1}, density: 500, drag: false, "
          "place: {position: [0, 0, -2]}}\n"
          "events:\n  - {expression: {name: surfaced, particle: {body: a, at: [0, 0, 0.1]}, value: z, action: stop}}\n",
          2, 0.01, 5, (const char *const[]){"pose", "time", "inertia", NULL});
  const double rise = body_mass(s) * (2 - 1) * 9.81 / row_of(s, 2, 0)[35];
  check_near(*last_of(s, 1), sqrt(2 * 1.9 / rise), 1e-12);
  check_near(last_of(s, 0)[2], -0.1, 1e-12);
  assert_int_equal(s->last.kind, CB_EVENT_STOP);
  simulation_free(s);
}

/* Two balls and a particle move on a line between two walls. All have mass 1, so they exchange their velocities. */
static void balls_and_a_particle_bounce_between_walls(void **unused) {
  simulation *s =
      run(HEAD
          "fluid: {medium: none, gravity: [0, 0, 0]}\nbodies:\n"
          "  - {name: a, shape: {name: ball, radius: 0.1}, mass: 1, spheres: [{at: [0, 0, 0], radius: 0.1}],\n"
          "     motion: {velocity: [1, 0, 0]}}\n"
          "  - {name: b, shape: {name: ball, radius: 0.1}, mass: 1, spheres: [{at: [0, 0, 0], radius: 0.1}],\n"
          "     place: {position: [1, 0, 0]}}\n"
          "  - {name: p, kind: particles, mass: 1, radius: 0.05, place: {points: [[1.5, 0, 0]]}}\n"
          "contacts: {}\nwalls:\n"
          "  - {plane: {name: left, at: {point: [-0.5, 0, 0]}, normal: [1, 0, 0]}}\n"
          "  - {plane: {name: right, at: {point: [2, 0, 0]}, normal: [-1, 0, 0]}}\n",
          2, 0.013, 4.3, (const char *const[]){"pose", "position", "energy", NULL});
  const double a = last_of(s, 0)[0], b = last_of(s, 0)[7], p = last_of(s, 1)[0];
  /* One of them moves at a time. a hits b at t = .8, b hits p at 1.15, p hits the wall at 1.6, p hits b at 2.05, b hits
   * a at 2.4, and a hits the wall at 3.6. */
  check_near(p, 1.5, 1e-12);
  check_near(b, 1, 1e-12);
  check_near(a, -0.4 + (4.3 - 3.6), 1e-12);
  check_near(*last_of(s, 2), 0.5, 1e-14);
  simulation_free(s);
}

/* If a body has no spheres, walls act on all its vertices. Each contact keeps the energy and the momentum along the
 * wall. */
static void ellipsoid_bounces_off_a_wall_with_its_vertices(void **unused) {
  double change[2];
  for (int i = 0; i < 2; i++) {
    simulation *s = run(
        HEAD
        "fluid: {medium: none, gravity: [0, 0, 0]}\nbodies:\n"
        "  - {name: a, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.1, resolution: 8}, mass: 2,\n"
        "     place: {rotation: {axis: [1, 2, 3], angle: 0.4}}, motion: {velocity: [1, 0.2, 0.1], spin: [1, 2, 0]}}\n"
        "walls:\n  - {plane: {at: {point: [1, 0, 0]}, normal: [-1, 0, 0]}}\n",
        2, 0.02 / (1 << i), 3, (const char *const[]){"pose", "energy", "total_momentum", NULL});
    assert_true(s->events >= 1);
    check_near(s->last.speed_after, -s->last.speed_before, 1e-12);
    for (int c = 4; c < 6; c++) check_near(last_of(s, 2)[c], row_of(s, 2, 0)[c], 1e-13);
    check_at_most(last_of(s, 2)[3], 0);
    change[i] = fabs(*last_of(s, 1) - *row_of(s, 1, 0));
    simulation_free(s);
  }
  print_message("wall: energy changes %.1e %.1e\n", change[0], change[1]);
  check_at_most(change[1], 0.5 * change[0] + 1e-13); /* only the free motion has an error, of order 2 */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_immersed_ellipsoids_on_a_spring),
                                     cmocka_unit_test(two_immersed_ellipsoids_on_a_rod),
                                     cmocka_unit_test(body_with_a_net_of_springs),
                                     cmocka_unit_test(bodies_that_act_on_each_other_in_curved_space),
                                     cmocka_unit_test(ball_in_water_on_a_rod),
                                     cmocka_unit_test(momentum_and_rod_are_kept_to_round_off_over_1e5_steps),
                                     cmocka_unit_test(sphere_settles_in_stokes_drag),
                                     cmocka_unit_test(particle_bobs_in_a_stratified_fluid),
                                     cmocka_unit_test(tracers_circle_in_a_vortex),
                                     cmocka_unit_test(run_stops_when_a_ball_surfaces),
                                     cmocka_unit_test(balls_and_a_particle_bounce_between_walls),
                                     cmocka_unit_test(ellipsoid_bounces_off_a_wall_with_its_vertices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
