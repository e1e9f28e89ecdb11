/* Tests of a stiff floor whose damping or friction acts in a shorter time than a step. At any speed the body does not
 * rebound, and the floor does not pull it. If the step is short enough for the floor, the result is a plain step of the
 * integrator. */
#include "immersed.h"

static cb_status by_method(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations) {
  const int method = *(const int *)self;
  *iterations = 0;
  return method == RKMK4 ? cb_rigid_step_rkmk4(p, h, s)
                         : cb_rigid_step_pontryagin(p, (cb_se3_map)method, h, s, iterations);
}

static void step_on(const tank *k, int method, double h, cb_rigid_state *s) {
  int iterations;
  check_ok(cb_immersed_workspace_step(k->workspace, &(cb_body_stepper){&method, by_method}, h, s, &iterations));
}

/* Makes a body above a floor, in a vacuum. */
static tank on_floor(mesh m, double thickness, const cb_floor *floor, double gravity) {
  tank k = tank_of(m, 1000, thickness);
  k.fluid.floor = *floor;
  k.fluid.gravity[2] = -gravity;
  tank_fill(&k);
  return k;
}

static tank plate(const cb_floor *floor, double gravity) {
  return on_floor(mesh_plate(4, 1, 1, false), 1e-3, floor, gravity);
}

static const double mass = 1;

static cb_floor stiff(double stiffness, double damping, double friction) {
  return (cb_floor){CB_FLOOR_STIFF,     .up = {0, 0, 1},      .stiffness = stiffness,
                    .damping = damping, .friction = friction, .creep = 1e-3};
}

static cb_rigid_state start(const tank *k, double height, const double Y[6]) {
  const cb_pose g = {{1, 0, 0, 0}, {0, 0, height}};
  cb_rigid_state s;
  check_ok(cb_rigid_start(k->problem, 0, &g, Y, &s));
  return s;
}

static double mass_of(const tank *k) {
  cb_mass all;
  check_ok(cb_immersed_mass(k->body, 0, &all, NULL));
  return all.mass;
}

static void what_falls_stays_down(void **unused) {
  const double h = 1. / 100, side[3] = {.1, .1, .1}, fall[6] = {0, 0, 0, 0, 0, -3};
  const cb_floor floor = stiff(1e3, 1e6, .3);
  for (int method = 0; method <= RKMK4; method++)
    for (int shape = 0; shape < 3; shape++)
      for (int place = 0; place < 8; place++) {
        tank k = shape == 0   ? on_floor(mesh_ball(8, .1), 0, &floor, 10)
                 : shape == 1 ? on_floor(mesh_box(2, side, false), 0, &floor, 10)
                              : plate(&floor, 10);
        cb_rigid_state s = start(&k, .2 + place * h * 3 / 8, fall);
        const double m = mass_of(&k);
        double speed = 0, fastest = 0, rise = -INFINITY;
        for (int n = 0; n < 100; n++) {
          step_on(&k, method, h, &s);
          speed = s.world[5] / m;
          fastest = fmin(fastest, speed);
          if (fastest < speed) rise = fmax(rise, speed);
        }
        check_at_most(fastest, -3.1);
        check_at_most(rise, 1e-3 * -fastest);
        check_at_most(fabs(speed), 1e-3 * -fastest);
        tank_empty(&k);
      }
}

/* A plate of mass m begins a step h with the upward velocity v-. All its vertices have the depth d in the middle of a
 * free step. On a floor with stiffness k and damping c the velocity at the end is v+ = v- + h/m (k d - (c + h k/2)
 * v+)+, where ( )+ is the positive part. */
static void a_plate_gets_the_implicit_speed(void **unused) {
  const double h = .01, stiffness = 400, depth = .02;
  for (int method = 0; method <= RKMK4; method++)
    for (int way = 0; way < 4; way++) {
      const double v = (double[]){-2, .1, 3, 0}[way], damping = (double[]){300, 1e6, 500, 1e3}[way];
      const cb_floor floor = stiff(stiffness, damping, 0);
      const double Y[6] = {0, 0, 0, .5, 0, v}, c = damping + h * stiffness / 2, d = depth - h * v / 2;
      const double pushed = (v + h / mass * stiffness * d) / (1 + h / mass * c);
      tank k = plate(&floor, 0);
      cb_rigid_state s = start(&k, -depth, Y);
      step_on(&k, method, h, &s);
      const double after = stiffness * d > c * pushed ? pushed : v;
      check_near(s.world[5] / mass, after, 1e-12);
      check_near(s.world[3] / mass, .5, 1e-10);
      check_near(s.g.x[2], -depth + h * (v + after) / 2, 1e-10); /* the force is constant */
      if (way == 2) check_near(s.world[5] / mass, v, 1e-14);     /* the floor does not pull */
      tank_empty(&k);
    }
}

