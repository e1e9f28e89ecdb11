/* Tests of contacts far from the base point. Bodies that collide share one frame, and boosts are isometries. Therefore
 * contacts are the same as at the base point. Contacts during a motion along a geodesic have a closed form. Positions
 * that world coordinates cannot represent cause a warning or an error. */
#include "simulate.h"

#define BALL(name, more, point, move, velocity)                                                            \
  "  - {kind: particles, name: " name ", radius: 0.2" more ", place: {chart: translation, points: [" point \
  "], move: " move "}, motion: {chart: translation, velocities: [" velocity "]}}\n"
#define PAIR(move)                                           \
  BALL("a", "", "[-1.2, 0.1, 0.2]", move, "[0.8, 0, -0.05]") \
  BALL("b", "", "[1.2, 0.05, -0.1]", move, "[-0.8, 0.02, 0.05]")
#define FAR "[{killing: boost_x, by: $}]"

static simulation *run(const char *space, const char *bodies, const char *rest, double end, double by) {
  static const char *const fields[] = {"kinetic_energy", NULL};
  char text[8192];
  const int head = snprintf(text, sizeof text, "curvebody: 1\nspace: %s\nbodies:\n", space);
  size_t used = (size_t)head;
  for (const char *c = bodies; *c && used + 64 < sizeof text; c++)
    if (*c == '$')
      used += (size_t)snprintf(text + used, sizeof text - used, "%.17g", by);
    else
      text[used++] = *c;
  snprintf(text + used, sizeof text - used,
           "%s\nintegrator: {name: lobatto, stages: 4, step: 0.02}\ntime: {end: %g}\nrecord: {every: 10, observables: "
           "[energy]}\n",
           rest, end);
  return simulate(text, NULL, 0, fields);
}

static const struct {
  const char *space, *bodies, *rest;
} cases[] = {
    {"h3", PAIR(FAR), "contacts: {}"},
    {"{name: h3, curvature: -1.3}", PAIR("[{killing: boost_y, by: $}, {killing: rotation_x, by: 0.7}]"),
     "contacts: {restitution: 0.5}"},
    {"h2xe", PAIR("[{killing: translation_z, by: 3}, {killing: boost_x, by: $}]"), "contacts: {}"},
    {"h2", BALL("a", "", "[-1.2, 0.1]", FAR, "[0.8, 0]") BALL("b", ", mass: 3", "[1.2, 0.05]", FAR, "[-0.8, 0.02]"),
     "contacts: {between: [[a, b]]}"},
    /* ball a is first moved by a small distance, and then both balls by a large one */
    {"h3",
     BALL("a", "", "[-1.2, 0.1, 0.2]", "[{killing: boost_x, by: 0.1}, {killing: boost_z, by: $}]", "[0.8, 0, -0.05]")
         BALL("b", ", mass: 2", "[1.2, 0.05, -0.1]", "[{killing: boost_z, by: $}]", "[-0.8, 0.02, 0.05]"),
     "contacts: {}"},
    /* a ball more than two radii of curvature away has a separate origin */
    {"h3", BALL("a", "", "[3, 0, 0]", FAR, "[-1, 0, 0]") BALL("b", "", "[0, 0, 0]", FAR, "[0.3, 0, 0]"),
     "contacts: {}"},
    {"h3", PAIR(FAR) BALL("c", "", "[0, 1.5, 0]", FAR, "[0.3, 9, 0]"), "contacts: {}"},
    {"h3", PAIR(FAR), "events: [{distance: {between: [[a, 0], [b, 0]], equals: 1.1}}]"},
    /* both balls stop at the contact and stay in contact */
    {"h3", PAIR(FAR), "contacts: {restitution: 0, accumulation: rest}"},
    {"h3",
     "  - {kind: rod, name: r, radius: 0.2, link: {spring: {stiffness: 3}}, place: {chart: translation, points: [[0, "
     "1, 0], "
     "[0.3, 0.5, 0]], move: " FAR "}, motion: {chart: translation, velocities: [[0, -1, 0], [0, -1, 0.1]]}}\n" BALL(
         "b", "", "[0, -0.5, 0]", FAR, "[0, 1, 0]"),
     "contacts: {}"},
};

static void contacts_far_out_are_those_at_the_base_point(void **state) {
  static const double by[] = {25, 38, 360, 1e4};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    simulation *near = run(cases[n].space, cases[n].bodies, cases[n].rest, 2.4, 0);
    if (!near->events) fail_msg("case %zu: no contact", n);
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
      simulation *far = run(cases[n].space, cases[n].bodies, cases[n].rest, 2.4, by[i]);
      assert_int_equal(far->events, near->events);
      assert_int_equal(far->warnings, near->warnings);
      check_near(far->last.time, near->last.time,
                 1e-13); /* round-off of positions about one unit from the origin of their frame */
      check_near(far->last.impulse, near->last.impulse, 1e-12);
      check_near(far->value[0][far->rows - 1], near->value[0][near->rows - 1], 1e-12);
      simulation_free(far);
    }
    simulation_free(near);
  }
}

/* Ball b starts ahead of ball a at a distance of 2 and is slower by 0.05. They touch at a distance of 0.4, which is
 * 1.6/0.05 = 32 after the start and about 66 units from it, while a third ball stays behind. */
