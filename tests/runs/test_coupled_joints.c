/* Tests of runs of joined bodies whose coupling through the fluid is a table over coordinates of their joints. The step
 * solves coupling and joints together. Tested are order, momentum, energy, loops, drives, limits, drag, and
 * restarts. */
#include "memory_sink.h"

#include <math.h>
#include <string.h>

#define BODY(name, more) \
  "  - {name: " name ", shape: {name: ellipsoid, a: 0.4, b: 0.2, c: 0.15, resolution: 8}, density: 1.2" more "}\n"
#define FIRST ", place: {position: [0, 0, 0]}, motion: {velocity: [0.1, 0.2, -0.1], spin: [0.5, -0.3, 0.8]}"
#define HINGE(name, a, b, more)                                                                                     \
  "  - {kind: hinge, name: " name ", of: [" a ", " b "], at: [0.5, 0, 0], in: [-0.5, 0, 0], axis: [0, 0.1, 1]" more \
  "}\n"

static cb_scenario *go(memory_sink *m, const char *coupling, const char *rest, double step, int order, double end,
                       int every) {
  char text[8192];
  const int length =
      snprintf(text, sizeof text,
               "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], added_mass: ellipsoid, coupling: %s}\n%s"
               "integrator: {name: hamilton_pontryagin, step: %.17g, order: %d}\ntime: {end: %.17g}\n"
               "record: {every: %d, checkpoint: %d, observables: [energy, momentum, joints]}\n",
               coupling, rest, step, order, end, every, 100);
  assert_in_range(length, 1, sizeof text - 1);
  return memory_go(m, text);
}

static void done(memory_sink *m, cb_scenario *s) {
  memory_free(m);
  cb_scenario_free(s);
}

/* Returns the largest difference of the poses of all bodies in the last rows. */
static double apart(const memory_sink *a, const memory_sink *b, int bodies) {
  const double *p = memory_field(a, a->n_rows - 1, "pose"), *q = memory_field(b, b->n_rows - 1, "pose");
  double out = 0;
  for (int i = 0; i < 7 * bodies; i++) out = fmax(out, fabs(p[i] - q[i]));
  return out;
}

static const char pair_of_hinge[] = "bodies:\n" BODY("a", ", drag: false" FIRST)
    BODY("b", ", drag: false") "joints:\n" HINGE("j", "a", "b", ", angle: 0.3, rate: 1.5, spring: {stiffness: 0.2}");
/* The table of the coupling of a pair, for joint angles from -1.2 to 1.2 rad. */
static const char pair_table[] = "{name: exact, samples: 15, range: [-1.2, 1.2]}";

/* Halving the step divides the error by 2^order. The ratio is computed from the differences between runs with three
 * step lengths. */
static void the_step_has_its_order(void **unused) {
  for (int order = 2; order <= 4; order += 2) {
    memory_sink m[3];
    cb_scenario *s[3];
    for (int k = 0; k < 3; k++) s[k] = go(&m[k], pair_table, pair_of_hinge, .05 / (1 << k), order, .4, 1);
    const double coarse = apart(&m[0], &m[1], 2), fine = apart(&m[1], &m[2], 2);
    print_message("order %d: differences %.2e %.2e, order %.2f\n", order, coarse, fine, log2(coarse / fine));
    check_near(log2(coarse / fine), order, order == 2 ? .05 : .2);
    for (int k = 0; k < 3; k++) done(&m[k], s[k]);
  }
}

/* Computes the largest change of the total momentum, and the largest errors of the energy in both halves of the run. */
static void conserved(const memory_sink *m, double *momentum, double error[2]) {
  const double *p0 = memory_field(m, 0, "total_momentum"), e0 = *memory_field(m, 0, "energy");
  *momentum = error[0] = error[1] = 0;
  for (size_t row = 0; row < m->n_rows; row++) {
    const double *p = memory_field(m, row, "total_momentum");
    double *own = &error[row > m->n_rows / 2];
    for (int i = 0; i < 6; i++) *momentum = fmax(*momentum, fabs(p[i] - p0[i]));
    *own = fmax(*own, fabs(*memory_field(m, row, "energy") - e0));
  }
}

