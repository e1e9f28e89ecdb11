/* Tests of joints in runs of scenarios: together with bodies without joints, particles, constraints, springs and
 * wrenches; restarts; and the balance of energy. */
#include "mechanism_reference.h"
#include "memory_sink.h"

static const char *const fields[] = {"pose",           "twist",      "inertia",      "energy", "total_momentum",
                                     "joint_residual", "motor_work", "damping_work", NULL};
enum { POSE, TWIST, INERTIA, ALL_ENERGY, TOTAL_MOMENTUM, JOINT_RESIDUAL, MOTOR_WORK, DAMPING_WORK, MORE };
static const char *const fields_with_rows[] = {"pose",       "twist",          "inertia",
                                               "energy",     "total_momentum", "joint_residual",
                                               "motor_work", "damping_work",   "constraint_residual",
                                               NULL};
#define FREE "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, 0]}\nbodies:\n"
#define BODY_A                                                                               \
  "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false,\n" \
  "     place: {position: [0.1, 0, 0]}, motion: {spin: [0.3, 0.1, 0.7], velocity: [0, 0.1, 0]}}\n"
#define BODY_B "  - {name: b, shape: {name: ellipsoid, a: 0.3, b: 0.1, c: 0.2}, mass: 3, drag: false}\n"
#define BODY_C "  - {name: c, shape: {name: ellipsoid, a: 0.15, b: 0.2, c: 0.1}, mass: 2, drag: false}\n"
#define PIN                                                                                                       \
  "  - {kind: hinge, name: pin, of: [a, b], at: [0.22, 0, 0], in: [-0.31, 0, 0], axis: [0, 1, 0.5], angle: 0.3, " \
  "rate: 1}\n"
#define CROSS                                                                                                    \
  "  - {kind: universal, name: cross, of: [c, b], at: [-0.16, 0.02, 0], in: [0.33, 0, 0.01], axis: [0, 1, 0],\n" \
  "     axis_in: [0, 0, 1], angle: [0.2, -0.4], rate: [0.5, -1.2]}\n"
#define TAIL                                                                              \
  "integrator: {name: hamilton_pontryagin, order: %d, step: %.17g}\ntime: {end: %.17g}\n" \
  "record: {observables: [energy, momentum, inertia, constraints, joints]}\n"

static simulation *run(const char *scenario, int order, double step, double end, const char *const *which) {
  char text[8192];
  const int length = snprintf(text, sizeof text, "%s" TAIL, scenario, order, step, end);
  assert_in_range(length, 1, sizeof text - 1);
  return simulate(text, NULL, 0, which);
}

/* Adds the bodies to the reference, and sets z to their state in the first row of the run. */
static void reference_bodies(const simulation *s, int n, reference *r, double *z) {
  for (int b = 0; b < n; b++) {
    const double *pose = row_of(s, POSE, 0) + 7 * b;
    const cb_pose g = {.q = {pose[3], pose[4], pose[5], pose[6]}, .x = {pose[0], pose[1], pose[2]}};
    memcpy(r->K[b], row_of(s, INERTIA, 0) + 36 * b, sizeof r->K[b]);
    reference_write(&g, row_of(s, TWIST, 0) + 6 * b, z + REFERENCE_STATE * b);
  }
  r->bodies = n;
}

static double distance_at_end(const simulation *s, int n, const double *z) {
  double worst = 0, own[REFERENCE_STATE];
  for (int b = 0; b < n; b++) {
    const double *pose = last_of(s, POSE) + 7 * b;
    const cb_pose g = {.q = {pose[3], pose[4], pose[5], pose[6]}, .x = {pose[0], pose[1], pose[2]}};
    reference_write(&g, last_of(s, TWIST) + 6 * b, own);
    worst = fmax(worst, distance_to(REFERENCE_STATE, own, z + REFERENCE_STATE * b));
  }
  return worst;
}

static reference_joint held(const char *kind, int a, const double at[3], int b, const double in[3]) {
  reference_joint j = {.kind = kind, .body = {a, b}, .frame = {{.q = {1}}, {.q = {1}}}};
  memcpy(j.frame[0].x, at, sizeof j.frame[0].x);
  memcpy(j.frame[1].x, in, sizeof j.frame[1].x);
  return j;
}

