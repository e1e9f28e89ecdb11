/* A body on SE(3) for the tests, with the momentum mu = K(t) Y + mu0(t) at the twist Y. The inertia is
 * K(t) = K0 + sin(t) K1, and the momentum at Y = 0 is mu0(t) = cos(t) shape. Its wrench is the sum of gravity, which
 * acts at the point moment/weight of the body, quadratic drag, a wrench that depends on time, and a spring from the
 * point `at` of the body to the origin. */
#pragma once

#include "check.h"
#include "fluid/rigid_step.h"
#include "numerics/dd.h"

typedef struct body {
  double K0[6][6], K1[6][6], shape[6];
  double weight, moment[3], g[3]; /* gravity: F = (moment × R^T g, weight R^T g), R the rotation of the pose */
  double drag[6], push[6];        /* drag: F_i = -drag_i |Y| Y_i; push: F = push sin(2 t) */
  double spring, at[3];
} body;

static inline cb_status body_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const body *b = self;
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) K[i][j] = b->K0[i][j] + sin(t) * b->K1[i][j];
    mu0[i] = cos(t) * b->shape[i];
  }
  return CB_OK;
}

static inline cb_status body_wrench(void *self, double t, const cb_pose *g, const double Y[6], double F[6],
                                    double dF[6][6]) {
  const body *b = self;
  double r[3][3], down[3], point[3], pull[3], speed = 0;
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, b->g, down);
  cb_cross3(b->moment, down, F);
  for (int i = 0; i < 3; i++) F[3 + i] = b->weight * down[i];
  for (int i = 0; i < 6; i++) speed += Y[i] * Y[i];
  speed = sqrt(speed);
  for (int i = 0; i < 6; i++) {
    F[i] += b->push[i] * sin(2 * t) - b->drag[i] * speed * Y[i];
    if (dF)
      for (int j = 0; j < 6; j++)
        dF[i][j] = -b->drag[i] * ((i == j ? speed : 0) + (speed > 0 ? Y[i] * Y[j] / speed : 0));
  }
  cb_pose_point(g, b->at, point);
  cb_apply3_transposed(r, point, pull);
  for (int i = 0; i < 3; i++) pull[i] *= -b->spring;
  double torque[3];
  cb_cross3(b->at, pull, torque);
  for (int i = 0; i < 3; i++) {
    F[i] += torque[i];
    F[3 + i] += pull[i];
  }
  return CB_OK;
}

/* Adds the derivatives of body_wrench with respect to a change xi of the pose to dF; dmu stays 0. With R the rotation
 * of the pose and x its position, R^T a changes by (R^T a) × xi_omega for any fixed vector a; the position of `at` in
 * the body's axes, R^T x + at, also changes by xi_v. */
static inline cb_status body_derivative(void *self, double t, const cb_pose *g, const double Y[6], double dmu[6][6],
                                        double dF[6][6]) {
  const body *b = self;
  double r[3][3], down[3], point[3];
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, b->g, down);
  cb_apply3_transposed(r, g->x, point);
  for (int j = 0; j < 3; j++) {
    double e[3] = {0}, turned[3], moved[3], torque[3];
    e[j] = 1;
    cb_cross3(down, e, turned);
    cb_cross3(b->moment, turned, torque);
    for (int i = 0; i < 3; i++) {
      dF[i][j] += torque[i];
      dF[3 + i][j] += b->weight * turned[i];
    }
    cb_cross3(point, e, moved);
    for (int part = 0; part < 2; part++) {
      double pull[3];
      for (int i = 0; i < 3; i++) pull[i] = -b->spring * (part ? e[i] : moved[i]);
      cb_cross3(b->at, pull, torque);
      for (int i = 0; i < 3; i++) {
        dF[i][3 * part + j] += torque[i];
        dF[3 + i][3 * part + j] += pull[i];
      }
    }
  }
  return CB_OK;
}

/* Makes an inertia matrix without zeros: a a^T plus the identity. */
static inline void generic_tensor(double K[6][6]) {
  static const double a[6][6] = {{.9, .2, -.3, .1, .4, -.2}, {.1, 1.2, .3, -.2, .1, .3},  {-.2, .4, 1.5, .3, -.1, .2},
                                 {.3, -.1, .2, .8, .2, .1},  {.1, .3, -.4, .2, 1.1, -.3}, {.2, -.2, .1, .4, .3, 1.6}};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      K[i][j] = i == j;
      for (int k = 0; k < 6; k++) K[i][j] += a[i][k] * a[j][k];
    }
}

static inline body free_body(void) {
  body b = {0};
  generic_tensor(b.K0);
  return b;
}

