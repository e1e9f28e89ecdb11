/* Tests of runs whose wrenches depend on the state of their body and of other bodies, compared with closed forms: a
 * heading that is held by a controller, a thruster that points along the axis of the body, flight in formation, and
 * forces between bodies. */
#include "count_allocations.h"
#include "core/threads.h"
#include "memory_sink.h"
#include "run/exponent.h"
#include "run/fluid_private.h"

/* Opens a scenario without fluid and gravity. */
static cb_scenario *make(const char *bodies, const char *integrator, double end) {
  char text[8192];
  cb_scenario *s = NULL;
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\nbodies:\n%sintegrator: {%s}\ntime: {end: %.17g}\n"
           "record: {checkpoint: 20}\n",
           bodies, integrator, end);
  check_ok(cb_scenario_open_text("controls", text, NULL, 0, &s));
  return s;
}

static void go(cb_scenario *s, memory_sink *m) {
  cb_sink sink = memory_open(m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
}

/* Runs the scenario, copies the states of its first n bodies at the end, and frees it. */
static void end_of(cb_scenario *s, int n, cb_rigid_state *out) {
  memory_sink m;
  go(s, &m);
  for (int i = 0; i < n; i++) out[i] = *cb_run_body(cb_scenario_run(s), i);
  memory_free(&m);
  cb_scenario_free(s);
}

/* Returns the solution at t of e'' + 2 d e' + w^2 e = 0 with e(0) = e0 and e'(0) = v0. */
static double damped(double d, double w, double e0, double v0, double t) {
  const double s = sqrt(w * w - d * d);
  return exp(-d * t) * (e0 * cos(s * t) + (v0 + d * e0) / s * sin(s * t));
}

/* A controller with the torque -3 angle - 1.2 spin turns a body with the moment of inertia 2 kg m^2 to the heading
 * 0. */
static void a_heading_is_held(void **unused) {
  const char *const body =
      "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 1, 2]},\n"
      "     place: {rotation: {axis: [0, 0, 1], angle: 2.5}}, motion: {spin: [0, 0, 0.4]},\n"
      "     wrenches: [{name: rudder, frame: world,\n"
      "                 torque: [0, 0, '-3*atan2(axis_x_y, axis_x_x) - 1.2*spin_z']}]}\n";
  const double angle = damped(0.3, sqrt(1.5), 2.5, 0.4, 3);
  const char *const integrators[] = {"name: rkmk4, step: 0.01", "step: 0.02", "step: 0.01"};
  double error[3];
  for (int i = 0; i < 3; i++) {
    cb_rigid_state s;
    end_of(make(body, integrators[i], 3), 1, &s);
    error[i] = fabs(2 * atan2(s.g.q[3], s.g.q[0]) - angle);
    for (int k = 0; k < 3; k++) check_near(s.g.x[k], 0, 1e-15);
  }
  check_at_most(error[0], 2e-9);
  check_at_most(error[2], 2e-4);
  check_near(error[1] / error[2], 4, 0.1);
}

/* Kirchhoff's equations in the plane for the velocity (u, v) and the spin r in the axes of the body:
 *
 *   m1 u' = m2 v r + X,   m2 v' = -m1 u r + Y,   J r' = (m1 - m2) u v + N
 *
 * m1, m2 and J are the masses and the moment of inertia with the added masses, from the tensor K. The force (X, Y) and
 * the torque N are the thrust, the drag and the rudder of the test below. s: x, y, the heading, u, v, r.
 */
static void swim(const double K[6][6], const double s[6], double rate[6]) {
  const double m1 = K[3][3], m2 = K[4][4], u = s[3], v = s[4], r = s[5];
  rate[0] = cos(s[2]) * u - sin(s[2]) * v;
  rate[1] = sin(s[2]) * u + cos(s[2]) * v;
  rate[2] = r;
  rate[3] = (m2 * v * r + 20 - 15 * u) / m1;
  rate[4] = (-m1 * u * r - 60 * v) / m2;
  rate[5] = ((m1 - m2) * u * v - 40 * sin(s[2] - 0.5) - 12 * r) / K[2][2];
}

static void swim_by(const double K[6][6], int steps, double h, double s[6]) {
  static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  for (int n = 0; n < steps; n++) {
    double rate[6] = {0}, sum[6] = {0}, at[6];
    for (int stage = 0; stage < 4; stage++) {
      for (int i = 0; i < 6; i++) at[i] = s[i] + node[stage] * h * rate[i];
      swim(K, at, rate);
      for (int i = 0; i < 6; i++) sum[i] += weight[stage] * rate[i];
    }
    for (int i = 0; i < 6; i++) s[i] += h * sum[i];
  }
}

/* An ellipsoid in water is held at the heading 0.5. Without the rudder the fluid would turn it across its direction of
 * motion. */
static void a_heading_is_held_in_water(void **unused) {
  static const char *const integrators[] = {"name: rkmk4, step: 0.005", "step: 0.02", "step: 0.01"};
  double error[3], s[6];
  for (int i = 0; i < 3; i++) {
    char text[2048];
    cb_scenario *scenario = NULL;
    snprintf(
        text, sizeof text,
        "curvebody: 1\nfluid: {medium: water, gravity: [0, 0, 0]}\nbodies:\n"
        "  - {name: a, shape: {name: ellipsoid, a: 0.3, b: 0.1, c: 0.1, resolution: 16}, density: 998, drag: false,\n"
        "     wrenches: [{name: thrust, force: ['20 - 15*vx', '-60*vy', 0]},\n"
        "                {name: rudder, torque: [0, 0, '-40*(axis_x_y*cos(.5) - axis_x_x*sin(.5)) - 12*wz']}]}\n"
        "integrator: {%s}\ntime: {end: 3}\n",
        integrators[i]);
    check_ok(cb_scenario_open_text("water", text, NULL, 0, &scenario));
    const cb_fluid_run *b = cb_fluid_run_of(cb_scenario_run(scenario));
    const cb_rigid_problem *p = cb_immersed_workspace_problem(b->part[0].workspace[0]);
    double K[6][6], mu0[6];
    check_ok(p->inertia(p->self, 0, &b->state[0].g, K, mu0));
    check_at_least(K[4][4] / K[3][3], 1.3);
    memset(s, 0, sizeof s);
    swim_by((const double(*)[6])K, 30000, 1e-4, s);
    cb_rigid_state state;
    end_of(scenario, 1, &state);
    error[i] = hypot(state.g.x[0] - s[0], state.g.x[1] - s[1]) + fabs(2 * atan2(state.g.q[3], state.g.q[0]) - s[2]);
  }
  check_near(s[2], 0.5, 0.01);
  check_at_most(error[0], 1e-8);
  check_at_most(error[2], 1e-4);
  check_near(error[1] / error[2], 4, 0.1);
}

/* A thrust f along the axis of a body of mass m that turns at the rate w gives the velocity
 * f/(m w) (sin w t, 1 - cos w t). */
static void a_thruster_points_along_the_axis(void **unused) {
  const char *const body =
      "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 2, inertia: [1, 1, 2]},\n"
      "     motion: {spin: [0, 0, 0.8]},\n"
      "     wrenches: [{name: thrust, frame: world, force: ['0.6*axis_x_x', '0.6*axis_x_y', '0.6*axis_x_z']}]}\n";
  const double w = 0.8, a = 0.3 / w / w, t = 4;
  cb_rigid_state s[2];
  end_of(make(body, "name: rkmk4, step: 0.01", t), 1, s);
  check_near(s->g.x[0], a * (1 - cos(w * t)), 1e-9);
  check_near(s->g.x[1], a * (w * t - sin(w * t)), 1e-9);
  double error[2];
  for (int i = 0; i < 2; i++) {
    end_of(make(body, i ? "step: 0.01" : "step: 0.02", t), 1, s);
    error[i] = hypot(s->g.x[0] - a * (1 - cos(w * t)), s->g.x[1] - a * (w * t - sin(w * t)));
  }
  check_at_most(error[1], 1e-4);
  check_near(error[0] / error[1], 4, 0.1);
}

static const char leader[] =
    "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 1, 1]},\n"
    "     motion: {velocity: [0.5, -0.2, 0]}}\n";
static const char follower[] =
    "  - {name: b, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 2, inertia: [1, 1, 1]},\n"
    "     place: {position: [-3, 1, 0]},\n"
    "     wrenches: [{name: follow, frame: world,\n"
    "                 force: ['2*(a.x - 1.5*a.axis_x_x - x) + 1.2*(a.velocity_x - velocity_x)',\n"
    "                         '2*(a.y - 1.5*a.axis_x_y - y) + 1.2*(a.velocity_y - velocity_y)', 0]}]}\n";

/* Body b moves to the point 1.5 m behind body a, which moves uniformly. The distance of b from this point is a damped
 * oscillation. */
static void a_formation_is_held(void **unused) {
  const char *const names[] = {"name: hamilton_pontryagin", "name: hamilton_pontryagin, map: exponential",
                               "name: rkmk4"};
  const double t = 3,
               expected[2] = {0.5 * t - 1.5 + damped(0.3, 1, -1.5, -0.5, t), -0.2 * t + damped(0.3, 1, 1, 0.2, t)};
  for (int n = 0; n < 3; n++)
    for (int order = 0; order < 2; order++) { /* the order of the bodies in the scenario */
      double error[2] = {0};
      for (int i = 0; i < 2; i++) {
        char bodies[2048], integrator[128];
        cb_rigid_state s[2];
        snprintf(bodies, sizeof bodies, "%s%s", order ? follower : leader, order ? leader : follower);
        snprintf(integrator, sizeof integrator, "%s, step: %g", names[n], i ? 0.01 : 0.02);
        end_of(make(bodies, integrator, t), 2, s);
        for (int k = 0; k < 2; k++) error[i] += fabs(s[!order].g.x[k] - expected[k]);
      }
      check_at_most(error[1], 1e-4);
      check_near(error[0] / error[1], 4, 0.1);
    }
}

static const char spring[] =
    "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 1, 1]},\n"
    "     place: {position: [1, 0, 0]}, wrenches: [{name: pull, frame: world, force: ['3*(b.x - x)', 0, 0]}]}\n"
    "  - {name: b, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 2, inertia: [1, 1, 1]},\n"
    "     place: {position: [-1, 0, 0]}, wrenches: [{name: pull, frame: world, force: ['3*(a.x - x)', 0, 0]}]}\n";

/* The force expressions of the two bodies give opposite forces. Without rotation the step is the midpoint rule. With
 * the step h and the frequency w it changes the phase of an oscillation by the angle 2 atan(h w/2), and it conserves
 * energy and momentum. */
static void a_force_between_bodies_is_the_midpoint_rule(void **unused) {
  const double h = 0.05, w = sqrt(4.5), angle = 2 * atan(h * w / 2);
  const int steps = 200;
  cb_rigid_state s[2];
  end_of(make(spring, "step: 0.05", h * steps), 2, s);
  const double distance = 2 * cos(steps * angle), centre = -1. / 3;
  check_near(s[0].g.x[0], centre + distance * 2 / 3, 1e-12);
  check_near(s[1].g.x[0], centre - distance / 3, 1e-12);
  check_near(s[0].world[3] + s[1].world[3], 0, 1e-13);
}

/* The bodies of a pair rotate. Opposite forces that act at points of the bodies and depend on several quantities
 * conserve the total momentum. */
static void opposite_forces_conserve_the_momentum(void **unused) {
  const char *const pair =
      "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 2, 2.5]},\n"
      "     place: {position: [1, 0, 0]}, motion: {spin: [1, 2, -1]},\n"
      "     wrenches: [{name: pull, frame: world, at: [0.1, 0.2, 0], force: ['3*(b.x - x)', 'b.axis_x_y - axis_x_y',\n"
      "                 '0.5*(b.velocity_z - velocity_z)'], torque: [0, 0, '0.2*(b.spin_z - spin_z)']}]}\n"
      "  - {name: b, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 2, inertia: [1, 1.5, 2]},\n"
      "     place: {position: [-1, 0, 1]}, motion: {spin: [0, -1, 0.5], velocity: [0, 0.3, 0.1]},\n"
      "     wrenches: [{name: pull, frame: world, at: [0, 0, 0.3], force: ['3*(a.x - x)', 'a.axis_x_y - axis_x_y',\n"
      "                 '0.5*(a.velocity_z - velocity_z)'], torque: [0, 0, '0.2*(a.spin_z - spin_z)']}]}\n";
  cb_rigid_state s[2];
  end_of(make(pair, "step: 0.02", 20), 2, s);
  const double expected[3] = {0, 0.6, 0.2};
  for (int i = 0; i < 3; i++) check_near(s[0].world[3 + i] + s[1].world[3 + i], expected[i], 1e-12);
}

/* The step is symmetric: steps backwards in time return to the start. */
static void steps_can_be_reversed(void **unused) {
  cb_scenario *s = make(spring, "step: 0.05", 5);
  cb_run *run = cb_scenario_run(s);
  cb_sink quiet = {0};
  for (int i = 0; i < 50; i++) check_ok(run->motion->step(run, &quiet, 0.05));
  check_at_least(fabs(cb_run_body(run, 0)->g.x[0] - 1), 0.1);
  for (int i = 0; i < 50; i++) check_ok(run->motion->step(run, &quiet, -0.05));
  check_near(cb_run_body(run, 0)->g.x[0], 1, 1e-13);
  check_near(cb_run_body(run, 1)->g.x[0], -1, 1e-13);
  check_near(cb_run_body(run, 0)->world[3], 0, 1e-13);
  cb_scenario_free(s);
}

/* Copies of a body follow the leader as single bodies do. Another body can refer to a copy by its number. */
static void copies_follow(void **unused) {
  const char *const swarm =
      "  - {name: b, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 2, inertia: [1, 1, 1]},\n"
      "     repeat: {count: 3}, place: {position: ['-3 - i', 1, 0]},\n"
      "     wrenches: [{name: follow, frame: world, force: ['2*(a.x - x)', '2*(a.y - y)', 0]}]}\n"
      "  - {name: c, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 1, 1]},\n"
      "     place: {position: [-5, 1, 0]}, wrenches: [{name: follow, frame: world, force: ['b.2.x - x', 0, 0]}]}\n";
  char bodies[4096];
  snprintf(bodies, sizeof bodies, "%s%s", leader, swarm);
  cb_rigid_state s[5];
  end_of(make(bodies, "step: 0.01", 1), 5, s);
  for (int i = 0; i < 3; i++) /* m x'' = -k (x - a): copy i oscillates around the leader, whose position is a */
    check_near(s[1 + i].g.x[0], 0.5 + (-3 - i) * cos(1) - 0.5 * sin(1), 1e-4);
  /* The position x of body c satisfies x'' + x = b, x(0) = -5 and x'(0) = 0, where b = t/2 - 5 cos t - sin(t)/2 is the
   * position of copy 2. */
  check_near(s[4].g.x[0], -5 * cos(1) + 0.5 - 2.5 * sin(1) + 0.25 * cos(1) - 0.75 * sin(1), 1e-4);
}

/* The recorded wrench is the one at the time of the row, and a restart repeats the record bit for bit. */
static void rows_and_restarts_are_right(void **unused) {
  char bodies[2048];
  memory_sink m;
  snprintf(bodies, sizeof bodies, "%s%s", leader, follower);
  cb_scenario *s = make(bodies, "step: 0.05", 3);
  go(s, &m);
  for (size_t row = 0; row < m.n_rows; row += 7) {
    const double axis[2] = {1, 0}; /* no body rotates */
    double x[2], v[2];
    for (size_t i = 0; i < 2; i++) {
      x[i] = memory_value(&m, row, "pose", i) - 1.5 * axis[i] - memory_value(&m, row, "pose", 7 + i);
      v[i] = memory_value(&m, row, "twist", 3 + i) - memory_value(&m, row, "twist", 9 + i);
      check_near(memory_value(&m, row, "wrench_follow", 9 + i), 2 * x[i] + 1.2 * v[i], 1e-13);
    }
  }
  assert_true(m.n_checkpoints > 2);
  for (size_t c = 0; c + 1 < m.n_checkpoints; c++) check_rest("formation", &m, c, make(bodies, "step: 0.05", 3));
  memory_free(&m);
  cb_scenario_free(s);
}

/* If the step is too long for the stiffness of the forces, the iteration for the values in the middle of the step does
 * not converge. The step is halved; without retries the run ends. */
static void strong_forces_take_shorter_steps(void **unused) {
  const char *const stiff =
      "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 1, 1]},\n"
      "     place: {position: [1, 0, 0]}, wrenches: [{name: pull, frame: world, force: ['900*(b.x - x)', 0, 0]}]}\n"
      "  - {name: b, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 1, 1]},\n"
      "     place: {position: [-1, 0, 0]}, wrenches: [{name: pull, frame: world, force: ['900*(a.x - x)', 0, 0]}]}\n";
  memory_sink m;
  cb_scenario *s = make(stiff, "step: 0.2, retries: 6", 1);
  go(s, &m);
  assert_true(m.n_events > 0);
  for (size_t e = 0; e < m.n_events; e++) assert_int_equal(m.event[e].kind, CB_EVENT_RETRY);
  check_near(cb_run_body(cb_scenario_run(s), 0)->g.x[0], -cb_run_body(cb_scenario_run(s), 1)->g.x[0], 1e-12);
  memory_free(&m);
  cb_scenario_free(s);
  s = make(stiff, "step: 0.2, retries: 0", 1);
  cb_sink sink = memory_open(&m, cb_scenario_run(s));
  assert_int_equal(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL), CB_ERROR_STEP);
  assert_non_null(strstr(cb_error_text(), "did not converge in 40 iterations"));
  assert_non_null(strstr(cb_error_text(), "body `a`"));
  memory_free(&m);
  cb_scenario_free(s);
}

