/* Tests of bodies whose coordinates are far from the base point. They move as at the base point, because the spaces are
 * homogeneous. If a quantity cannot be represented there, the error names it. */
#include "check_geometry.h"
#include "simulate.h"

#include <float.h>

static const double distances[] = {0, 5, 15, 400, 9000, 1e4};
enum { DISTANCES = sizeof distances / sizeof *distances };

/* Writes `body` to `text` of size `room`, with each $ replaced by the distance a. */
static void at(const char *body, double a, char *text, size_t room) {
  size_t used = 0;
  for (const char *c = body; *c && used + 32 < room; c++) {
    if (*c == '$')
      used += (size_t)snprintf(text + used, room - used, "(%.17g)", a);
    else
      text[used++] = *c;
  }
  text[used] = 0;
}

static simulation *run(const char *space, const char *body, double a, const char *const *fields) {
  char placed[2048], text[3072];
  at(body, a, placed, sizeof placed);
  snprintf(
      text, sizeof text,
      "curvebody: 1\ntitle: t\nspace: %s\nbodies:\n%s\nstart: {project: auto}\nintegrator: {name: lobatto, stages: "
      "4, step: 0.02}\ntime: {end: 4}\nrecord: {every: 5, chart: polar, observables: [separation, energy, "
      "killing_momentum, constraints, coordinates]}\n",
      space, placed);
  return simulate(text, NULL, 0, fields);
}

static double largest_difference(const simulation *a, const simulation *b, int field) {
  double most = a->rows == b->rows && a->width[field] == b->width[field] ? 0 : NAN;
  for (size_t i = 0; i < a->rows * a->width[field]; i++)
    if (!(fabs(a->value[field][i] - b->value[field][i]) <= most)) most = fabs(a->value[field][i] - b->value[field][i]);
  return most;
}

/* --- rods along a geodesic --- */

static void a_rod_has_the_same_motion_at_any_distance(void **state) {
  static const char *const fields[] = {"separation", "energy", "killing_momentum", "coordinates", NULL};
  static const struct {
    const char *space, *body;
    int killing; /* index of the Killing field along which the body moves */
  } cases[] = {
      {"h3",
       "  - {kind: rod, name: a, link: {spring: {stiffness: 1, rest: 0.6}}, masses: [1, 2.7], place: {chart: "
       "polar, points: [[$, pi/2, pi/2], [$ + 1, pi/2, pi/2]]}, motion: {killing: boost_y, speed: 0.7}}",
       1},
      {"{name: h3, curvature: -1.7}",
       "  - {kind: rod, name: a, link: {spring: {stiffness: 1, rest: 0.6}}, masses: [1, 2.7], place: {chart: polar, "
       "points: [[$, pi/2, -pi], [$ + 1, pi/2, -pi]]}, motion: {killing: boost_x, speed: 0.7}}",
       0},
      {"h3",
       "  - {kind: rod, name: a, link: rod, masses: [1, 2.7], place: {chart: translation, points: [[0, 0, -$], "
       "[0, 0, -$ - 1]]}, motion: {killing: boost_z, speed: 0.7}}",
       2},
      {"h2",
       "  - {kind: rod, name: a, link: {spring: {stiffness: 1, rest: 0.6}}, masses: [1, 2.7], place: {chart: "
       "polar, points: [[$, 0], [$ + 1, 0]]}, motion: {killing: boost_x, speed: 0.7}}",
       0},
      {"h2xe",
       "  - {kind: rod, name: a, link: {spring: {stiffness: 1, rest: 0.6}}, masses: [1, 2.7], place: {chart: "
       "polar, points: [[$, 0, 3], [$ + 1, 0, 3.4]]}, motion: [{killing: boost_x, speed: 0.7}, {killing: "
       "translation_z, speed: 2}]}",
       0},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    simulation *near = run(cases[n].space, cases[n].body, 0, fields);
    for (int d = 1; d < DISTANCES; d++) {
      const double a = distances[d];
      simulation *far = run(cases[n].space, cases[n].body, a, fields);
      const double error = largest_difference(near, far, 0), energy = largest_difference(near, far, 1);
      /* Distances are stored in radii of curvature. For the curvature -1.7 (n = 1) the conversion has round-off, which
       * is proportional to the distance a. */
      const double tolerance = n == 1 ? 2e-14 + 4e-16 * a : 2e-14;
      double drift = 0, first = far->value[2][cases[n].killing];
      for (size_t r = 0; r < far->rows; r++)
        drift = fmax(drift, fabs(far->value[2][r * far->width[2] + (size_t)cases[n].killing] - first));
      if (d == 4)
        print_message("%s at %g: separations differ by %.1e, energies by %.1e, momentum drifts by %.1e\n",
                      cases[n].space, a, error, energy, drift);
      check_at_most(error, tolerance);
      check_at_most(energy, tolerance);
      check_near(first, near->value[2][cases[n].killing], 4e-15);
      check_at_most(drift, 4e-14);
      if (n != 2) check_near(far->value[3][0], a, 1e-15 * a); /* the scenario gives this coordinate as a */
      simulation_free(far);
    }
    simulation_free(near);
  }
}