/* The first run has 1e4 steps. The momenta are about 0.1, so the tolerance 1e-13 is a relative error of 1e-12. With
 * half the step, the error of the energy is about a quarter. */
static void momentum_is_exact_and_energy_has_no_trend(void **unused) {
  double largest[2];
  for (int i = 0; i < 2; i++) {
    memory_sink m;
    double momentum, error[2];
    cb_scenario *s = go(&m, pair_table, pair_of_hinge, .01 / (1 << i), 2, i ? 20 : 100, 10);
    conserved(&m, &momentum, error);
    print_message("momentum %.2e, energy %.2e %.2e of %.2e\n", momentum, error[0], error[1],
                  *memory_field(&m, 0, "energy"));
    check_at_most(momentum, 1e-13);
    check_at_most(error[1], 1.5 * error[0]);
    largest[i] = fmax(error[0], error[1]);
    done(&m, s);
  }
  check_at_most(largest[1], largest[0] / 3.5);
}

/* Three bodies in a ring, joined by two hinges and by a rod between the ends. The table of the coupling is a function
 * of the angles of the hinges. */
static const char ring[] = "bodies:\n" BODY("a", ", drag: false" FIRST) BODY("b", ", drag: false") BODY(
    "c", ", drag: false") "joints:\n" HINGE("j", "a", "b", ", angle: 1, spring: {stiffness: 0.5, rest: 1}")
    HINGE("k", "b", "c",
          ", angle: 1, spring: {stiffness: 0.5, rest: 1}") "  - {kind: rod, name: r, of: [a, c], at: [-0.4, 0, 0.3], "
          "in: [0.4, 0, -0.2], length: 2.04}\n";

static void a_closed_chain_keeps_momentum_and_its_joints(void **unused) {
  memory_sink m;
  double momentum, error[2], gap = 0;
  cb_scenario *s = go(&m, "{name: exact, samples: 7, range: [[0.4, 1.6], [0.4, 1.6]]}", ring, .01, 2, 100, 10);
  conserved(&m, &momentum, error);
  for (size_t row = 0; row < m.n_rows; row++)
    for (int j = 0; j < 3; j++) gap = fmax(gap, memory_field(&m, row, "joint_residual")[j]);
  print_message("ring: momentum %.2e, gaps %.2e, energy %.2e %.2e of %.2e\n", momentum, gap, error[0], error[1],
                *memory_field(&m, 0, "energy"));
  check_at_most(momentum, 1e-13); /* round-off of 1e4 steps */
  check_at_most(gap, 1e-13);
  check_at_most(error[1], 1.5 * error[0]);
  check_at_most(error[0], 5e-3 * *memory_field(&m, 0, "energy"));
  done(&m, s);
}

/* A crank a on the world, and a connecting rod b, which a planar joint keeps in the plane of the motion. The hinge
 * between them closes a loop, and the table of the coupling is a function of the angle of this hinge. */
static const char crank[] =
    "bodies:\n" BODY("a", ", drag: false") BODY("b", ", drag: false")
    "joints:\n  - {kind: hinge, name: h, of: [world, a], at: [0, 0, 0], in: [-0.5, 0, 0], axis: [0, 0, 1], angle: 0.4, "
    "rate: 1}\n"
    "  - {kind: planar, name: p, of: [world, b], at: [0, 0, 0], in: [-0.5, 0, 0], axis: [0, 0, 1], angle: [0.9, 0.4, "
    "0.8]}\n  - {kind: hinge, name: j, of: [a, b], at: [0.5, 0, 0], in: [-0.5, 0, 0], axis: [0, 0, 1], spring: "
    "{stiffness: 0.3}}\n";

/* Compares a table with the exact coupling, which is evaluated at the poses in the middle of the step. The two runs
 * differ by the square of the step, and by the error of the table. */
