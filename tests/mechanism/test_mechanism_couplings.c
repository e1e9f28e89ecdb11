/* Tests of couplings of coordinates. Geared bodies move by the equation of the one free coordinate. Couplings hold to
 * round-off, keep momentum and energy, and can be combined with limits, dry friction and drives. */
#include "system_runs.h"

#include <math.h>

static const char *const fields[] = {
    "angle", "rate", "energy", "joint_residual", "total_momentum", "joint_wrench", "motor_work", "inertia", NULL};
enum { ANGLE, RATE, ALL_ENERGY, RESIDUAL, ALL_MOMENTUM, WRENCH, MOTOR_WORK, INERTIA };

/* Two ellipsoids on hinges of the world with axes along y. Their centres are at the distances L_i = arm[i] from the
 * hinges. With gravity they are pendulums, which hang down at the angle pi/2. */
#define TWO(gravity, keys)                                                                             \
  "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, " gravity                                       \
  "]}\nbodies:\n"                                                                                      \
  "  - {name: a, shape: {name: ellipsoid, a: 0.25, b: 0.05, c: 0.06}, mass: 4, drag: false}\n"         \
  "  - {name: b, shape: {name: ellipsoid, a: 0.2, b: 0.07, c: 0.05}, mass: 3, drag: false}\njoints:\n" \
  "  - {kind: hinge, name: one, of: [world, a], at: [0, 0, 1], in: [-0.2, 0, 0], axis: [0, 1, 0]" keys "}\n"
#define SECOND "  - {kind: hinge, name: two, of: [world, b], at: [2, 0, 1], in: [-0.15, 0, 0], axis: [0, 1, 0]"
static const double arm[] = {.2, .15};

/* The masses of the bodies and their moments of inertia about the hinges. They are taken from the record, because the
 * surfaces of the bodies are meshes. */
static double mass[2], inertia[2];
static void measure(const simulation *s) {
  for (int i = 0; i < 2; i++) {
    const double *K = row_of(s, INERTIA, 0) + 36 * i;
    mass[i] = K[35];
    inertia[i] = K[7] + K[35] * arm[i] * arm[i];
  }
}

static simulation *run(const char *scenario, int order, double step, double end) {
  char text[4096];
  const int length = snprintf(text, sizeof text,
                              "%sintegrator: {name: hamilton_pontryagin, order: %d, step: %.17g}\ntime: {end: %.17g}\n"
                              "record: {observables: [energy, momentum, inertia, joints]}\n",
                              scenario, order, step, end);
  assert_in_range(length, 1, sizeof text - 1);
  return simulate(text, NULL, 0, fields);
}

static double worst(const simulation *s, int field) {
  double out = 0;
  for (size_t i = 0; i < s->rows * s->width[field]; i++) out = fmax(out, fabs(s->value[field][i]));
  return out;
}

static double change(const simulation *s, int field) {
  double out = 0;
  for (size_t i = 0; i < s->rows * s->width[field]; i++)
    out = fmax(out, fabs(s->value[field][i] - s->value[field][i % s->width[field]]));
  return out;
}

/* --- two geared pendulums: q = p(r) --- */

static const double poly[] = {.1, -1.5, .4, .2};

static void polynomial(double r, double p[3]) {
  p[0] = poly[0] + r * (poly[1] + r * (poly[2] + r * poly[3]));
  p[1] = poly[1] + r * (2 * poly[2] + r * 3 * poly[3]);
  p[2] = 2 * poly[2] + 6 * poly[3] * r;
}

/* The equation of the two pendulums with q = p(r):
 *
 *   (I_1 p'^2 + I_2) r'' + I_1 p' p'' r'^2 = p' (m_1 g L_1 cos p - c p' r') + m_2 g L_2 cos r + motor
 *
 * m_i are the masses, I_i the moments of inertia, c is the damping, and `motor` a torque on the second pendulum. */
static int reduced(double t, const double *z, double *out, void *unused) {
  const double g = 9.81, damping = .3;
  double p[3];
  polynomial(z[0], p);
  const double torque[] = {mass[0] * g * arm[0] * cos(p[0]) - damping * p[1] * z[1],
                           mass[1] * g * arm[1] * cos(z[0]) + .5 * sin(3 * t)};
  out[0] = z[1];
  out[1] =
      (p[1] * torque[0] + torque[1] - inertia[0] * p[1] * p[2] * z[1] * z[1]) / (inertia[0] * p[1] * p[1] + inertia[1]);
  return GSL_SUCCESS;
}