/* The polar velocities w/sinh(a) across the radius at [a, pi/2, 0] have the size w. They give the same motion as w at
 * the base point. */
static void velocities_in_the_chart_of_the_place_are_those_near_it(void **state) {
  static const char *const fields[] = {"separation", "energy", NULL};
  static const char *const far_body =
      "  - {kind: rod, name: a, masses: [1, 2.7], place: {chart: polar, points: [[$, pi/2, 0], [$ + 1, pi/2, 0]]}, "
      "motion: {chart: polar, velocities: [[0.1, -0.4/sinh($), 0.3/sinh($)], [0.2, 0.5/sinh($ + 1), 0.1/sinh($ + "
      "1)]]}}";
  static const char *const near_body =
      "  - {kind: rod, name: a, masses: [1, 2.7], place: {points: [[0, 0, 0, 1], [sinh(1), 0, 0, cosh(1)]]}, motion: "
      "{velocities: [[0.1, 0.3, 0.4, 0], [0.2*cosh(1), 0.1, -0.5, 0.2*sinh(1)]]}}";
  simulation *near = run("h3", near_body, 0, fields);
  for (double a = 5; a < 720; a += 116) {
    simulation *far = run("h3", far_body, a, fields);
    check_at_most(largest_difference(near, far, 0), a < 700 ? 1e-13 : 1e-11); /* sinh(a) is near the largest double */
    simulation_free(far);
  }
  simulation_free(near);
}

/* --- other bodies --- */

