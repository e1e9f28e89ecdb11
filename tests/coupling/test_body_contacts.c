/* Rigid bodies that touch each other by their shapes: impacts against closed forms, conserved quantities, and rest. */
#include "core/failure.h"
#include "coupling/convex.h"
#include "memory_sink.h"
#include "numerics/vec3.h"
#include "run/fluid_run.h"

static const double pi = 3.14159265358979323846;

static const double *last(const memory_sink *m, const char *name) { return memory_field(m, m->n_rows - 1, name); }

static void finish(memory_sink *m, cb_scenario *s) {
  memory_free(m);
  cb_scenario_free(s);
}

/* Computes the velocity of body i in the axes of the world. */
static void velocity(const memory_sink *m, size_t row, int i, double out[3]) {
  double r[3][3];
  cb_quaternion_rotation(memory_field(m, row, "pose") + 7 * i + 3, r);
  cb_apply3(r, memory_field(m, row, "twist") + 6 * i + 3, out);
}

/* Removes all events that are not contacts, such as warnings, from the list. Returns the number of contacts. */
static size_t contacts(memory_sink *m) {
  size_t n = 0;
  for (size_t e = 0; e < m->n_events; e++)
    if (m->event[e].kind == CB_EVENT_REFLECT) m->event[n++] = m->event[e];
  return m->n_events = n;
}

/* --- impacts of balls --- */

static void head_on_impact_has_the_closed_form(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true, restitution: 0.7}\nbodies:\n"
      "  - {name: a, shape: {name: ball, radius: 0.1}, inertial: {mass: 2, inertia: [1, 1, 1]}, motion: {velocity: "
      "[0.5, "
      "0, 0]}}\n"
      "  - {name: b, shape: {name: ball, radius: 0.2}, inertial: {mass: 3, inertia: [1, 1, 1]}, place: {position: [1, "
      "0, "
      "0]}, motion: {velocity: [-0.25, 0, 0]}}\n"
      "  - {kind: particles, name: p, mass: 0.5, radius: 0.05, place: {points: [[-1, 0, 0]]}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1.5}\n";
  memory_sink m;
  double v[2][3];
  cb_scenario *s = memory_go(&m, text);
  assert_int_equal(contacts(&m), 1);
  check_near(m.event[0].time, .7 / .75, 1e-13);
  /* `particle` and `other` are numbers in the dimension `particle`, in which bodies come before particles */
  assert_int_equal(m.event[0].particle, 0);
  assert_int_equal(m.event[0].other, 1);
  const double J = 1.7 * .75 / (1. / 2 + 1. / 3);
  check_near(m.event[0].impulse, J, 1e-14);
  for (int i = 0; i < 2; i++) velocity(&m, m.n_rows - 1, i, v[i]);
  check_near(v[0][0], .5 - J / 2, 1e-14);
  check_near(v[1][0], -.25 + J / 3, 1e-14);
  finish(&m, s);
}

static void particle_hits_a_body_by_its_radius(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true}\nbodies:\n"
      "  - {name: a, shape: {name: box, a: 1, b: 1, c: 0.2}, inertial: {mass: 2, inertia: [1, 1, 1]}}\n"
      "  - {kind: particles, name: p, mass: 0.5, radius: 0.05, place: {points: [[0.3, 0.2, 1]]}, motion: {velocities: "
      "[[0, "
      "0, -1]]}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n";
  memory_sink m;
  cb_scenario *s = memory_go(&m, text);
  const double J = 2 / (1. / .5 + 1. / 2 + .3 * .3 + .2 * .2); /* r × n = (0.2, -0.3, 0); the inertia is 1 */
  assert_int_equal(contacts(&m), 1);
  check_near(m.event[0].time, .85, 1e-13);
  check_near(m.event[0].impulse, J, 1e-13);
  check_near(last(&m, "momentum")[2], -.5 + J, 1e-13);
  finish(&m, s);
}

/* Light particles without radius move down from the height 1 with the speed 1, and hit the surfaces of shapes at these
 * heights: 0.3 (the end of a capsule), 0.2 (the side of an ellipsoid on its edge), 0.05 (a plate), 0.4 (a list of
 * shapes: the ball of radius 0.1 at (0, 0, 0.3), not the box), and 0.2 (a capsule that is rotated and shifted in its
 * body). */