static void agrees_with_the_exact_coupling(const char *what, const char *rest, const char *samples, int bodies) {
  memory_sink m[3];
  cb_scenario *s[3];
  double error[2], effect;
  for (int i = 0; i < 2; i++) {
    const double step = .02 / (1 << i);
    s[0] = go(&m[0], "exact", rest, step, 2, .2, 5);
    s[1] = go(&m[1], samples, rest, step, 2, .2, 5);
    s[2] = go(&m[2], "none", rest, step, 2, .2, 5);
    error[i] = apart(&m[0], &m[1], bodies);
    effect = apart(&m[0], &m[2], bodies);
    for (int k = 0; k < 3; k++) done(&m[k], s[k]);
  }
  print_message("%s: difference %.2e %.2e, effect of the coupling %.2e\n", what, error[0], error[1], effect);
  check_near(log2(error[0] / error[1]), 2, .2);
  check_at_most(error[1], 2e-2 * effect);
}

static void a_table_over_a_joint_that_closes_a_loop_agrees_with_the_exact_coupling(void **unused) {
  agrees_with_the_exact_coupling("crank", crank, pair_table, 2);
}

/* The step of bodies with drag solves other equations than the step of bodies of constant inertia. So the table of the
 * coupling is tested for bodies with drag, too. */
static void bodies_with_drag_agree_with_the_exact_coupling(void **unused) {
  agrees_with_the_exact_coupling(
      "drag", "bodies:\n" BODY("a", FIRST) BODY("b", "") "joints:\n" HINGE("j", "a", "b", ", angle: 0.3, rate: 1.5"),
      pair_table, 2);
}

/* The work of a drive, of dampers and of dry friction is the change of the energy, up to the order of the step. */
static void work_is_the_change_of_the_energy(void **unused) {
  static const char *const of[] = {", drive: \"0.3 + 0.5*sin(2*t)\"", ", angle: 0.3, rate: 1, damping: 0.1",
                                   ", angle: 0.3, rate: 0.5, spring: {stiffness: 2}, motor: \"0.2*sin(3*t)\"",
                                   ", angle: 0.3, rate: 1, spring: {stiffness: 2}, friction: 0.05",
                                   ", angle: 0.3, rate: 1, limits: [-0.2, 0.6]"};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    double missing[2], moved = 0;
    for (int i = 0; i < 2; i++) {
      char rest[2048];
      memory_sink m;
      snprintf(rest, sizeof rest,
               "bodies:\n" BODY("a", ", drag: false" FIRST)
                   BODY("b", ", drag: false") "joints:\n" HINGE("j", "a", "b", "%s"),
               of[k]);
      cb_scenario *s = go(&m, pair_table, rest, .01 / (1 << i), 2, 1, 10);
      missing[i] = 0;
      for (size_t row = 0; row < m.n_rows; row++) {
        const double work = *memory_field(&m, row, "motor_work") + *memory_field(&m, row, "damping_work") +
                            *memory_field(&m, row, "limit_work"),
                     gained = *memory_field(&m, row, "energy") - *memory_field(&m, 0, "energy");
        missing[i] = fmax(missing[i], fabs(gained - work));
        moved = fmax(moved, fabs(work));
      }
      done(&m, s);
    }
    print_message("%-45s missing %.2e %.2e of %.2e\n", of[k], missing[0], missing[1], moved);
    check_at_most(missing[1], missing[0] / 3); /* with half the step, the error of order 2 is about a quarter */
    check_at_most(missing[1], 1e-3);
  }
}

/* A run goes on from a checkpoint with the same bits. */
static void restarts_give_the_same_bits(void **unused) {
  memory_sink m;
  char text[4096];
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], added_mass: ellipsoid, coupling: %s}\n%s"
           "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n"
           "record: {every: 10, checkpoint: 3, observables: [energy, momentum, joints]}\n",
           pair_table, pair_of_hinge);
  cb_scenario *s = memory_go(&m, text), *rest;
  assert_true(m.n_checkpoints > 1);
  for (size_t k = 0; k + 1 < m.n_checkpoints; k++) {
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &rest));
    check_rest("a table", &m, k, rest);
  }
  done(&m, s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_step_has_its_order),
      cmocka_unit_test(momentum_is_exact_and_energy_has_no_trend),
      cmocka_unit_test(a_closed_chain_keeps_momentum_and_its_joints),
      cmocka_unit_test(a_table_over_a_joint_that_closes_a_loop_agrees_with_the_exact_coupling),
      cmocka_unit_test(bodies_with_drag_agree_with_the_exact_coupling),
      cmocka_unit_test(work_is_the_change_of_the_energy),
      cmocka_unit_test(restarts_give_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
