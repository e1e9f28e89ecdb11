/* Tests that a body which has come to rest on another body or on walls stays at rest: it has no momentum along the
 * normal and no negative energy, it satisfies its constraints, and later steps have no events. */
#include "memory_sink.h"

static void go(const char *text, memory_sink *m, cb_scenario **s) {
  check_ok(cb_scenario_open_text("test", text, NULL, 0, s));
  cb_sink sink = memory_open(m, cb_scenario_run(*s));
  check_ok(cb_run_go(cb_scenario_run(*s), &sink, NULL, NULL, NULL));
}

/* Checks that there are 11 to 59 events, all of them before the time `last`. */
static void check_events(const memory_sink *m, double last) {
  assert_true(m->n_events > 10 && m->n_events < 60);
  check_at_most(m->event[m->n_events - 1].time, last);
}

/* Two spheres fall on each other and bounce until they rest. The remaining kinetic energy is the square of the
 * round-off of momenta of size 1. In particular, the shifts that remove overlaps leave no normal part in the
 * momenta. */
static void spheres_rest_against_one_another(void **unused) {
  static const char *const where[][4] = {
      {"h3", "[0.6, pi/2, 0]", "[0.6, pi/2, pi]", "lobatto, stages: 4"},
      {"s3", "[0.6, pi/2, 0]", "[0.6, pi/2, pi]", "lobatto, stages: 4"},
      {"{name: h3, curvature: -4}", "[0.6, pi/2, 0]", "[0.6, pi/2, pi]", "lobatto, stages: 4"},
      {"h2xe", "[0.6, 0, 0.1]", "[0.6, pi, 0.1]", "lobatto, stages: 4"},
      {"{name: h3, chart: polar}", "[0.6, pi/2, 0]", "[0.6, pi/2, pi]", "gauss"},
      {"{name: s3, chart: polar}", "[0.6, pi/2, 0]", "[0.6, pi/2, pi]", "gauss"}};
  for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
    char text[2048];
    memory_sink m;
    cb_scenario *s;
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: %s\nbodies:\n"
        "  - {kind: particles, name: a, mass: 1, radius: 0.2, place: {chart: polar, points: [%s]}}\n"
        "  - {kind: particles, name: b, mass: 2, radius: 0.2, place: {chart: polar, points: [%s]}}\n"
        "interactions: [{pair_potential: gravity, strength: 1}]\ncontacts: {restitution: 0.5, accumulation: rest}\n"
        "integrator: {name: %s, step: 0.04}\ntime: {end: 4}\nrecord: {observables: [energy]}\n",
        where[i][0], where[i][1], where[i][2], where[i][3]);
    go(text, &m, &s);
    check_events(&m, 2.5);
    for (size_t row = 0; row < m.n_rows; row++) {
      const double kinetic = memory_value(&m, row, "kinetic_energy", 0);
      assert_true(kinetic >= 0);
      if (memory_value(&m, row, "time", 0) > 2.5) check_at_most(kinetic, 1e-26);
    }
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* A rod slides on a plane with both ends and is pulled towards a point below the plane. The corrections of a step keep
 * the length of the rod. They leave neither end above the plane, from where it would fall in the next step and cause
 * events. */
