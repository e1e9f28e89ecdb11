/* Tests of contacts in difficult cases: several contacts at the same time, at the ends of a step, repeatedly within a
 * step, and at the start; events that mark and stop; and starts that are rejected with the names of the bodies. */
#include "collide.h"

static const double pi = 3.14159265358979323846;

/* Creates n balls on a line of E3 at the coordinates x[i] with the velocities v[i]. */
static void open_row(collision *k, const cb_contact_options *options, int n, const double *mass, double radius,
                     const double *x, const double *v) {
  open_collision(k, "e3", options);
  for (int i = 0; i < n; i++) {
    const double at[3] = {x[i], 0, 0}, u[3] = {v[i], 0, 0};
    add_ball(k, mass ? mass[i] : 1, radius, at, u);
  }
}

static void expect_line(const collision *k, int ball, double x, double v, double tolerance) {
  double at[CB_COORD_MAX], u[CB_COORD_MAX];
  where_is(k, ball, at, u);
  check_near(at[0], x, tolerance);
  check_near(u[0], v, tolerance);
}

/* The sum R of the radii is 1/2, and all numbers are exact in binary. The contact is at t = 1, with steps that end
 * there, begin there, or contain this time. */
static void a_contact_at_the_end_of_a_step_happens_once(void **unused) {
  static const double steps[] = {1, 0.5, 0.25, 0.125, 2, 3, 0.375};
  for (int s = 0; s < 7; s++) {
    collision k;
    open_row(&k, NULL, 2, (const double[]){1, 3}, 0.25, (const double[]){-0.75, 0.75}, (const double[]){0.5, -0.5});
    collide(&k, "lobatto {stages: 3}", steps[s], 3);
    assert_int_equal(k.events, 1);
    check_near(k.event[0].time, 1, 1e-15);
    /* The velocity of the centre of mass is (m1 v1 + m2 v2)/(m1 + m2) = -1/4; the relative velocity is reversed. */
    expect_line(&k, 0, -0.25 - 1.0 * 2, -1.0, 1e-14);
    expect_line(&k, 1, 0.25, 0, 1e-14);
    close_collision(&k);
  }
}

static void balls_that_touch_and_close_at_the_start_bounce_at_once(void **unused) {
  for (int apart = 0; apart < 2; apart++) { /* if `apart` is 1, the balls separate: there is no contact event */
    collision k;
    const double v = apart ? -0.5 : 0.5;
    open_row(&k, NULL, 2, NULL, 0.25, (const double[]){-0.25, 0.25}, (const double[]){v, -v});
    collide(&k, "lobatto {stages: 3}", 0.1, 1);
    assert_int_equal(k.events, !apart);
    if (!apart) check_near(k.event[0].time, 0, 0);
    expect_line(&k, 0, -0.75, -0.5, 1e-14);
    expect_line(&k, 1, 0.75, 0.5, 1e-14);
    close_collision(&k);
  }
}

/* A ball moves between two walls over the distance `room`. Contacts are at intervals of room/speed, so there are many
 * per step if the step is long. */
static void a_ball_between_two_walls_bounces_as_often_as_it_must(void **unused) {
  static const double rooms[] = {0.7, 0.1, 0.013}, steps[] = {0.05, 0.5, 1};
  for (int r = 0; r < 3; r++)
    for (int s = 0; s < 3; s++) {
      collision k;
      const double radius = 0.1, room = rooms[r], x[3] = {radius + 0.25 * room, 0, 0}, v[3] = {1, 0.2, 0},
                   left[3] = {0, 0, 0}, right[3] = {2 * radius + room, 0, 0}, inward[2][3] = {{1, 0, 0}, {-1, 0, 0}};
      open_collision(&k, "e3", NULL);
      check_ok(cb_builder_wall_plane(k.c.builder, "left", -1, left, inward[0], 1));
      check_ok(cb_builder_wall_plane(k.c.builder, "right", -1, right, inward[1], 1));
      add_ball(&k, 1, radius, x, v);
      collide(&k, "lobatto {stages: 3}", steps[s], 2);
      size_t n = 0;
      for (double when = 0.75 * room; when < 2; when += room, n++) {
        assert_true(n < k.events);
        check_near(k.event[n].time, when, 1e-12);
        assert_int_equal(k.event[n].wall, n % 2 ? 0 : 1);
      }
      assert_int_equal(k.events, n);
      close_collision(&k);
    }
}

