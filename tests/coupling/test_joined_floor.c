/* Tests of joined bodies that bounce off a reflecting floor, slide and come to rest on it. */
#include "memory_sink.h"

#include <string.h>

/* --- a stepladder --- */

/* Returns the angle a of the legs of a stepladder to the floor at time t. Two rods of length 1, joined at the top,
 * slide apart on a floor without friction. The centre of a rod moves on a circle of radius 1/2, so the equation is
 * a'' = -(3 g/2) cos a. */
static double angle_of_leg(double g, double a, double t) {
  const int n = 2000;
  const double h = t / n;
  double w = 0;
  for (int i = 0; i < n; i++) { /* the classical Runge-Kutta method */
    const double k1 = w, l1 = -1.5 * g * cos(a), k2 = w + h / 2 * l1, l2 = -1.5 * g * cos(a + h / 2 * k1);
    const double k3 = w + h / 2 * l2, l3 = -1.5 * g * cos(a + h / 2 * k2), k4 = w + h * l3,
                 l4 = -1.5 * g * cos(a + h * k3);
    a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
  }
  return a;
}

/* Returns the error of the height of the hinge at t = 0.4, with steps of length h. The feet are spheres that start on
 * the floor. */
static double error_of_stepladder(double h) {
  const double start = 1.1, radius = 0.01, g = 9.81, end = 0.4;
  char text[2048];
  memory_sink m;
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, %.17g], floor: {kind: reflecting, restitution: 0.5}}\n"
           "bodies:\n"
           "  - {name: a, shape: box, inertial: {mass: 3, inertia: [0.01, 0.25, 0.25]}, spheres: [{at: [-0.5, 0, 0], "
           "radius: %g}],\n     place: {position: [%.17g, 0, %.17g], rotation: {axis: [0, -1, 0], angle: %.17g}}}\n"
           "  - {name: b, shape: box, inertial: {mass: 3, inertia: [0.01, 0.25, 0.25]}, spheres: [{at: [0.5, 0, 0], "
           "radius: %g}]}\n"
           "joints: [{kind: hinge, name: top, of: [a, b], at: [0.5, 0, 0], in: [-0.5, 0, 0], axis: [0, -1, 0], angle: "
           "%.17g}]\n"
           "integrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: %.17g}\n",
           -g, radius, -cos(start) / 2, radius + sin(start) / 2, start, radius, -2 * start, h, end);
  cb_scenario *s = memory_go(&m, text);
  const double *pose = memory_field(&m, m.n_rows - 1, "pose");
  /* the first column of the rotation of body a gives the place of its top */
  const double *q = pose + 3, top = pose[2] + .5 * 2 * (q[1] * q[3] - q[0] * q[2]);
  const double angle = angle_of_leg(g, start, end), error = fabs(top - radius - sin(angle));
  assert_int_equal(m.n_events, 0); /* the feet slide and do not bounce */
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *x = memory_field(&m, row, "pose"), *p = x + 3;
    check_near(x[2] - .5 * 2 * (p[1] * p[3] - p[0] * p[2]), radius, 1e-12); /* the foot is on the floor */
  }
  memory_free(&m);
  cb_scenario_free(s);
  return error;
}

/* The feet rest on the floor during the whole run, and the difference from the motion by the equation of angle_of_leg
 * is of order 2 in the step. */
static void feet_of_a_stepladder_slide_on_the_floor(void **unused) {
  (void)unused;
  const double coarse = error_of_stepladder(.01), fine = error_of_stepladder(.005);
  print_message("stepladder: %.3g %.3g\n", coarse, fine);
  check_at_most(fine, 1e-4);
  check_near(log2(coarse / fine), 2, .1);
}

/* --- a body of two boxes, in one piece and on a weld --- */

/* Compares one body of two boxes with two bodies, one box each, that a weld joins. They fall on a floor. Computes the
 * differences of the poses and of the energies at the time `end`. At t = 0.3 there have been two impacts. */