/* A body whose place is given by one point has bit for bit the same motion for every distance of this point. */
static void what_stands_about_a_point_moves_alike_wherever_it_is(void **state) {
  static const char *const fields[] = {"energy", NULL}, *const held[] = {"energy", "multiplier", NULL};
  static const struct {
    const char *space, *body;
    bool held;
    double tolerance; /* tolerance for bodies that also depend on another point or frame */
  } cases[] = {
      {"h3",
       "  - {kind: chain, name: c, count: 5, length: 2, from: {chart: polar, point: [$, 1, 1]}, along: [1, 0.3, "
       "0]}\npotentials: [{central: {pair_potential: harmonic, at: {chart: polar, point: [$ + 0.3, 1, 1]}}}]",
       true, 1e-11},
      {"h3",
       "  - {kind: chain, name: c, count: 3, length: 1, from: {chart: polar, point: [$, 1, 1]}, along: [1, 0.3, "
       "0], fixed: first}\npotentials: [{central: {pair_potential: harmonic, at: {chart: polar, point: [$ + 0.3, 1, "
       "1]}}}]",
       true, 1e-11},
      {"h3",
       "  - {kind: pendulum, name: p, link: {spring: {stiffness: 2, rest: .3}}, pivot: {chart: polar, point: "
       "[$, 1, 2]}, tangent: [.3, .2, .6]}",
       false, 0},
      {"h2xe",
       "  - {kind: network, name: n, lattice: {size: [3, 3, 2], spacing: .3, at: {chart: polar, point: [$, 1, "
       "7]}}, stiffness: 2, rest: .4}",
       false, 0},
      {"h3",
       "  - {kind: truss, name: n, place: {at: {chart: polar, point: [$, 1, 2]}, tangent: [[0, 0, 0], [.1, .8, "
       "0], [0, 0, .9]]}}\nconstraints: [{distance_to_point: {particle: [n, 0], at: {chart: polar, point: [$ + 0.5, 1, "
       "2]}}}]\npotentials: [{central: {pair_potential: harmonic, at: {chart: polar, point: [$ + 0.7, 1, 2]}}}]",
       true, 1e-11},
      {"h3",
       "  - {kind: gas, name: n, count: 8, radius: .05, container_radius: .5, temperature: .1, at: {chart: polar, "
       "point: "
       "[$, 1, 2]}}\ncontacts: {within: [n]}",
       false, 1e-14},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    simulation *near = run(cases[n].space, cases[n].body, 15, cases[n].held ? held : fields);
    for (int d = 3; d < DISTANCES; d++) {
      simulation *far = run(cases[n].space, cases[n].body, distances[d], cases[n].held ? held : fields);
      for (int f = 0; f < far->n_fields; f++) check_at_most(largest_difference(near, far, f), cases[n].tolerance);
      simulation_free(far);
    }
    check_near(near->value[0][near->rows - 1], near->value[0][0], 1e-3);
    simulation_free(near);
  }
}

/* A pendulum swings around a nearby pivot. Particle and pivot are given separately by their coordinates. */
static void a_pivot_far_out_is_not_lost_on_the_way(void **state) {
  static const char *const fields[] = {"energy", "multiplier", NULL};
  static const char *const body =
      "  - {kind: particles, name: n, place: {chart: polar, points: [[$, pi/2, 0]]}, motion: {chart: polar, "
      "velocities: [[0, 0, 1.3/sinh($)]]}}\nconstraints: [{distance_to_point: {particle: [n, 0], at: {chart: polar, "
      "point: [$ - "
      "1, pi/2, 0]}}}]\npotentials: [{central: {pair_potential: harmonic, strength: 2, at: {chart: polar, point: [$ + "
      "0.4, pi/2, "
      "0]}}}]";
  simulation *near = run("h3", body, 1.5, fields);
  for (int d = 1; d < 4; d++) {
    simulation *far = run("h3", body, distances[d], fields);
    check_at_most(largest_difference(near, far, 0), 1e-13);
    check_at_most(largest_difference(near, far, 1), 1e-11);
    simulation_free(far);
  }
  simulation_free(near);
}

/* Free particles that are far from one another move along their geodesics. */
static void particles_of_one_body_may_be_far_from_one_another(void **state) {
  static const char *const fields[] = {"coordinates", "killing_momentum", NULL};
  simulation *s = run("h3",
                      "  - {kind: particles, name: n, place: {chart: polar, points: [[$, 1, 2], [$, 2, 1], [1, 0.5, "
                      "1], [$ + 1, 2, 1]]}, motion: {chart: polar, velocities: [[0.5, 0, 0], [-0.25, 0, 0], [0.125, "
                      "0, 0], [0, 0, 0]]}}",
                      1e4, fields);
  const double *q = s->value[0] + (s->rows - 1) * s->width[0], t = 4;
  const double expected[4][3] = {
      {1e4 + 0.5 * t, 1, 2}, {1e4 - 0.25 * t, 2, 1}, {1 + 0.125 * t, 0.5, 1}, {1e4 + 1, 2, 1}};
  for (int i = 0; i < 4; i++)
    for (int a = 0; a < 3; a++) check_near(q[3 * i + a], expected[i][a], 2e-12);
  for (int k = 0; k < 6; k++)
    assert_true(isnan(s->value[1][k])); /* momenta about the world's axes overflow for points this far out */
  simulation_free(s);
}