static void a_ball_is_caught_up_with_far_from_a_third(void **state) {
  static const double by[] = {0, 38, 400};
  for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
#define ACROSS "[{killing: boost_y, by: $}]"
    simulation *s = run("h3",
                        BALL("a", "", "[1, 0, 0]", ACROSS, "[2.05, 0, 0]") BALL(
                            "b", "", "[3, 0, 0]", ACROSS, "[2, 0, 0]") BALL("c", "", "[0, 1, 1]", ACROSS, "[0, 0, 0]"),
                        "contacts: {}", 33, by[i]);
    assert_int_equal(s->events, 1);
    check_near(s->last.time, 32, 1e-10); /* the integrator's error of the gap, divided by the relative speed 0.05 */
    simulation_free(s);
  }
}

/* If two points have slightly different directions from the pole, their polar coordinates determine their distance only
 * to round-off times exp(distance from the pole). */
static void what_the_world_cannot_tell_is_warned_of_or_refused(void **state) {
  static const struct {
    double distance;
    size_t warnings;
  } rows[] = {{5, 0}, {10, 0}, {20, 1}, {28, 1}, {35, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char bodies[1024];
    const double a = rows[i].distance;
    snprintf(bodies, sizeof bodies,
             "  - {kind: particles, name: a, radius: 0.2, place: {chart: polar, points: [[%g, 1, 1]]}}\n"
             "  - {kind: particles, name: b, radius: 0.2, place: {chart: polar, points: [[%g, 1 + 2*exp(-%g), 1]]}}\n",
             a, a, a);
    if (rows[i].warnings < 2) {
      simulation *s = run("h3", bodies, "contacts: {}", 0.1, 0);
      assert_int_equal(s->warnings, rows[i].warnings);
      simulation_free(s);
      continue;
    }
    char text[2048];
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: h3\nbodies:\n%scontacts: {}\nintegrator: {name: lobatto, step: 0.1}\ntime: {end: 1}\n",
        bodies);
    cb_scenario *s = NULL;
    check_error_begins(cb_scenario_open_text("test", text, NULL, 0, &s), CB_ERROR_INPUT,
                       "test:7:13: error: a.0 and b.0 come near each other at time 0, and their relative position is "
                       "known only to 0.4");
  }
}

/* The coordinates of the two groups of balls have different origins, and neither group affects the other. */
static void two_groups_that_go_opposite_ways_meet_each_by_itself(void **state) {
  static const double by[] = {5, 38, 400};
  for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
#define AWAY "[{killing: boost_x, by: -$}]"
    simulation *s = run("h3",
                        PAIR(FAR) BALL("c", "", "[-1.2, 0.1, 0.2]", AWAY, "[0.8, 0, -0.05]")
                            BALL("d", "", "[1.2, 0.05, -0.1]", AWAY, "[-0.8, 0.02, 0.05]"),
                        "contacts: {}", 2.4, by[i]);
    assert_int_equal(s->events, 2);
    assert_int_equal(s->warnings, 0);
    /* The expected time was found with half the step; the tolerance is the error of the integrator. */
    check_near(s->last.time, 1.2607100409180179, 1e-11);
    simulation_free(s);
  }
}

/* Walls are given by world points, whose round-off grows as exp(distance from the base point). If it is above 1e-9,
 * there is a warning. */
static void walls_far_out_are_met_as_at_the_base_point(void **state) {
  static const struct {
    const char *space, *wall, *point, *velocity;
  } rows[] = {{"h3", "ball: {at: {chart: polar, point: [$, pi/2, 0]}, radius: 1.1, side: inside}", "[0.2, 0.3, 0.1]",
               "[-0.9, 0.1, -0.1]"},
              {"h3", "ball: {at: {chart: polar, point: [$, pi/2, 0]}, radius: 0.4, side: outside}", "[1, 0.1, 0.2]",
               "[-0.9, 0.1, -0.1]"},
              {"h3", "plane: {at: {chart: polar, point: [$, pi/2, 0]}, normal: [1, 0, 0]}", "[0.4, 0.1, 0.2]",
               "[0.05, -0.6, 0.1]"},
              {"h2", "plane: {at: {chart: polar, point: [$, 0]}, normal: [1, 0]}", "[0.1, 0.7]", "[0.1, -0.6]"}};
  static const double by[] = {5, 10, 15, 19};
  for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
    double expected = NAN;
    for (size_t i = 0; i <= sizeof by / sizeof *by; i++) {
      const double L = i ? by[i - 1] : 1e-12; /* not exactly 0, where polar coordinates are singular */
      char bodies[1024], walls[600], place[512];
      snprintf(bodies, sizeof bodies,
               "  - {kind: particles, name: a, radius: 0.1, place: {chart: translation, points: [%s], move: [{killing: "
               "boost_x, by: $}]}, motion: {chart: translation, velocities: [%s]}}\n",
               rows[n].point, rows[n].velocity);
      const char *dollar = strchr(rows[n].wall, '$');
      snprintf(place, sizeof place, "%.*s%.17g%s", (int)(dollar - rows[n].wall), rows[n].wall, L, dollar + 1);
      snprintf(walls, sizeof walls, "walls: [{%s}]", place);
      simulation *s = run(rows[n].space, bodies, walls, 3, L);
      assert_true(s->events > 0);
      if (!i) expected = s->last.time;
      check_near(s->last.time, expected, 1e-11 + 8 * 2.3e-16 * exp(L));
      assert_int_equal(s->warnings, L > 16);
      simulation_free(s);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contacts_far_out_are_those_at_the_base_point),
      cmocka_unit_test(a_ball_is_caught_up_with_far_from_a_third),
      cmocka_unit_test(two_groups_that_go_opposite_ways_meet_each_by_itself),
      cmocka_unit_test(walls_far_out_are_met_as_at_the_base_point),
      cmocka_unit_test(what_the_world_cannot_tell_is_warned_of_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
