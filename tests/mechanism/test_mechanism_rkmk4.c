/* Tests of trees of joined bodies by rkmk4, in coordinates of the joints, against independent equations of motion and
 * against the variational steps of order 4. */
#include "core/threads.h"
#include "joined_oracles.h"

static void run_rkmk4(joined *s, double h) {
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) {
    int failed;
    check_ok(cb_mechanism_step_rkmk4(s->mechanism, &s->bodies, s->t, h, &failed));
    s->t = (i + 1) * h;
  }
}

static void check_joints(const joined *s) {
  const double *gap = cb_mechanism_gaps(s->mechanism, &s->bodies);
  for (int j = 0; j < s->joints; j++) check_at_most(gap[j], 1e-15);
}

static double run(void (*start)(joined *s), double (*error)(const joined *s), double h) {
  joined s;
  start(&s);
  run_rkmk4(&s, h);
  check_joints(&s);
  const double out = error(&s);
  cb_mechanism_free(s.mechanism);
  return out;
}

static void check_order_4(void (*start)(joined *s), double (*error)(const joined *s), double h) {
  const double coarse = run(start, error, h), fine = run(start, error, h / 2);
  print_message("%.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 4, .15);
}

static void steps_are_of_order_4(void **unused) {
  (void)unused;
  check_order_4(start_double_pendulum, double_pendulum_error, .005);
  check_order_4(start_chain_of_balls, chain_of_balls_error, .005);
  check_order_4(start_acrobot, acrobot_error, .005);
  check_at_most(run(start_double_pendulum, double_pendulum_error, 1. / 2500), 1e-10);
  check_at_most(run(start_acrobot, acrobot_error, 1. / 1000), 1e-10);
}

/* --- all kinds of joints --- */

/* Computes an inertia K and a momentum mu0 that change with time. */
static cb_status breathing(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  joined_inertia(self, t, g, K, mu0);
  for (int i = 0; i < 36; i++) K[i / 6][i % 6] *= 1 + .2 * sin(3 * t);
  mu0[1] = .01 * cos(2 * t);
  mu0[3] = .02 * sin(t);
  return CB_OK;
}

enum { SLIDE = 0, BALL = 1, UNIVERSAL, CYLINDRICAL, PLANAR, DRIVEN_HINGE, DRIVEN_BALL, COMPOUND, WELD, FREE, KINDS };
static int first_of[KINDS];

static void law(double t, double q[4], double rate[4]) {
  for (int i = 0; i < 4; i++) {
    q[i] = .3 * sin((1 + .5 * i) * t + i);
    rate[i] = .3 * (1 + .5 * i) * cos((1 + .5 * i) * t + i);
  }
}

static void drive(void *self, double t, double *q, double *rate) {
  double own[4], slope[4];
  (void)self;
  law(t, own, slope);
  for (int i = 0; i < 4; i++) {
    const int c = i ? first_of[DRIVEN_BALL] + i - 1 : first_of[DRIVEN_HINGE];
    q[c] = own[i];
    rate[c] = slope[i];
  }
}

static void servo(void *self, double t, const double *q, const double *rate, cb_joint_force *force) {
  const int c = first_of[CYLINDRICAL];
  (void)self;
  force[c].Q += 2 * (.1 * sin(2 * t) - q[c]) - .3 * rate[c];
  force[c].Q_q -= 2;
  force[c].Q_rate -= .3;
}

/* Starts eleven bodies with a joint of every class. Ten of them form a tree whose root is body 1, so joint 1, between
 * the bodies 0 and 1, moves its first body. Body 10 is on a free joint to the world. */
static void start_menagerie(joined *s) {
  static const struct {
    const char *name;
    int a, b;
  } kind[KINDS] = {{"slide", 1, 2}, {"ball", 0, 1}, {"universal", 0, 3}, {"cylindrical", 1, 4}, {"planar", 2, 5},
                   {"hinge", 0, 6}, {"ball", 1, 7}, {"compound", 7, 8},  {"weld", 8, 9},        {"free", -1, 10}};
  static const double screw[2][6] = {{.6, 0, .8, .1, .2, 0}, {0, 0, 0, .6, .8, 0}};
  static const int order[KINDS] = {BALL,         SLIDE,       UNIVERSAL, CYLINDRICAL, PLANAR,
                                   DRIVEN_HINGE, DRIVEN_BALL, COMPOUND,  WELD,        FREE};
  static const cb_mechanism_laws laws = {.motors = servo, .drives = drive};
  const cb_pose base = {{1, 0, 0, 0}, {.1, .2, .3}};
  double rate[6] = {.5, -.4, .3, .2, .6, -.3}, angle[6] = {.3, .2, -.4, .1, .5, .2}, q[4], slope[4];
  *s = (joined){.t = 0};
  int c = 0;
  for (int i = 0; i < 11; i++) joined_add(s, (double[]){.30, .20 + .01 * i, .12}, 1.1, 1, -.3);
  s->body[2].problem.constant = s->body[0].problem.constant = NULL;
  s->body[2].problem.inertia = s->body[0].problem.inertia = breathing;
  for (int i = 0; i < KINDS; i++) {
    cb_joint *j = joined_hold(s, kind[i].name, kind[i].a, (double[]){.3, .1 * i, 0}, (double[]){1, .2 * i, .3},
                              kind[i].b, (double[]){-.3, .05, .1}, (double[]){.2, .3, 1});
    if (i == COMPOUND) {
      j->data.screws = 2;
      j->data.screw = screw;
    }
    first_of[i] = c;
    c += cb_joint_coordinates(j);
    for (int k = 0; k < cb_joint_coordinates(j); k++) {
      j->stiffness[k] = .5 + .1 * k;
      j->rest[k] = .1;
      j->damping[k] = .02;
      j->armature[k] = .01 + .005 * k;
      j->driven[k] = i == DRIVEN_HINGE || i == DRIVEN_BALL;
    }
  }
  law(0, q, slope);
  check_ok(cb_rigid_start(&s->body[0].problem, 0, &base, (double[]){.15, -.25, .35, .1, .05, -.15}, &s->state[0]));
  for (int i = 0; i < KINDS; i++) {
    const int k = order[i];
    joined_place(s, &s->joint[k],
                 k == DRIVEN_HINGE  ? q
                 : k == DRIVEN_BALL ? q + 1
                                    : angle,
                 k == DRIVEN_HINGE  ? slope
                 : k == DRIVEN_BALL ? slope + 1
                                    : rate,
                 0);
  }
  joined_start(s, &laws);
}

static double difference(const joined *a, const joined *b) {
  double out = 0;
  for (int i = 0; i < a->n; i++) {
    out = fmax(out, pose_error(&a->state[i].g, b->state[i].g.q, b->state[i].g.x));
    for (int k = 0; k < 6; k++) out = fmax(out, fabs(a->state[i].momentum[k] - b->state[i].momentum[k]));
  }
  for (int c = 0; c < cb_mechanism_coordinates(a->mechanism); c++) {
    out = fmax(out, fabs(cb_mechanism_q(a->mechanism)[c] - cb_mechanism_q(b->mechanism)[c]));
    out = fmax(out, fabs(cb_mechanism_rates(a->mechanism)[c] - cb_mechanism_rates(b->mechanism)[c]));
  }
  return out;
}

static void all_joints_move_as_with_variational_steps(void **unused) {
  (void)unused;
  double last = 0;
  joined right, s;
  start_menagerie(&right);
  for (int i = 0; i < 1200; i++) check_ok(joined_step(&right, 1. / 1200, 4));
  static const int steps[] = {60, 120, 1200};
  for (int i = 0; i < 3; i++) {
    start_menagerie(&s);
    run_rkmk4(&s, 1. / steps[i]);
    check_joints(&s);
    const double error = difference(&s, &right);
    print_message("%d steps: %.3g, order %.2f\n", steps[i], error, log2(last / error));
    if (i == 1) check_near(log2(last / error), 4, .1);
    if (i == 2) check_at_most(error, 1e-10); /* the error of each of the two methods is about 4e-11 */
    last = error;
    cb_mechanism_free(s.mechanism);
  }
  cb_mechanism_free(right.mechanism);
}

/* --- what is conserved, and what is recorded --- */

static void momentum_is_kept_to_round_off(void **unused) {
  (void)unused;
  joined s;
  double before[6], after[6];
  start_chain_of_balls(&s);
  total_momentum(&s, before);
  run_rkmk4(&s, 1. / 500);
  total_momentum(&s, after);
  for (int i = 0; i < 6; i++) check_near(after[i], before[i], 1e-15); /* the measured difference is some 1e-16 */
  cb_mechanism_free(s.mechanism);
}

static double energy_of(const joined *s) {
  double potential, kinetic;
  cb_mechanism_energies(s->mechanism, &potential, &kinetic);
  for (int i = 0; i < s->n; i++) potential -= s->body[i].weight[2] * s->state[i].g.x[2];
  return kinetic_energy(s) + kinetic + potential;
}

static double unexplained_energy(double h) {
  joined s;
  start_menagerie(&s);
  /* the inertia is constant, because a changing inertia would do work, too */
  s.body[2].problem.inertia = s.body[0].problem.inertia = joined_inertia;
  for (int i = 0; i < 3; i += 2) {
    const cb_pose g = s.state[i].g;
    double Y[6];
    memcpy(Y, s.state[i].Y, sizeof Y);
    check_ok(cb_rigid_start(&s.body[i].problem, 0, &g, Y, &s.state[i]));
  }
  const double start = energy_of(&s);
  run_rkmk4(&s, h);
  double work = 0;
  for (int c = 0; c < cb_mechanism_coordinates(s.mechanism); c++)
    work += cb_mechanism_work(s.mechanism, CB_JOINT_WORK_MOTOR)[c] +
            cb_mechanism_work(s.mechanism, CB_JOINT_WORK_DAMPING)[c];
  const double error = energy_of(&s) - start - work;
  cb_mechanism_free(s.mechanism);
  return error;
}

static void works_of_motors_drives_and_dampers_explain_the_energy(void **unused) {
  (void)unused;
  const double coarse = fabs(unexplained_energy(1. / 100)), fine = fabs(unexplained_energy(1. / 200));
  print_message("%.3g %.3g, order %.2f\n", coarse, fine, log2(coarse / fine));
  check_at_most(fine, 2e-8);
  check_near(log2(coarse / fine), 4, .5);
}

/* The law q = t^3 of a driven hinge whose axis does not contain the centre of the body. The effort of the drive is I
 * q'', with the inertia I about the axis, and the joint carries the weight. */
static void spin(void *self, double t, double *q, double *rate) {
  (void)self;
  q[0] = t * t * t;
  rate[0] = 3 * t * t;
}

static void efforts_and_wrenches_are_means_of_the_last_step(void **unused) {
  (void)unused;
  const double axis[3] = {0, 0, 1}, zero = 0, h = .01;
  const cb_mechanism_laws laws = {.drives = spin};
  joined s = {.t = 0};
  double wrench[6], effort[1];
  joined_add(&s, (double[]){.3, .2, .1}, 1000, 0, -9.81);
  joined_hold(&s, "hinge", -1, (double[]){0, 0, 0}, axis, 0, (double[]){.1, 0, 0}, axis)->driven[0] = true;
  joined_place(&s, &s.joint[0], &zero, &zero, 0);
  joined_start(&s, &laws);
  run_rkmk4(&s, h);
  cb_mechanism_gaps(s.mechanism, &s.bodies);
  cb_mechanism_drive_efforts(s.mechanism, h, effort);
  cb_mechanism_wrenches(s.mechanism, wrench);
  const double mass = s.body[0].constant.K[3][3], inertia = s.body[0].constant.K[2][2] + mass * .01,
               before = 3 * (1 - h) * (1 - h), slope = (3 - before) / h;
  check_near(effort[0], inertia * slope, 1e-9);
  check_near(wrench[2] / h, inertia * slope, 1e-9);
  check_near(wrench[5] / h, mass * 9.81, 1e-9);
  /* the centre moves on a circle, and the force is the change of its momentum */
  const double q = pow(1 - h, 3), v0[2] = {.1 * before * sin(q), -.1 * before * cos(q)},
               v1[2] = {.3 * sin(1), -.3 * cos(1)};
  for (int i = 0; i < 2; i++) check_near(wrench[3 + i] / h, mass * (v1[i] - v0[i]) / h, 1e-8);
  cb_mechanism_free(s.mechanism);
}

/* --- states --- */

static void check_same(const joined *a, const cb_rigid_state *state, const double *joints) {
  int count;
  const double *own = cb_mechanism_state(a->mechanism, &count);
  assert_memory_equal(a->state, state, sizeof *state * (size_t)a->n);
  assert_memory_equal(own, joints, (size_t)count * sizeof *own);
}

/* Makes a tree of hinges and a slide whose root is not joined to the world. In such trees, the pose of the root is a
 * part of the state that a step takes over from the previous step. In other trees it is not. */
static void start_screws(joined *s) {
  const double angle = .3, rate = -.5;
  const cb_pose base = {{1, 0, 0, 0}, {.1, .2, .3}};
  *s = (joined){.t = 0};
  for (int i = 0; i < 5; i++) joined_add(s, (double[]){.30, .20 + .01 * i, .12}, 1.1, 1, -.3);
  check_ok(cb_rigid_start(&s->body[0].problem, 0, &base, (double[]){.15, -.25, .35, .1, .05, -.15}, &s->state[0]));
  for (int i = 0; i < 4; i++) {
    const cb_joint *j = joined_hold(s, i == 1 ? "slide" : "hinge", i == 3 ? 0 : i, (double[]){.3, .1 * i, 0},
                                    (double[]){1, .2 * i, .3}, i + 1, (double[]){-.3, .05, .1}, (double[]){.2, .3, 1});
    joined_place(s, j, &angle, &rate, 0);
  }
  joined_start(s, NULL);
}

static void check_continues(void (*start)(joined *s)) {
  joined one, two;
  int count, failed;
  start(&one);
  start(&two);
  run_rkmk4(&one, 1. / 20);
  double *from = cb_mechanism_state(one.mechanism, &count), *to = cb_mechanism_state(two.mechanism, &count);
  memcpy(to, from, (size_t)count * sizeof *to);
  memcpy(two.state, one.state, sizeof two.state);
  two.t = one.t;
  cb_mechanism_gaps(one.mechanism, &one.bodies); /* this call must not change the later steps of `one` */
  for (int i = 0; i < 3; i++) {
    check_ok(cb_mechanism_step_rkmk4(one.mechanism, &one.bodies, one.t, .05, &failed));
    check_ok(cb_mechanism_step_rkmk4(two.mechanism, &two.bodies, two.t, .05, &failed));
  }
  check_same(&one, two.state, to);
  /* a step that fails must not change the state */
  assert_int_equal(cb_mechanism_step_rkmk4(one.mechanism, &one.bodies, one.t, 40, &failed), CB_STEP_NO_CONVERGENCE);
  check_same(&one, two.state, to);
  check_ok(cb_mechanism_step_rkmk4(one.mechanism, &one.bodies, one.t, .05, &failed));
  check_ok(cb_mechanism_step_rkmk4(two.mechanism, &two.bodies, two.t, .05, &failed));
  check_same(&one, two.state, to);
  cb_mechanism_free(one.mechanism);
  cb_mechanism_free(two.mechanism);
}

static void states_continue_with_the_same_bytes(void **unused) {
  (void)unused;
  check_continues(start_menagerie);
  check_continues(start_screws);
}

static void all_instruction_sets_give_the_same_bytes(void **unused) {
  (void)unused;
  void (*const start[])(joined * s) = {start_menagerie, start_screws};
  for (int i = 0; i < 2; i++)
    for (const char *const *isa = (const char *const[]){"avx2", "avx512", NULL}; *isa; isa++) {
      joined base, other;
      int count;
      start[i](&base);
      start[i](&other);
      check_ok(cb_isa_set(CB_ISA_BASE));
      run_rkmk4(&base, 1. / 20);
      if (!cb_isa_set(*isa)) {
        run_rkmk4(&other, 1. / 20);
        check_same(&base, other.state, cb_mechanism_state(other.mechanism, &count));
      }
      check_ok(cb_isa_set("auto"));
      cb_mechanism_free(base.mechanism);
      cb_mechanism_free(other.mechanism);
    }
}

static void refuse(joined *s, const char *name, const char *what) {
  int which = -1;
  assert_int_equal(cb_mechanism_create(s->n, s->joints, s->joint, NULL, &which, &s->mechanism), CB_OK);
  assert_int_equal(cb_mechanism_move_coordinates(s->mechanism, &which), CB_ERROR_UNSUPPORTED);
  assert_string_equal(s->joint[which].name, name);
  assert_non_null(strstr(cb_error_text(), name));
  assert_non_null(strstr(cb_error_text(), what));
  cb_mechanism_free(s->mechanism);
}

static void what_coordinates_cannot_move_is_refused_by_name(void **unused) {
  (void)unused;
  const double axis[3] = {0, 0, 1}, at[3] = {.5, 0, 0}, in[3] = {-.5, 0, 0};
  joined s = {.t = 0};
  for (int i = 0; i < 2; i++) joined_add(&s, (double[]){.3, .2, .1}, 1, 0, 0);
  joined_hold(&s, "hinge", -1, at, axis, 0, in, axis)->name = "first";
  joined_hold(&s, "ball", 0, at, NULL, 1, in, NULL)->name = "second";
  joined_hold(&s, "hinge", 1, at, axis, 0, in, axis)->name = "last";
  refuse(&s, "last", "closes a loop");
  s.joints = 2;
  s.joint[0].friction[0] = .1;
  refuse(&s, "first", "dry friction");
  s.joint[0].friction[0] = 0;
  s.joint[0].limit[0][0] = -1;
  s.joint[0].limit[0][1] = INFINITY;
  refuse(&s, "first", "limits");
  s.joint[0].limit[0][0] = -INFINITY;
  s.joint[1].driven[2] = true;
  refuse(&s, "second", "drives of some components");
  s.joint[1].driven[2] = false;
  s.joint[0].coupling[0] = (cb_joint_coupling){.there = true, .to = 1, .c = {0, 1}};
  refuse(&s, "first", "is coupled");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_of_order_4),
                                     cmocka_unit_test(all_joints_move_as_with_variational_steps),
                                     cmocka_unit_test(momentum_is_kept_to_round_off),
                                     cmocka_unit_test(works_of_motors_drives_and_dampers_explain_the_energy),
                                     cmocka_unit_test(efforts_and_wrenches_are_means_of_the_last_step),
                                     cmocka_unit_test(states_continue_with_the_same_bytes),
                                     cmocka_unit_test(all_instruction_sets_give_the_same_bytes),
                                     cmocka_unit_test(what_coordinates_cannot_move_is_refused_by_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