/* --- momenta about the world's axes --- */

/* In free motion that starts near the base point, the momenta are constant until the round-off of the frames is too
 * large to compute them. From then on they are nan, and one warning reports this. */
static void momenta_of_a_flight_are_kept_or_nan(void **state) {
  static const char *const fields[] = {"killing_momentum", NULL};
  static const struct {
    const char *space, *point, *velocity;
  } cases[] = {{"h3", "[1, 1, 1]", "[1, 0, 0]"},
               {"{name: h3, curvature: -0.6}", "[1, 1, 1]", "[1.2, 0.4, 0.1]"},
               {"h2", "[0.5, 2]", "[-1, 0.3]"},
               {"h2xe", "[1, 1, 1]", "[1, 0.2, 0.7]"}};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: %s\nbodies:\n  - {kind: particles, name: a, place: {chart: polar, points: [%s]}, "
        "motion: {chart: polar, velocities: [%s]}}\nintegrator: {name: lobatto, stages: 4, step: 0.05}\ntime: {end: "
        "60}\nrecord: {every: 20, observables: [killing_momentum]}\n",
        cases[n].space, cases[n].point, cases[n].velocity);
    simulation *s = simulate(text, NULL, 0, fields);
    size_t known = 0, width = s->width[0];
    for (size_t r = 0; r < s->rows; r++)
      for (size_t i = 0; i < width; i++) {
        const double value = s->value[0][r * width + i];
        if (isnan(value)) continue;
        known++;
        check_near(value, s->value[0][i], 2e-6);
        if (r < 14) check_near(value, s->value[0][i], 1e-8); /* 20 exp(14) units in the last place */
      }
    assert_true(known >= 14 * width);
    assert_true(isnan(s->value[0][(s->rows - 1) * width]));
    /* The momentum along the flat factor can be computed at any distance. */
    if (n == 3) check_near(s->value[0][(s->rows - 1) * width + 3], 0.7, 1e-14);
    assert_int_equal(s->warnings, 1);
    assert_true(isnan(cb_run_changes(cb_scenario_run(s->scenario)).momentum));
    simulation_free(s);
  }
}

/* The momenta E of the boosts and B of the rotations transform under a boost by L along x, with c = cosh L and s = sinh
 * L: E_y' = c E_y + s B_z, E_z' = c E_z - s B_y, B_y' = c B_y - s E_z, B_z' = c B_z + s E_y; E_x and B_x do not
 * change. */
