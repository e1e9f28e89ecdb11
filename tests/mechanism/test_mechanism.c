/* Joined bodies against independent equations of motion, solved to the digits of two tolerances and two formulations. */
#include "joined_bodies.h"

/* Two ellipsoids on skew hinges in vacuum, which fall from the world. */
static void start_double_pendulum(joined *s) {
  *s = (joined){.t = 0};
  joined_add(s, (double[]){.30, .12, .08}, 1000, 0, -9.81);
  joined_add(s, (double[]){.25, .10, .06}, 1200, 0, -9.81);
  joined_hold(s, "hinge", -1, (double[]){0, 0, 1}, (double[]){.2, .9, .3}, 0, (double[]){-.3, 0, 0},
              (double[]){.2, .9, .3});
  joined_hold(s, "hinge", 0, (double[]){.32, .02, 0}, (double[]){.5, .2, .8}, 1, (double[]){-.26, 0, .01},
              (double[]){.4, .3, .8});
  joined_place(s, &s->joint[0], (double[]){.4}, (double[]){1.5}, 0);
  joined_place(s, &s->joint[1], (double[]){-.7}, (double[]){-2}, 0);
  joined_start(s, NULL);
}

static double run_double_pendulum(double h, int order, double out[4]) {
  joined s;
  start_double_pendulum(&s);
  for (int i = 0; i < (int)lround(1 / h); i++) check_ok(joined_step(&s, h, order));
  const double *q = cb_mechanism_q(s.mechanism), *rate = cb_mechanism_rates(s.mechanism);
  for (int i = 0; i < 2; i++) {
    out[i] = q[i];
    out[2 + i] = rate[i];
  }
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies);
  check_at_most(fmax(gap[0], gap[1]), 1e-14);
  cb_mechanism_free(s.mechanism);
  const double right[] = {2.714070772791, -1.062380472855, -1.937475395638, -.842384207849};
  double error = 0;
  for (int i = 0; i < 4; i++) error = fmax(error, fabs(out[i] - right[i]));
  return error;
}

static void skew_hinges_fall_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  double out[4], coarse, fine;
  coarse = run_double_pendulum(.01, 2, out), fine = run_double_pendulum(.005, 2, out);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  coarse = run_double_pendulum(.01, 4, out), fine = run_double_pendulum(.005, 4, out);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 4, .1);
  check_at_most(run_double_pendulum(1. / 4000, 4, out), 1e-10);
}

/* Five ellipsoids on ball joints with springs, in a fluid, which drift and turn freely. */
static void start_chain_of_balls(joined *s) {
  static const double axes[5][3] = {{.30, .20, .12},
                                    {.25, .14, .18},
                                    {.28, .21, .15},
                                    {.22, .15, .11},
                                    {.26, .17, .13}},
                      density[5] = {1.1, 1.3, .9, 1.2, 1.05}, axis[3] = {1, 2, 3};
  cb_pose base = {.x = {.1, -.2, .3}};
  double turn[3];
  *s = (joined){.t = 0};
  for (int i = 0; i < 5; i++) joined_add(s, axes[i], density[i], 1, 0);
  for (int i = 0; i < 3; i++) turn[i] = .4 * axis[i] / sqrt(14);
  cb_quaternion_exp(turn, base.q);
  check_ok(cb_rigid_start(&s->body[0].problem, 0, &base, (double[]){.15, -.25, .35, .1, .05, -.15}, &s->state[0]));
  for (int i = 1; i < 5; i++) {
    cb_joint *j = joined_hold(s, "ball", i - 1, (double[]){axes[i - 1][0] + .02, .01 * (i % 3), 0}, NULL, i,
                              (double[]){-axes[i][0] - .02, 0, .01 * ((i + 1) % 2)}, NULL);
    const double along[3] = {cos(i), sin(i), .3 * i}, size = sqrt(cb_dot3(along, along)),
                 spin[3] = {.2 * cos(2 * i), (-.3 + .1 * i) / 2, .25 * sin(i)};
    double q[3], D[3][3], rate[3];
    for (int k = 0; k < 3; k++) q[k] = (.35 + .1 * i) * along[k] / size;
    for (int k = 0; k < 3; k++) j->stiffness[k] = .1; /* V = .05 |q|^2 */
    cb_joint_motion motion = {.q = {q[0], q[1], q[2]}};
    cb_pose m;
    j->class_->place(q, &j->data, &m);
    j->class_->find(&m, &j->data, &motion);
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < 3; k++) D[a][k] = motion.S[k][a];
    /* spin = D rate, by Cramer's rule */
    double c[3][3];
    for (int k = 0; k < 3; k++) {
      const double u[3] = {D[0][(k + 1) % 3], D[1][(k + 1) % 3], D[2][(k + 1) % 3]},
                   v[3] = {D[0][(k + 2) % 3], D[1][(k + 2) % 3], D[2][(k + 2) % 3]};
      cb_cross3(u, v, c[k]);
    }
    const double first[3] = {D[0][0], D[1][0], D[2][0]}, det = cb_dot3(first, c[0]);
    for (int k = 0; k < 3; k++) rate[k] = cb_dot3(c[k], spin) / det;
    joined_place(s, j, q, rate, 0);
  }
  joined_start(s, NULL);
}