static void differ(double step, double end, double *of_pose, double *of_energy) {
  static const char *const fluid =
                               "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -9.81], floor: {kind: "
                               "reflecting, restitution: 0.5}}\nbodies:\n",
                           *const first = "{name: box, a: 0.2, b: 0.1, c: 0.05}",
                           *const second = "{name: box, a: 0.1, b: 0.1, c: 0.05}",
                           *const place = "place: {position: [0, 0, 0.6], rotation: {axis: [0.3, 1, 0.2], angle: 0.7}}";
  char text[2048];
  memory_sink one, two;
  snprintf(text, sizeof text,
           "%s  - {name: a, density: 500, shape: %s, %s}\n  - {name: b, density: 500, shape: %s}\n"
           "joints: [{kind: weld, name: j, of: [a, b], at: [0.2, 0, 0], in: [-0.1, 0, 0]}]\n"
           "integrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: %.17g}\n",
           fluid, first, place, second, step, end);
  cb_scenario *s2 = memory_go(&two, text);
  snprintf(text, sizeof text,
           "%s  - {name: a, density: 500, %s,\n     shape: [{name: p, shape: %s}, {name: q, shape: %s, position: [0.3, "
           "0, 0]}]}\nintegrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: %.17g}\n",
           fluid, place, first, second, step, end);
  cb_scenario *s1 = memory_go(&one, text);
  const double *p1 = memory_field(&one, one.n_rows - 1, "pose"), *p2 = memory_field(&two, two.n_rows - 1, "pose");
  *of_pose = 0;
  for (int i = 0; i < 7; i++) *of_pose = fmax(*of_pose, fabs(p1[i] - p2[i]));
  *of_energy = fabs(*memory_field(&one, one.n_rows - 1, "energy") - *memory_field(&two, two.n_rows - 1, "energy"));
  memory_free(&one);
  memory_free(&two);
  cb_scenario_free(s1);
  cb_scenario_free(s2);
}

static void welded_boxes_bounce_as_one_body_and_come_to_rest(void **unused) {
  (void)unused;
  double coarse, fine, pose, energy;
  differ(.002, .3, &coarse, &energy);
  differ(.001, .3, &fine, &energy);
  print_message("welded boxes after two impacts: %.3g %.3g\n", coarse, fine);
  check_at_most(fine, 1e-5);
  check_near(log2(coarse / fine), 2, .3);
  differ(.002, 2, &pose, &energy);
  check_at_most(energy, 1e-12); /* both bodies lie flat; small errors change where they lie */
}

/* --- a chain --- */

/* A chain of four boxes on ball joints falls on the floor, slides on it and comes to rest. It never passes through the
 * floor, the joints hold, and in the end nothing moves. A chain without friction keeps its horizontal momentum. */