static void shapes_are_where_their_surfaces_are(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true}\nbodies:\n"
      "  - {name: a, shape: {name: capsule, radius: 0.1, length: 0.4}, density: 1000}\n"
      "  - {name: b, shape: {name: ellipsoid, a: 0.3, b: 0.1, c: 0.2}, density: 1000, place: {position: [2, 0, 0]}}\n"
      "  - {name: c, shape: {name: plate, length: 1, width: 1, thickness: 0.1}, density: 1000, place: {position: [4, "
      "0, "
      "0]}}\n"
      "  - {name: d, density: 1000, place: {position: [6, 0, 0]}, shape: [{shape: {name: box, a: 0.4, b: 0.4, c: "
      "0.4}}, "
      "{shape: {name: ball, radius: 0.1}, position: [0, 0, 0.3]}]}\n"
      "  - {name: e, density: 1000, place: {position: [8, 0, 0]}, shape: [{shape: {name: capsule, radius: 0.1, length: "
      "0.4}, position: [-0.4, 0, 0.1], quaternion: [0.5, 0.5, 0.5, 0.5]}]}\n"
      "  - {kind: particles, name: p, mass: 1e-6, place: {points: [[0, 0, 1], [2, 0, 1], [4.1, 0.2, 1], [6, 0, 1], "
      "[7.5, 0, "
      "1]]}, motion: {velocities: [[0, 0, -1], [0, 0, -1], [0, 0, -1], [0, 0, -1], [0, 0, -1]]}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n";
  static const double height[] = {.3, .2, .05, .4, .2};
  memory_sink m;
  cb_scenario *s = memory_go(&m, text);
  assert_int_equal(contacts(&m), 5);
  for (size_t e = 0; e < m.n_events; e++) {
    const int body = m.event[e].particle;
    /* the particles are numbered after the five bodies and their five centres */
    assert_int_equal(m.event[e].other, 5 + 5 + body);
    check_near(m.event[e].time, 1 - height[body], 1e-12);
  }
  finish(&m, s);
}

/* In a fluid a ball of mass m has the inertia m + m_a, where the added mass m_a is half of the displaced mass. The
 * impulse is along the line of the centres. */
static void oblique_impact_has_the_inertia_of_the_fluid(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: 1000, gravity: [0, 0, 0], added_mass: ellipsoid}\n"
      "contacts: {shapes: true, restitution: 0.9}\nbodies:\n"
      "  - {name: a, shape: {name: ellipsoid, a: 0.1, b: 0.1, c: 0.1, resolution: 16}, inertial: {mass: 5, inertia: "
      "[1, 1, "
      "1]}, drag: false, motion: {velocity: [0.5, 0, 0]}}\n"
      "  - {name: b, shape: {name: ellipsoid, a: 0.2, b: 0.2, c: 0.2, resolution: 16}, inertial: {mass: 30, inertia: "
      "[1, 1, "
      "1]}, drag: false, place: {position: [1, 0.12, 0.1]}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 2}\n";
  memory_sink m;
  double v[2][3], M[2], n[3];
  cb_scenario *s = memory_go(&m, text);
  /* M is the mass plus the added mass, which is the momentum divided by the speed .5. The added mass is that of the
   * volume inside the faces, so it is a little smaller than that of a ball. */
  M[0] = memory_field(&m, 0, "body_momentum")[3] / .5;
  check_near(M[0], 5 + 2. / 3 * pi * .001 * 1000, .2);
  M[1] = 30 + (M[0] - 5) * 8;
  const double across = hypot(.12, .1), x = sqrt(.09 - across * across);
  assert_int_equal(contacts(&m), 1);
  check_near(m.event[0].time, (1 - x) / .5, 1e-12);
  n[0] = x / .3;
  n[1] = .12 / .3;
  n[2] = .1 / .3;
  const double J = 1.9 * .5 * n[0] / (1 / M[0] + 1 / M[1]);
  for (int i = 0; i < 2; i++) velocity(&m, m.n_rows - 1, i, v[i]);
  for (int i = 0; i < 3; i++) {
    check_near(v[0][i], (i == 0 ? .5 : 0) - J / M[0] * n[i], 1e-12);
    check_near(v[1][i], J / M[1] * n[i], 1e-12);
  }
  finish(&m, s);
}