static void total_momentum(const joined *s, double out[6]) {
  memset(out, 0, 6 * sizeof *out);
  for (int i = 0; i < s->n; i++) {
    double own[6];
    cb_rigid_spatial_momentum(0, &s->state[i], own);
    cb_add6(1, own, out);
  }
}

static double kinetic_energy(const joined *s) {
  double out = 0;
  for (int i = 0; i < s->n; i++) {
    double Y[6];
    check_ok(cb_rigid_twist(&s->body[i].problem, &s->state[i], Y));
    for (int k = 0; k < 6; k++) out += Y[k] * s->state[i].momentum[k] / 2;
  }
  return out;
}

static double pose_error(const cb_pose *g, const double q[4], const double x[3]) {
  double error = 0, sign = 0;
  for (int i = 0; i < 4; i++) sign += q[i] * g->q[i];
  for (int i = 0; i < 4; i++) error = fmax(error, fabs(g->q[i] - (sign < 0 ? -q[i] : q[i])));
  for (int i = 0; i < 3; i++) error = fmax(error, fabs(g->x[i] - x[i]));
  return error;
}

static double run_chain_of_balls(double h, int order) {
  joined s;
  double momentum[6], before[6], potential, kinetic;
  start_chain_of_balls(&s);
  static const double right[6] = {.1078034622998,  -.0584873866363, .0967359958532,
                                  -.0101778142619, .1058043646642,  .0698742558211};
  total_momentum(&s, before);
  for (int i = 0; i < 6; i++) check_near(before[i], right[i], 2e-13);
  cb_mechanism_energies(s.mechanism, &potential, &kinetic);
  check_near(kinetic_energy(&s), .0618097275646, 1e-12);
  check_near(potential, .0745, 1e-15);
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  const double first = pose_error(&s.state[0].g, (double[]){.4395251365, -.3043251756, -.5299678976, .6582840340},
                                  (double[]){.5256423635, -.0522399806, .2094091500}),
               last = pose_error(&s.state[4].g, (double[]){.4434730579, -.8120522057, -.3163438112, .2093548549},
                                 (double[]){.9966045521, 1.9326167401, -.0240328150});
  total_momentum(&s, momentum);
  for (int i = 0; i < 6; i++) check_near(momentum[i], before[i], 1e-15);
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies);
  for (int i = 0; i < s.joints; i++) check_at_most(gap[i], 1e-15);
  cb_mechanism_free(s.mechanism);
  return fmax(first, last);
}

static void balls_with_springs_move_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  const double coarse = run_chain_of_balls(.02, 2), fine = run_chain_of_balls(.01, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  const double coarse4 = run_chain_of_balls(.02, 4), fine4 = run_chain_of_balls(.01, 4);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse4, fine4, log2(coarse4 / fine4));
  check_near(log2(coarse4 / fine4), 4, .1);
  check_at_most(run_chain_of_balls(1. / 1600, 4), 1e-9);
}

/* --- an acrobot under water --- */

static void motor_of_knee(void *self, double t, const double *q, const double *rate, cb_joint_force *force) {
  (void)self, (void)q, (void)rate;
  force[1].Q += 1.5 * sin(3 * t);
}

