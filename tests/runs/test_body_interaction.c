/* Tests of runs of bodies that interact through the fluid: order, momentum, energy, joints and impacts. */
#include "memory_sink.h"
#include "numerics/vec3.h"
#include "scenario/fluid.h"

#include <string.h>

#define TWO                                                                                                      \
  "bodies:\n"                                                                                                    \
  "  - {name: a, shape: {name: ellipsoid, a: 1, b: 0.6, c: 0.4, resolution: 8}, density: 1.3, drag: false,\n"    \
  "     place: {position: [0, 0, 0]}, motion: {velocity: [0.3, 0.1, -0.2], spin: [0.4, -0.3, 0.5]}}\n"           \
  "  - {name: b, shape: {name: ellipsoid, a: 0.5, b: 0.9, c: 0.35, resolution: 8}, density: 0.8, drag: false,\n" \
  "     place: {position: [1.9, 0.3, 0.4], rotation: {axis: [1, 2, 3], angle: 0.5}},\n"                          \
  "     motion: {velocity: [-0.4, 0.2, 0.1], spin: [0.2, 0.6, -0.3]}}\n"

/* Computes the poses of both bodies at t = 0.4, after steps of length h of the given order. */
static void poses(const char *coupling, double h, int order, double out[14]) {
  char text[2048];
  memory_sink m;
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: %s}\n" TWO
           "integrator: {name: hamilton_pontryagin, step: %.17g, order: %d}\ntime: {end: 0.4}\n",
           coupling, h, order);
  cb_scenario *s = memory_go(&m, text);
  memcpy(out, memory_field(&m, m.n_rows - 1, "pose"), 14 * sizeof *out);
  memory_free(&m);
  cb_scenario_free(s);
}

static double distance(const double a[14], const double b[14]) {
  double out = 0;
  for (int i = 0; i < 14; i++) out = fmax(out, fabs(a[i] - b[i]));
  return out;
}

/* Halving the step divides the error by 2^order. The ratio is computed from the differences between runs with three
 * step lengths. */