/* Adds the joints PIN and CROSS to the reference. */
static void hold_three(reference *r) {
  const double pin[3] = {0, 1, .5}, first[3] = {0, 1, 0}, second[3] = {0, 0, 1};
  r->joint[0] = held("hinge", 0, (double[]){.22, 0, 0}, 1, (double[]){-.31, 0, 0});
  r->joint[1] = held("universal", 2, (double[]){-.16, .02, 0}, 1, (double[]){.33, 0, .01});
  for (int side = 0; side < 2; side++) {
    cb_joint_axes(pin, r->joint[0].frame[side].q);
    cb_joint_two_axes(first, second, r->joint[1].frame[side].q);
  }
  r->joints = 2;
}

/* Returns the largest change of the components of a field from number `first` on. */
static double kept(const simulation *s, int field, int first) {
  double worst = 0;
  for (size_t row = 1; row < s->rows; row++)
    worst = fmax(worst, distance_to(s->width[field] - (size_t)first, row_of(s, field, row) + first,
                                    row_of(s, field, 0) + first));
  return worst;
}

static double most_of(const simulation *s, int field) {
  double worst = 0;
  for (size_t row = 0; row < s->rows; row++)
    for (size_t k = 0; k < s->width[field]; k++) worst = fmax(worst, fabs(row_of(s, field, row)[k]));
  return worst;
}

/* Checks that the errors at orders 2 and 4, compared with z, decrease by 2^order if the step is halved, that joints and
 * constraints are satisfied, and that the momentum is conserved. */
static void check_run(const char *what, const char *scenario, int n, double end, const double *z, bool rows,
                      bool angular) {
  for (int order = 2; order <= 4; order += 2) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      simulation *s =
          run(scenario, order, (order == 2 ? .005 : .0125) / (1 << i), end, rows ? fields_with_rows : fields);
      error[i] = distance_at_end(s, n, z);
      check_at_most(most_of(s, JOINT_RESIDUAL), 1e-14);
      if (rows) check_at_most(most_of(s, MORE), 1e-14);
      check_at_most(kept(s, TOTAL_MOMENTUM, angular ? 0 : 3), 3e-14);
      simulation_free(s);
    }
    print_message("%s: order %d: %.2e %.2e, %.3f\n", what, order, error[0], error[1], log2(error[0] / error[1]));
    check_near(log2(error[0] / error[1]), order, order == 2 ? .05 : .15);
  }
}

/* --- joints next to other things that act between bodies --- */

#define ROPE                                                                     \
  "  - {name: rope, kind: particles, masses: [0.3, 0.5, 0.2],\n"                 \
  "     place: {points: [[-0.7, 0.1, 0], [-1, 0.3, 0.2], [-1.1, -0.2, 0.1]]},\n" \
  "     motion: {velocities: [[0, 0, 0], [0, 0.2, 0], [-0.5, 0, 0.4]]}}\n"

