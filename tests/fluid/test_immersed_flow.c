/* Tests of bodies in moving fluids and in media of varying density: moving frames, straining flows, the order of the
 * integrators, and energy. A run with a new workspace continues bit for bit. */
#include "immersed.h"

/* --- uniform flow --- */

static void a_plate_carried_by_a_flow_feels_nothing(void **unused) {
  const double wind[3] = {0.3, 0.2, 1};
  for (int paper = 0; paper < 2; paper++) {
    tank k = tank_of(mesh_plate(4, 1, 0.8, false), 500, 0.01);
    tank_water(&k, 1.2);
    tank_flow(&k, wind[0], wind[1], wind[2]);
    k.fluid.paper = paper;
    k.options.c_n = 0.2;
    k.options.c_t = 0.1;
    tank_fill(&k);
    cb_pose g = generic_pose;
    double r[3][3], Y[6] = {0}, K[6][6], mu0[6], I_f[6][6], F[6], torque[6], fluid[6] = {0};
    cb_pose_rotation(&g, r);
    cb_apply3_transposed(r, wind, Y + 3);
    cb_mass mass;
    cb_local_part part;
    check_ok(cb_immersed_mass(k.body, 0, &mass, &part));
    check_ok(k.problem->inertia(k.problem->self, 0, &g, K, mu0));
    for (int i = 0; i < 36; i++) I_f[i / 6][i % 6] = K[i / 6][i % 6] - mass.inertia[i / 6][i % 6];
    for (int i = 0; i < 36; i++) fluid[i / 6] += I_f[i / 6][i % 6] * Y[i % 6];
    cb_rigid_state s;
    check_ok(cb_rigid_start(k.problem, 0, &g, Y, &s));
    const double h = 1e-6;
    check_ok(cb_rigid_step_pontryagin(k.problem, CB_SE3_CAYLEY, h, &s, NULL));
    wrenches_of(&k, 0, &g, Y, F, NULL);
    if (!paper) {
      for (int i = 0; i < 6; i++) check_near(F[i], 0, 1e-14);
      for (int i = 1; i < 1000; i++) check_ok(cb_rigid_step_pontryagin(k.problem, CB_SE3_CAYLEY, 0.01, &s, NULL));
      for (int i = 0; i < 3; i++) {
        check_near(s.g.x[i], g.x[i] + s.t * wind[i], 1e-12);
        check_near(s.Y[i], 0, 1e-14);
      }
    } else { /* the angular momentum changes by (M_f v) × v without any force, where M_f is the added mass */
      for (int i = 0; i < 6; i++) check_near(F[i], 0, 1e-14);
      cb_cross3(fluid + 3, Y + 3, torque);
      assert_true(cb_dot3(torque, torque) > 1e-4);
      double J[3][3], change[3];
      for (int i = 0; i < 9; i++) J[i / 3][i % 3] = K[i / 3][i % 3];
      cb_apply3((const double(*)[3])J, s.Y, change); /* the angular momentum after half a step */
      for (int i = 0; i < 3; i++) check_near(change[i] / (h / 2), torque[i], 1e-4);
    }
    tank_empty(&k);
  }
  const double p[6] = {0, 0, 0, .65 * .3, .65 * .2, 2.3}, v[6] = {0, 0, 0, .3, .2, 1};
  double change[6];
  cb_se3_ad_star(v, p, change);
  check_near(change[0], -.33, 1e-15);
  check_near(change[1], .495, 1e-15);
  check_near(change[2], 0, 1e-15);
}

/* Makes an asymmetric body that deforms, under gravity, buoyancy and drag. */
static tank flapper(uint64_t *seed) {
  mesh m = mesh_ellipsoid(3, 0.5, 0.3, 0.2);
  mesh_shake(&m, seed, 0.02);
  tank k = tank_of(m, 0.9, 0);
  tank_moves(&k, "X*(1 + 0.1*sin(t))", "Y + 0.1*sin(3*X - 2*t)", "Z + 0.2*cos(X + t)*Y");
  k.fluid.gravity[0] = 0.1;
  k.fluid.gravity[2] = -1;
  k.options.c_n = 0.3;
  k.options.c_t = 0.1;
  return k;
}