static void momenta_of_what_is_boosted_are_those_of_the_boost(void **state) {
  static const char *const fields[] = {"killing_momentum", NULL};
  static const double by[] = {10, 20, 40, 100, 400, 650};
  double first[6];
  for (size_t n = 0; n <= sizeof by / sizeof *by; n++) {
    const double L = n ? by[n - 1] : 0, c = cosh(L), s = sinh(L);
    char text[1024];
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: h3\nbodies:\n  - {kind: particles, name: a, place: {points: [[0.3, 0.2, 0, sqrt(1.13)]], "
        "move: [{killing: boost_x, by: %g}]}, motion: {velocities: [[0.4, 0.5, 0.7, 0.22/sqrt(1.13)]]}}\nintegrator: "
        "{name: lobatto, stages: 4, step: 0.01}\ntime: {end: 1}\nrecord: {every: 100, observables: "
        "[killing_momentum]}\n",
        L);
    simulation *run_of = simulate(text, NULL, 0, fields);
    const double *J = run_of->value[0] + 6;
    if (!n) memcpy(first, J, sizeof first);
    const double expected[6] = {first[0], c * first[1] + s * first[5], c * first[2] - s * first[4],
                                first[3], c * first[4] - s * first[2], c * first[5] + s * first[1]};
    for (int i = 0; i < 6; i++) check_near(J[i] / expected[i], 1, 1e-13); /* round-off of lengths of up to 650 */
    simulation_free(run_of);
  }
}

/* After a boost by L, the coordinates x and w of a point are both (x + w) exp(L)/2, where x and w on the right are
 * those before the boost. The squares of these numbers overflow if L exceeds 354 radii. */
static void coordinates_of_the_embedding_are_told_where_their_squares_overflow(void **state) {
  static const char *const fields[] = {"coordinates", NULL};
  static const double by[] = {40, 350, 400, 700};
  for (size_t n = 0; n < sizeof by / sizeof *by; n++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: h3\nbodies:\n  - {kind: particles, name: a, place: {points: [[0.3, 0.2, 0, sqrt(1.13)]], "
        "move: [{killing: boost_x, by: %g}]}}\nintegrator: {name: lobatto, step: 0.1}\ntime: {end: 1}\nrecord: {every: "
        "10, chart: embedding, observables: [coordinates]}\n",
        by[n]);
    simulation *s = simulate(text, NULL, 0, fields);
    const double expected = (0.3 + sqrt(1.13)) / 2 * exp(by[n]);
    check_near(s->value[0][0] / expected, 1, 1e-13);
    check_near(s->value[0][1], 0.2, 1e-15);
    check_near(s->value[0][3] / expected, 1, 1e-13);
    simulation_free(s);
  }
}

/* --- ends far from one another --- */

/* A rod whose length changes without rotation swings like a spring between two masses: its length is L - 0.1
 * cos(sqrt(2) t), where L is the rest length. If the ends are at r radii from their middle, they satisfy the equation
 * of the space up to a round-off of exp(2 r) units in the last place. */
static void rods_of_any_length_that_is_allowed_swing_as_their_closed_form(void **state) {
  static const char *const fields[] = {"separation", "energy", NULL};
  static const struct {
    const char *space, *integrator, *angles;
    double radius;
  } cases[] = {
      {"h3", "{name: lobatto, stages: 4, step: 0.05}", ", pi/2, 0], [$, pi/2, pi]", 1},
      {"h3", "{name: lobatto, stages: 3, step: 0.01, solver: newton}", ", 1, 0.3], [$, pi - 1, 0.3 + pi]", 1},
      {"h3", "{name: lobatto, stages: 4, step: 0.02, solver: fixed-point}", ", pi/2, 0], [$, pi/2, pi]", 1},
      {"{name: h3, curvature: -4}", "{name: lobatto, stages: 4, step: 0.02}", ", pi/2, 0], [$, pi/2, pi]", 0.5},
      {"h2", "{name: lobatto, stages: 4, step: 0.05}", ", 0.4], [$, 0.4 + pi]", 1},
      {"h2xe", "{name: lobatto, stages: 4, step: 0.05}", ", 0, 1], [$, pi, 1]", 1},
      {"h3", "{name: gauss, stages: 3, step: 0.05}", ", pi/2, 0], [$, pi/2, pi]", 1}};
  static const double lengths[] = {8, 11, 12, 14, 17, 20};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      const double L = lengths[l] * cases[n].radius, half = (L - 0.1) / 2, grown = cosh(lengths[l] / 2);
      char points[256], text[1024];
      snprintf(points, sizeof points, "[[$%s]", cases[n].angles);
      char placed[512];
      at(points, half, placed, sizeof placed);
      snprintf(
          text, sizeof text,
          "curvebody: 1\nspace: %s\nbodies:\n  - {kind: rod, name: a, link: {spring: {stiffness: 1, rest: %.17g}}, "
          "place: "
          "{chart: polar, points: %s}}\nintegrator: %s\ntime: {end: 3}\nrecord: {every: 1, observables: [separation, "
          "energy]}\n",
          cases[n].space, L, placed, cases[n].integrator);
      simulation *s = simulate(text, NULL, 0, fields);
      const double h = 3.0 / (double)(s->rows - 1);
      for (size_t r = 0; r < s->rows; r++)
        check_near(s->value[0][r], L - 0.1 * cos(sqrt(2) * h * (double)r), 3e-11 + 2 * DBL_EPSILON * grown * grown);
      simulation_free(s);
    }
}

/* Particles repel one another. When their coordinates about one origin overflow, the run stops and the error names this
 * reason. The energy is conserved until then. */
static void what_scatters_too_far_is_told_so(void **state) {
  static const char *const integrators[] = {"{name: lobatto, stages: 4, step: 0.02}",
                                            "{name: gauss, stages: 3, step: 0.02}", "{name: rk4, step: 0.005}"};
  for (size_t n = 0; n < sizeof integrators / sizeof *integrators; n++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: h3\nbodies:\n  - {kind: particles, name: a, charge: 1, place: {chart: polar, points: "
        "[[0.5, 1.1, 0.4]]}, motion: {chart: polar, velocities: [[1, 0, 0.1]]}}\n  - {kind: particles, name: b, "
        "charge: 1, mass: 2, place: {chart: polar, points: [[0.5, pi - 1.1, 0.4 + pi]]}, motion: {chart: polar, "
        "velocities: [[1, 0, 0]]}}\ninteractions: [{pair_potential: coulomb, strength: 1, between: [a, "
        "b]}]\nintegrator: %s\n"
        "time: {end: 20}\nrecord: {every: 1, observables: [energy]}\n",
        integrators[n]);
    simulation s = {0};
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s.scenario));
    cb_run *run_of = cb_scenario_run(s.scenario);
    cb_sink sink = {&s, simulate_row, simulate_event, simulate_checkpoint, NULL};
    if (cb_run_go(run_of, &sink, NULL, NULL, NULL) != CB_ERROR_STEP) fail_msg("%s", cb_error_text());
    if (!strstr(cb_error_text(), "radii of curvature from the centre of its component"))
      fail_msg("%s", cb_error_text());
    assert_true(cb_run_time(run_of) > 8.5);
    check_at_most(cb_run_changes(run_of).energy, 1e-7); /* round-off of coordinates of size exp(21) */
    cb_scenario_free(s.scenario);
  }
}