static void cradle_passes_the_impulse_to_the_last_ball(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true}\nbodies:\n"
      "  - {name: a, shape: {name: ball, radius: 0.125}, inertial: {mass: 2, inertia: [1, 1, 1]}, place: {position: "
      "[-0.75, 0, 0]}, motion: {velocity: [1, 0, 0]}}\n"
      "  - {name: b, shape: {name: ball, radius: 0.125}, inertial: {mass: 2, inertia: [1, 1, 1]}, place: {position: "
      "[0.25*i, 0, 0]}, repeat: {count: 4}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n";
  memory_sink m;
  cb_scenario *s = memory_go(&m, text);
  assert_int_equal(contacts(&m), 4);
  for (int i = 0; i < 5; i++) {
    double v[3];
    velocity(&m, m.n_rows - 1, i, v);
    check_near(v[0], i == 4, 1e-14);
    check_near(m.event[i % 4].time, .5, 1e-13);
  }
  finish(&m, s);
}

/* --- bodies of other shapes --- */

/* Ellipsoids, capsules and boxes keep momentum and energy. Their principal moments are equal, so that the integrator
 * makes no error between contacts. */
static void shapes_keep_momentum_and_energy(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true}\nbodies:\n"
      "  - {name: e, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.1, resolution: 8}, inertial: {mass: 1, inertia: "
      "[0.03, "
      "0.03, 0.03]}, place: {position: [r1 + i - 2, r2 - 0.5, r3 - 0.5], rotation: {axis: [1, r5, r6], angle: 3*r7}}, "
      "motion: {velocity: [2 - i, -r2, r8 - 0.5], spin: [5*r9, -5*r8, 1]}, repeat: {count: 4, seed: 3}}\n"
      "  - {name: c, shape: {name: capsule, radius: 0.1, length: 0.4, resolution: 8}, inertial: {mass: 2, inertia: "
      "[0.05, "
      "0.05, 0.05]}, place: {position: [i - 1, 2, r3 - 0.5], rotation: {axis: [1, r5, r6], angle: 3*r7}}, "
      "motion: {velocity: [1 - i, -1.5, r8 - 0.5], spin: [5*r9, -5*r8, 1]}, repeat: {count: 3, seed: 5}}\n"
      "  - {name: b, shape: {name: box, a: 0.3, b: 0.4, c: 0.5}, inertial: {mass: 2, inertia: [0.05, "
      "0.05, 0.05]}, place: {position: [i - 1, -2, r3 - 0.5], rotation: {axis: [1, r5, r6], angle: 3*r7}}, "
      "motion: {velocity: [1 - i, 1.5, r8 - 0.5], spin: [5*r9, -5*r8, 1]}, repeat: {count: 3, seed: 7}}\n"
      "integrator: {name: hamilton_pontryagin, map: exponential, step: 0.01}\ntime: {end: 3}\n";
  memory_sink m;
  cb_scenario *s = memory_go(&m, text);
  print_message("%zu contacts\n", contacts(&m));
  check_at_least((double)m.n_events, 10);
  const double *p = memory_field(&m, 0, "total_momentum"), *q = last(&m, "total_momentum"),
               E = *memory_field(&m, 0, "energy");
  for (int i = 0; i < 6; i++) check_near(q[i], p[i], 1e-12);
  check_near(*last(&m, "energy"), E, 1e-12 * E);
  for (size_t e = 0; e < m.n_events; e++) check_near(m.event[e].speed_after, -m.event[e].speed_before, 1e-15);
  finish(&m, s);
}

/* The same balls are given as shapes and as `spheres`. For `spheres` all pairs are examined. Both runs have the same
 * contacts, so the broad phase misses none. */