static void a_uniform_flow_is_a_frame_that_moves(void **unused) {
  uint64_t seed = check_seed(), again = seed;
  const double wind[3] = {0.7, -0.4, 0.5}, time = 1.5;
  tank still = flapper(&seed), moved = flapper(&again);
  tank_water(&still, 1);
  tank_water(&moved, 1);
  tank_flow(&moved, wind[0], wind[1], wind[2]);
  tank_fill(&still);
  tank_fill(&moved);
  /* U is the velocity of the flow as a twist in the body frame, and I_b the inertia of the body without the fluid. In
   * the flow the body has the twist Y + U, and the momentum mu + I_b U. */
  cb_pose g = generic_pose;
  double Y[6], mu[2][6], F[2][6], U[6] = {0}, r[3][3], more[6] = {0}, rate[2][6], expected[6], turn[6];
  memcpy(Y, generic_twist, sizeof Y);
  cb_pose_rotation(&g, r);
  cb_apply3_transposed(r, wind, U + 3);
  for (int i = 0; i < 6; i++) Y[i] += U[i];
  cb_mass mass;
  check_ok(cb_immersed_mass(moved.body, 0.6, &mass, NULL));
  for (int i = 0; i < 36; i++) more[i / 6] += mass.inertia[i / 6][i % 6] * U[i % 6];
  momentum_of(&still, 0.6, &g, generic_twist, mu[0]);
  momentum_of(&moved, 0.6, &g, Y, mu[1]);
  wrenches_of(&still, 0.6, &g, generic_twist, F[0], NULL);
  wrenches_of(&moved, 0.6, &g, Y, F[1], NULL);
  for (int i = 0; i < 6; i++) check_near(mu[1][i], mu[0][i] + more[i], 1e-15);
  /* dmu/dt = ad*_Y mu + F. For the additional momentum I_b U the rate is ad*_Y (I_b U) + ad*_U mu_b in the rotating
   * axes, where mu_b is the momentum of the body without the fluid. */
  cb_se3_ad_star(generic_twist, mu[0], rate[0]);
  cb_se3_ad_star(Y, mu[1], rate[1]);
  cb_se3_ad_star(Y, more, expected);
  double mu_b[6];
  tank dry = still; /* the same body without a medium, for the momentum of its own mass */
  dry.fluid.medium = NULL;
  tank_fill(&dry);
  momentum_of(&dry, 0.6, &g, generic_twist, mu_b);
  cb_immersed_workspace_free(dry.workspace);
  cb_immersed_free(dry.body);
  cb_se3_ad_star(U, mu_b, turn);
  for (int i = 0; i < 6; i++) check_near(rate[1][i] + F[1][i], rate[0][i] + F[0][i] + expected[i] + turn[i], 1e-14);
  /* The runs agree only to the order of the integrator, because a step in a moving frame is not exactly a moved
   * step. */
  double start[6], error[3];
  cb_pose at = generic_pose;
  cb_pose_rotation(&at, r);
  memcpy(start, generic_twist, sizeof start);
  cb_apply3_transposed(r, wind, U + 3);
  for (int i = 0; i < 6; i++) start[i] += U[i];
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    for (int i = 0; i < 3; i++) {
      const int steps = (method == RKMK4 ? 100 : 200) << i;
      const cb_rigid_state a = run_by(still.problem, method, &at, generic_twist, time, steps),
                           b = run_by(moved.problem, method, &at, start, time, steps);
      double turned = 0;
      error[i] = 0;
      for (int k = 0; k < 4; k++) turned += a.g.q[k] * b.g.q[k];
      for (int k = 0; k < 4; k++) error[i] = fmax(error[i], fabs(b.g.q[k] - copysign(1, turned) * a.g.q[k]));
      for (int k = 0; k < 3; k++) error[i] = fmax(error[i], fabs(b.g.x[k] - a.g.x[k] - time * wind[k]));
    }
    print_message("  method %d: %.1e %.1e %.1e\n", method, error[0], error[1], error[2]);
    check_near(fitted_order(error, 3), method == RKMK4 ? 4 : 2, 0.3);
    check_at_most(error[2], method == RKMK4 ? 1e-9 : 1e-4);
  }
  tank_empty(&still);
  tank_empty(&moved);
}