static void chain_comes_to_rest_on_the_floor(void **unused) {
  (void)unused;
  static const char text[] =
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -9.81], floor: {kind: reflecting, restitution: 0}}\n"
      "bodies:\n"
      "  - {name: a, density: 500, shape: &s {name: box, a: 0.2, b: 0.1, c: 0.05, resolution: 8},\n"
      "     place: {position: [0, 0, 0.5], rotation: {axis: [0.3, 1, 0.2], angle: 0.7}}, motion: {velocity: [0.3, 0.1, "
      "0]}}\n"
      "  - {name: b, density: 500, shape: *s}\n  - {name: c, density: 500, shape: *s}\n  - {name: d, density: 500, "
      "shape: *s}\n"
      "joints:\n"
      "  - {kind: ball, of: [a, b], at: [0.11, 0, 0], in: [-0.11, 0, 0], damping: 0.05}\n"
      "  - {kind: ball, of: [b, c], at: [0.11, 0, 0], in: [-0.11, 0, 0], damping: 0.05}\n"
      "  - {kind: ball, of: [c, d], at: [0.11, 0, 0], in: [-0.11, 0, 0], damping: 0.05}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.004}\ntime: {end: 3}\n";
  memory_sink m;
  cb_scenario *s = memory_go(&m, text);
  const double *first = memory_field(&m, 0, "total_momentum");
  double lowest = 0, gap = 0, change = 0;
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *pose = memory_field(&m, row, "pose"), *momentum = memory_field(&m, row, "total_momentum"),
                 *residual = memory_field(&m, row, "joint_residual");
    for (int b = 0; b < 4; b++)
      for (int corner = 0; corner < 8; corner++) {
        const double *q = pose + 7 * b + 3, x = corner & 1 ? .1 : -.1, y = corner & 2 ? .05 : -.05,
                     z = corner & 4 ? .025 : -.025;
        const double height = pose[7 * b + 2] + 2 * (q[1] * q[3] - q[0] * q[2]) * x +
                              2 * (q[2] * q[3] + q[0] * q[1]) * y + (1 - 2 * (q[1] * q[1] + q[2] * q[2])) * z;
        lowest = fmin(lowest, height);
      }
    for (int j = 0; j < 3; j++) gap = fmax(gap, residual[j]);
    for (int i = 3; i < 5; i++) change = fmax(change, fabs(momentum[i] - first[i]));
  }
  print_message("chain on a floor: lowest %.3g, joints %.3g, horizontal momentum %.3g\n", lowest, gap, change);
  check_at_least(lowest, -1e-11); /* gaps of closed contacts have errors of about this size */
  check_at_most(gap, 1e-14);
  check_at_most(change, 1e-13);
  const double *twist = memory_field(&m, m.n_rows - 1, "twist");
  for (int b = 0; b < 4; b++)
    for (int i = 0; i < 2; i++) check_near(twist[6 * b + i], 0, 1e-12); /* the chain lies flat */
  memory_free(&m);
  cb_scenario_free(s);
}

/* --- limits and dry friction of joints in impacts --- */

#define BASE "{name: base, density: 500, shape: {name: box, a: 0.4, b: 0.3, c: 0.1}, place: {position: [0, 0, 0.55]}}"
#define TOP "{name: top, density: 500, shape: {name: box, a: 0.2, b: 0.2, c: 0.1}}"

/* Runs a base of mass 6 that falls by 0.5 m and carries a box of mass 2 on a slide. `slide` contains further keys of
 * the slide. Computes the heights of both at the end, and the energies at the start and at the end. */
static void drop_lift(const char *restitution, const char *slide, double end, double z[2], double E[2]) {
  char text[1024];
  memory_sink m;
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -10], floor: {kind: reflecting, restitution: %s}}\n"
           "bodies:\n  - " BASE "\n  - " TOP
           "\njoints: [{kind: slide, of: [base, top], axis: [0, 0, 1], %s}]\n"
           "integrator: {name: hamilton_pontryagin, step: 0.004}\ntime: {end: %.17g}\n",
           restitution, slide, end);
  cb_scenario *s = memory_go(&m, text);
  const double *last = memory_field(&m, m.n_rows - 1, "pose");
  for (int i = 0; i < 2; i++) {
    z[i] = last[7 * i + 2];
    E[i] = *memory_field(&m, i ? m.n_rows - 1 : 0, "energy");
  }
  memory_free(&m);
  cb_scenario_free(s);
}

/* The slide is at its lowest value when the base lands with the speed v. Floor and limit act at once, so both boxes
 * leave with the speed v/2, as one body of mass 8. They lose 3/4 of the energy m v^2/2 = 8 * 10 * 0.5. */
static void bodies_at_a_limit_bounce_as_one(void **unused) {
  (void)unused;
  double z[2], E[2];
  drop_lift("0.5", "angle: 0.3, limits: [0.3, 1]", .4, z, E);
  check_near(E[1] - E[0], -.75 * 40, 1e-10); /* round-off of 40 J, and of the time of the impact */
  check_near(z[1] - z[0], .3, 1e-12);
}