static void broad_phase_misses_no_contact(void **unused) {
  (void)unused;
  static const char format[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true, restitution: 0.9}\nbodies:\n"
      "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, %s inertial: {mass: 1, inertia: [1, 1, 1]},\n"
      "     place: {position: ['0.3*(i - 6*floor(i/6))', '0.3*floor(i/6)', 0.1*r1]},\n"
      "     motion: {velocity: [20*(r3 - 0.5), 20*(r4 - 0.5), 2*(r5 - 0.5)]}, repeat: {count: 30}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.02}\ntime: {end: 0.4}\n";
  memory_sink one, two;
  char text[1024];
  snprintf(text, sizeof text, format, "");
  cb_scenario *s1 = memory_go(&one, text);
  snprintf(text, sizeof text, format, "spheres: [{at: [0, 0, 0], radius: 0.1}],");
  cb_scenario *s2 = memory_go(&two, text);
  print_message("%zu contacts\n", contacts(&one));
  check_at_least((double)one.n_events, 10);
  assert_int_equal(one.n_events, contacts(&two));
  for (size_t e = 0; e < one.n_events; e++) check_near(one.event[e].time, two.event[e].time, 1e-11);
  for (int i = 0; i < 30 * 7; i++) check_near(last(&one, "pose")[i], last(&two, "pose")[i], 1e-10);
  finish(&one, s1);
  finish(&two, s2);
}

/* --- rest --- */

/* A box falls on a box that is fixed, tumbles and comes to rest on a face. In no row do the boxes overlap by more than
 * round-off. */
static void box_comes_to_rest_on_a_box(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -9.81]}\n"
      "contacts: {shapes: true, restitution: 0.3, accumulation: rest}\nbodies:\n"
      "  - {name: table, shape: {name: box, a: 2, b: 2, c: 0.2}, density: 1000}\n"
      "  - {name: die, shape: {name: box, a: 0.2, b: 0.3, c: 0.25}, density: 1000, place: {position: [0.1, 0.2, 0.5], "
      "rotation: {axis: [1, 2, 0.5], angle: 0.5}}, motion: {spin: [0.5, 1, 0]}}\n"
      "joints: [{kind: weld, of: [world, table]}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.004}\ntime: {end: 2}\n";
  memory_sink m;
  double x[2][8][3], half[2][3] = {{1, 1, .1}, {.1, .15, .125}}, deepest = 0;
  cb_convex set[2];
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 8; i++)
      for (int a = 0; a < 3; a++) x[k][i][a] = (i >> a & 1 ? 1 : -1) * half[k][a];
    set[k] = cb_convex_hull(8, (const double(*)[3])x[k]);
  }
  cb_scenario *s = memory_go(&m, text);
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *p = memory_field(&m, row, "pose");
    const cb_pose g[2] = {{{p[3], p[4], p[5], p[6]}, {p[0], p[1], p[2]}},
                          {{p[10], p[11], p[12], p[13]}, {p[7], p[8], p[9]}}};
    double guess[3] = {0, 0, 0};
    cb_convex_contact c;
    cb_convex_gap(&set[0], &g[0], &set[1], &g[1], guess, &c);
    deepest = fmin(deepest, c.gap);
  }
  print_message("%zu contacts, deepest %.3g\n", contacts(&m), deepest);
  check_at_least(deepest, -1e-12);
  const double *p = last(&m, "pose") + 7, *Y = last(&m, "twist") + 6;
  check_near(p[2], .1 + .125, 1e-12); /* the upper box lies on its face along z */
  check_near(hypot(p[4], p[5]), 0, 1e-12);
  for (int i = 0; i < 6; i++) /* without friction the box may rotate about z and slide */
    if (i != 2 && i != 3 && i != 4) check_near(Y[i], 0, 1e-10);
  finish(&m, s);
}

static void boxes_rest_in_a_stack(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -9.81]}\n"
      "contacts: {shapes: true, restitution: 0, accumulation: rest}\nbodies:\n"
      "  - {name: table, shape: {name: box, a: 2, b: 2, c: 0.2}, density: 1000}\n"
      "  - {name: p, shape: {name: box, a: 0.3, b: 0.3, c: 0.2}, density: 1000, place: {position: [0.02*r1, 0.02*r2, "
      "0.21 + 0.21*i], rotation: {axis: [0, 0, 1], angle: r3}}, repeat: {count: 3}}\n"
      "joints: [{kind: weld, of: [world, table]}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.005}\ntime: {end: 1}\n";
  memory_sink m;
  cb_scenario *s = memory_go(&m, text);
  for (int i = 0; i < 3; i++) check_near(last(&m, "pose")[7 * (i + 1) + 2], .2 * (i + 1), 1e-11);
  for (int i = 6; i < 24; i++) check_near(last(&m, "twist")[i], 0, 1e-2); /* only slow sliding is left */
  finish(&m, s);
}