/* By the sequential rule the ball from the left ends at rest, and the last ball leaves. By the simultaneous rule of
 * Moreau, the impulses l of three balls solve D l = 2 u together, with the closing speeds u and the matrix D that maps
 * impulses to changes of u. The velocities are then -1/3, 2/3, 2/3. */
static void a_cradle_passes_the_blow_or_shares_it(void **unused) {
  const cb_contact_options together = {.restitution = 1, .rule = CB_CONTACT_SIMULTANEOUS};
  collision k;
  open_row(&k, NULL, 4, NULL, 0.5, (const double[]){-2, 0, 1, 2}, (const double[]){1, 0, 0, 0});
  collide(&k, "lobatto {stages: 3}", 0.3, 3);
  expect_line(&k, 0, -1, 0, 1e-14);
  expect_line(&k, 1, 0, 0, 1e-14);
  expect_line(&k, 2, 1, 0, 1e-14);
  expect_line(&k, 3, 4, 1, 1e-14);
  assert_int_equal(k.events, 3);
  for (int e = 0; e < 3; e++) check_near(k.event[e].time, 1, 1e-14);
  close_collision(&k);
  open_row(&k, &together, 3, NULL, 0.5, (const double[]){-2, 0, 1}, (const double[]){1, 0, 0});
  collide(&k, "lobatto {stages: 3}", 0.3, 3);
  expect_line(&k, 0, -1 - 2.0 / 3, -1.0 / 3, 1e-14);
  expect_line(&k, 1, 4.0 / 3, 2.0 / 3, 1e-14);
  expect_line(&k, 2, 1 + 4.0 / 3, 2.0 / 3, 1e-14);
  close_collision(&k);
}

/* On a great circle, one ball of radius r and velocity v hits n touching balls at the time t1. The last of these moves
 * around the circle and hits the first ball from the other side, and so on. Each contact passes through all balls.
 * Contact i is at the time t1 + i (2 pi - 2 r (n + 1))/v. */
static void a_cradle_on_a_great_circle_goes_round(void **unused) {
  collision k;
  const double r = 0.2, v = 0.9, gap = 0.5;
  enum { ROW = 4 };
  open_collision(&k, "s3", NULL);
  for (int i = 0; i <= ROW; i++) {
    const double angle = i < ROW ? 2 * r * i : -(2 * r + gap), speed = i < ROW ? 0 : v,
                 x[4] = {cos(angle), sin(angle), 0, 0}, u[4] = {-speed * sin(angle), speed * cos(angle), 0, 0};
    add_ball(&k, 1, r, x, u);
  }
  collide(&k, "lobatto {stages: 4}", 0.02, 20);
  const double way = 2 * pi - 2 * r * (ROW + 1);
  double when = gap / v;
  size_t at = 0;
  for (; when < 20; when += way / v) {
    /* one impulse for each of the ROW touching balls */
    for (int i = 0; i < ROW; i++, at++) {
      assert_true(at < k.events);
      check_near(k.event[at].time, when, 1e-11);
    }
  }
  assert_int_equal(at, k.events);
  close_collision(&k);
}

/* One of three equal balls hits the two others symmetrically. By the simultaneous rule its velocity becomes -1/5 of its
 * earlier speed, and each of the two others gets 2 sqrt(3)/5 of that speed. By the sequential rule the symmetry is
 * lost, but energy and momentum are conserved. */