/* Opens a scenario of bodies in two layers of fluid with a vortex and a floor. `force` is an expression of the force on
 * the coins. */
static cb_scenario *on_the_floor(const char *kind, const char *force, int resolution, double end) {
  char text[4096];
  cb_scenario *s = NULL;
  snprintf(text, sizeof text,
           "curvebody: 1\n"
           "fluid: {medium: {layers: [{below: 0, density: 998}, {density: 1.2}]},\n"
           "        flow: {vortex: {circulation: 0.5, core: 0.2}}, floor: {kind: %s, height: -1}}\n"
           "bodies:\n"
           "  - {name: coin, shape: {name: cylinder, radius: 0.05, length: 0.01, resolution: %d}, density: 3000,\n"
           "     place: {position: ['0.3*i', 0.3, -0.9], rotation: {axis: [1, 0, 0], angle: 0.4}},\n"
           "     motion: {spin: [0, 0, 30]}, repeat: {count: 3}, wrenches: [{name: push, force: ['%s', 0, 0]}]}\n"
           "  - {name: fish, shape: {name: fish, resolution: 16}, density: 950,\n"
           "     poses: {y: 'Y + 0.02*sin(9*(X - t))'}, motion: {spin: [1, 2, 3]},\n"
           "     place: {position: [0.1, 0.2, -0.4], rotation: {axis: [1, 2, 3], angle: 1}}}\n"
           "integrator: {step: 0.01}\ntime: {end: %g}\n",
           kind, resolution, force, end);
  check_ok(cb_scenario_open_text("floor", text, NULL, 0, &s));
  return s;
}