/* The pairs that may touch, their normals and their patches are computed from the state. So a run that continues from a
 * checkpoint has identical rows and events. */
static void run_continues_from_a_checkpoint(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -9.81]}\n"
      "contacts: {shapes: true, restitution: 0.3, accumulation: rest}\nbodies:\n"
      "  - {name: table, shape: {name: box, a: 2, b: 2, c: 0.2}, density: 1000}\n"
      "  - {name: die, shape: {name: box, a: 0.2, b: 0.3, c: 0.25}, density: 1000, place: {position: [0.1, 0.2, 0.5 + "
      "0.5*i], rotation: {axis: [1, 2, 0.5], angle: 0.5 + i}}, repeat: {count: 2}}\n"
      "  - {name: e, shape: {name: ellipsoid, a: 0.2, b: 0.1, c: 0.1, resolution: 8}, density: 1000, place: {position: "
      "[0, 0.2, 1.5]}}\n"
      "joints: [{kind: weld, of: [world, table]}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.004}\ntime: {end: 1}\nrecord: {every: 10, checkpoint: 5}\n";
  memory_sink whole;
  cb_scenario *s = memory_go(&whole, text), *rest;
  check_at_least((double)whole.n_events, 10);
  for (size_t c = 0; c + 1 < whole.n_checkpoints; c++) {
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &rest));
    check_rest("dice", &whole, c, rest);
  }
  finish(&whole, s);
}

/* --- joints --- */

/* A ball of mass M hits rod B at the distance s from its centre. Rods A and B have the length 2 a, the mass m and the
 * moment of inertia I, and are joined at their ends. J is the impulse of the ball on B, and R the impulse of the joint
 * on B. The velocities v of the centres and the angular velocities w become
 *   A: v = -R/m, w = -a R/I;   B: v = (J + R)/m, w = (s J - a R)/I;   R = -J (1/m - a s/I)/(2 (1/m + a^2/I)) */
static void impact_goes_through_a_joint(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true, restitution: 0.8}\nbodies:\n"
      "  - {name: a, shape: {name: box, a: 1, b: 0.1, c: 0.1}, inertial: {mass: 2, inertia: [0.1, 0.3, 0.3]}, place: "
      "{position: [-0.5, 0, 0]}}\n"
      "  - {name: b, shape: {name: box, a: 1, b: 0.1, c: 0.1}, inertial: {mass: 2, inertia: [0.1, 0.3, 0.3]}}\n"
      "  - {name: ball, shape: {name: ball, radius: 0.1}, inertial: {mass: 1.5, inertia: [1, 1, 1]}, place: {position: "
      "[0.8, -1, 0]}, motion: {velocity: [0, 2, 0]}}\n"
      "joints: [{kind: ball, of: [a, b], at: [0.5, 0, 0], in: [-0.5, 0, 0]}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.005}\ntime: {end: 0.43}\n";
  memory_sink m;
  cb_scenario *s = memory_go(&m, text);
  const double a = .5, mass = 2, I = .3, M = 1.5, u = 2, d = .3;
  const double R = -(1 / mass - a * d / I) / (2 * (1 / mass + a * a / I)), k = (1 + R) / mass + d * (d - a * R) / I;
  const double J = 1.8 * u / (k + 1 / M);
  double v[3];
  assert_int_equal(m.n_events, 1); /* the rods touch at the joint, but do not hit each other */
  check_near(m.event[0].time, .425, 1e-13);
  check_near(m.event[0].impulse, J, 1e-12);
  velocity(&m, m.n_rows - 1, 2, v);
  check_near(v[1], u - J / M, 1e-12);
  for (int i = 0; i < 6; i++) check_near(last(&m, "total_momentum")[i], i == 2 ? 2.4 : i == 4 ? 3 : 0, 1e-12);
  finish(&m, s);
}

/* --- input --- */

static void take(void *context, const char *text) { snprintf(context, 512, "%s", text); }