static void geared_pendulums_move_by_the_reduced_equation(void **unused) {
  const char *const text = TWO("-9.81", ", damping: 0.3, couple: {to: two, polynomial: [0.1, -1.5, 0.4, 0.2]}") SECOND
      ", angle: 0.3, rate: 1.5, motor: 0.5*sin(3*t)}\n";
  double error[2][2];
  for (int order = 2; order <= 4; order += 2)
    for (int k = 0; k < 2; k++) {
      simulation *s = run(text, order, .01 / (1 << k), 1);
      const double *angle = last_of(s, ANGLE), *rate = last_of(s, RATE);
      double z[2] = {.3, 1.5}, p[3];
      measure(s);
      solve_reference(reduced, NULL, 2, 1, z);
      polynomial(z[0], p);
      error[order / 4][k] = fmax(fmax(fabs(angle[1] - z[0]), fabs(rate[1] - z[1])),
                                 fmax(fabs(angle[0] - p[0]), fabs(rate[0] - p[1] * z[1])));
      check_at_most(worst(s, RESIDUAL), 1e-14); /* round-off of angles near 1 */
      simulation_free(s);
    }
  print_message("errors of order 2: %.2g %.2g, of order 4: %.2g %.2g\n", error[0][0], error[0][1], error[1][0],
                error[1][1]);
  check_at_least(error[0][0] / error[0][1], 3.8); /* the ratio is 4 in the limit of small steps */
  check_at_least(error[1][0] / error[1][1], 14);  /* the ratio is 16 in the limit of small steps */
  check_at_most(error[1][1], 1e-7);               /* the fourth power of the step, times rates near 10 */
}

/* The wrench of a joint contains the torque of the coupling. The first body has no motor, but the torque I_1 q'' turns
 * it, where I_1 is its moment of inertia. After two steps the rates are still so small that centripetal forces have
 * nearly no torque. */
static void the_wrench_of_a_joint_has_its_coupling(void **unused) {
  simulation *s = run(TWO("0", ", couple: {to: two, polynomial: [0, -2]}") SECOND ", motor: 0.5}\n", 2, .01, .02);
  measure(s);
  const double acceleration = .5 / (4 * inertia[0] + inertia[1]), *W = last_of(s, WRENCH);
  check_near(last_of(s, RATE)[1], .02 * acceleration, 1e-14); /* the tolerance is round-off */
  check_near(W[1], -2 * acceleration * inertia[0], 1e-6);
  check_near(W[7], acceleration * inertia[1], 1e-6);
  simulation_free(s);
}

/* --- bodies that float freely --- */

#define FLOATING                                                                                                  \
  "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\nbodies:\n"                                            \
  "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false,\n"                      \
  "     place: {position: [0.1, 0, 0]}, motion: {spin: [0.3, 0.1, 0.7], velocity: [0, 0.1, 0]}}\n"                \
  "  - {name: b, shape: {name: ellipsoid, a: 0.3, b: 0.1, c: 0.2}, mass: 3, drag: false}\n"                       \
  "  - {name: c, shape: {name: ellipsoid, a: 0.15, b: 0.2, c: 0.1}, mass: 2, drag: false}\njoints:\n"             \
  "  - {kind: hinge, name: pin, of: [b, a], at: [-0.31, 0, 0], in: [0.22, 0, 0], axis: [0, 1, 0.5], angle: 0.3, " \
  "rate: 1}\n"                                                                                                    \
  "  - {kind: universal, name: cross, of: [b, c], at: [0.33, 0, 0.01], in: [-0.16, 0.02, 0], axis: [0, 1, 0],\n"  \
  "     axis_in: [0, 0, 1], angle: [none, 0.4], rate: [none, 0.8], spring: {stiffness: [0, 5]},\n"                \
  "     couple: [{to: pin, polynomial: [0.1, 0.7, -0.3]}, none]}\n"