/* Force expressions in which the values of other bodies are multiplied by 0 change no bit of a row, and no event or
 * warning. */
static void names_without_effect_change_nothing(void **unused) {
  static const char *const kinds[] = {"stiff", "reflecting"};
  for (int i = 0; i < 2; i++) {
    cb_scenario *with = on_the_floor(kinds[i], "0*(fish.x + coin.1.spin_z)", 8, 0.5),
                *without = on_the_floor(kinds[i], "0", 8, 0.5);
    memory_sink a, b;
    go(with, &a);
    go(without, &b);
    assert_non_null(cb_fluid_run_of(cb_scenario_run(with))->controls);
    assert_null(cb_fluid_run_of(cb_scenario_run(without))->controls);
    assert_int_equal(a.n_rows, b.n_rows);
    assert_int_equal(a.row_bytes, b.row_bytes);
    for (size_t row = 0; row < a.n_rows; row++) assert_memory_equal(a.rows[row], b.rows[row], a.row_bytes);
    assert_int_equal(a.n_events, b.n_events);
    if (i) assert_true(a.n_events > 0);
    for (size_t e = 0; e < a.n_events; e++) assert_true(same_event(&a.event[e], &b.event[e]));
    assert_true(cb_scenario_run(with)->warnings > 0);
    assert_int_equal(cb_scenario_run(with)->warnings, cb_scenario_run(without)->warnings);
    memory_free(&a);
    memory_free(&b);
    cb_scenario_free(with);
    cb_scenario_free(without);
  }
}