static void part_that_is_not_convex_is_named(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true}\nbodies:\n"
      "  - {name: ring, shape: torus, density: 1000}\n"
      "  - {name: b, shape: {name: ball, radius: 0.1}, density: 1000, place: {position: [5, 0, 0]}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n";
  char warning[512] = "";
  const cb_warning_taker old = cb_warnings_to((cb_warning_taker){.take = take, .context = warning});
  cb_scenario *s;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  cb_run_warn_of_start(cb_scenario_run(s));
  cb_warnings_to(old);
  assert_non_null(strstr(warning, "body `ring`: part `body` is not convex"));
  cb_scenario_free(s);
}

static void bodies_that_overlap_at_the_start_are_named(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true}\nbodies:\n"
      "  - {name: a, shape: {name: box, a: 1, b: 1, c: 1}, density: 1000}\n"
      "  - {name: b, shape: {name: ball, radius: 0.1}, density: 1000, place: {position: [0.55, 0, 0]}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n";
  cb_scenario *s;
  assert_int_not_equal(cb_scenario_open_text("test", text, NULL, 0, &s), CB_OK);
  assert_non_null(strstr(cb_error_text(), "the gap between body `a` and body `b` is -0.05: expected at least 0"));
}

/* Two boxes overlap at their joint. They can touch each other only if `between` names both. */
static void neighbours_touch_only_if_between_names_them(void **unused) {
  (void)unused;
  static const char format[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true%s}\nbodies:\n"
      "  - {name: a, shape: {name: box, a: 1, b: 0.1, c: 0.1}, density: 1000}\n"
      "  - {name: b, shape: {name: box, a: 1, b: 0.1, c: 0.1}, density: 1000}\n"
      "joints: [{kind: hinge, of: [a, b], at: [0.45, 0, 0], in: [-0.45, 0, 0], axis: [0, 0, 1]}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.1}\n";
  char text[1024];
  memory_sink m;
  snprintf(text, sizeof text, format, "");
  cb_scenario *s = memory_go(&m, text);
  assert_int_equal(contacts(&m), 0);
  finish(&m, s);
  snprintf(text, sizeof text, format, ", between: [[a, b]]");
  assert_int_not_equal(cb_scenario_open_text("test", text, NULL, 0, &s), CB_OK);
  assert_non_null(strstr(cb_error_text(), "the gap between body `a` and body `b` is -0.1: expected at least 0"));
}

static void bodies_without_a_fixed_shape_need_spheres(void **unused) {
  (void)unused;
  static const char poses[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\ncontacts: {shapes: true}\nbodies:\n"
      "  - {name: a, shape: ball, density: 1000, poses: {x: 'X*(1 + 0.1*sin(2*pi*t))', period: 1}}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.1}\n",
                    curved[] =
                        "curvebody: 1\nspace: h3\nfluid: {medium: none}\ncontacts: {shapes: true}\nbodies:\n"
                        "  - {name: a, shape: {name: ball, radius: 0.1}, density: 1000}\n"
                        "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.1}\n";
  cb_scenario *s;
  assert_int_equal(cb_scenario_open_text("test", poses, NULL, 0, &s), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "test:5:50: error: poses: expected `spheres` next to them, found"));
  assert_int_equal(cb_scenario_open_text("test", curved, NULL, 0, &s), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "test:4:20: error: shapes: expected false, found true in a curved space"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(head_on_impact_has_the_closed_form),
                                     cmocka_unit_test(particle_hits_a_body_by_its_radius),
                                     cmocka_unit_test(shapes_are_where_their_surfaces_are),
                                     cmocka_unit_test(oblique_impact_has_the_inertia_of_the_fluid),
                                     cmocka_unit_test(cradle_passes_the_impulse_to_the_last_ball),
                                     cmocka_unit_test(shapes_keep_momentum_and_energy),
                                     cmocka_unit_test(broad_phase_misses_no_contact),
                                     cmocka_unit_test(box_comes_to_rest_on_a_box),
                                     cmocka_unit_test(boxes_rest_in_a_stack),
                                     cmocka_unit_test(run_continues_from_a_checkpoint),
                                     cmocka_unit_test(impact_goes_through_a_joint),
                                     cmocka_unit_test(part_that_is_not_convex_is_named),
                                     cmocka_unit_test(bodies_that_overlap_at_the_start_are_named),
                                     cmocka_unit_test(neighbours_touch_only_if_between_names_them),
                                     cmocka_unit_test(bodies_without_a_fixed_shape_need_spheres)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