static double run_acrobot(double h, int order) {
  static const double right[] = {-1.883429113080, .001794825759, .1429236094911, -3.239764947414}, axis[3] = {0, -1, 0};
  const cb_mechanism_laws laws = {.motors = motor_of_knee};
  joined s = {.t = 0};
  joined_add(&s, (double[]){.25, .05, .05}, 1500, 1000, -9.81);
  joined_add(&s, (double[]){.20, .04, .06}, 2000, 1000, -9.81);
  joined_hold(&s, "hinge", -1, (double[]){0, 0, 0}, axis, 0, (double[]){-.25, 0, 0}, axis)->damping[0] = .05;
  joined_hold(&s, "hinge", 0, (double[]){.25, 0, 0}, axis, 1, (double[]){-.2, 0, 0}, axis)->damping[0] = .02;
  joined_place(&s, &s.joint[0], (double[]){-1.2}, (double[]){0}, 0);
  joined_place(&s, &s.joint[1], (double[]){.3}, (double[]){0}, 0);
  joined_start(&s, &laws);
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  double error = 0;
  for (int i = 0; i < 2; i++) {
    error = fmax(error, fabs(cb_mechanism_q(s.mechanism)[i] - right[i]));
    error = fmax(error, fabs(cb_mechanism_rates(s.mechanism)[i] - right[2 + i]));
  }
  cb_mechanism_free(s.mechanism);
  return error;
}

static void driven_and_damped_hinges_move_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  const double coarse = run_acrobot(.01, 2), fine = run_acrobot(.005, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  const double coarse4 = run_acrobot(.01, 4), fine4 = run_acrobot(.005, 4);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse4, fine4, log2(coarse4 / fine4));
  check_near(log2(coarse4 / fine4), 4, .1);
  check_at_most(run_acrobot(1. / 1000, 4), 1e-10);
}

/* --- a four-bar linkage in water, closed by a hinge --- */

static double run_four_bar(double h, int order) {
  static const double length[] = {.4, .9, .7}, axis[3] = {0, -1, 0}, start[] = {.9, -.459371301925, -2.101086990839},
                      right[] = {2.666403104151, -2.327008707854, -1.100148089463,
                                 3.035394496,    -2.609005372,    .989283666};
  joined s = {.t = 0};
  double n[3][2], angle = 0;
  for (int i = 0; i < 3; i++) {
    joined_add(&s, (double[]){length[i] / 2, .04, .03}, 1400, 1000, -9.81);
    joined_hold(&s, "hinge", i - 1, (double[]){i ? length[i - 1] / 2 : 0, 0, 0}, axis, i,
                (double[]){-length[i] / 2, 0, 0}, axis);
    angle += start[i];
    n[i][0] = -length[i] * sin(angle);
    n[i][1] = length[i] * cos(angle);
  }
  joined_hold(&s, "hinge", 2, (double[]){.35, 0, 0}, axis, -1, (double[]){1, 0, 0}, axis);
  /* the angular velocities w of the bars: sum_i w_i n_i = 0 */
  const double det = n[1][0] * n[2][1] - n[1][1] * n[2][0], a = -2 * n[0][0], b = -2 * n[0][1],
               w[] = {2, (a * n[2][1] - b * n[2][0]) / det, (n[1][0] * b - n[1][1] * a) / det};
  for (int i = 0; i < 3; i++) {
    const double rate = i ? w[i] - w[i - 1] : w[0];
    joined_place(&s, &s.joint[i], &start[i], &rate, 0);
  }
  joined_start(&s, NULL);
  const int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; i++) check_ok(joined_step(&s, h, order));
  double error = 0;
  for (int i = 0; i < 3; i++) {
    error = fmax(error, fabs(cb_mechanism_q(s.mechanism)[i] - right[i]));
    error = fmax(error, .1 * fabs(cb_mechanism_rates(s.mechanism)[i] - right[3 + i])); /* given to nine decimals */
  }
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies);
  for (int i = 0; i < s.joints; i++) check_at_most(gap[i], 1e-14);
  cb_mechanism_free(s.mechanism);
  return error;
}