static void a_rope_of_particles_tows_a_chain_of_hinged_bodies(void **unused) {
  const char *const text = FREE BODY_A BODY_B BODY_C ROPE
      "joints:\n" PIN CROSS
      "constraints:\n"
      "  - {rod: {between: [{body: a, at: [-0.2, 0, 0]}, [rope, 0]]}}\n"
      "  - {rod: {between: [[rope, 0], [rope, 1]]}}\n  - {rod: {between: [[rope, 1], [rope, 2]]}}\n"
      "interactions:\n  - {spring: {between: [[rope, 0], [rope, 2]], stiffness: 30, rest: 0.7}}\n"
      "  - {spring: {between: [{body: c, at: [0, 0, 0.1]}, [rope, 1]], stiffness: 2, rest: 1}}\n"
      "start: {project: auto}\n";
  static const double mass[3] = {.3, .5, .2}, zero[3] = {0}, end = .5;
  reference r = {0};
  double z[REFERENCE_STATE * 6];
  simulation *s =
      run(text, 2, .01, 0.01, (const char *const[]){"pose", "twist", "inertia", "position", "momentum", NULL});
  reference_bodies(s, 3, &r, z);
  hold_three(&r);
  for (int p = 0; p < 3; p++) {
    cb_pose g = {.q = {1}};
    double Y[6] = {0};
    for (int k = 0; k < 6; k++) r.K[3 + p][k][k] = k < 3 ? 1 : mass[p];
    for (int k = 0; k < 3; k++) {
      g.x[k] = row_of(s, 3, 0)[3 * p + k];
      Y[3 + k] = row_of(s, 4, 0)[3 * p + k] / mass[p];
    }
    reference_write(&g, Y, z + REFERENCE_STATE * (3 + p));
  }
  r.bodies = 6;
  r.joint[2] = held("rod", 0, (double[]){-.2, 0, 0}, 3, zero);
  r.joint[3] = held("rod", 3, zero, 4, zero);
  r.joint[4] = held("rod", 4, zero, 5, zero);
  r.joint[5] = held("spring", 3, zero, 5, zero);
  r.joint[6] = held("spring", 2, (double[]){0, 0, .1}, 4, zero);
  const double length[] = {hypot(.6, .1), sqrt(.09 + .04 + .04), sqrt(.01 + .25 + .01), .7, 1}, k[] = {0, 0, 0, 30, 2};
  for (int i = 0; i < 5; i++) {
    r.joint[2 + i].length = length[i];
    r.joint[2 + i].stiffness[0] = k[i];
  }
  r.joints = 7;
  simulation_free(s);
  solve_reference(reference_rhs, &r, REFERENCE_STATE * 6, end, z);
  check_run("rope", text, 3, end, z, true, true);
}

#define HELD_ENDS "{between: [{body: a, at: [-0.2, 0, 0]}, {body: c, at: [0.1, 0, 0.05]}]}"

static void a_rod_holds_the_ends_of_a_chain(void **unused) {
  const char *const by_constraint = FREE BODY_A BODY_B BODY_C "joints:\n" PIN CROSS "constraints:\n  - {rod: " HELD_ENDS
                                                              "}\nstart: {project: auto}\n";
  reference r = {0};
  double z[REFERENCE_STATE * 3], x[2][3], R[3][3];
  simulation *s = run(by_constraint, 2, .01, .01, fields);
  reference_bodies(s, 3, &r, z);
  hold_three(&r);
  r.joint[2] = held("rod", 0, (double[]){-.2, 0, 0}, 2, (double[]){.1, 0, .05});
  for (int side = 0; side < 2; side++) {
    reference_body b;
    reference_read(z + REFERENCE_STATE * 2 * side, &b);
    memcpy(R, b.R, sizeof R);
    cb_apply3((const double(*)[3])R, r.joint[2].frame[side].x, x[side]);
    for (int k = 0; k < 3; k++) x[side][k] += b.x[k];
  }
  const double far[3] = {x[1][0] - x[0][0], x[1][1] - x[0][1], x[1][2] - x[0][2]}, length = sqrt(cb_dot3(far, far));
  r.joint[2].length = length;
  r.joints = 3;
  simulation_free(s);
  solve_reference(reference_rhs, &r, REFERENCE_STATE * 3, .5, z);
  check_run("held ends", by_constraint, 3, .5, z, true, true);

  /* A rod under the key `joints` gives the same steps as a rod under the key `constraints`. At the start all bodies
   * rotate like one rigid body. */
  static const char joined[] = FREE BODY_A BODY_B BODY_C
      "joints:\n"
      "  - {kind: hinge, name: pin, of: [a, b], at: [0.22, 0, 0], in: [-0.31, 0, 0], axis: [0, 1, 0.5], angle: 0.3,\n"
      "     spring: {stiffness: 3}}\n"
      "  - {kind: universal, name: cross, of: [c, b], at: [-0.16, 0.02, 0], in: [0.33, 0, 0.01], axis: [0, 1, 0],\n"
      "     axis_in: [0, 0, 1], angle: [0.2, -0.4]}\n";
  char constraint[4096], by_joint[4096];
  snprintf(constraint, sizeof constraint, "%sconstraints:\n  - {rod: " HELD_ENDS "}\n", joined);
  snprintf(by_joint, sizeof by_joint,
           "%s  - {kind: rod, name: stay, of: [a, c], at: [-0.2, 0, 0], in: [0.1, 0, 0.05], length: %.17g}\n", joined,
           length);
  simulation *one = run(constraint, 2, .01, 1, fields), *other = run(by_joint, 2, .01, 1, fields);
  check_near(distance_to(one->width[POSE], last_of(one, POSE), last_of(other, POSE)), 0, 1e-11);
  simulation_free(one);
  simulation_free(other);
}