/* Dry friction of 100 N holds the slide during the fall, but not in the impact: the base stops. With v^2 = 10 and the
 * deceleration a = 100/2 - 10, the top slides on by v^2/(2 a). */
static void dry_friction_does_not_resist_an_impact(void **unused) {
  (void)unused;
  double z[2], E[2];
  drop_lift("0", "angle: 0.3, friction: 100", .6, z, E);
  check_near(z[0], .05, 1e-11);
  check_near(z[1] - z[0], .3 - 10. / 80,
             3.2e-4); /* in the step h in which the slide comes to rest, the error is at most a h^2/2 = 3.2e-4 */
}

/* --- a body on two legs --- */

/* Runs a body on two legs. `left` and `right` contain further keys of the hips. Checks properties that do not depend on
 * these keys. Returns the largest component of the twists at the end. */
static double stand(const char *left, const char *right, double step, double end) {
  char text[2048];
  memory_sink m;
  snprintf(
      text, sizeof text,
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -9.81], floor: {kind: reflecting, restitution: 0.3}}\n"
      "bodies:\n  - {name: torso, density: 500, shape: {name: box, a: 0.3, b: 0.2, c: 0.1}, place: {position: [0, 0, "
      "0.35]}}\n  - {name: l, density: 500, shape: &leg {name: box, a: 0.05, b: 0.15, c: 0.3}}\n"
      "  - {name: r, density: 500, shape: *leg}\njoints:\n"
      "  - {kind: hinge, of: [torso, l], at: [0.12, 0, -0.06], in: [0, 0, 0.14], axis: [0, -1, 0], angle: 0.3, %s}\n"
      "  - {kind: hinge, of: [torso, r], at: [-0.12, 0, -0.06], in: [0, 0, 0.14], axis: [0, -1, 0], angle: -0.3, %s}\n"
      "integrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: %.17g}\n",
      left, right, step, end);
  cb_scenario *s = memory_go(&m, text);
  double impacts = 0, largest = 0;
  for (size_t e = 0; e < m.n_events; e++) impacts += m.event[e].impulse;
  check_at_least(impacts, 1); /* the body falls */
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *gap = memory_field(&m, row, "joint_residual"), *p = memory_field(&m, row, "total_momentum");
    for (int j = 0; j < 2; j++) check_at_most(gap[j], 1e-14);
    for (int i = 3; i < 5; i++) check_near(p[i], 0, 1e-13); /* no force acts along the floor */
  }
  const double *twist = memory_field(&m, m.n_rows - 1, "twist");
  for (int i = 0; i < 18; i++) largest = fmax(largest, fabs(twist[i]));
  memory_free(&m);
  cb_scenario_free(s);
  return largest;
}

/* With servos and dry friction the body stands. It comes to rest because its joints stick, although their states depend
 * on each other through the contacts. */
static void legs_with_dry_friction_stand(void **unused) {
  (void)unused;
  check_at_most(stand("friction: 0.02, limits: [-1, 1], servo: {position: 0.4, kp: 30, kv: 1}",
                      "friction: 0.02, limits: [-1, 1], servo: {position: -0.4, kp: 30, kv: 1}", .02, 2),
                1e-12);
}

/* Without servos the legs slide to their limits. There, impacts on the floor cause impacts on the limits, and impacts
 * on the limits cause impacts on the floor. */
static void legs_without_force_fall_to_their_limits(void **unused) {
  (void)unused;
  stand("limits: [-1, 1]", "limits: [-1, 1]", .004, .5);
}