/* --- errors --- */

static void what_cannot_be_told_far_out_is_refused_by_name(void **state) {
  static const struct {
    const char *space, *body, *text;
  } cases[] = {
      {"h3", "  - {kind: particles, place: {points: [[sinh(400), 0, 0, cosh(400)]]}}",
       "test:5:40: error: the point is too far away for coordinates of the embedding, which overflow there: expected "
       "at most 354.8 from the base point of h3"},
      {"{name: h3, chart: polar}", "  - {kind: particles, place: {points: [[400, 1, 1]]}}",
       "test:5:40: error: the coordinates are outside the chart, or so large that numbers overflow; expected at most "
       "[355.6, 0.889, 0.889] in this direction"},
      {"sol", "  - {kind: particles, place: {points: [[0, 0, 400]]}}",
       "test:5:40: error: the chart is singular at this point; expected at most [0, 0, 354.9] in this direction"},
      {"h3", "  - {kind: rod, place: {chart: polar, points: [[400, 1, 1], [421, 1, 1]]}}",
       "test:5:61: error: points: two points are 21 apart, expected at most 20 in a body whose particles are joined"},
      {"h3",
       "  - {kind: particles, name: a, place: {chart: polar, points: [[400, 1, 1], [421, 1, 1]]}}\n"
       "interactions: [{pair_potential: gravity}]",
       "a.0 and a.1 are connected, and are 21 apart: expected at most 20"},
      {"h3", "  - {kind: particles, place: {chart: polar, points: [[400, 1, 1]]}, motion: {killing: boost_x}}",
       "test:5:77: error: motion: the field boost_x overflows 400 from the base point: expected a distance of at most "
       "354"},
      {"h3",
       "  - {kind: particles, place: {chart: polar, points: [[400, 1, 1]]}, motion: {velocities: [[0, 0, 0, 0]]}}",
       "test:5:91: error: velocities: a particle is 400 from the base point: expected velocities in the chart of its "
       "place, or a distance of at most 10, or `move` in `place`"},
      {"h3",
       "  - {kind: pendulum, pivot: {chart: polar, point: [400, 1, 1]}, place: {chart: polar, points: [[3, 1, 1]]}}",
       "test:5:29: error: pivot: the point is 397 from the particle, expected at most 20"},
      {"h3",
       "  - {kind: particles, place: {points: [[0, 0, 0, 1]]}}\nwalls: [{ball: {at: {chart: polar, point: [400, "
       "1, 1]}, radius: 1}}]",
       "test:6:21: error: at: the point is 400 from the base point, expected at most 20"},
      {"h3",
       "  - {kind: particles, name: a, place: {chart: polar, points: [[400, 1, 1]]}}\npotentials: [{expression: "
       "{chart: polar, value: a}}]",
       "potential, an expression of coordinates `polar`: a.0 starts 400 from the base point, expected at most 8"},
      {"h3",
       "  - {kind: particles, name: a, place: {chart: polar, points: [[400, 1, 1]]}}\npotentials: [{expression: "
       "{value: w}}]",
       "potential, an expression of coordinates `embedding`: a.0 starts 400 from the base point, expected at most 350"},
      {"h3",
       "  - {kind: particles, name: a, place: {chart: polar, points: [[400, 1, 1]]}}\nconstraints: [{surface: "
       "{body: a, chart: polar, value: a - 400}}]",
       "surface, an expression of coordinates `polar`: a.0 starts 400 from the base point, expected at most 8"},
      {"h3",
       "  - {kind: particles, name: a, place: {chart: polar, points: [[400, 1, 1]]}}\nwalls: [{expression: "
       "{chart: polar, value: 401 - a, name: rim}}]",
       "rim, an expression of coordinates `polar`: a.0 starts 400 from the base point, expected at most 8"},
      {"h3",
       "  - {kind: particles, name: a, place: {chart: polar, points: [[400, 1, 1]]}}\nevents: [{expression: "
       "{particle: [a, 0], chart: polar, value: 401 - a, name: rim}}]",
       "rim, an expression of coordinates `polar`: a.0 starts 400 from the base point, expected at most 8"},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char text[2048];
    cb_scenario *s = NULL;
    snprintf(text, sizeof text,
             "curvebody: 1\ntitle: t\nspace: %s\nbodies:\n%s\nintegrator: {name: lobatto, step: 0.1}\ntime: {end: 1}\n",
             cases[n].space, cases[n].body);
    assert_int_not_equal(cb_scenario_open_text("test", text, NULL, 0, &s), CB_OK);
    if (!strstr(cb_error_text(), cases[n].text))
      fail_msg("%s:\n  found    %s\n  expected %s", cases[n].body, cb_error_text(), cases[n].text);
  }
}

