/* Tests of bounces off a floor. The times and heights of the bounces follow from free fall. A body that bounces
 * infinitely often in a finite time then rests. */
#include "floor_bodies.h"

/* A ball starts at rest with its lowest vertex at the height z, and hits the floor at the time T. With the restitution
 * e, bounce k = 1, 2, ... takes the time 2 e^k T and has the height e^(2 k) z. */
static void a_ball_bounces_at_the_times_and_to_the_heights_of_the_parabola(void **unused) {
  for (int method = 0; method <= RKMK4; method++) {
    if (method == CB_SE3_TLN) continue;
    drop *d = ball(0.8, method);
    cb_rigid_state s;
    static const double rest[6];
    check_ok(cb_rigid_start(&d->p, 0, &upright, rest, &s));
    const double T = sqrt(2 * 0.75 / 10), h = 0.01;
    double time = T, speed = 10 * T, highest = 0;
    int seen = 0;
    for (int n = 0; n < 300; n++) {
      check_ok(drop_try(d, h, &s));
      check_near(s.t, h * (n + 1), 1e-13);
      check_at_least(drop_gap(d, &s), -1e-15);
      /* the highest point of this flight, from the height and the speed */
      highest = s.g.x[2] - 0.25 + s.momentum[5] * s.momentum[5] / 20;
      check_near(highest, 0.75 * pow(0.8, 2 * d->hits), 1e-13);
      if (d->hits == seen) continue;
      assert_int_equal(d->hits, seen + 1);
      seen++;
      check_near(d->last.time, time, 1e-12);
      check_near(d->last.speed_before, -speed, 1e-12);
      check_near(d->last.speed_after, 0.8 * speed, 1e-12);
      check_near(d->last.impulse, 1.8 * speed, 1e-12);
      check_near(d->last.gap, 0, 1e-15);
      speed *= 0.8;
      time += 2 * speed / 10;
    }
    assert_int_equal(seen, 9);
    for (int i = 0; i < 3; i++) assert_true(s.momentum[i] == 0);
    drop_free(d);
  }
}

/* A tripod with restitution 1/2 that reaches the floor at the time T bounces infinitely often before the time 3 T.
 * After that time it stays on the floor. */
static void bounces_without_end_accumulate_and_rest(void **unused) {
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    const body b = drop_body(0.02, 0.02, 0.02);
    drop *d = drop_create(&b, 0.5, 3, tripod, method);
    cb_rigid_state s, lies;
    /* A step h of rkmk4 rotates a body that falls and slides by O(h^5), so it would not land flat. */
    const double glide = method == RKMK4 ? 0 : 0.3, Y[6] = {0, 0, 0, glide, -glide, 0};
    check_ok(cb_rigid_start(&d->p, 0, &upright, Y, &s));
    const double h = 0.01;
    for (int n = 0; n < 130; n++) check_ok(drop_try(d, h, &s));
    check_at_least(d->hits, 15);
    check_near(d->last.time, 3 * sqrt(0.15), 3e-5); /* flights that are shorter than 1e-3 h = 1e-5 count as rest */
    lies = s;
    const int steps = d->steps;
    for (int n = 0; n < 1000; n++) check_ok(drop_try(d, h, &s));
    print_message("  method %d: %d reflections, then %.1f trials a step at rest\n", method, d->hits,
                  (d->steps - steps) / 1000.);
    check_near(s.g.x[2], 0.25, 1e-15);
    check_near(s.momentum[5], 0, 1e-13);
    check_near(s.g.x[0] - lies.g.x[0], 10 * glide, 1e-12); /* without friction the tripod keeps sliding */
    check_near(s.momentum[3], glide, 1e-14);
    for (int i = 0; i < 3; i++) check_near(s.momentum[i], 0, 1e-14);
    check_at_most((d->steps - steps) / 1000., 5);
    drop_free(d);
  }
}

/* With restitution 0.99 a tripod bounces about 2000 times before the flights are too short to compute. The floor
 * brings it to rest before the computation of all these bounces takes too many steps. */
static void an_accumulation_is_held_before_it_costs_much(void **unused) {
  const body b = drop_body(0.02, 0.02, 0.02);
  drop *d = drop_create(&b, 0.99, 3, tripod, CB_SE3_CAYLEY);
  const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25 + 0.001}};
  static const double rest[6];
  cb_rigid_state s;
  check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
  for (int n = 0; n < 300; n++) check_ok(drop_try(d, 0.01, &s));
  check_near(s.g.x[2], 0.25, 1e-15);
  check_near(d->last.time, 1.99 / 0.01 * sqrt(0.0002), 0.01);
  assert_true(d->hits < 3 * 1000);
  drop_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_bounces_at_the_times_and_to_the_heights_of_the_parabola),
      cmocka_unit_test(bounces_without_end_accumulate_and_rest),
      cmocka_unit_test(an_accumulation_is_held_before_it_costs_much),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