static void step_has_its_order(void **unused) {
  (void)unused;
  static const struct {
    const char *coupling;
    int order;
    double h;
  } cases[] = {{"dipole", 2, .04}, {"dipole", 4, .05}, {"exact", 2, .1}, {"exact", 4, .1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double p[3][14];
    for (int k = 0; k < 3; k++) poses(cases[i].coupling, cases[i].h / (1 << k), cases[i].order, p[k]);
    const double order = log2(distance(p[0], p[1]) / distance(p[1], p[2]));
    print_message("%s, order %d: %.2f, differences %.2g %.2g\n", cases[i].coupling, cases[i].order, order,
                  distance(p[0], p[1]), distance(p[1], p[2]));
    check_near(order, cases[i].order, cases[i].order == 2 ? .05 : .2);
  }
}

/* Returns the largest difference of the poses at t = 0.4 between two runs: bodies in a uniform stream, shifted back by
 * the way of the stream, and the same bodies in a fluid at rest with their velocities relative to the stream. */
static double seen_from_stream(const char *coupling, double h) {
  double p[2][14];
  for (int moving = 0; moving < 2; moving++) {
    char text[2048];
    memory_sink m;
    snprintf(
        text, sizeof text,
        "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: %s%s}\nbodies:\n"
        "  - {name: a, shape: {name: ellipsoid, a: 1, b: 0.6, c: 0.4, resolution: 8}, density: 1.3, drag: false,\n"
        "     place: {position: [0, 0, 0]}, motion: {velocity: [%s], spin: [0.4, -0.3, 0.5]}}\n"
        "  - {name: b, shape: {name: ellipsoid, a: 0.5, b: 0.9, c: 0.35, resolution: 8}, density: 0.8, drag: false,\n"
        "     place: {position: [1.9, 0.3, 0.4], rotation: {axis: [1, 2, 3], angle: 0.5}},\n"
        "     motion: {velocity: [%s], spin: [0.2, 0.6, -0.3]}}\n"
        "integrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: 0.4}\n",
        coupling, moving ? ", flow: {uniform: [0.5, -0.2, 0.3]}" : "", moving ? "0.8, -0.1, 0.1" : "0.3, 0.1, -0.2",
        moving ? "0.1, 0, 0.4" : "-0.4, 0.2, 0.1", h);
    cb_scenario *s = memory_go(&m, text);
    memcpy(p[moving], memory_field(&m, m.n_rows - 1, "pose"), sizeof p[moving]);
    memory_free(&m);
    cb_scenario_free(s);
  }
  for (int i = 0; i < 14; i += 7) {
    p[1][i] -= .4 * .5;
    p[1][i + 1] += .4 * .2;
    p[1][i + 2] -= .4 * .3;
  }
  return distance(p[0], p[1]);
}

/* In a uniform stream, coupled bodies move as in fluid at rest, seen by an observer who moves with the stream. The
 * difference is the error of the step. */
static void stream_carries_the_coupling(void **unused) {
  (void)unused;
  static const char *const couplings[] = {"dipole", "exact"};
  for (int i = 0; i < 2; i++) {
    const double coarse = seen_from_stream(couplings[i], .04), fine = seen_from_stream(couplings[i], .02);
    print_message("%s in a stream: %.2g %.2g\n", couplings[i], coarse, fine);
    check_at_most(fine, 1e-3);
    check_near(log2(coarse / fine), 2, .1);
  }
}

/* The coupling changes the motion. With `none`, each body moves as if it were alone in the fluid. */
static void coupling_changes_the_motion(void **unused) {
  (void)unused;
  double none[14], dipole[14], exact[14];
  poses("none", .02, 2, none);
  poses("dipole", .02, 2, dipole);
  poses("exact", .02, 2, exact);
  print_message("moved by dipoles %.2g, by the exact flow %.2g, difference %.2g\n", distance(none, dipole),
                distance(none, exact), distance(dipole, exact));
  check_at_least(distance(none, exact), 1e-3);
  check_at_most(distance(dipole, exact), .5 * distance(none, exact));
}

/* Two ellipsoids on a spring swing about each other for 1e5 steps: momentum is kept to round-off, and the error of the
 * energy has no trend. */
static void bound_bodies_keep_momentum_and_energy(void **unused) {
  (void)unused;
  memory_sink m;
  cb_scenario *s = memory_go(
      &m,
      "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: dipole}\n" TWO
      "interactions: [{spring: {between: [{body: a, at: [0.2, 0, 0]}, {body: b, at: [0, -0.2, 0.1]}], stiffness: 4, "
      "rest: 2.2}}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.02}\ntime: {end: 2000}\nrecord: {every: 25, observables: "
      "[energy, momentum]}\n");
  double change = 0, size = 0, error[2] = {0};
  const double *p0 = memory_field(&m, 0, "total_momentum"), e0 = *memory_field(&m, 0, "energy");
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *p = memory_field(&m, row, "total_momentum"), *each = memory_field(&m, row, "spatial_momentum");
    for (int i = 0; i < 6; i++) {
      change = fmax(change, fabs(p[i] - p0[i]));
      size = fmax(size, fabs(each[i]));
    }
    double *of = &error[row >= m.n_rows / 2];
    *of = fmax(*of, fabs(*memory_field(&m, row, "energy") - e0));
  }
  print_message("1e5 steps: momentum %.2g of %.2g, energy errors %.3g and %.3g of %.3g\n", change, size, error[0],
                error[1], e0);
  check_at_most(change, 1e-12 * size);
  check_at_most(error[1], 1.5 * error[0]);
  memory_free(&m);
  cb_scenario_free(s);
}

/* Computes the largest error of the energy, and the largest change of the momentum about the base point, for two
 * ellipsoids that interact through the fluid in a curved space. */