/* The run of a ball without spin in a wind agrees, to round-off, with its run in a fluid at rest. */
static void a_ball_in_a_flow_flies_as_in_the_frame_of_the_flow(void **unused) {
  const double wind[3] = {0.7, -0.4, 0.5};
  tank k[2];
  for (int i = 0; i < 2; i++) {
    k[i] = tank_of(mesh_ball(4, 0.3), 1.4, 0);
    tank_water(&k[i], 1);
    if (i) tank_flow(&k[i], wind[0], wind[1], wind[2]);
    k[i].fluid.gravity[2] = -1;
    k[i].options.c_n = 0.2;
    tank_fill(&k[i]);
  }
  const double Y[2][6] = {{0, 0, 0, 1.1, 0.3, 2}, {0, 0, 0, 1.8, -0.1, 2.5}};
  for (int map = 0; map < 3; map++) {
    cb_rigid_state s[2];
    for (int i = 0; i < 2; i++) check_ok(cb_rigid_start(k[i].problem, 0, &at_origin, Y[i], &s[i]));
    for (int n = 0; n < 1000; n++)
      for (int i = 0; i < 2; i++) check_ok(cb_rigid_step_pontryagin(k[i].problem, (cb_se3_map)map, 0.003, &s[i], NULL));
    for (int i = 0; i < 3; i++) check_near(s[1].g.x[i] - s[0].g.x[i], s[0].t * wind[i], 1e-12);
  }
  tank_empty(&k[0]);
  tank_empty(&k[1]);
}

/* In a frame that accelerates with a, a fluid with the velocity a t is at rest, and there is the gravity -a. */
static void a_gust_is_a_frame_that_accelerates(void **unused) {
  uint64_t seed = check_seed(), again = seed;
  const double time = 1.5, a[3] = {0.7, -0.4, 0.5};
  static const char *const gust[3] = {"0.7*t", "-0.4*t", "0.5*t"};
  tank still = flapper(&seed), moved = flapper(&again);
  cb_flow *flow;
  check_ok(cb_flow_expressions(gust, 0, NULL, NULL, NULL, NULL, &flow));
  moved.fluid.flow = flow;
  tank_water(&still, 1);
  tank_water(&moved, 1);
  for (int i = 0; i < 3; i++) {
    still.fluid.gravity[i] = -a[i];
    moved.fluid.gravity[i] = 0;
  }
  tank_fill(&still);
  tank_fill(&moved);
  const cb_rigid_state p = run_by(still.problem, RKMK4, &generic_pose, generic_twist, time, 600),
                       q = run_by(moved.problem, RKMK4, &generic_pose, generic_twist, time, 600);
  for (int i = 0; i < 4; i++) check_near(q.g.q[i], p.g.q[i], 1e-10);
  for (int i = 0; i < 3; i++) check_near(q.g.x[i], p.g.x[i] + a[i] * time * time / 2, 1e-10);
  tank_empty(&still);
  tank_empty(&moved);
}

/* --- a small sphere --- */

/* Auton's equation of a small sphere with the velocity v in the flow u is (m + C m_f) v' = (1 + C) m_f Du/Dt, where m
 * is the mass of the sphere, m_f the displaced mass and C m_f the added mass. For u = S x along an axis, Du/Dt = S^2 x,
 * so x = x0 cosh(k t) + v0/k sinh(k t) with k = |S| ((1 + C) m_f/(m + C m_f))^(1/2). */
static void a_small_sphere_follows_autons_equation(void **unused) {
  const double S[3] = {0.8, -0.3, -0.5}, density = 2.5, time = 2, start[3] = {0.3, 1.2, -0.7}, v[3] = {0.1, -0.3, 0.2};
  double gradient[3][3] = {{0}};
  for (int i = 0; i < 3; i++) gradient[i][i] = S[i];
  tank k = tank_of(mesh_ball(8, 0.01), density, 0);
  tank_water(&k, 1);
  cb_flow *flow;
  check_ok(cb_flow_shear((double[3]){0}, (const double(*)[3])gradient, &flow));
  k.fluid.flow = flow;
  k.options.drag = false;
  tank_fill(&k);
  cb_mass mass;
  double K[6][6], mu0[6], error[3];
  check_ok(cb_immersed_mass(k.body, 0, &mass, NULL));
  check_ok(k.problem->inertia(k.problem->self, 0, &at_origin, K, mu0));
  const double m_f = mass.volume, C = (K[3][3] - mass.mass) / m_f;
  check_near(C, 0.5, 0.015);
  const cb_pose g = {{1, 0, 0, 0}, {start[0], start[1], start[2]}};
  double Y[6] = {0};
  memcpy(Y + 3, v, sizeof v);
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    for (int i = 0; i < 3; i++) {
      const cb_rigid_state s = run_by(k.problem, method, &g, Y, time, (method == RKMK4 ? 300 : 50) << i);
      error[i] = 0;
      for (int j = 0; j < 3; j++) {
        const double rate = fabs(S[j]) * sqrt((1 + C) * m_f / (mass.mass + C * m_f));
        const double x = start[j] * cosh(rate * time) + v[j] / rate * sinh(rate * time);
        error[i] = fmax(error[i], fabs(s.g.x[j] - x));
      }
    }
    check_near(fitted_order(error, 3), method == RKMK4 ? 4 : 2, 0.3);
    check_at_most(error[2], method == RKMK4 ? 1e-9 : 1e-4);
  }
  tank_empty(&k);
}