static void a_coupling_keeps_momentum_and_energy(void **unused) {
  double error[2];
  for (int k = 0; k < 2; k++) {
    simulation *s = run(FLOATING, 2, .01 / (1 << k), 3);
    error[k] = change(s, ALL_ENERGY);
    check_at_most(change(s, ALL_MOMENTUM), 1e-13); /* round-off of numbers near 1 */
    check_at_most(worst(s, RESIDUAL), 1e-14);
    assert_true(fabs(last_of(s, ANGLE)[0] - .3) > .1); /* the first joint moves */
    simulation_free(s);
  }
  check_at_least(error[0] / error[1], 3.8); /* for order 2 the ratio is 4 in the limit of small steps */
}

/* --- drives, limits and dry friction --- */

static void a_coupled_joint_follows_a_drive(void **unused) {
  simulation *s = run(TWO("-9.81", ", couple: {to: two, polynomial: [0.1, -1.5, 0.4, 0.2]}") SECOND
                      ", drive: 0.3 + 0.4*sin(2*t)}\n",
                      4, .01, 1);
  double p[3];
  polynomial(.3 + .4 * sin(2), p);
  check_near(last_of(s, ANGLE)[0], p[0], 1e-14); /* the tolerance is round-off */
  check_near(last_of(s, RATE)[0], p[1] * .8 * cos(2), 1e-12);
  /* the error of the energy is of order 4 in the step */
  check_near(last_of(s, ALL_ENERGY)[0] - *row_of(s, ALL_ENERGY, 0), last_of(s, MOTOR_WORK)[1], 1e-6);
  simulation_free(s);
}

/* Both joints reach their limits at the same time, or only one of them has limits. The weight of the first body keeps
 * them there. */
static void coupled_joints_rest_on_limits(void **unused) {
  static const char *const keys[][2] = {{"limits: [-1.2, 0.9]", "limits: [-0.4, 0.6]"},
                                        {"limits: [-1.2, 0.9], friction: 0.2", "limits: [-0.4, 0.6], friction: 0.3"},
                                        {"friction: 0.2", "limits: [-0.4, 0.6], friction: 0.3"},
                                        {"limits: [-1.2, 0.9], friction: 0.2", "friction: 0.3"}};
  for (size_t i = 0; i < 4 * (sizeof keys / sizeof *keys); i++) {
    char text[2048];
    snprintf(text, sizeof text,
             TWO("-9.81", ", couple: {to: two, polynomial: [0.1, -2]}, %s") SECOND ", angle: 0.3, rate: %g, %s}\n",
             keys[i / 4][0], 1.5 - .4 * (double)(i % 4), keys[i / 4][1]);
    simulation *s = run(text, 2, .005, 4);
    check_at_most(worst(s, RESIDUAL), 1e-13); /* round-off, also after the impacts at the limits */
    check_near(last_of(s, ANGLE)[0], .9, 1e-12);
    check_near(last_of(s, ANGLE)[1], -.4, 1e-12);
    check_at_most(fabs(last_of(s, RATE)[1]), 1e-12);
    simulation_free(s);
  }
}

/* The coupled joints move if the torque on `two` is above f_2 + 2 f_1 = 1 N m, the friction of both. Below this they
 * rest. */
static void dry_friction_of_both_joints_adds(void **unused) {
  const double torque[] = {.9, 1.4};
  for (int k = 0; k < 2; k++) {
    char text[2048];
    snprintf(text, sizeof text,
             TWO("0", ", friction: 0.3, couple: {to: two, polynomial: [0, -2]}") SECOND ", friction: 0.4, motor: %g}\n",
             torque[k]);
    simulation *s = run(text, 2, .01, .5);
    measure(s);
    const double rate = k ? .5 * (torque[k] - 1) / (4 * inertia[0] + inertia[1]) : 0;
    /* The step has order 1 where the joint begins to slip. */
    check_near(last_of(s, RATE)[1], rate, k ? .02 * rate : 1e-12);
    check_at_most(worst(s, RESIDUAL), 1e-13);
    simulation_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(geared_pendulums_move_by_the_reduced_equation),
                                     cmocka_unit_test(the_wrench_of_a_joint_has_its_coupling),
                                     cmocka_unit_test(a_coupling_keeps_momentum_and_energy),
                                     cmocka_unit_test(a_coupled_joint_follows_a_drive),
                                     cmocka_unit_test(coupled_joints_rest_on_limits),
                                     cmocka_unit_test(dry_friction_of_both_joints_adds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