/* The depth x of a body of mass m on a floor of stiffness k and damping c obeys m x'' = m g - k x - c x', with gravity
 * g. The damping is so strong that the body slowly sinks to the depth m g/k, at the rate k/c. */
static void it_creeps_to_rest_to_first_order(void **unused) {
  const double stiffness = 1e3, damping = 2e3, g = 10, end = 2, still[6] = {0};
  const double root = sqrt(damping * damping - 4 * mass * stiffness), slow = (root - damping) / (2 * mass),
               fast = (-root - damping) / (2 * mass), rest = mass * g / stiffness;
  const double exact = rest - rest * (fast * exp(slow * end) - slow * exp(fast * end)) / (fast - slow);
  const cb_floor floor = stiff(stiffness, damping, 0);
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    double error[4];
    for (int i = 0; i < 4; i++) {
      const int steps = 25 << i;
      tank k = plate(&floor, g);
      assert_true(cb_floor_outruns(&floor, mass, g, end / steps));
      cb_rigid_state s = start(&k, -1e-12, still);
      for (int n = 0; n < steps; n++) step_on(&k, method, end / steps, &s);
      error[i] = fabs(-s.g.x[2] - exact);
      tank_empty(&k);
    }
    print_message("  errors %.1e .. %.1e, order %.2f\n", error[0], error[3], fitted_order(error, 4));
    check_at_least(fitted_order(error, 4), .9);
    check_at_most(error[3], 1e-2 * exact);
  }
}

static void what_slides_stops_and_does_not_turn_back(void **unused) {
  const double h = .01, g = 10, friction = .3, stiffness = 1e4, Y[6] = {0, 0, 0, .4, 0, 0};
  const cb_floor floor = stiff(stiffness, 20, friction);
  assert_true(cb_floor_outruns(&floor, mass, g, h));
  for (int method = 0; method <= RKMK4; method++) {
    tank k = plate(&floor, g);
    cb_rigid_state s = start(&k, -mass * g / stiffness, Y);
    for (int n = 1; n <= 100; n++) {
      step_on(&k, method, h, &s);
      check_near(s.world[3] / mass, fmax(.4 - friction * g * h * n, 0), floor.creep);
      check_at_least(s.world[3], -1e-9);
      check_near(s.g.x[2], -mass * g / stiffness, 1e-9);
    }
    check_near(s.world[3], 0, 1e-9);
    tank_empty(&k);
  }
}

static void check_close(const cb_rigid_state *s, const cb_rigid_state *other) {
  for (int i = 0; i < 6; i++) check_near(s->world[i], other->world[i], 1e-12);
  for (int i = 0; i < 3; i++) check_near(s->g.x[i], other->g.x[i], 1e-12);
  for (int i = 0; i < 4; i++) check_near(s->g.q[i], other->g.q[i], 1e-12);
}

static void other_steps_are_the_methods_own(void **unused) {
  const double side[3] = {.1, .1, .1}, h = .01;
  for (int method = 0; method <= RKMK4; method++)
    for (int high = 0; high < 2; high++) { /* high: far above the floor; not high: on a floor with slow damping */
      const cb_floor floor = stiff(100, high ? 1e6 : 20, high ? .3 : 0), none = {0};
      tank k = on_floor(mesh_box(2, side, false), 0, &floor, 10),
           plain = on_floor(mesh_box(2, side, false), 0, high ? &none : &floor, 10);
      cb_rigid_state s = start(&k, high ? 5 : .1, generic_twist), own = s;
      for (int n = 0; n < 20; n++) {
        step_on(&k, method, h, &s);
        step_by(plain.problem, method, h, &own);
      }
      if (high)
        check_close(&s, &own);
      else
        assert_memory_equal(&s, &own, sizeof s);
      tank_empty(&k);
      tank_empty(&plain);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_falls_stays_down),
      cmocka_unit_test(a_plate_gets_the_implicit_speed),
      cmocka_unit_test(it_creeps_to_rest_to_first_order),
      cmocka_unit_test(what_slides_stops_and_does_not_turn_back),
      cmocka_unit_test(other_steps_are_the_methods_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