/* --- flows and media of each class --- */

typedef enum flow_kind { STREAM, SHEAR, VORTEX, WAVES } flow_kind;
typedef enum medium_kind { ONE_DENSITY, TWO_LAYERS, STEEP_LAYER } medium_kind;
typedef struct surroundings {
  flow_kind flow;
  medium_kind medium;
} surroundings;

static cb_flow *flow_of(flow_kind kind) {
  const double shear[3][3] = {{0.2, 1.1, -0.4}, {0.3, -0.5, 0.8}, {-0.6, 0.1, 0.3}};
  static const char *const waves[3] = {"0.5*sin(y + 2*t)", "0.5*cos(x - t)*z", "0.3*exp(-x*x)"};
  cb_flow *flow = NULL;
  switch (kind) {
    case STREAM: check_ok(cb_flow_uniform((double[3]){.3, .2, .1}, &flow)); break;
    case SHEAR: check_ok(cb_flow_shear((double[3]){.3, -.2, .5}, shear, &flow)); break;
    case VORTEX: check_ok(cb_flow_vortex((double[3]){.4, -.6, .2}, (double[3]){0, 0, 1}, 2.5, .5, &flow)); break;
    case WAVES: check_ok(cb_flow_expressions(waves, 0, NULL, NULL, NULL, NULL, &flow)); break;
  }
  return flow;
}

static cb_medium *medium_of(medium_kind kind) {
  const double up[3] = {0, 0, 1};
  cb_medium *medium = NULL;
  switch (kind) {
    case ONE_DENSITY: check_ok(cb_medium_uniform(1, &medium)); break;
    case TWO_LAYERS: check_ok(cb_medium_layers(1, (double[1]){0}, (double[2]){1, 0.5}, up, &medium)); break;
    case STEEP_LAYER: check_ok(cb_medium_expression("1 + 0.5*tanh(-2*z)", 0, NULL, NULL, up, NULL, &medium)); break;
  }
  return medium;
}

static void tank_surround(tank *k, surroundings around) {
  k->fluid.flow = flow_of(around.flow);
  k->fluid.medium = medium_of(around.medium);
}

/* --- order --- */

static void second_order_in_flows_that_vary(void **unused) {
  uint64_t seed = check_seed();
  const surroundings around[3] = {{SHEAR, ONE_DENSITY}, {VORTEX, STEEP_LAYER}, {WAVES, STEEP_LAYER}};
  for (int kind = 0; kind < 3; kind++) {
    tank k = flapper(&seed);
    tank_surround(&k, around[kind]);
    tank_fill(&k);
    const cb_rigid_state exact = run_by(k.problem, RKMK4, &generic_pose, generic_twist, 1, 800);
    check_near(order_of(k.problem, CB_SE3_CAYLEY, &exact, generic_twist, 1, 40, 4), 2, 0.1);
    check_near(order_of(k.problem, CB_SE3_EXPONENTIAL, &exact, generic_twist, 1, 40, 4), 2, 0.1);
    tank_empty(&k);
  }
}

/* --- energy --- */

/* Returns the change of the kinetic plus potential energy, minus the work of the drag, which is computed by the
 * trapezoidal rule. *lost is minus this work. */
