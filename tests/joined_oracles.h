/* Motions of joined bodies with known results at t = 1: functions that set the start, and functions that return the
 * errors. The results come from independent equations of motion. They have the digits on which two tolerances and two
 * formulations agree. */
#pragma once

#include "joined_bodies.h"

/* Makes two ellipsoids in vacuum that fall: a hinge joins the first one to the world, and a skew hinge joins the second
 * one to the first. */
static inline void start_double_pendulum(joined *s) {
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

/* Makes a chain of five ellipsoids in a fluid, joined by ball joints with springs. The chain drifts and rotates
 * freely. */
static inline void start_chain_of_balls(joined *s) {
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
    for (int k = 0; k < 3; k++) j->stiffness[k] = .1; /* the potential of the spring is .05 |q|^2 */
    cb_joint_motion motion = {.q = {q[0], q[1], q[2]}};
    cb_pose m;
    j->class_->place(q, &j->data, &m);
    j->class_->find(&m, &j->data, &motion);
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < 3; k++) D[a][k] = motion.S[k][a];
    /* The matrix D maps the rates of the joint coordinates to the spin. Cramer's rule solves D rate = spin. */
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

static inline void total_momentum(const joined *s, double out[6]) {
  memset(out, 0, 6 * sizeof *out);
  for (int i = 0; i < s->n; i++) {
    double own[6];
    cb_rigid_spatial_momentum(0, &s->state[i], own);
    cb_add6(1, own, out);
  }
}

static inline double kinetic_energy(const joined *s) {
  double out = 0;
  for (int i = 0; i < s->n; i++) {
    double Y[6];
    check_ok(cb_rigid_twist(&s->body[i].problem, &s->state[i], Y));
    for (int k = 0; k < 6; k++) out += Y[k] * s->state[i].momentum[k] / 2;
  }
  return out;
}

static inline double pose_error(const cb_pose *g, const double q[4], const double x[3]) {
  double error = 0, sign = 0;
  for (int i = 0; i < 4; i++) sign += q[i] * g->q[i];
  for (int i = 0; i < 4; i++) error = fmax(error, fabs(g->q[i] - (sign < 0 ? -q[i] : q[i])));
  for (int i = 0; i < 3; i++) error = fmax(error, fabs(g->x[i] - x[i]));
  return error;
}

static inline void motor_of_knee(void *self, double t, const double *q, const double *rate, cb_joint_force *force) {
  (void)self, (void)q, (void)rate;
  force[1].Q += 1.5 * sin(3 * t);
}

/* Makes an acrobot, a double pendulum with a motor at the second hinge, under water. */
static inline void start_acrobot(joined *s) {
  static const double axis[3] = {0, -1, 0};
  static const cb_mechanism_laws laws = {.motors = motor_of_knee};
  *s = (joined){.t = 0};
  joined_add(s, (double[]){.25, .05, .05}, 1500, 1000, -9.81);
  joined_add(s, (double[]){.20, .04, .06}, 2000, 1000, -9.81);
  joined_hold(s, "hinge", -1, (double[]){0, 0, 0}, axis, 0, (double[]){-.25, 0, 0}, axis)->damping[0] = .05;
  joined_hold(s, "hinge", 0, (double[]){.25, 0, 0}, axis, 1, (double[]){-.2, 0, 0}, axis)->damping[0] = .02;
  joined_place(s, &s->joint[0], (double[]){-1.2}, (double[]){0}, 0);
  joined_place(s, &s->joint[1], (double[]){.3}, (double[]){0}, 0);
  joined_start(s, &laws);
}

static inline double coordinate_error(const joined *s, const double right[4]) {
  double error = 0;
  for (int i = 0; i < 2; i++) {
    error = fmax(error, fabs(cb_mechanism_q(s->mechanism)[i] - right[i]));
    error = fmax(error, fabs(cb_mechanism_rates(s->mechanism)[i] - right[2 + i]));
  }
  return error;
}

static inline double double_pendulum_error(const joined *s) {
  return coordinate_error(s, (double[]){2.714070772791, -1.062380472855, -1.937475395638, -.842384207849});
}

static inline double acrobot_error(const joined *s) {
  return coordinate_error(s, (double[]){-1.883429113080, .001794825759, .1429236094911, -3.239764947414});
}

static inline double chain_of_balls_error(const joined *s) {
  const double first = pose_error(&s->state[0].g, (double[]){.4395251365, -.3043251756, -.5299678976, .6582840340},
                                  (double[]){.5256423635, -.0522399806, .2094091500}),
               last = pose_error(&s->state[4].g, (double[]){.4434730579, -.8120522057, -.3163438112, .2093548549},
                                 (double[]){.9966045521, 1.9326167401, -.0240328150});
  return fmax(first, last);
}