static void move_in(const char *space, double h, double *energy, double *momentum) {
  char text[2048];
  memory_sink m;
  snprintf(
      text, sizeof text,
      "curvebody: 1\nspace: %s\nfluid: {medium: 1, added_mass: {name: exact, refine: false}, coupling: exact}\n"
      "bodies:\n"
      "  - {name: a, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.15, resolution: 8}, density: 1.3, drag: false,\n"
      "     place: {position: [0, 0, 0]}, motion: {velocity: [0.1, 0.1, -0.2], spin: [0.4, -0.3, 0.5]}}\n"
      "  - {name: b, shape: {name: ellipsoid, a: 0.2, b: 0.25, c: 0.15, resolution: 8}, density: 0.8, drag: false,\n"
      "     place: {position: [0.6, 0.1, 0.1]}, motion: {velocity: [-0.2, 0.1, 0.1], spin: [0.2, 0.6, -0.3]}}\n"
      "integrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: 1}\n"
      "record: {observables: [energy, momentum]}\n",
      space, h);
  cb_scenario *s = memory_go(&m, text);
  *energy = *momentum = 0;
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *p = memory_field(&m, row, "spatial_momentum"), *p0 = memory_field(&m, 0, "spatial_momentum");
    for (int i = 0; i < 6; i++) *momentum = fmax(*momentum, fabs(p[i] + p[6 + i] - p0[i] - p0[6 + i]));
    *energy = fmax(*energy, fabs(*memory_field(&m, row, "energy") - *memory_field(&m, 0, "energy")));
  }
  memory_free(&m);
  cb_scenario_free(s);
}

/* In S3 and H3, as in flat space, the total momentum of bodies and fluid is constant up to round-off, and the error of
 * the energy is of order 2. */
static void curved_spaces_keep_the_momentum_of_the_whole(void **unused) {
  (void)unused;
  static const char *const spaces[] = {"s3", "h3"};
  for (int i = 0; i < 2; i++) {
    double coarse, fine, momentum;
    move_in(spaces[i], .1, &coarse, &momentum);
    check_at_most(momentum, 1e-16); /* the momentum is about 0.02 */
    move_in(spaces[i], .05, &fine, &momentum);
    check_at_most(momentum, 1e-16);
    print_message("%s: energy errors %.3g %.3g, momentum %.2g\n", spaces[i], coarse, fine, momentum);
    check_near(log2(coarse / fine), 2, .1);
  }
}

/* A ball joint holds two ellipsoids that interact through the exact flow. The joint stays closed, also in the recorded
 * velocities, and momentum is conserved. */
static void joints_hold_bodies_that_feel_each_other(void **unused) {
  (void)unused;
  memory_sink m;
  cb_scenario *s = memory_go(
      &m,
      "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: exact}\nbodies:\n"
      "  - {name: a, shape: &s {name: ellipsoid, a: 0.5, b: 0.2, c: 0.15, resolution: 8}, density: 1.2, drag: "
      "false,\n     place: {position: [0, 0, 0]}, motion: {velocity: [0.2, 0.1, 0.3], spin: [0.3, -0.2, 0.5]}}\n"
      "  - {name: b, shape: *s, density: 1.2, drag: false}\n"
      "joints: [{kind: ball, name: j, of: [a, b], at: [0.55, 0, 0], in: [-0.55, 0, 0], angle: [0.3, 0.5, 0.2], "
      "rate: [0.5, 1, 0.7]}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n"
      "record: {observables: [energy, momentum, joints]}\n");
  const double *p0 = memory_field(&m, 0, "total_momentum"), e0 = *memory_field(&m, 0, "energy");
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *p = memory_field(&m, row, "total_momentum");
    for (int i = 0; i < 6; i++) check_near(p[i], p0[i], 1e-14);
    check_at_most(*memory_field(&m, row, "joint_residual"), 1e-14);
    check_near(*memory_field(&m, row, "energy"), e0, 1e-3 * e0); /* the error of the energy is of order 2 in the step */
    double v[2][3];
    for (int b = 0; b < 2; b++) {
      const double *Y = memory_field(&m, row, "twist") + 6 * b, arm[3] = {b ? -.55 : .55, 0, 0};
      double r[3][3], at[3];
      cb_quaternion_rotation(memory_field(&m, row, "pose") + 7 * b + 3, r);
      cb_cross3(Y, arm, at);
      for (int i = 0; i < 3; i++) at[i] += Y[3 + i];
      cb_apply3((const double(*)[3])r, at, v[b]);
    }
    for (int i = 0; i < 3; i++) check_near(v[0][i], v[1][i], 1e-12); /* both bodies move the joint in the same way */
  }
  memory_free(&m);
  cb_scenario_free(s);
}

