/* Tests of bodies that rest on a floor: boxes that come to rest, a foot that slides, feet that move, and bodies that
 * start below the floor. */
#include "floor_bodies.h"

/* A box with restitution 0.3 falls with a random orientation and twist, rocks, and comes to rest flat. */
static void tilted_boxes_come_to_rest_flat(void **unused) {
  double x[8][3];
  uint64_t seed = check_seed();
  box_points((double[3]){0.4, 0.3, 0.2}, x);
  const body b = drop_body(0.13 / 3, 0.2 / 3, 0.25 / 3);
  for (int trial = 0; trial < 8; trial++) {
    drop *d = drop_create(&b, 0.3, 8, (const double(*)[3])x, trial % 2 ? RKMK4 : CB_SE3_CAYLEY);
    cb_pose g = {{0}, {0, 0, 1}};
    double Y[6];
    for (int i = 0; i < 4; i++) g.q[i] = check_uniform(&seed, -1, 1);
    for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -2, 2);
    g = unit_pose(g);
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
    double energy = drop_energy(d, &s);
    int most = 0;
    for (int n = 0; n < 1500; n++) {
      const int steps = d->steps;
      check_ok(drop_try(d, 0.005, &s));
      if (d->steps - steps > most) most = d->steps - steps;
      check_at_least(drop_gap(d, &s), -3e-14);
      const double now = drop_energy(d, &s);
      check_at_most(now, energy + 2e-3);
      energy = fmin(now, energy);
    }
    /* a face of the box is on the floor; without friction the box may slide, and rotate around the vertical */
    double r[3][3];
    cb_pose_rotation(&s.g, r);
    double flat = 0;
    for (int i = 0; i < 3; i++) flat = fmax(flat, fabs(r[2][i]));
    print_message("  height %.6f, %d reflections, at most %d trials a step\n", s.g.x[2], d->hits, most);
    check_near(flat, 1, 1e-13);
    check_near(drop_gap(d, &s), 0, 1e-14);
    check_near(s.momentum[5] * r[2][2] + s.momentum[4] * r[2][1] + s.momentum[3] * r[2][0], 0, 1e-12);
    drop_free(d);
  }
}

/* A rod of mass 1, half length l and moment of inertia I starts at rest with its foot on the floor, at the angle q0 to
 * the vertical. Under gravity g its centre falls straight down, and the foot never leaves the floor. The angle q to the
 * vertical obeys:
 *
 *   q'^2 (I + l^2 sin^2 q) = 2 g l (cos q0 - cos q)
 */
static void a_rod_slides_down_on_its_foot(void **unused) {
  static const double foot[1][3] = {{0, 0, -0.5}};
  const double start = 0.3, I = 1. / 12;
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    double error[4];
    for (int i = 0; i < 4; i++) {
      const body b = drop_body(I, I, 0.01);
      drop *d = drop_create(&b, 0.5, 1, foot, method);
      const cb_pose g = {{cos(start / 2), sin(start / 2), 0, 0}, {0.2, 0.1, 0.5 * cos(start)}};
      static const double rest[6];
      cb_rigid_state s;
      check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
      error[i] = 0;
      for (int n = 0; n < 25 << i; n++) {
        check_ok(drop_try(d, 0.5 / (25 << i), &s));
        const double q = 2 * atan2(s.g.q[1], s.g.q[0]), speed = s.momentum[0] / I;
        check_near(drop_gap(d, &s), 0, 1e-14);
        for (int k = 0; k < 2; k++) /* a step of the length h with rkmk4 shifts the centre by O(h^5) */
          check_near(s.g.x[k] + s.x_low[k], g.x[k], method == RKMK4 ? 1e-4 : 1e-14);
        error[i] = fmax(error[i], fabs(speed * speed * (I + sin(q) * sin(q) / 4) - 10 * (cos(start) - cos(q))));
        if (n + 1 == 25 << i) check_at_least(q, 1);
      }
      assert_int_equal(d->hits, 0);
      drop_free(d);
    }
    print_message("  method %d: errors %.1e .. %.1e, order %.2f\n", method, error[0], error[3], fitted_order(error, 4));
    check_near(fitted_order(error, 4), 2, 0.15);
  }
}

/* The body rests on three feet under gravity. It draws them in and pushes them out again with accelerations of up to
 * 0.97 of gravity, so the feet stay on the floor. */
static void a_resting_body_stands_on_feet_that_move(void **unused) {
  for (int method = 0; method <= RKMK4; method += RKMK4)
    for (int quick = 0; quick < 2; quick++) {
      const body b = drop_body(0.02, 0.02, 0.02);
      drop *d = drop_create(&b, 0.5, 3, tripod, method);
      for (int i = 0; i < 3; i++) d->move[i][2] = 0.02;
      d->beat = quick ? 22 : 3;
      const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25}};
      const double speed = 0.02 * d->beat, Y[6] = {0, 0, 0, 0, 0, -speed};
      cb_rigid_state s;
      check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
      for (int n = 0; n < 500; n++) {
        check_ok(drop_try(d, 0.01, &s));
        check_near(s.g.x[2], 0.25 - 0.02 * sin(d->beat * s.t), 1e-14);
        check_near(s.momentum[5], -speed * cos(d->beat * s.t), 1e-14);
      }
      assert_int_equal(d->hits, 0);
      drop_free(d);
    }
}

/* A body that starts below the floor does not sink deeper, and may rise. */
static void what_begins_below_stays_or_rises(void **unused) {
  const body b = drop_body(0.02, 0.02, 0.02);
  for (int rises = 0; rises < 2; rises++) {
    drop *d = drop_create(&b, 0.5, 3, tripod, CB_SE3_CAYLEY);
    const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.24}};
    const double Y[6] = {0, 0, 0, 0, 0, rises ? 1 : -1};
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
    check_ok(drop_try(d, 0.01, &s));
    if (rises) check_near(s.g.x[2], 0.24 + 0.01 - 0.0005, 1e-15);
    if (!rises) check_near(d->last.speed_after, 0.5, 1e-14);
    for (int n = 0; n < 100; n++) {
      check_ok(drop_try(d, 0.01, &s));
      check_at_least(drop_gap(d, &s), -0.01 - 1e-14);
    }
    check_near(s.g.x[2], 0.25, 1e-14);
    s.g.x[2] = 0.24;
    for (int n = 0; n < 100; n++) check_ok(drop_try(d, 0.01, &s));
    check_near(s.g.x[2], 0.24, 1e-13);
    drop_free(d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tilted_boxes_come_to_rest_flat),
      cmocka_unit_test(a_rod_slides_down_on_its_foot),
      cmocka_unit_test(a_resting_body_stands_on_feet_that_move),
      cmocka_unit_test(what_begins_below_stays_or_rises),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