static void wrenches_of_joined_bodies_know_one_another(void **unused) {
  /* b and c pull each other with a spring of length 0, which is written as wrenches at their origins */
  const char *const text = FREE BODY_A
      "  - {name: b, shape: {name: ellipsoid, a: 0.3, b: 0.1, c: 0.2}, mass: 3, drag: false,\n"
      "     wrenches: [{name: pull, frame: world, force: ['5*(c.x - x)', '5*(c.y - y)', '5*(c.z - z)']}]}\n"
      "  - {name: c, shape: {name: ellipsoid, a: 0.15, b: 0.2, c: 0.1}, mass: 2, drag: false,\n"
      "     wrenches: [{name: pull, frame: world, force: ['5*(b.x - x)', '5*(b.y - y)', '5*(b.z - z)']}]}\n"
      "joints:\n" PIN CROSS;
  static const double zero[3] = {0};
  reference r = {0};
  double z[REFERENCE_STATE * 3];
  simulation *s = run(text, 2, .01, .01, fields);
  reference_bodies(s, 3, &r, z);
  hold_three(&r);
  r.joint[2] = held("spring", 1, zero, 2, zero);
  r.joint[2].stiffness[0] = 5;
  r.joints = 3;
  simulation_free(s);
  solve_reference(reference_rhs, &r, REFERENCE_STATE * 3, .5, z);
  check_run("wrenches", text, 3, .5, z, false, false); /* wrenches keep the linear momentum */
}

/* --- bodies without joints, and restarts --- */

#define WATER "curvebody: 1\nfluid: {medium: water}\nbodies:\n"
#define ALONE                                                                                              \
  "  - {name: coin, shape: {name: cylinder, radius: 0.05, length: 0.01, resolution: 16}, density: 3000,\n" \
  "     place: {position: [0, 3, 0.1], rotation: {axis: [1, 0, 0], angle: 0.4}},\n"                        \
  "     wrenches: [{name: push, force: [0, '0.01*sin(t)', 0], at: [0, 0, 0.01]}]}\n"

static cb_scenario *make(const char *text, int order) {
  char all[8192];
  const int length = snprintf(all, sizeof all,
                              "%sintegrator: {name: hamilton_pontryagin, order: %d, step: 0.01}\ntime: {end: 0.6}\n"
                              "record: {every: 2, checkpoint: 5}\n",
                              text, order);
  assert_in_range(length, 1, sizeof all - 1);
  cb_scenario *s = NULL;
  check_ok(cb_scenario_open_text("test", all, NULL, 0, &s));
  return s;
}