/* Two equal balls of radius r = 1/2 in a fluid of density 1, one of which moves, collide head on. V and V' are the
 * volumes of the sphere and of the mesh. A ball has the added mass V/2 and the mass 1.5 V', and at unit velocity the
 * dipole moment V/2 + V'. With d = 2 r the inertia along the line of centres is
 *   M = [[k, c], [c, k]],  k = 1.5 V' + V/2,  c = -2 (V/2 + V')^2/(4 pi d^3)
 * With the restitution e and the rate s' of the gap, the impulse is
 *   J = -(1 + e) s'/(n^T M^-1 n),  n^T M^-1 n = 2/(k - c) for n = (1, -1) */
static void impact_has_the_inertia_of_the_coupling(void **unused) {
  (void)unused;
  for (int i = 0; i < 2; i++) {
    const double e = i ? .5 : 1, r = .5, volume = 4 * M_PI / 3 * r * r * r;
    char text[2048];
    memory_sink m;
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: dipole}\nbodies:\n"
             "  - {name: a, shape: {name: ball, radius: 0.5}, drag: false, density: 1.5, spheres: [{at: [0, 0, 0], "
             "radius: 0.5}],\n     place: {position: [0, 0, 0]}}\n"
             "  - {name: b, shape: {name: ball, radius: 0.5}, drag: false, density: 1.5, spheres: [{at: [0, 0, 0], "
             "radius: 0.5}],\n     place: {position: [-2, 0, 0]}, motion: {velocity: [1, 0, 0]}}\n"
             "contacts: {restitution: %g}\nintegrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1.2}\n"
             "record: {observables: [energy, momentum, inertia]}\n",
             e);
    cb_scenario *s = memory_go(&m, text);
    const cb_event_row *impact = NULL;
    for (size_t k = 0; k < m.n_events; k++)
      if (m.event[k].kind == CB_EVENT_REFLECT) impact = &m.event[k];
    assert_non_null(impact);
    const double k = memory_field(&m, 0, "inertia")[3 * 6 + 3], faces = (k - volume / 2) / 1.5,
                 moment = volume / 2 + faces, c = -2 * moment * moment / (4 * M_PI), rate = impact->speed_before;
    print_message("e = %g: rate %.12g, impulse %.12g\n", e, rate, impact->impulse);
    check_relative(impact->impulse, -(1 + e) * rate * (k - c) / 2, 1e-10);
    check_relative(impact->speed_after, -e * rate, 1e-12);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* Returns the square root of the area of the largest face of a body. */
static double largest_face(const cb_scenario *s, int body) {
  const cb_surface *f = cb_immersed_surface(cb_fluid_scenario_of(s)->body[body].body);
  double out = 0;
  for (int i = 0; i < f->faces; i++) {
    double e[2][3], a[3];
    for (int k = 0; k < 6; k++) e[k / 3][k % 3] = f->x[f->face[i][1 + k / 3]][k % 3] - f->x[f->face[i][0]][k % 3];
    cb_cross3(e[0], e[1], a);
    out = fmax(out, sqrt(cb_dot3(a, a)) / 2);
  }
  return sqrt(out);
}

/* With the exact coupling two balls touch when the gap is a third of the size of the largest face of each, because
 * panels do not resolve a smaller gap. They separate with the opposite velocities, because they are equal. */
static void balls_touch_at_the_film_that_panels_resolve(void **unused) {
  (void)unused;
  memory_sink m;
  cb_scenario *s =
      memory_go(&m,
                "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: exact}\nbodies:\n"
                "  - {name: a, shape: {name: ball, radius: 0.5, resolution: 12}, drag: false, density: 3,\n"
                "     place: {position: [-0.6, 0, 0]}, motion: {velocity: [0.5, 0, 0]}}\n"
                "  - {name: b, shape: {name: ball, radius: 0.5, resolution: 12}, drag: false, density: 3,\n"
                "     place: {position: [0.6, 0, 0]}, motion: {velocity: [-0.5, 0, 0]}}\n"
                "contacts: {restitution: 1, shapes: true}\nintegrator: {name: hamilton_pontryagin, step: 0.002}\n"
                "time: {end: 0.4}\n");
  const double film = 2. / 3 * largest_face(s, 0);
  double least = INFINITY;
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *pose = memory_field(&m, row, "pose");
    least = fmin(least, pose[7] - pose[0] - 1);
  }
  const double *first = memory_field(&m, 0, "twist"), *last = memory_field(&m, m.n_rows - 1, "twist");
  print_message("film %.4g, smallest gap at a row %.4g, velocity %.4g and %.4g\n", film, least, first[3], last[3]);
  check_at_least(least, film);
  check_at_most(least, film + .002 * 1.1); /* a step changes the gap by about .002 */
  check_near(last[3], -first[3], .05);     /* the gaps at both times differ a little, and so do the speeds */
  memory_free(&m);
  cb_scenario_free(s);
}