static void the_symmetric_break_stays_symmetric_if_all_is_at_once(void **unused) {
  for (int rule = 0; rule < 2; rule++) {
    const cb_contact_options options = {.restitution = 1,
                                        .rule = rule ? CB_CONTACT_SIMULTANEOUS : CB_CONTACT_SEQUENTIAL};
    const double r = 0.5, a = sqrt(3) / 2, x[3][3] = {{-a - 1, 0, 0}, {0, r, 0}, {0, -r, 0}}, v[3][3] = {{1, 0, 0}};
    collision k;
    double y[3][CB_COORD_MAX], u[3][CB_COORD_MAX], energy = 0, momentum[3] = {0};
    open_collision(&k, "e3", &options);
    for (int i = 0; i < 3; i++) add_ball(&k, 1, r, x[i], v[i]);
    collide(&k, "lobatto {stages: 3}", 0.15, 2);
    check_near(k.event[0].time, 1, 1e-14);
    for (int i = 0; i < 3; i++) {
      where_is(&k, i, y[i], u[i]);
      for (int e = 0; e < 3; e++) {
        energy += 0.5 * u[i][e] * u[i][e];
        momentum[e] += u[i][e];
      }
    }
    check_near(energy, 0.5, 1e-14);
    check_near(momentum[0], 1, 1e-14);
    check_near(momentum[1], 0, 1e-14);
    if (rule) {
      check_near(u[0][0], -0.2, 1e-13);
      check_near(u[0][1], 0, 1e-13);
      for (int i = 1; i < 3; i++) {
        check_near(u[i][0], 2 * sqrt(3) / 5 * a, 1e-13);
        check_near(u[i][1], (i == 1 ? 1 : -1) * 2 * sqrt(3) / 5 * r, 1e-13);
      }
    } else {
      assert_true(fabs(u[1][1] + u[2][1]) > 0.1);
    }
    close_collision(&k);
  }
}

/* The balls fall together and touch all the time: there is no contact event. */
static void balls_that_touch_and_fall_together_do_not_meet(void **unused) {
  collision k;
  open_row(&k, NULL, 3, (const double[]){1, 2, 0.3}, 0.5, (const double[]){-1, 0, 1}, (const double[]){0.2, 0.2, 0.2});
  check_ok(cb_builder_potential(k.c.builder, -1, NULL, "m*(z + 2*x)"));
  collide(&k, "lobatto {stages: 3}", 0.1, 4);
  assert_int_equal(k.events, 0);
  for (int i = 0; i < 3; i++) expect_line(&k, i, i - 1 + 0.2 * 4 - 16, 0.2 - 8, 1e-13);
  close_collision(&k);
}

/* --- events --- */

/* The distance 4 - t of the two centres decreases to the sum of the radii, 1, at t = 3 and then increases. */
static void events_mark_and_stop_at_their_moments(void **unused) {
  collision k;
  double x[CB_COORD_MAX], v[CB_COORD_MAX];
  for (int pass = 0; pass < 2; pass++) {
    open_row(&k, NULL, 2, NULL, 0.5, (const double[]){-2, 2}, (const double[]){0.5, -0.5});
    cb_builder *b = k.c.builder;
    check_ok(cb_builder_event_distance(b, "two", 0, 1, 2, CB_EVENT_MARK, CB_EVENT_BOTH));
    check_ok(cb_builder_event_distance(b, "three", 0, 1, 3, CB_EVENT_MARK, CB_EVENT_RISING));
    check_ok(cb_builder_event_distance(b, "half four", 1, 0, 3.5, CB_EVENT_MARK, CB_EVENT_FALLING));
    check_ok(cb_builder_event_expression(b, "left", 0, NULL, "x + 1.3", CB_EVENT_MARK, CB_EVENT_BOTH));
    check_ok(cb_builder_event_expression(b, "late", 0, NULL, "t - 4.7", CB_EVENT_MARK, CB_EVENT_BOTH));
    if (pass) check_ok(cb_builder_event_distance(b, "end", 0, 1, 1.6, CB_EVENT_STOP, CB_EVENT_RISING));
    collide(&k, "lobatto {stages: 3}", pass ? 0.13 : 0.7, 6);
    static const double times[] = {0.5, 1.4, 2, 3, 3.6, 4, 4.6, 4.7, 5};
    static const int kinds[] = {2, 2, 2, 0, 1, 2, 2, 2, 2};
    size_t n = 0;
    for (int e = 0; e < 9; e++) {
      if (!pass && kinds[e] == 1) continue;
      if (n >= k.events) fail_msg("%zu events", k.events);
      check_near(k.event[n].time, times[e], 1e-13);
      assert_int_equal(k.event[n].kind, kinds[e]);
      n++;
      if (kinds[e] == 1) break;
    }
    assert_int_equal(k.events, n);
    where_is(&k, 1, x, v);
    check_near(k.c.state->t, pass ? 3.6 : 6, 1e-13);
    check_near(x[0], pass ? 0.8 : 2, 1e-13);
    check_near(v[0], 0.5, 1e-13);
    close_collision(&k);
  }
}