static void threads_change_nothing(void **unused) {
  memory_sink m[2];
  cb_scenario *s[2];
  for (int i = 0; i < 2; i++) {
    cb_threads_set(i ? 3 : 1);
    s[i] = on_the_floor("reflecting", "0.1*(fish.x - x) - 0.1*coin.1.velocity_z", 220, 0.05);
    assert_int_equal(cb_fluid_run_of(cb_scenario_run(s[i]))->threads, i ? 3 : 1);
    go(s[i], &m[i]);
  }
  cb_threads_set(0);
  assert_int_equal(m[0].n_rows, 6);
  assert_int_equal(m[1].n_rows, 6);
  for (size_t row = 0; row < m[0].n_rows; row++) assert_memory_equal(m[0].rows[row], m[1].rows[row], m[0].row_bytes);
  for (int i = 0; i < 2; i++) {
    memory_free(&m[i]);
    cb_scenario_free(s[i]);
  }
}

/* Also in curved spaces, expressions of wrenches have the values of the other body in the middle of the step. So half
 * the step divides the error by 4. */
static void the_order_is_2_in_curved_spaces(void **unused) {
  static const char *const spaces[] = {"{name: h3, curvature: -0.5}", "{name: s3, curvature: 0.5}"};
  for (int i = 0; i < 4; i++) {
    double x[3][3];
    for (int k = 0; k < 3; k++) {
      char text[2048];
      cb_scenario *s = NULL;
      snprintf(text, sizeof text,
               "curvebody: 1\nspace: %s\nfluid: {medium: none}\nbodies:\n"
               "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, density: 300,\n"
               "     motion: {velocity: [0.5, -0.2, 0], spin: [0, 1, 2]}}\n"
               "  - {name: b, shape: {name: ball, radius: 0.1, resolution: 8}, density: 300,\n"
               "     place: {position: [-0.6, 0.1, 0]},\n"
               "     wrenches: [{name: follow, frame: world, force: ['2*(a.x - x) + a.axis_x_y',\n"
               "                 'a.y - y + a.velocity_x', 'a.spin_z']}]}\n"
               "integrator: {name: %s, step: %g}\ntime: {end: 1}\n",
               spaces[i % 2], i / 2 ? "rkmk4" : "hamilton_pontryagin", 0.02 / (1 << k));
      check_ok(cb_scenario_open_text("curved", text, NULL, 0, &s));
      cb_rigid_state state[2];
      end_of(s, 2, state);
      memcpy(x[k], state[1].g.x, sizeof x[k]);
    }
    double change[2] = {0};
    for (int k = 0; k < 2; k++)
      for (int c = 0; c < 3; c++) change[k] += fabs(x[k][c] - x[k + 1][c]);
    check_at_least(change[1], 1e-7);
    check_near(change[0] / change[1], 4, 0.1);
  }
}