/* The mean of the masses 1 and 3 is at three quarters of the way from the first to the second. Both masses are at the
 * distance a from the base point, in nearly opposite directions. The coordinates of the mean were computed by mpmath
 * with 600 digits. */
static void the_mean_of_masses_far_apart_is_found(void **state) {
  static const struct {
    double a, mean[3];
  } cases[] = {{8, {-27.2692540762356, 1.13523624119478, 27.3111878027598}},
               {15, {-903.336760290677, 37.5938654400156, 904.119240593396}},
               {100, {-2.5903908514884e+21, 1.07803401308184e+20, 2.59263308950735e+21}},
               {300, {-6.96327405188967e+64, 2.89788171002614e+63, 6.96930145034443e+64}},
               {320, {-1.53376317723813e+69, 6.38300923632868e+67, 1.53509080009708e+69}},
               {360, {-7.44128511597078e+77, 3.0968139234459e+76, 7.44772628000873e+77}},
               {1400, {-5.06732237999988e+303, 2.10885005162518e+302, 5.07170864583624e+303}}};
  static const char *const fields[] = {"karcher_mean", NULL};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char text[1024];
    snprintf(text, sizeof text,
             "curvebody: 1\ntitle: t\nspace: h2\nbodies:\n  - {kind: particles, name: a, masses: [1, 3], place: "
             "{chart: polar, points: [[%g, 0], [%g, 3.1]]}}\nintegrator: {name: lobatto, stages: 4, step: 0.01}\n"
             "time: {end: 0.01}\nrecord: {every: 1, observables: [karcher_mean]}\n",
             cases[n].a, cases[n].a);
    simulation *s = simulate(text, NULL, 0, fields);
    /* The coordinates of the mean have the size exp(a), and their relative round-off grows with a. */
    for (int i = 0; i < 3; i++) check_relative(s->value[0][i], cases[n].mean[i], 1e-14 * (20 + cases[n].a));
    assert_int_equal(s->warnings, 0);
    simulation_free(s);
  }
}