/* In each of fourteen pairs, two balls act on each other as dipoles and collide, each pair at its own time. The steps
 * are so short that their error of the energy is below round-off. Every impact has restitution 1. */
#define PAIRS 14
static cb_scenario *collide(const char *walls, memory_sink *m) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: dipole}\nbodies:\n"
      "  - {name: ball, shape: {name: ball, radius: 0.5, resolution: 8}, density: 2, drag: false,\n"
      "     spheres: [{at: [0, 0, 0], radius: 0.5}], repeat: {count: %d, seed: 3},\n"
      "     place: {position: [\"1.00002*(i - 2*floor(i/2))\", \"2.5*floor(i/2)\", 0]},\n"
      "     motion: {velocity: [\"1 - 2*(i - 2*floor(i/2))\", \"0.3*r2\", \"0.3*r3\"], spin: [\"r4\", 0.3, 0.2]}}\n"
      "contacts: {restitution: 1}\n%s"
      "integrator: {name: hamilton_pontryagin, step: 2e-6}\ntime: {end: 4e-5}\n"
      "record: {observables: [energy, momentum]}\n",
      2 * PAIRS, walls);
  return memory_go(m, text);
}

/* Impacts keep the energy, and without walls also the momentum of all bodies and the fluid. */
static void impacts_of_many_bodies_keep_energy_and_momentum(void **unused) {
  (void)unused;
  static const char *const walls[] = {
      "", "walls: [{plane: {name: left, at: {point: [-0.50001, 0, 0]}, normal: [1, 0, 0], restitution: 1}}]\n"};
  for (int i = 0; i < 2; i++) {
    memory_sink m;
    cb_scenario *s = collide(walls[i], &m);
    double change = 0, size = 0, impacts = 0;
    const double *first = memory_field(&m, 0, "total_momentum"),
                 *last = memory_field(&m, m.n_rows - 1, "total_momentum"),
                 *each = memory_field(&m, 0, "spatial_momentum"), e0 = *memory_field(&m, 0, "energy"),
                 e1 = *memory_field(&m, m.n_rows - 1, "energy");
    for (int k = 0; k < 6; k++) change = fmax(change, fabs(last[k] - first[k]));
    for (int k = 0; k < 12 * PAIRS; k++) size = fmax(size, fabs(each[k]));
    for (size_t k = 0; k < m.n_events; k++) impacts += m.event[k].kind == CB_EVENT_REFLECT;
    print_message("%g impacts: energy %.15g changed by %.2g, momentum by %.2g of %.2g\n", impacts, e0, e1 - e0, change,
                  size);
    check_at_least(impacts, PAIRS * (i + 1));
    check_near(e1, e0, 1e-12 * e0 * impacts);
    if (i == 0) check_at_most(change, 1e-13 * size * PAIRS); /* round-off of sums over all bodies */
    memory_free(&m);
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(step_has_its_order),
                                     cmocka_unit_test(stream_carries_the_coupling),
                                     cmocka_unit_test(coupling_changes_the_motion),
                                     cmocka_unit_test(bound_bodies_keep_momentum_and_energy),
                                     cmocka_unit_test(curved_spaces_keep_the_momentum_of_the_whole),
                                     cmocka_unit_test(joints_hold_bodies_that_feel_each_other),
                                     cmocka_unit_test(impact_has_the_inertia_of_the_coupling),
                                     cmocka_unit_test(balls_touch_at_the_film_that_panels_resolve),
                                     cmocka_unit_test(impacts_of_many_bodies_keep_energy_and_momentum)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