/* --- errors --- */

static cb_status start(collision *k) {
  cb_status status = cb_builder_finish(k->c.builder, &k->c.system);
  if (status) return status;
  check_ok(cb_state_create(k->c.system, &k->c.state));
  check_ok(cb_system_start(k->c.system, k->c.state));
  check_ok(cb_forces_create(k->c.system, &k->c.forces));
  return prepare(k, "lobatto", 0.1, 1);
}

static void what_cannot_start_is_refused_by_name(void **unused) {
  collision k;
  const double x[2][3] = {{0, 0, 0}, {0.7, 0, 0}}, none[3] = {0, 0, 0}, point[4] = {0, 0, 0, 1}, still[4] = {0};
  open_row(&k, NULL, 2, NULL, 0.5, (const double[]){0, 0.75}, none);
  check_error(start(&k), CB_ERROR_DOMAIN,
              "particles `body.0` and `body.1` overlap at the start, by 0.25: expected a gap >= 0");
  close_collision(&k);
  open_row(&k, NULL, 2, NULL, 0.5, (const double[]){0, 1 - 1e-12}, none); /* round-off of decimal numbers is accepted */
  check_ok(start(&k));
  close_collision(&k);
  for (int inside = 0; inside < 2; inside++) {
    open_collision(&k, "e3", NULL);
    check_ok(cb_builder_wall_ball(k.c.builder, "rock", -1, x[1], inside ? 0.6 : 0.5, inside, 1));
    add_ball(&k, 1, 0.25, x[0], none);
    check_error(start(&k), CB_ERROR_DOMAIN,
                inside ? "particle `body.0` is inside the wall `rock` at the start, by 0.35: expected a gap >= 0"
                       : "particle `body.0` is inside the wall `rock` at the start, by 0.05: expected a gap >= 0");
    close_collision(&k);
  }
  open_collision(&k, "e3", NULL);
  check_ok(cb_builder_wall_expression(k.c.builder, "slope", -1, NULL, "x + 2*z - r - 1", 1));
  add_ball(&k, 1, 0.25, x[0], none);
  check_error(start(&k), CB_ERROR_DOMAIN,
              "particle `body.0` is inside the wall `slope` at the start, by 1.25: expected a gap >= 0");
  close_collision(&k);
  open_collision(&k, "s3", NULL);
  add_ball(&k, 1, 3.2, point, still);
  check_error(start(&k), CB_ERROR_ARGUMENT, "body.0: a sphere of radius 3.2 is too large for s3: expected < 1.5708");
  close_collision(&k);
  open_collision(&k, "s3", NULL);
  check_error(cb_builder_wall_ball(k.c.builder, "all", -1, point, 3.5, true, 1), CB_ERROR_ARGUMENT,
              "wall 'all': a ball of radius 3.5 contains all of s3: expected a radius < 3.14159");
  close_collision(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_contact_at_the_end_of_a_step_happens_once),
      cmocka_unit_test(balls_that_touch_and_close_at_the_start_bounce_at_once),
      cmocka_unit_test(a_ball_between_two_walls_bounces_as_often_as_it_must),
      cmocka_unit_test(a_cradle_passes_the_blow_or_shares_it),
      cmocka_unit_test(a_cradle_on_a_great_circle_goes_round),
      cmocka_unit_test(the_symmetric_break_stays_symmetric_if_all_is_at_once),
      cmocka_unit_test(balls_that_touch_and_fall_together_do_not_meet),
      cmocka_unit_test(events_mark_and_stop_at_their_moments),
      cmocka_unit_test(what_cannot_start_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
