/* Tests of runs of joined bodies that touch walls or change their shapes by poses, and of damped steps. */
#include "memory_sink.h"
#include "numerics/vec3.h"

/* Two boxes of length 1 on a hinge fall without rotation with the speed v, and a sphere at the outer end of the first
 * one meets the floor without loss. With the height y of the hinge and the angles a, b of the boxes, the kinetic energy
 * is (m/2) (y' - a'/2)^2 + (m/2) (y' + b'/2)^2 + (I/2) (a'^2 + b'^2), and the end has the velocity y' - a'. M is the
 * matrix of this energy. An impulse J on the end changes (y', a', b') by J M^-1 (1, -1, 0), and J reverses y' - a'. */
static void blow_of_a_wall_goes_through_the_hinge(void **unused) {
  (void)unused;
  memory_sink m;
  cb_scenario *s = memory_go(
      &m,
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\nbodies:\n"
      "  - {name: a, shape: box, inertial: {mass: 2, inertia: [0.01, 0.17, 0.17]}, spheres: [{at: [-0.5, 0, 0], "
      "radius: "
      "0.1}],\n     place: {position: [-0.5, 0, 1]}, motion: {velocity: [0, 0, -1]}}\n"
      "  - {name: b, shape: box, inertial: {mass: 2, inertia: [0.01, 0.17, 0.17]}}\n"
      "joints: [{kind: hinge, name: h, of: [a, b], at: [0.5, 0, 0], in: [-0.5, 0, 0], axis: [0, -1, 0]}]\n"
      "walls: [{plane: {body: a, at: {point: [0, 0, 0]}, normal: [0, 0, 1], restitution: 1}}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.905}\n");
  const double mass = 2, I = .17;
  const double M[3][3] = {{2 * mass, -mass / 2, mass / 2}, {-mass / 2, mass / 4 + I, 0}, {mass / 2, 0, mass / 4 + I}};
  /* solves M z = (1, -1, 0) by Cramer's rule */
  double c[3][3], z[3];
  for (int i = 0; i < 3; i++) cb_cross3(M[(i + 1) % 3], M[(i + 2) % 3], c[i]);
  const double det = cb_dot3(M[0], c[0]);
  for (int i = 0; i < 3; i++) z[i] = (c[0][i] - c[1][i]) / det;
  const double impulse = 2 / (z[0] - z[1]), after[3] = {-1 + impulse * z[0], impulse * z[1], impulse * z[2]};
  assert_int_equal(m.n_events, 1);
  check_near(m.event[0].time, .9, 1e-12);
  check_near(m.event[0].impulse, impulse, 1e-10);
  /* The rate of the hinge is the difference of the rates of both bodies. The impact was half a step before the last
   * row. Since then the rate has changed by terms of second order in the small angles. */
  check_near(memory_field(&m, m.n_rows - 1, "rate")[0], after[2] - after[1], 1e-3);
  check_relative(*memory_field(&m, m.n_rows - 1, "energy"), *memory_field(&m, 0, "energy"),
                 1e-8); /* steps after the impact have errors of order 2 */
  memory_free(&m);
  cb_scenario_free(s);
}

/* Compares a body of two parts, a rigid front and a tail that poses bend, with two bodies on a weld. The local model is
 * a sum over faces, so the parts and the two bodies have the same equations. The steps of both runs differ by errors of
 * order 2. */
static double difference_of_welded_tail(double step) {
  static const char *const fluid = "curvebody: 1\nfluid: {medium: 1000, gravity: [0, 0, 0]}\nbodies:\n",
                           *const front = "{name: box, a: 0.3, b: 0.1, c: 0.2}",
                           *const tail = "{name: box, a: 0.2, b: 0.02, c: 0.2}",
                           *const bend = "\"Y + 0.1*sin(6*t)*(X + 0.1)\"";
  char text[4096];
  memory_sink one, two;
  snprintf(text, sizeof text,
           "%s  - {name: a, shape: %s, density: 1100}\n"
           "  - {name: b, shape: %s, density: 1000, poses: {y: %s}}\n"
           "joints: [{kind: weld, name: j, of: [a, b], at: [0.15, 0, 0], in: [-0.1, 0, 0]}]\n"
           "integrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: 0.5}\n",
           fluid, front, tail, bend, step);
  cb_scenario *s2 = memory_go(&two, text);
  snprintf(text, sizeof text,
           "%s  - {name: a, density: 1100, parts: {tail: {density: 1000}},\n"
           "     shape: [{name: front, shape: %s}, {name: tail, shape: %s, position: [0.25, 0, 0]}],\n"
           "     poses: {parts: [{part: tail, y: \"Y + 0.1*sin(6*t)*(X - 0.25 + 0.1)\"}]}}\n"
           "integrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: 0.5}\n",
           fluid, front, tail, step);
  cb_scenario *s1 = memory_go(&one, text);
  double out = 0;
  const double *p1 = memory_field(&one, one.n_rows - 1, "pose"), *p2 = memory_field(&two, two.n_rows - 1, "pose");
  for (int i = 0; i < 7; i++) out = fmax(out, fabs(p1[i] - p2[i]));
  check_at_least(fabs(p1[1]), 1e-4); /* the body moves */
  memory_free(&one);
  memory_free(&two);
  cb_scenario_free(s1);
  cb_scenario_free(s2);
  return out;
}

static void welded_tail_with_poses_moves_as_one_body(void **unused) {
  (void)unused;
  const double coarse = difference_of_welded_tail(.01), fine = difference_of_welded_tail(.005);
  print_message("welded tail: %.3g %.3g\n", coarse, fine);
  check_at_most(fine, 1e-4);
  check_near(log2(coarse / fine), 2, .2);
}

/* A hinged ball rotates with so much drag that c h/K = 20, where c is the drag coefficient, h the step and K the
 * inertia. With the midpoint rule its rate changes its sign in every step; with damped steps it decays. */
static void damped_steps_let_a_blow_decay(void **unused) {
  (void)unused;
  for (int damped = 0; damped < 2; damped++) {
    char text[2048];
    memory_sink m;
    snprintf(
        text, sizeof text,
        "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0]}\nbodies:\n"
        "  - {name: a, shape: {name: ball, radius: 0.1}, inertial: {mass: 1, inertia: [1, 1, 1]}, added_mass: false, "
        "drag: false,\n     wrenches: [{name: thick, torque: [0, 0, \"-2000*wz\"]}]}\n"
        "joints: [{kind: hinge, name: h, of: [world, a], axis: [0, 0, 1], rate: 1}]\n"
        "integrator: {name: hamilton_pontryagin, step: 0.01, damped: %s}\ntime: {end: 0.05}\n",
        damped ? "true" : "false");
    cb_scenario *s = memory_go(&m, text);
    /* each step multiplies the rate by (1 - 10)/(1 + 10), or by 1/(1 + 20) with damped steps */
    const double factor = damped ? 1. / 21 : -9. / 11;
    for (size_t k = 0; k < m.n_rows; k++) check_near(*memory_field(&m, k, "rate"), pow(factor, (double)k), 1e-5);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blow_of_a_wall_goes_through_the_hinge),
                                     cmocka_unit_test(welded_tail_with_poses_moves_as_one_body),
                                     cmocka_unit_test(damped_steps_let_a_blow_decay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