static void a_name_that_does_not_exist_is_refused(void **unused) {
  static const struct {
    const char *force, *error;
  } wrong[] = {{"2*c.x", "controls:7:40: error: unknown body 'c', expected one of: s.0, a"},
               {"1e-3*a.q", "controls:7:45: error: unknown quantity of a body 'q', "},
               {"s.3.x", "controls:7:38: error: unknown body 's.3'"},
               {"s.x", "controls:7:38: error: unknown body 's', expected one of: s.0, a"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[2048];
    cb_scenario *s = NULL;
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: none}\nbodies:\n"
             "  - {name: s, shape: ball, repeat: {count: 3}}\n"
             "  - name: a\n    shape: ball\n"
             "    wrenches: [{name: push, force: ['%s', 0, 0]}]\n"
             "integrator: {step: 0.1}\ntime: {end: 1}\n",
             wrong[i].force);
    check_case_begins(wrong[i].force, cb_scenario_open_text("controls", text, NULL, 0, &s), CB_ERROR_INPUT,
                      wrong[i].error);
  }
}

/* Two bodies at the distance r repel each other by the force 3 r, so r'' = 4.5 r. By the midpoint rule, r is multiplied
 * by (1 + h w/2)/(1 - h w/2) per step h, with w^2 = 4.5. The bodies start at r = 0, where they stay and rotate. */