static void go(cb_scenario *s, memory_sink *m) {
  cb_sink sink = memory_open(m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
}

static void a_body_without_joints_moves_as_alone(void **unused) {
  for (int order = 2; order <= 4; order += 2) {
    cb_scenario *together = make(WATER BODY_A BODY_B ALONE BODY_C "joints:\n" PIN CROSS, order),
                *alone = make(WATER ALONE, order);
    memory_sink a, b;
    go(together, &a);
    go(alone, &b);
    assert_int_equal(a.n_rows, 31);
    const char *const names[] = {"pose", "twist", "body_momentum", "wrench_drag", "wrench_push"};
    const size_t sizes[] = {7, 6, 6, 6, 6};
    for (size_t row = 0; row < a.n_rows; row++)
      for (size_t f = 0; f < 5; f++)
        for (size_t k = 0; k < sizes[f]; k++)
          check_near(memory_value(&a, row, names[f], 2 * sizes[f] + k), memory_value(&b, row, names[f], k), 0);
    memory_free(&a);
    memory_free(&b);
    cb_scenario_free(together);
    cb_scenario_free(alone);
  }
}

static void a_restart_repeats_the_bytes(void **unused) {
  static const char *const texts[] = {
      WATER BODY_A BODY_B ALONE BODY_C "joints:\n" PIN CROSS,
      WATER BODY_A BODY_B BODY_C
      "joints:\n"
      "  - {kind: hinge, name: pin, of: [a, b], at: [0.22, 0, 0], in: [-0.31, 0, 0], axis: [0, 1, 0.5],\n"
      "     motor: '3*sin(5*t) - 0.2*cross.1_rate', spring: {stiffness: 2}, damping: 0.3, armature: 0.01, angle: 0.8}\n"
      "  - {kind: universal, name: cross, of: [c, b], at: [-0.16, 0.02, 0], in: [0.33, 0, 0.01], axis: [0, 1, 0],\n"
      "     axis_in: [0, 0, 1], drive: ['0.3*sin(4*t)', none]}\n"
      "  - {kind: rod, of: [a, c], at: [-0.1, 0, 0], in: [0, 0, 0.1], length: 1}\n",
      WATER BODY_A BODY_B BODY_C
      "joints:\n" PIN CROSS "constraints:\n  - {rod: " HELD_ENDS
      "}\nstart: {project: auto}\n"
      "interactions:\n  - {pair_potential: harmonic, strength: 5, length: 0.8, between: [a, c]}\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int order = 2; order <= 4; order += 2) {
      cb_scenario *s = make(texts[i], order);
      memory_sink whole;
      go(s, &whole);
      assert_int_equal(whole.n_checkpoints, 6);
      for (size_t c = 0; c < whole.n_checkpoints; c++) check_rest("joints", &whole, c, make(texts[i], order));
      memory_free(&whole);
      cb_scenario_free(s);
    }
}

/* --- the balance of energy --- */

/* Returns the maximum of |energy(t) - energy(0) - motor_work - damping_work| over the rows. *work becomes the maximum
 * over rows and joints of |motor_work| + |damping_work|. */
static double imbalance(const char *text, double step, double *work) {
  simulation *s = run(text, 2, step, 1, fields);
  double worst = 0;
  *work = 0;
  for (size_t row = 0; row < s->rows; row++) {
    double sum = *row_of(s, ALL_ENERGY, 0);
    for (size_t k = 0; k < s->width[MOTOR_WORK]; k++) {
      sum += row_of(s, MOTOR_WORK, row)[k] + row_of(s, DAMPING_WORK, row)[k];
      *work = fmax(*work, fabs(row_of(s, MOTOR_WORK, row)[k]) + fabs(row_of(s, DAMPING_WORK, row)[k]));
    }
    worst = fmax(worst, fabs(*row_of(s, ALL_ENERGY, row) - sum));
  }
  simulation_free(s);
  return worst;
}

#define HUNG                                                          \
  "curvebody: 1\nfluid: {medium: none}\nbodies:\n" /* with gravity */ \
  "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false}\n" BODY_B "joints:\n"
#define HUNG_AT "kind: hinge, name: hip, of: [world, a], in: [-0.2, 0, 0], axis: [0, -1, 0.2]"
#define KNEE_AT "kind: hinge, name: knee, of: [%s], at: [%s], in: [%s], axis: [0.1, -1, 0]"

static void energy_changes_by_the_work_of_motors_and_dampers(void **unused) {
  static const struct {
    const char *what, *hip, *knee;
  } cases[] = {{"dampers", "damping: 0.5", "damping: 0.3, spring: {stiffness: 3, rest: 0.2}, armature: 0.02"},
               {"a motor", "damping: 0.1", "motor: '4*sin(3*t) - 0.1*hip_rate', armature: 0.02"},
               {"a servo of place", "damping: 0.1", "servo: {position: 'sin(2*t)', kp: 20, kv: 0.5}"},
               {"a servo of rate", "armature: 0.1", "servo: {velocity: 'cos(2*t)', kv: 2}"},
               {"a drive", "damping: 0.1", "drive: '0.5*sin(3*t)'"},
               {"a driven hip", "drive: '0.5*sin(3*t)', armature: 0.1", "damping: 0.1, spring: {stiffness: 3}"},
               {"two drives", "drive: '0.5*sin(3*t)'", "drive: '0.4 - 0.3*cos(4*t)', armature: 0.1, damping: 0.2"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int reverse = 0; reverse < 2; reverse++) {
      char text[4096];
      double work, coarse, fine;
      snprintf(text, sizeof text, HUNG "  - {" HUNG_AT ", %s}\n  - {" KNEE_AT ", %s}\n", cases[i].hip,
               reverse ? "b, a" : "a, b", reverse ? "-0.3, 0, 0" : "0.2, 0, 0", reverse ? "0.2, 0, 0" : "-0.3, 0, 0",
               cases[i].knee);
      coarse = imbalance(text, .005, &work);
      fine = imbalance(text, .0025, &work);
      print_message("%s: %.2e %.2e of %.2g J, order %.3f\n", cases[i].what, coarse, fine, work, log2(coarse / fine));
      check_at_most(fine, 3e-3 * work);
      check_near(log2(coarse / fine), 2, .15);
    }
}

/* --- forces at rest --- */

/* In a chain that hangs at rest, each joint carries the weight of all bodies below it. Forces or constraints that act
 * on the same bodies do not change this. */
static void joints_of_a_hanging_chain_carry_its_weight(void **unused) {
  static const char *const beside[] = {
      "", "forces:\n  - {body: b, force: ['-0.3*x_dot', '-0.3*y_dot', '-0.3*z_dot']}\n",
      "constraints:\n  - {rod: {between: [{body: c, at: [0, 0, 0.1]}, {body: b, at: [0, 0, -0.2]}]}}\n"};
  for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
    for (int order = 2; order <= 4; order += 2) {
      char text[4096];
      const bool third = strstr(beside[i], "body: c") != NULL; /* true: a third body c hangs on a rod below body b */
      snprintf(text, sizeof text,
               "curvebody: 1\nfluid: {medium: none}\nbodies:\n"
               "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false}\n" BODY_B
               "%s"
               "joints:\n  - {kind: hinge, of: [world, a], in: [0, 0, 0.1], axis: [0, 1, 0]}\n"
               "  - {kind: hinge, of: [b, a], at: [0, 0, 0.2], in: [0, 0, -0.1], axis: [0, 1, 0]}\n%s",
               third ? "  - {name: c, shape: {name: ellipsoid, a: 0.2, b: 0.2, c: 0.1}, mass: 2, drag: false,\n"
                       "     place: {position: [0, 0, -0.9]}}\n"
                     : "",
               beside[i]);
      simulation *s = run(text, order, .01, .1, (const char *const[]){"joint_wrench", "pose", NULL});
      const double below = third ? 5 : 3, expected[2] = {(4 + below) * 9.81, -below * 9.81};
      for (size_t row = 1; row < s->rows; row++)
        for (int j = 0; j < 2; j++)
          for (int k = 0; k < 6; k++) check_near(row_of(s, 0, row)[6 * j + k], k == 5 ? expected[j] : 0, 1e-10);
      simulation_free(s);
    }
}

/* A hinge is driven with the law q = sin(3t)/2. The effort moves the body, the rotor, the spring and the damper. */
static void efforts_of_drives_turn_body_rotor_and_spring(void **unused) {
  double error[2], work[2];
  for (int i = 0; i < 2; i++) {
    const double step = .005 / (1 << i);
    simulation *s =
        run(FREE
            "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false}\n"
            "joints:\n  - {kind: hinge, of: [world, a], axis: [0, 0, 1], drive: '0.5*sin(3*t)', armature: 0.1,\n"
            "     spring: {stiffness: 2, rest: 0.3}, damping: 0.4}\n",
            2, step, 1, (const char *const[]){"effort", "inertia", "motor_work", NULL});
    const double I = row_of(s, 1, 0)[14] + .1, t = 1 - step / 2, q = .5 * sin(3 * t), w = 1.5 * cos(3 * t);
    error[i] = fabs(last_of(s, 0)[0] - (-9 * I * q + 2 * (q - .3) + .4 * w));
    /* the work of inertia, spring and damper; the work of the damper is .4 times the integral of w^2 */
    const double end = .5 * sin(3.), rate = 1.5 * cos(3.), lost = .4 * 2.25 * (.5 + sin(6.) / 12);
    work[i] = fabs(last_of(s, 2)[0] - (I / 2 * (rate * rate - 2.25) + (end - .3) * (end - .3) - .09 + lost));
    simulation_free(s);
  }
  print_message("effort: %.2e %.2e, work %.2e %.2e\n", error[0], error[1], work[0], work[1]);
  check_near(log2(error[0] / error[1]), 2, .1);
  check_near(log2(work[0] / work[1]), 2, .1);
}

/* --- stiff drag --- */

/* A swimmer of three links with motors. The drag coefficient c divided by the mass m is up to 4e4/s. The result with
 * steps of .01 is close to that with steps of .001. */
static void stiff_drag_of_joined_bodies_stays_bounded(void **unused) {
  /* tolerances; the measured differences are 1e-3, 1e-4, 2e-7, and less */
  static const double most[] = {2e-3, 2e-4, 2e-6, 2e-6};
  for (int i = 0; i < 4; i++)
    for (int order = 2; order <= (i == 0 ? 4 : 2); order += 2) { /* order 4 is refused where c h/m > 1 */
      char text[4096];
      snprintf(
          text, sizeof text,
          "curvebody: 1\nfluid: {medium: 3000, gravity: [0, 0, 0], model: {name: mujoco_inertia_box, viscosity: %g}}\n"
          "bodies:\n"
          "  - {name: a, shape: {name: box, a: 0.005, b: 0.05, c: 0.01}, mass: 0.01}\n"
          "  - {name: b, shape: {name: box, a: 0.005, b: 0.05, c: 0.01}, mass: 0.01}\n"
          "  - {name: c, shape: {name: box, a: 0.005, b: 0.05, c: 0.01}, mass: 0.01}\njoints:\n"
          "  - {kind: hinge, name: p, of: [a, b], at: [0, 0.05, 0], in: [0, -0.05, 0], axis: [0, 0, 1], angle: 0.2,\n"
          "     motor: '5e-4*sin(2*pi*t)', armature: 1e-6}\n"
          "  - {kind: hinge, name: o, of: [b, c], at: [0, 0.05, 0], in: [0, -0.05, 0], axis: [0, 0, 1], angle: 0.05,\n"
          "     motor: '5e-4*sin(2*pi*t + 1.3)', armature: 1e-6}\n",
          pow(10, i));
      static const char *const which[] = {"angle", "rate", NULL};
      simulation *coarse = run(text, order, .01, 2, which), *fine = run(text, 2, .001, 2, which);
      const double error = distance_to(2, last_of(coarse, 0), last_of(fine, 0));
      print_message("viscosity %g, order %d: error %.2e, greatest rate %.3g\n", pow(10, i), order, error,
                    most_of(coarse, 1));
      check_at_most(error, most[i]);
      check_at_most(most_of(coarse, 1), 2 * most_of(fine, 1));
      simulation_free(coarse);
      simulation_free(fine);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_rope_of_particles_tows_a_chain_of_hinged_bodies),
                                     cmocka_unit_test(a_rod_holds_the_ends_of_a_chain),
                                     cmocka_unit_test(wrenches_of_joined_bodies_know_one_another),
                                     cmocka_unit_test(a_body_without_joints_moves_as_alone),
                                     cmocka_unit_test(a_restart_repeats_the_bytes),
                                     cmocka_unit_test(energy_changes_by_the_work_of_motors_and_dampers),
                                     cmocka_unit_test(joints_of_a_hanging_chain_carry_its_weight),
                                     cmocka_unit_test(stiff_drag_of_joined_bodies_stays_bounded),
                                     cmocka_unit_test(efforts_of_drives_turn_body_rotor_and_spring)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