/* Runs a falling chain of four boxes on hinges. `hinge` contains further keys of the hinges. */
static void drop_chain(const char *hinge) {
  char text[2048];
  memory_sink m;
  int n =
      snprintf(text, sizeof text,
               "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -9.81], floor: {kind: reflecting, restitution: "
               "0.3}}\nbodies:\n  - {name: a, density: 500, shape: &s {name: box, a: 0.2, b: 0.1, c: "
               "0.05, resolution: 8}, place: {position: [0, 0, 0.5], rotation: {axis: [0.3, 1, 0.2], angle: 0.7}}}\n"
               "  - {name: b, density: 500, shape: *s}\n  - {name: c, density: 500, shape: *s}\n  - {name: d, density: "
               "500, shape: *s}\nintegrator: {name: hamilton_pontryagin, step: 0.004}\ntime: {end: 1}\njoints:\n");
  for (const char *b = "abcd"; b[1]; b++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  - {kind: hinge, of: [%c, %c], at: [0.11, 0, 0], in: [-0.11, 0, 0], axis: [0, 1, 0], %s}\n", b[0],
                  b[1], hinge);
  cb_scenario *s = memory_go(&m, text);
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *gap = memory_field(&m, row, "joint_residual"), *p = memory_field(&m, row, "total_momentum");
    for (int j = 0; j < 3; j++) check_at_most(gap[j], 1e-14);
    for (int i = 3; i < 5; i++) check_near(p[i], 0, 1e-13);
  }
  const double first = *memory_field(&m, 0, "energy"), last = *memory_field(&m, m.n_rows - 1, "energy");
  check_at_least(first - last, 4); /* impacts and friction take most of the 6 J above the floor */
  memory_free(&m);
  cb_scenario_free(s);
}

/* Whether a hinge slips or sticks depends on the impulses of the contacts, and these impulses depend on whether the
 * hinge slips. */
static void chains_with_dry_friction_come_to_rest(void **unused) {
  (void)unused;
  drop_chain("friction: 0.1");
  drop_chain("friction: 0.1, limits: [-0.5, 0.5], restitution: 0.5");
}

/* --- a loop --- */

/* A loop of four boxes starts 1e4 m from the origin, where places have a round-off of 1e-12. */
static void loop_far_from_the_origin_is_closed(void **unused) {
  (void)unused;
#define HINGE(a, b) \
  "  - {kind: hinge, of: [" a ", " b "], at: [0.11, 0, 0], in: [-0.11, 0, 0], axis: [0, 1, 0], angle: pi/2}\n"
  memory_sink m;
  cb_scenario *s = memory_go(
      &m,
      "curvebody: 1\nfluid: {medium: none, floor: {kind: reflecting}}\nbodies:\n"
      "  - {name: a, density: 500, shape: &s {name: box, a: 0.2, b: 0.1, c: 0.05}, place: {position: [1e4, 0, 0.6], "
      "rotation: {axis: [0.3, 1, 0.2], angle: 0.7}}}\n"
      "  - {name: b, density: 500, shape: *s}\n  - {name: c, density: 500, shape: *s}\n  - {name: d, density: 500, "
      "shape: *s}\n"
      "joints:\n" HINGE("a", "b") HINGE("b", "c") HINGE("c", "d")
          HINGE("d", "a") "integrator: {name: hamilton_pontryagin, step: 0.004}\ntime: {end: 0.04}\n");
  for (int j = 0; j < 4; j++) check_at_most(memory_field(&m, m.n_rows - 1, "joint_residual")[j], 1e-11);
  memory_free(&m);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(feet_of_a_stepladder_slide_on_the_floor),
                                     cmocka_unit_test(welded_boxes_bounce_as_one_body_and_come_to_rest),
                                     cmocka_unit_test(chain_comes_to_rest_on_the_floor),
                                     cmocka_unit_test(bodies_at_a_limit_bounce_as_one),
                                     cmocka_unit_test(dry_friction_does_not_resist_an_impact),
                                     cmocka_unit_test(legs_with_dry_friction_stand),
                                     cmocka_unit_test(legs_without_force_fall_to_their_limits),
                                     cmocka_unit_test(chains_with_dry_friction_come_to_rest),
                                     cmocka_unit_test(loop_far_from_the_origin_is_closed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