static void an_exponent_is_that_of_all_bodies_together(void **unused) {
  static const char repel[] =
      "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 1, inertia: [1, 1, 1]},\n"
      "     motion: {spin: [1, 0, 0]}, wrenches: [{name: push, frame: world, force: ['3*(x - b.x)', 0, 0]}]}\n"
      "  - {name: b, shape: {name: ball, radius: 0.1, resolution: 8}, inertial: {mass: 2, inertia: [1, 1, 1]},\n"
      "     wrenches: [{name: push, frame: world, force: ['3*(x - a.x)', 0, 0]}]}\n";
  const double h = 0.05, right = 2 / h * atanh(h * sqrt(4.5) / 2);
  cb_scenario *s = make(repel, "step: 0.05", 5);
  for (int body = 0; body < 2; body++) {
    cb_exponent out;
    check_ok(cb_run_exponent(cb_scenario_run(s), body, 40, &out));
    /* the error of the direction of growth is exp(-17) when the measurement begins */
    check_near(out.value, right, 1e-7);
  }
  cb_scenario_free(s);
}

static void a_warm_step_allocates_nothing(void **unused) {
  cb_scenario *s = make(spring, "step: 0.01", 5);
  cb_run *run = cb_scenario_run(s);
  cb_sink quiet = {0};
  for (int step = 0; step < 10; step++) check_ok(run->motion->step(run, &quiet, 0.01));
  count_from_here();
  for (int step = 0; step < 5; step++) check_ok(run->motion->step(run, &quiet, 0.01));
  const char *what;
  check_ok(cb_run_measure(run, &what));
  assert_int_equal(count_so_far(), 0);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(a_heading_is_held),
      cmocka_unit_test(a_heading_is_held_in_water),
      cmocka_unit_test(a_thruster_points_along_the_axis),
      cmocka_unit_test(a_formation_is_held),
      cmocka_unit_test(a_force_between_bodies_is_the_midpoint_rule),
      cmocka_unit_test(opposite_forces_conserve_the_momentum),
      cmocka_unit_test(steps_can_be_reversed),
      cmocka_unit_test(copies_follow),
      cmocka_unit_test(rows_and_restarts_are_right),
      cmocka_unit_test(strong_forces_take_shorter_steps),
      cmocka_unit_test(names_without_effect_change_nothing),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(the_order_is_2_in_curved_spaces),
      cmocka_unit_test(a_name_that_does_not_exist_is_refused),
      cmocka_unit_test(an_exponent_is_that_of_all_bodies_together),
      cmocka_unit_test(a_warm_step_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