static inline body driven_body(void) {
  body b = {.shape = {.2, -.3, .1, .4, .2, -.3},
            .weight = 1.2,
            .moment = {.3, -.2, .4},
            .g = {.2, -.1, -2},
            .drag = {.2, .3, .1, .4, .2, .5},
            .push = {.3, -.2, .4, .5, .1, -.6},
            .spring = .7,
            .at = {.4, -.3, .6}};
  generic_tensor(b.K0);
  for (int i = 0; i < 6; i++) {
    b.K1[i][i] = 0.1 * (i + 1);
    b.K1[i][(i + 2) % 6] += 0.1;
    b.K1[(i + 2) % 6][i] += 0.1;
  }
  return b;
}

static inline cb_rigid_problem problem_of(body *b) {
  return (cb_rigid_problem){
      .self = b, .inertia = body_inertia, .wrench = body_wrench, .pose_derivative = body_derivative};
}

static inline cb_rigid_problem free_problem_of(body *b) {
  return (cb_rigid_problem){.self = b, .inertia = body_inertia};
}

static const double generic_twist[6] = {.7, -.4, .9, .3, .5, -.2};
static const cb_pose generic_pose = {{.5, .5, -.5, .5}, {.3, -.2, .4}};

/* A method is RKMK4, or a number 0 to 2: the Hamilton-Pontryagin method with the map of this number (cb_se3_map). */
enum { RKMK4 = 3 };
static inline void step_by(const cb_rigid_problem *p, int method, double h, cb_rigid_state *s) {
  if (method == RKMK4)
    check_ok(cb_rigid_step_rkmk4(p, h, s));
  else
    check_ok(cb_rigid_step_pontryagin(p, (cb_se3_map)method, h, s, NULL));
}

static inline cb_rigid_state run_by(const cb_rigid_problem *p, int method, const cb_pose *g, const double *Y,
                                    double time, int steps) {
  cb_rigid_state s;
  check_ok(cb_rigid_start(p, 0, g, Y, &s));
  for (int n = 0; n < steps; n++) {
    step_by(p, method, time / steps, &s);
    s.t = time * (n + 1) / steps;
  }
  return s;
}

/* Returns the maximum difference of two states in orientation, position and momentum. */
static inline double state_distance(const cb_rigid_state *a, const cb_rigid_state *b) {
  double dot = 0, worst = 0;
  for (int i = 0; i < 4; i++) dot += a->g.q[i] * b->g.q[i];
  for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(a->g.q[i] - (dot < 0 ? -b->g.q[i] : b->g.q[i])));
  for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(a->g.x[i] - b->g.x[i]));
  for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(a->momentum[i] - b->momentum[i]));
  return worst;
}

/* Returns the slope of log error as a function of log h by least squares, where the step h is halved from each error to
 * the next one. */
static inline double fitted_order(const double *error, int count) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < count; i++) {
    const double x = -i * log(2), y = log(error[i]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static inline double order_of(const cb_rigid_problem *p, int method, const cb_rigid_state *exact, const double *Y,
                              double time, int first, int count) {
  double error[12];
  for (int i = 0; i < count; i++) {
    const cb_rigid_state s = run_by(p, method, &generic_pose, Y, time, first << i);
    error[i] = state_distance(&s, exact);
  }
  print_message("  method %d: errors %.2e .. %.2e, order %.3f\n", method, error[0], error[count - 1],
                fitted_order(error, count));
  return fitted_order(error, count);
}

/* Computes the momentum at the end of a Hamilton-Pontryagin step in the world's axes, about the origin of the body, by
 * the formula R (dtau^-1_{-hY})^T mu. tau is the map of the method, h the step, Y and mu the twist and the momentum in
 * its middle, and R the rotation at its end. */
static inline void node_momentum(cb_se3_map map, double h, const cb_rigid_state *s, double out[6]) {
  double back[6], A[6][6], p[6] = {0}, r[3][3];
  for (int i = 0; i < 6; i++) back[i] = -h * s->Y[i];
  cb_se3_dtau_inverse(map, back, A);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) p[i] += A[k][i] * s->mu[k];
  cb_pose_rotation(&s->g, r);
  cb_apply3(r, p, out);
  cb_apply3(r, p + 3, out + 3);
}

/* Computes the momentum (l + x × P, P) about the origin of the world, with 32 digits. (l, P) is s->world, the momentum
 * about the origin x of the body. */
static inline void world_momentum(const cb_rigid_state *s, double out[6]) {
  cb_dd x[3], m[6];
  for (int i = 0; i < 3; i++) x[i] = cb_dd_add_d(cb_dd_of(s->g.x[i]), s->x_low[i]);
  for (int i = 0; i < 6; i++) m[i] = cb_dd_add_d(cb_dd_of(s->world[i]), s->world_low[i]);
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    out[i] = cb_dd_double(cb_dd_add(m[i], cb_dd_sub(cb_dd_mul(x[a], m[3 + b]), cb_dd_mul(x[b], m[3 + a]))));
    out[3 + i] = cb_dd_double(m[3 + i]);
  }
}

/* Returns Y.mu/2, which is the kinetic energy in the middle of the last step if mu = K Y. */
static inline double middle_energy(const cb_rigid_state *s) {
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += s->Y[i] * s->mu[i] / 2;
  return sum;
}
