/* Tests of the time at which a vertex reaches a floor, compared with closed forms for moving shapes. A vertex that
 * passes below the floor and returns within a step is detected. */
#include "floor_bodies.h"

/* A body at rest above the floor, without gravity, pushes a vertex out until it hits the floor: the velocity of the
 * vertex is that of the shape. */
static void a_vertex_that_moves_pushes_off(void **unused) {
  for (int method = 0; method <= RKMK4; method += RKMK4) {
    body b = drop_body(0.02, 0.02, 0.02);
    memset(b.g, 0, sizeof b.g);
    static const double x[1][3] = {{0, 0, -0.25}};
    drop *d = drop_create(&b, 0.5, 1, x, method);
    d->move[0][2] = -0.1;
    d->beat = 2;
    const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25 + 0.05}};
    static const double rest[6];
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
    /* The vertex hits at 0.1 sin 2t = 0.05, so t = pi/12, with the speed v = 0.2 cos(pi/6). Its velocity changes from
     * -v to v/2, so the body rises with 3/2 v. */
    while (d->hits == 0) check_ok(drop_try(d, 0.01, &s));
    const double speed = 0.2 * cos(PI / 6);
    check_near(d->last.time, PI / 12, 1e-13);
    check_near(d->last.speed_before, -speed, 1e-13);
    check_near(d->last.speed_after, speed / 2, 1e-13);
    check_near(s.momentum[5], 1.5 * speed, 1e-13);
    for (int n = 0; n < 200; n++) check_ok(drop_try(d, 0.01, &s));
    assert_int_equal(d->hits, 1);
    drop_free(d);
  }
}

/* A rod rotates by 2.9 or 3.14 in one step without gravity. One end passes below the floor by 1e-7 to 0.05 and
 * returns. */
static void a_dip_within_a_step_is_not_passed_over(void **unused) {
  for (int method = CB_SE3_EXPONENTIAL; method <= RKMK4; method += 2) { /* both methods rotate the rod exactly */
    for (int k = 0; k < (method == RKMK4 ? 40 : 20); k++) {
      body b = drop_body(0.01, 1. / 12, 1. / 12);
      memset(b.g, 0, sizeof b.g);
      drop *d = drop_create(&b, 1, 2, rod, method);
      const double angle = 0.1 * k / 20, low = 1e-7 * pow(10, 0.3 * (k % 20)), spin = k < 20 ? 2.9 : 3.14;
      const cb_pose g = {{cos(angle), 0, sin(angle), 0}, {0, 0, 0.5 - fmin(low, 0.05)}};
      const double Y[6] = {0, spin};
      cb_rigid_state s;
      check_ok(cb_rigid_start(&d->p, 0, &g, Y, &s));
      check_ok(drop_try(d, 1, &s));
      assert_true(k >= 20 ? d->hits >= 1 : d->hits == 1);
      check_near(sin(2 * angle + spin * d->first.time), 2 * g.x[2], 1e-13);
      drop_free(d);
    }
  }
}

/* A vertex moves out and back within a step. */
static void a_beat_of_the_shape_within_a_step_is_not_passed_over(void **unused) {
  body b = drop_body(0.02, 0.02, 0.02);
  memset(b.g, 0, sizeof b.g);
  static const double x[1][3] = {{0, 0, -0.25}};
  for (int k = 0; k < 10; k++) {
    drop *d = drop_create(&b, 1, 1, x, CB_SE3_CAYLEY);
    d->move[0][2] = -0.1;
    d->beat = 3;
    const double depth = 0.05 * pow(10, -0.7 * k);
    const cb_pose g = {{1, 0, 0, 0}, {0, 0, 0.25 + 0.1 - depth}};
    static const double rest[6];
    cb_rigid_state s;
    check_ok(cb_rigid_start(&d->p, 0, &g, rest, &s));
    check_ok(drop_try(d, 1, &s)); /* the vertex moves out by 0.1 sin 3t */
    assert_int_equal(d->hits, 1);
    check_near(sin(3 * d->last.time), 1 - 10 * depth, 1e-13);
    drop_free(d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_vertex_that_moves_pushes_off),
      cmocka_unit_test(a_dip_within_a_step_is_not_passed_over),
      cmocka_unit_test(a_beat_of_the_shape_within_a_step_is_not_passed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
