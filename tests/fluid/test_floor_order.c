/* Tests of the order and of the time symmetry of integrators with reflections off a floor. The order is 2 for
 * Hamilton-Pontryagin and 4 for rkmk4. */
#include "floor_bodies.h"

static cb_rigid_state run_down(int method, int steps, double time, int *hits) {
  double x[8][3];
  const body b = tumbling_body();
  const cb_pose g = unit_pose(tilted);
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  drop *d = drop_create(&b, 0.8, 8, (const double(*)[3])x, method);
  cb_rigid_state s;
  check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &s));
  s.g.x[2] = 2;
  for (int n = 0; n < steps; n++) {
    check_ok(drop_try(d, time / steps, &s));
    s.t = time * (n + 1) / steps;
  }
  *hits = d->hits;
  drop_free(d);
  return s;
}

/* The run has at least three reflections, at arbitrary times within steps. */
static void second_order_and_rkmk4_fourth_with_reflections(void **unused) {
  enum { COUNT = 6 };
  const double time = 2.2;
  int hits;
  const cb_rigid_state exact = run_down(RKMK4, 12000, time, &hits);
  print_message("  %d reflections\n", hits);
  assert_true(hits >= 3);
  for (int method = 0; method <= RKMK4; method++) {
    double error[COUNT];
    for (int i = 0; i < COUNT; i++) {
      int own;
      const cb_rigid_state s = run_down(method, (method == RKMK4 ? 70 : 100) << i, time, &own);
      assert_int_equal(own, hits);
      error[i] = state_distance(&s, &exact);
    }
    print_message("  method %d: errors %.2e .. %.2e, order %.3f\n", method, error[0], error[COUNT - 1],
                  fitted_order(error, COUNT));
    check_near(fitted_order(error, COUNT), method == RKMK4 ? 4 : 2, method == RKMK4 ? 0.15 : 0.05);
  }
}

/* With restitution 1, a run is followed by a second one with all velocities reversed. The second run ends where the
 * first one started. */
static void symmetric_in_time(void **unused) {
  double x[8][3];
  box_points((double[3]){0.6, 0.8, 0.5}, x);
  for (int map = 0; map < 3; map++) {
    const body b = tumbling_body();
    const cb_pose g = unit_pose(tilted);
    drop *d = drop_create(&b, 1, 8, (const double(*)[3])x, map);
    cb_rigid_state first, s;
    check_ok(cb_rigid_start(&d->p, 0, &g, generic_twist, &first));
    first.g.x[2] = 2;
    s = first;
    for (int way = 0; way < 2; way++) {
      for (int n = 0; n < 100; n++) check_ok(drop_try(d, 0.025, &s));
      for (int i = 0; i < 6; i++) {
        s.world[i] *= -1;
        s.world_low[i] *= -1;
        s.momentum[i] *= -1;
      }
      if (!way) assert_true(d->hits >= 3);
      if (!way) check_at_least(state_distance(&s, &first), 0.1);
    }
    print_message("  map %d: %d reflections, back to %.1e\n", map, d->hits, state_distance(&s, &first));
    check_at_most(state_distance(&s, &first), 1e-9); /* the tumbling amplifies round-off */
    drop_free(d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(second_order_and_rkmk4_fourth_with_reflections),
      cmocka_unit_test(symmetric_in_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