/* A mean that is not unique, or too far out to be represented, is nan, and one warning gives the reason. */
static void a_mean_that_is_nan_is_warned_of_once(void **state) {
  static const struct {
    const char *space, *points, *reason;
  } cases[] = {{"h2", "[1500, 0], [1500, 3.1]", "750 radii of curvature from the base point: expected at most 709"},
               {"{name: h2, curvature: -4}", "[-900, 0], [-880, 0.1]", "expected at most 709"},
               {"s2", "[pi/2, 0], [pi/2, pi]", "spread all around the sphere"}};
  static const char *const fields[] = {"karcher_mean", NULL};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char text[1024];
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: %s\nbodies:\n  - {kind: particles, name: a, masses: [%s], place: "
             "{chart: polar, points: [%s]}}\nintegrator: {name: lobatto, stages: 4, step: 0.01}\n"
             "time: {end: 0.05}\nrecord: {every: 1, observables: [karcher_mean]}\n",
             cases[n].space, n == 2 ? "1, 1" : "1, 3", cases[n].points);
    simulation *s = simulate(text, NULL, 0, fields);
    const cb_run_warning *warning;
    for (size_t i = 0; i < 3 * s->rows; i++) assert_true(isnan(s->value[0][i]));
    assert_int_equal(cb_run_warnings(cb_scenario_run(s->scenario), &warning), 1);
    assert_non_null(strstr(warning->text, "karcher_mean: "));
    assert_non_null(strstr(warning->text, cases[n].reason));
    simulation_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rod_has_the_same_motion_at_any_distance),
      cmocka_unit_test(velocities_in_the_chart_of_the_place_are_those_near_it),
      cmocka_unit_test(what_stands_about_a_point_moves_alike_wherever_it_is),
      cmocka_unit_test(a_pivot_far_out_is_not_lost_on_the_way),
      cmocka_unit_test(particles_of_one_body_may_be_far_from_one_another),
      cmocka_unit_test(the_mean_of_masses_far_apart_is_found),
      cmocka_unit_test(a_mean_that_is_nan_is_warned_of_once),
      cmocka_unit_test(momenta_of_a_flight_are_kept_or_nan),
      cmocka_unit_test(momenta_of_what_is_boosted_are_those_of_the_boost),
      cmocka_unit_test(rods_of_any_length_that_is_allowed_swing_as_their_closed_form),
      cmocka_unit_test(what_scatters_too_far_is_told_so),
      cmocka_unit_test(coordinates_of_the_embedding_are_told_where_their_squares_overflow),
      cmocka_unit_test(what_cannot_be_told_far_out_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