static void a_rod_slides_on_a_plane(void **unused) {
  static const char *const where[][5] = {
      {"h3", "{chart: polar, points: [[0.4, 0.9, 0], [0.5, 1.3, 1.1]]}", "[0, 0, 0, 1]", "[0, 0, 1, 0]",
       "{chart: polar, point: [1, pi - 0.3, 0.3]}"},
      {"s3", "{chart: polar, points: [[0.4, 0.9, 0], [0.5, 1.3, 1.1]]}", "[0, 0, 0, 1]", "[0, 0, 1, 0]",
       "{chart: polar, point: [1, pi - 0.3, 0.3]}"},
      {"e3", "{points: [[0.3, 0, 0.2], [-0.3, 0.1, 0.4]]}", "[0, 0, 0]", "[0, 0, 1]", "{point: [0.1, 0, -1]}"}};
  for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
    char text[2048];
    memory_sink m;
    cb_scenario *s;
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: %s\nbodies:\n"
             "  - {kind: rod, name: a, masses: [1, 2], radius: 0.05, link: rod, place: %s}\n"
             "contacts: {restitution: 0.5, accumulation: rest}\n"
             "potentials: [{harmonic: {stiffness: 2, rest: 0, at: %s}}]\n"
             "walls: [{plane: {at: {point: %s}, normal: %s, restitution: 0.4}}]\n"
             "integrator: {name: lobatto, stages: 4, step: 0.02}\ntime: {end: 4}\nrecord: {observables: "
             "[constraints]}\n",
             where[i][0], where[i][1], where[i][4], where[i][2], where[i][3]);
    go(text, &m, &s);
    check_events(&m, 2);
    for (size_t row = 0; row < m.n_rows; row++) {
      check_near(memory_value(&m, row, "constraint_residual", 0), 0, 5e-15);
      check_near(memory_value(&m, row, "constraint_rate_residual", 0), 0, 1e-14);
    }
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* A ball falls into a kink of the expression of one wall, or into the corner of two walls, and comes to rest there: at
 * the height of the kink, without momentum and without further events. */
static void a_ball_rests_in_a_kink(void **unused) {
  static const struct {
    const char *space, *place, *potential, *walls;
    double height; /* height of the centre of a ball of radius 0.1 in the kink */
  } where[] = {
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: y - abs(x) - r, restitution: 0.5}}", 0.1},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: y - sqrt(x^2) - r, restitution: 0.5}}", 0.1},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: 'min(y - x, y + x) - r', restitution: 0.5}}", 0.1},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: '(y - max(x, -0.5*x))/2 - r', restitution: 0.3}}", 0.2},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: y - abs(x - 0.2) - 0.3*x - r, restitution: 0.5}}",
       0.16},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: y - abs(abs(x) - 0.5) - r, restitution: 0.5}}", 0.1},
      {"e2", "points: [[0.3, 1]]", "9.81*m*y", "{expression: {value: y - abs(x) - r, restitution: 0}}", 0.981},
      {"e2", "points: [[0.3, 1]]", "m*y",
       "{expression: {value: y - 0.5*x - r, restitution: 0.5}}, {expression: {value: y + x - r, restitution: 0.5}}",
       0.1},
      {"e2", "points: [[0.3, 1]]", "m*y",
       "{plane: {at: {point: [0, 0]}, normal: [-3, 4], restitution: 0.5}}, "
       "{plane: {at: {point: [0, 0]}, normal: [3, 4], restitution: 0.5}}",
       0.125},
      {"e3", "points: [[0.3, 0.2, 1]]", "m*z", "{expression: {value: z - abs(x) - 0.7*abs(y) - r, restitution: 0.4}}",
       0.1},
      /* Kinks that are written with conditions or with a factor. In the third of these expressions one side is curved.
       * In the last one, each of the two sides has a second kink. */
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: 'y - if(x < 0, -x, x) - r', restitution: 0.5}}", 0.1},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: 'y + x - 2*step(x)*x - r', restitution: 0.5}}", 0.1},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: 'y - if(x < 0, x^2 - x, 2*x) - r', restitution: 0.5}}",
       0.1},
      {"e2", "points: [[0.3, 1]]", "m*y", "{expression: {value: (y - abs(x) - r)*(1 + x^2), restitution: 0.5}}", 0.1},
      {"e2", "points: [[0.3, 1]]", "m*y",
       "{expression: {value: 'y - if(x < 0, if(x < -0.5, -x - 0.5, x + 0.5), if(x < 0.5, 0.5 - x, x - 0.5)) - r', "
       "restitution: 0.5}}",
       0.1},
      /* Tips of cones. In the last case the force is not along the axis of the cone. */
      {"e3", "points: [[0.3, 0.1, 1]]", "m*z", "{expression: {value: 'z - hypot(x, y) - r', restitution: 0.5}}", 0.1},
      {"e3", "points: [[0.3, 0.3, 1]]", "m*z", "{expression: {value: z - sqrt(x^2 + y^2) - r, restitution: 0.5}}", 0.1},
      {"e3", "points: [[0.5, -0.1, 1]]", "m*z",
       "{expression: {value: z - sqrt(4*(x - 0.2)^2 + (y + 0.1)^2) - r, restitution: 0.5}}", 0.1},
      {"e3", "points: [[0, 0, 1]]", "m*z", "{expression: {value: 'z - hypot(x, y) - r', restitution: 0.5}}", 0.1},
      {"e3", "points: [[0.1, 0.1, 0.6]]", "m*(z - 0.3*x - 0.3*y)",
       "{expression: {value: 'z - hypot(x, y) - r', restitution: 0.5}}", 0.1}};
  for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
    char text[2048];
    memory_sink m;
    cb_scenario *s;
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: %s\nbodies:\n  - {kind: particles, name: a, radius: 0.1, place: {%s}}\n"
        "contacts: {restitution: 0.5, accumulation: rest}\npotentials: [{expression: {value: \"%s\"}}]\nwalls: [%s]\n"
        "integrator: {name: lobatto, stages: 4, step: 0.02}\ntime: {end: 8}\nrecord: {observables: [energy]}\n",
        where[i].space, where[i].place, where[i].potential, where[i].walls);
    go(text, &m, &s);
    assert_true(m.n_events > 1 && m.n_events < 200);
    for (size_t e = 0; e < m.n_events; e++) {
      assert_true(m.event[e].time < 6);
      assert_int_equal(m.event[e].particle, 0);
      if (i < 7) assert_int_equal(m.event[e].wall, 0); /* all branches of an expression have the index of one wall */
    }
    for (size_t row = 0; row < m.n_rows; row++) {
      assert_true(memory_value(&m, row, "kinetic_energy", 0) >= 0);
      if (memory_value(&m, row, "time", 0) < 6) continue;
      check_at_most(memory_value(&m, row, "kinetic_energy", 0), 1e-30); /* round-off of momenta, squared */
      check_near(memory_value(&m, row, "potential_energy", 0), where[i].height, 1e-13);
    }
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* A tetrahedron of rods falls on a plane and comes to rest on three corners. Events are impulses between flights that
 * become shorter as 0.4^n; the number of impulses faster than 0.01 does not depend on the step. The lost energy is the
 * sum of impulse |u- + u+|/2 over the impulses, with the rates u- and u+ of the gap before and after. Sliding makes an
 * error of first order in the step. At the end the tetrahedron rests on a face with the edges b and c. Its fourth
 * corner, at the end of the edge a from the same corner, is |a . (b × c)|/|b × c| above this face. */