static void closed_loop_moves_as_the_equations_of_motion_say(void **unused) {
  (void)unused;
  const double coarse = run_four_bar(.005, 2), fine = run_four_bar(.0025, 2);
  print_message("order 2: %.3g %.3g, order %.3f\n", coarse, fine, log2(coarse / fine));
  check_near(log2(coarse / fine), 2, .05);
  const double coarse4 = run_four_bar(.01, 4), fine4 = run_four_bar(.005, 4);
  print_message("order 4: %.3g %.3g, order %.3f\n", coarse4, fine4, log2(coarse4 / fine4));
  check_near(log2(coarse4 / fine4), 4, .1);
  print_message("%.3g\n", run_four_bar(1. / 1000, 4));
  check_at_most(run_four_bar(1. / 1000, 4), 1e-10);
}

/* --- a long chain --- */

/* A chain of hinges about different axes that begins to fall. dead: its weights are declared as constant forces. */
static void start_long_chain(joined *s, bool dead) {
  for (int i = 0; i < JOINED_BODIES; i++) {
    const double axis[3] = {.2 + .1 * (i % 4), .9, .3 * (i % 2)}, q = .1 * i, rate = 0;
    joined_add(s, (double[]){.30, .12 + .01 * (i % 3), .08}, 1000, 0, -9.81);
    s->body[i].problem.dead_load = dead;
    const cb_joint *j =
        joined_hold(s, "hinge", i - 1, (double[]){i ? .32 : 0, 0, 0}, axis, i, (double[]){-.32, 0, .01}, axis);
    joined_place(s, j, &q, &rate, 0);
  }
  joined_start(s, NULL);
}

/* The round-off of the chain's places, 40 links of .64 m, is 1e-13 m/s in steps of 1 ms. This is above 1e-15 of the first
 * speeds; steps must end nevertheless, with closed joints. At 30 steps the extrapolation is so good that one change is
 * enough. */
static void long_chains_take_few_iterations(void **unused) {
  static joined s;
  (void)unused;
  int iterations = 0, failed;
  start_long_chain(&s, true);
  for (int i = 0; i < 30; i++) {
    for (int b = 0; b < s.n; b++) s.state[b].t = s.t;
    const cb_mechanism_step step = {CB_SE3_CAYLEY, false, s.t, 1e-3};
    check_ok(cb_mechanism_drift(s.mechanism, &s.bodies, &step, &failed, &iterations));
    s.t += 1e-3;
    check_ok(cb_mechanism_settle(s.mechanism, &s.bodies, s.t, &failed));
    check_at_most(iterations, 4);
  }
  assert_int_equal(iterations, 1);
  const double *gap = cb_mechanism_gaps(s.mechanism, &s.bodies);
  for (int i = 0; i < s.joints; i++) check_at_most(gap[i], 2e-15);
  assert_int_equal(cb_mechanism_root(s.mechanism, JOINED_BODIES - 1), 0);
  cb_mechanism_free(s.mechanism);
}

/* A weight changes nothing in Newton's matrix, so that its derivative may be left out; the places, up to 25 m away, then
 * agree to round-off. */
static void a_weight_needs_no_derivative(void **unused) {
  static joined a, b;
  (void)unused;
  start_long_chain(&a, true);
  start_long_chain(&b, false);
  for (int i = 0; i < 20; i++) {
    check_ok(joined_step(&a, 5e-3, 2));
    check_ok(joined_step(&b, 5e-3, 2));
  }
  for (int i = 0; i < a.n; i++)
    for (int k = 0; k < 3; k++) check_near(a.state[i].g.x[k], b.state[i].g.x[k], 1e-12);
  cb_mechanism_free(a.mechanism);
  cb_mechanism_free(b.mechanism);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_loop_moves_as_the_equations_of_motion_say),
                                     cmocka_unit_test(skew_hinges_fall_as_the_equations_of_motion_say),
                                     cmocka_unit_test(balls_with_springs_move_as_the_equations_of_motion_say),
                                     cmocka_unit_test(driven_and_damped_hinges_move_as_the_equations_of_motion_say),
                                     cmocka_unit_test(long_chains_take_few_iterations),
                                     cmocka_unit_test(a_weight_needs_no_derivative)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