static double balance(const tank *k, const cb_pose *g, const double Y[6], double time, int steps, double *lost) {
  double wrench[8][6], first = 0, last = 0, work = 0, before = 0;
  const int drag = wrench_named(k, "drag");
  cb_rigid_state s;
  check_ok(cb_rigid_start(k->problem, 0, g, Y, &s));
  for (int n = 0; n <= steps; n++) {
    const cb_immersed_row row = row_of(k, &s, wrench);
    double power = 0;
    for (int i = 0; i < 6; i++) power += wrench[drag][i] * row.twist[i];
    last = row.kinetic + row.potential;
    if (n == 0) first = last;
    if (n > 0) work += (before + power) / 2 * time / steps;
    before = power;
    if (n < steps) check_ok(cb_rigid_step_pontryagin(k->problem, CB_SE3_CAYLEY, time / steps, &s, NULL));
  }
  assert_true(s.g.x[2] < -0.4); /* the body is in the water */
  *lost = -work;
  return last - first - work;
}

static void energy_closes_from_air_into_water(void **unused) {
  const double up[3] = {0, 0, 1}, level[1] = {0}, density[2] = {998, 1.2}, Y[6] = {1, 2, -1, 0.5, 0, -3};
  for (int kind = 0; kind < 2; kind++) {
    tank k = tank_of(mesh_ellipsoid(4, 0.3, 0.2, 0.1), 1297.4, 0);
    cb_medium *medium;
    if (kind == 0)
      check_ok(cb_medium_layers(1, level, density, up, &medium));
    else
      check_ok(cb_medium_expression("499.6 - 498.4*tanh(z/0.2)", 0, NULL, NULL, up, NULL, &medium));
    k.fluid.medium = medium;
    k.fluid.gravity[2] = -9.81;
    tank_fill(&k);
    const cb_pose g = {{cos(0.3), 0, sin(0.3), 0}, {0, 0, 0.5}};
    double error[4], lost;
    for (int i = 0; i < 4; i++) error[i] = fabs(balance(&k, &g, Y, 0.5, 100 << i, &lost));
    print_message("  open by %.1e %.1e %.1e %.1e J, drag took %.0f J, order %.2f\n", error[0], error[1], error[2],
                  error[3], lost, fitted_order(error, 4));
    assert_true(lost > 50);
    check_at_most(error[3], 1e-4 * lost);
    check_at_least(fitted_order(error, 4), kind ? 1.9 : 1);
    tank_empty(&k);
  }
}

/* --- restart --- */

static void a_workspace_made_anew_goes_on_with_the_same_bits(void **unused) {
  uint64_t seed = check_seed();
  const surroundings around[3] = {{STREAM, ONE_DENSITY}, {STREAM, TWO_LAYERS}, {VORTEX, TWO_LAYERS}};
  for (int kind = 0; kind < 3; kind++) {
    tank k = flapper(&seed);
    tank_surround(&k, around[kind]);
    tank_fill(&k);
    for (int method = 0; method <= RKMK4; method += RKMK4) {
      cb_rigid_state a, b;
      double wrench[2][8][6];
      check_ok(cb_rigid_start(k.problem, 0, &generic_pose, generic_twist, &a));
      for (int n = 0; n < 10; n++) step_by(k.problem, method, 0.01, &a);
      b = a;
      for (int n = 0; n < 10; n++) {
        cb_immersed_workspace *anew;
        check_ok(cb_immersed_workspace_create(k.body, &anew));
        step_by(cb_immersed_workspace_problem(anew), method, 0.01, &b);
        cb_immersed_workspace_free(anew);
        step_by(k.problem, method, 0.01, &a);
        memset(wrench, 0, sizeof wrench);
        row_of(&k, &a, wrench[0]); /* a row does not change the state or the workspace */
      }
      assert_memory_equal(&a, &b, sizeof a);
    }
    tank_empty(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plate_carried_by_a_flow_feels_nothing),
      cmocka_unit_test(a_uniform_flow_is_a_frame_that_moves),
      cmocka_unit_test(a_ball_in_a_flow_flies_as_in_the_frame_of_the_flow),
      cmocka_unit_test(a_gust_is_a_frame_that_accelerates),
      cmocka_unit_test(a_small_sphere_follows_autons_equation),
      cmocka_unit_test(second_order_in_flows_that_vary),
      cmocka_unit_test(energy_closes_from_air_into_water),
      cmocka_unit_test(a_workspace_made_anew_goes_on_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