static void a_tetrahedron_slides_on_a_plane(void **unused) {
  memory_sink m;
  cb_scenario *s;
  go("curvebody: 1\nspace: e3\nbodies:\n"
     "  - {kind: truss, name: a, radius: 0.05, place: {points: [[0.3, 0, 0.3], [-0.3, 0.1, 0.4], [0, 0.5, 0.5], "
     "[0.1, 0.1, 0.9]]}}\n"
     "contacts: {restitution: 0.5, accumulation: rest}\npotentials: [{expression: {value: m*z}}]\n"
     "walls: [{plane: {at: {point: [0, 0, 0]}, normal: [0, 0, 1], restitution: 0.4}}]\n"
     "integrator: {name: lobatto, stages: 4, step: 0.02}\ntime: {end: 10}\nrecord: {observables: [energy]}\n",
     &m, &s);
  assert_true(m.n_events > 20 && m.n_events < 160);
  check_at_most(m.event[m.n_events - 1].time, 3);
  double lost = 0;
  int fast = 0;
  for (size_t e = 0; e < m.n_events; e++) {
    const cb_event_row *row = &m.event[e];
    check_near(row->speed_after, -0.4 * row->speed_before, 1e-12);
    lost -= row->impulse * (row->speed_before + row->speed_after) / 2;
    fast += row->speed_before < -0.01;
  }
  assert_true(fast >= 24 && fast <= 25);
  const double height = 0.147 / sqrt(0.0819), fallen = 2.1 - 4 * 0.05 - height;
  check_near(memory_value(&m, m.n_rows - 1, "potential_energy", 0), 2.1 - fallen, 1e-13);
  check_near(lost, fallen, 3e-4);
  for (size_t row = 0; row < m.n_rows; row++) assert_true(memory_value(&m, row, "kinetic_energy", 0) >= 0);
  memory_free(&m);
  cb_scenario_free(s);
}

/* A slow ball on a table hits an equal ball that rests there. The impulse is perpendicular to the weight of both balls,
 * and must not be mistaken for a fall onto the table. With the restitution e and the speed v the speeds afterwards are
 * (1 - e) v/2 and (1 + e) v/2. */
static void balls_on_a_table_meet(void **unused) {
  static const double speed[] = {0.01, 0.1, 1};
  for (size_t i = 0; i < sizeof speed / sizeof *speed; i++) {
    char text[2048];
    memory_sink m;
    cb_scenario *s;
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: e3\nbodies:\n"
             "  - {kind: particles, name: a, radius: 0.1, place: {points: [[0, 0, 0.1]]}, motion: {velocities: [[%g, "
             "0, 0]]}}\n"
             "  - {kind: particles, name: b, radius: 0.1, place: {points: [[0.25, 0, 0.1]]}}\n"
             "contacts: {restitution: 0.9, accumulation: rest}\npotentials: [{expression: {value: 9.81*m*z}}]\n"
             "walls: [{plane: {at: {point: [0, 0, 0]}, normal: [0, 0, 1], restitution: 0.5}}]\n"
             "integrator: {name: lobatto, stages: 4, step: 0.02}\ntime: {end: %g}\nrecord: {observables: [energy]}\n",
             speed[i], 0.1 / speed[i]);
    go(text, &m, &s);
    assert_int_equal(m.n_events, 1);
    check_near(m.event[0].time, 0.05 / speed[i], 1e-9 / speed[i]);
    check_near(m.event[0].speed_before, -speed[i], 1e-9);
    check_near(memory_value(&m, m.n_rows - 1, "kinetic_energy", 0), speed[i] * speed[i] * (1 + 0.81) / 4, 1e-9);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* A system of four coordinates falls on a wall a >= 0 with restitution 1/2: a = 1 - t^2/2 at first. Contacts are at the
 * times sqrt(2) (1 + 2 (1/2 + 1/4 + ..)), which accumulate at 3 sqrt(2). The key `accumulation` of `contacts` acts on
 * walls, although the configuration space of a system has no contacts between bodies. */
static void a_system_rests_on_a_wall(void **unused) {
  memory_sink m;
  cb_scenario *s;
  go("curvebody: 1\nsystem:\n  coordinates: [a, b, c, d]\n  metric: [[1], [0, 1], [0, 0, 1], [0, 0, 0, 1]]\n"
     "  potential: a\n  position: [1, 0, 0, 0]\n  velocity: [0, 0.3, 0, 0]\n"
     "contacts: {accumulation: rest}\nwalls:\n  - expression: {value: a, restitution: 0.5}\n"
     "integrator: {name: gauss, stages: 2, step: 0.05}\ntime: {end: 8}\n",
     &m, &s);
  check_events(&m, 3 * sqrt(2));
  check_near(m.event[1].time, 2 * sqrt(2), 1e-13);
  /* The last contacts before the limit are replaced by rest. */
  check_near(m.event[m.n_events - 1].time, 3 * sqrt(2), 1e-6);
  check_near(memory_value(&m, m.n_rows - 1, "position", 0), 0, 1e-13);
  check_near(memory_value(&m, m.n_rows - 1, "position", 1), 0.3 * 8, 1e-12);
  memory_free(&m);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spheres_rest_against_one_another),
      cmocka_unit_test(a_rod_slides_on_a_plane),
      cmocka_unit_test(a_ball_rests_in_a_kink),
      cmocka_unit_test(a_tetrahedron_slides_on_a_plane),
      cmocka_unit_test(balls_on_a_table_meet),
      cmocka_unit_test(a_system_rests_on_a_wall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
